//! Performance targets: figures of a topology on a platform.

use crate::{
    document::Fields,
    error::ImportError,
    system::{Sends, System},
};

/// Limits of a target.
#[derive(Debug)]
pub(super) struct Target {
    /// Deadline in percent of the period.
    too_late_pct: Option<f64>,
    /// Longest deadline in µs.
    too_late_us: Option<f64>,
    /// Share of samples that may miss the deadline or be lost, in percent.
    missed_pct: f64,
}

/// Reads a target. Its figures become lines about the source.
pub(super) fn target(fields: &Fields<'_>, file: &str, system: &mut System) -> Result<Target, ImportError> {
    let topology = fields.required_text("topology_file")?;
    let platform = fields.text("platform")?.unwrap_or("unknown platform");
    let comments = fields.text("comments")?.map_or_else(String::new, |text| format!(" ({text})"));
    let mut figures = Vec::new();
    let mut missed_pct = 0.0;
    for (section, keys) in
        [("resources", &["cpu[%]", "rss[KB]"][..]), ("latency_total", &["late[%]", "too_late[%]", "lost[%]"])]
    {
        let Some(node) = fields.get(section) else { continue };
        let section = Fields::new(node, "section of figures")?;
        for key in keys {
            let Some(number) = section.number::<f64>(key)? else { continue };
            figures.push(format!("{key} {number}"));
            if matches!(*key, "too_late[%]" | "lost[%]") {
                missed_pct += number;
            }
        }
        section.no_other()?;
    }
    let options = fields.text("additional_options")?.unwrap_or_default();
    let words: Vec<&str> = options.split_whitespace().collect();
    let mut target = Target { too_late_pct: None, too_late_us: None, missed_pct };
    let mut at = 0;
    while let Some(option) = words.get(at) {
        let value = words.get(at + 1).copied();
        let number = || {
            let fault = || {
                let message = format!("`{option}` of `additional_options` has no number");
                ImportError::new(message, "write a number after it").at(fields.position("additional_options"))
            };
            value.and_then(|value| value.parse::<f64>().ok()).filter(|number| *number > 0.0).ok_or_else(fault)
        };
        match *option {
            "--too-late-percentage" => target.too_late_pct = Some(number()?),
            "--too-late-absolute" => target.too_late_us = Some(number()?),
            _ => {
                let item = format!("`{option}` of `additional_options`");
                let reason = match *option {
                    "-t" => "the experiment has a measured time of its own, `measure`",
                    "--late-percentage" | "--late-absolute" => {
                        "one deadline for each topic: that of `too late`"
                    }
                    "--ipc" => "all samples use the middleware",
                    _ => "ddsmark has no such option",
                };
                system.not_applied(item, reason);
            }
        }
        // An option without a value is followed by the next option.
        at += if value.is_some_and(|value| !value.starts_with('-')) { 2 } else { 1 };
    }
    fields.no_other()?;
    if !missed_pct.is_finite() || !(0.0..100.0).contains(&missed_pct) {
        let message = "`too_late[%]` and `lost[%]` together are out of range";
        return Err(ImportError::new(message, "use less than 100 %").at(fields.position("latency_total")));
    }
    let figures = figures.join(", ");
    system.source.push(format!("Target: {file}, of {topology} on {platform}{comments}: {figures}."));
    Ok(target)
}

impl Target {
    /// Sets deadlines and tolerated shares of all topics.
    pub(super) fn apply(&self, system: &mut System) {
        for topic in &mut system.topics {
            topic.missed_pct = Some(self.missed_pct);
            let Sends::Rate(rate) = topic.sends else { continue };
            let period_ns = 1e9 / rate.sps();
            let of_period = self.too_late_pct.map(|pct| period_ns * pct / 100.0);
            let absolute = self.too_late_us.map(|us| us * 1e3);
            let deadline = [of_period, absolute].into_iter().flatten().fold(f64::INFINITY, f64::min);
            // 1 µs to 1 hour, which an experiment allows.
            topic.deadline_ns =
                deadline.is_finite().then(|| (deadline.round() as u64).clamp(1_000, 3_600_000_000_000));
        }
    }
}
