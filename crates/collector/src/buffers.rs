//! Comparison of the granted socket buffers with the requested ones.

use results::{Warning, WarningKind};

use crate::{RunContext, evaluation::Evaluation, reports::RunReports};

/// Endpoint kind, name of the setting, and limiting sysctl of each buffer.
const BUFFERS: [(&str, &str, &str); 2] = [
    ("writer", "send_buffer_bytes", "net.core.wmem_max"),
    ("reader", "receive_buffer_bytes", "net.core.rmem_max"),
];

/// Warns of buffers that are smaller than requested. A size that no driver reports is listed as unverified elsewhere.
pub(crate) fn check(evaluation: &mut Evaluation, context: &RunContext<'_>, reports: &RunReports) {
    let RunContext { factors, hosts, .. } = *context;
    let requested = [factors.queues.send_buffer_bytes, factors.queues.receive_buffer_bytes];
    let mut short = Vec::new();
    for ((entity, setting, sysctl), requested) in BUFFERS.into_iter().zip(requested) {
        let Some(requested) = requested else { continue };
        let ends = reports.agents.iter().filter(|agent| agent.endpoint.role.uses(entity));
        let granted = ends.filter_map(|agent| {
            let settings = agent.configured.settings.values();
            let granted = settings.filter_map(|settings| settings.get(setting)?.parse::<u64>().ok()).min()?;
            Some((granted, &agent.endpoint.place.host))
        });
        let words = granted.min().and_then(|(granted, host)| {
            let host = hosts.iter().find(|known| known.name == *host);
            let limit = host.and_then(|host| host.properties.sysctls.get(sysctl)?.parse().ok());
            shortage(requested, granted, sysctl, limit)
        });
        short.extend(words.map(|(text, hint)| (format!("{setting} of the {entity}: {text}"), hint)));
    }
    if short.is_empty() {
        return;
    }
    let (texts, hints): (Vec<String>, Vec<Option<String>>) = short.into_iter().unzip();
    let hints: Vec<String> = hints.into_iter().flatten().collect();
    let hint = (!hints.is_empty()).then(|| hints.join(" and "));
    evaluation.warnings.push(Warning { kind: WarningKind::Buffers, text: texts.join("; "), hint });
}

/// Returns the text and the hint about a buffer that is smaller than requested, otherwise `None`. The kernel reports twice the
/// size that it grants; the other half is for its own bookkeeping (socket(7)).
fn shortage(
    requested: u64,
    shown: u64,
    sysctl: &str,
    limit: Option<u64>,
) -> Option<(String, Option<String>)> {
    let limited = limit.filter(|limit| *limit < requested);
    if shown >= requested && (limited.is_none() || shown / 2 >= requested) {
        return None;
    }
    let why = limited.map_or_else(
        || "the middleware asked the kernel for less".to_owned(),
        |limit| format!("{sysctl} is {limit}"),
    );
    let hint = limited.map(|_| format!("`sysctl -w {sysctl}={requested}`"));
    Some((format!("requested {requested}, effective {shown} with the kernel's own half: {why}"), hint))
}

#[cfg(test)]
mod tests {
    use super::shortage;

    #[test]
    fn smaller_buffer_than_requested_is_reported_with_the_limit() {
        let short = |requested, shown, limit| shortage(requested, shown, "net.core.rmem_max", limit);
        // The full size, reported as the kernel does it (doubled) and as a driver may do it.
        assert_eq!(short(100_000, 200_000, Some(212_992)), None);
        assert_eq!(short(100_000, 100_000, Some(212_992)), None);
        assert_eq!(short(212_992, 425_984, Some(212_992)), None);
        // A privileged process may exceed the limit.
        assert_eq!(short(4 << 20, 8 << 20, Some(212_992)), None);
        assert_eq!(short(100_000, 100_000, None), None);
        // The limit applies, although the reported size exceeds the requested one.
        let (text, hint) = short(300_000, 425_984, Some(212_992)).expect("less");
        assert_eq!(
            text,
            "requested 300000, effective 425984 with the kernel's own half: net.core.rmem_max is 212992"
        );
        assert_eq!(hint.as_deref(), Some("`sysctl -w net.core.rmem_max=300000`"));
        assert!(short(4 << 20, 425_984, Some(212_992)).expect("less").1.is_some());
        let (text, hint) = short(100_000, 50_000, Some(212_992)).expect("less");
        assert!(text.ends_with("the middleware asked the kernel for less"), "{text}");
        assert_eq!(hint, None);
        assert!(short(100_000, 50_000, None).is_some());
    }
}
