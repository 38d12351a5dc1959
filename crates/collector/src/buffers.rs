//! Comparison of the granted socket buffers with the requested ones.

use results::WarningKind;

use crate::{RunContext, RunReports, evaluation::Evaluation};

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
        short.extend(words.map(|words| format!("{setting} of the {entity}: {words}")));
    }
    if !short.is_empty() {
        evaluation.warn(WarningKind::Buffers, short.join("; "));
    }
}

/// Returns the warning about a buffer that is smaller than requested, otherwise `None`. The kernel reports twice the
/// size that it grants; the other half is for its own bookkeeping (socket(7)).
fn shortage(requested: u64, shown: u64, sysctl: &str, limit: Option<u64>) -> Option<String> {
    let limited = limit.filter(|limit| *limit < requested);
    if shown >= requested && (limited.is_none() || shown / 2 >= requested) {
        return None;
    }
    let why = match limited {
        Some(limit) => format!("{sysctl} is {limit}; hint: `sysctl -w {sysctl}={requested}`"),
        None => "the middleware asked the kernel for less".to_owned(),
    };
    Some(format!("requested {requested}, effective {shown} with the kernel's own half: {why}"))
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
        let words = short(300_000, 425_984, Some(212_992)).expect("less");
        assert_eq!(
            words,
            "requested 300000, effective 425984 with the kernel's own half: net.core.rmem_max is 212992; hint: `sysctl -w \
             net.core.rmem_max=300000`"
        );
        assert!(short(4 << 20, 425_984, Some(212_992)).expect("less").contains("hint: `sysctl -w"));
        let words = short(100_000, 50_000, Some(212_992)).expect("less");
        assert!(words.ends_with("the middleware asked the kernel for less"), "{words}");
        assert!(short(100_000, 50_000, None).is_some());
    }
}
