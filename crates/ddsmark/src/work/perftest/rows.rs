//! Values of a run as rows.

use std::collections::BTreeMap;

use control::{AgentReport, Progress};
use experiment::Qos;
use perftest::{EffectiveValue, LatencyInterval, LatencyRow, Settings, ThroughputInterval, ThroughputRow};
use results::{Latency, Usage};

/// Number of ns of RTT in one µs of RTT/2.
const HALF_US: f64 = 2000.0;

/// Serialized lengths of samples in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lengths {
    /// Length of the samples of publisher 0.
    pub size: u64,
    /// Part of the length of each sample that is not payload.
    pub around: u64,
}

impl Lengths {
    /// Returns the mean length of samples with these payloads together; without samples, that of publisher 0.
    fn mean(self, samples: u64, payload_bytes: u64) -> f64 {
        if samples == 0 {
            self.size as f64
        } else {
            self.around as f64 + payload_bytes as f64 / samples as f64
        }
    }
}

/// Returns a latency row of a size.
pub fn latency(size: u64, latency: Option<&Latency>, usage: Option<&Usage>, cpus: u32) -> LatencyRow {
    let found = latency.filter(|latency| latency.n > 0);
    let half = |ns: u64| ns as f64 / HALF_US;
    let quantile = |of: fn(&Latency) -> Option<u64>| found.and_then(of).map(half);
    LatencyRow {
        size,
        samples: found.map_or(0, |latency| latency.n),
        ave_us: found.map(|latency| latency.mean_ns / HALF_US),
        std_us: found.filter(|latency| latency.n > 1).map(|latency| latency.sd_ns / HALF_US),
        min_us: found.map(|latency| half(latency.min_ns)),
        max_us: found.map(|latency| half(latency.max_ns)),
        percentiles: [
            quantile(|latency| latency.p50_ns),
            quantile(|latency| latency.p90_ns),
            quantile(|latency| latency.p99_ns),
            quantile(|latency| latency.p99_99_ns),
            quantile(|latency| latency.p99_9999_ns),
        ],
        unsupported: ["p50_ns", "p90_ns", "p99_ns", "p99_99_ns", "p99_9999_ns"]
            .map(|field| found.and_then(|latency| latency.unsupported.get(field).copied()).map(half)),
        cpu_percent: usage.and_then(|usage| cpu(usage, cpus)),
    }
}

/// Returns a latency row during the test, and the progress before it; `None` before the first round trip.
pub fn latency_interval(size: u64, before: &Progress, now: &Progress, cpus: u32) -> Option<LatencyInterval> {
    let round_trips = now.round_trips.filter(|round_trips| round_trips.count > 0)?;
    let half = |ns: u64| ns as f64 / HALF_US;
    Some(LatencyInterval {
        size,
        latency_us: half(round_trips.last_ns),
        ave_us: round_trips.mean_ns / HALF_US,
        std_us: (round_trips.count > 1).then_some(round_trips.sd_ns / HALF_US),
        min_us: half(round_trips.min_ns),
        max_us: half(round_trips.max_ns),
        cpu_percent: interval_cpu(before, now, cpus),
    })
}

/// Returns a throughput row during the test, and the progress before it; `None` before the first sample.
pub fn throughput_interval(
    lengths: Lengths,
    before: &Progress,
    now: &Progress,
    cpus: u32,
) -> Option<ThroughputInterval> {
    let reception = now.reception.filter(|reception| reception.delivered > 0 && now.elapsed_ns > 0)?;
    let (earlier, earlier_bytes) = before.reception.map_or((0, 0), |before| (before.delivered, before.bytes));
    let samples = reception.delivered.saturating_sub(earlier);
    let since_ns = now.elapsed_ns.saturating_sub(before.elapsed_ns).max(1);
    let rate = |samples: u64, ns: u64| samples as f64 * 1e9 / ns as f64;
    let mbps = |samples_per_s: f64, length: f64| samples_per_s * length * 8.0 / 1e6;
    let samples_per_s = rate(samples, since_ns);
    let samples_per_s_ave = rate(reception.delivered, now.elapsed_ns);
    let percent = |lost: u64| 100.0 * lost as f64 / (lost + reception.delivered) as f64;
    Some(ThroughputInterval {
        size: lengths.size,
        samples: reception.delivered,
        samples_per_s,
        samples_per_s_ave,
        mbps: mbps(samples_per_s, lengths.mean(samples, reception.bytes.saturating_sub(earlier_bytes))),
        mbps_ave: mbps(samples_per_s_ave, lengths.mean(reception.delivered, reception.bytes)),
        lost: reception.lost,
        lost_percent: reception.lost.map(percent),
        cpu_percent: interval_cpu(before, now, cpus),
    })
}

/// Returns the throughput row of a report of a subscriber. `sent`: number of samples that the publishers sent to it, if it is
/// known.
pub fn throughput(lengths: Lengths, report: &AgentReport, sent: Option<u64>, cpus: u32) -> ThroughputRow {
    let reception = report.reception();
    let samples = reception.map_or(0, |reception| reception.samples);
    let samples_per_s = reception.map_or(0.0, |reception| reception.samples_per_s());
    let lost = sent.map(|sent| sent.saturating_sub(samples));
    let (counted, bytes) = report.received().fold((0, 0), |(samples, bytes), of| {
        (of.delivered.saturating_add(samples), of.bytes.saturating_add(bytes))
    });
    ThroughputRow {
        size: lengths.size,
        samples,
        samples_per_s,
        mbps: samples_per_s * lengths.mean(counted, bytes) * 8.0 / 1e6,
        lost,
        lost_percent: lost.zip(sent).map(|(lost, sent)| 100.0 * lost as f64 / sent.max(1) as f64),
        cpu_percent: cpu(&report.usage, cpus),
    }
}

/// Returns the number of samples that are not of the test.
pub fn foreign(report: &AgentReport) -> u64 {
    let received = report.reader().map_or(0, |reader| reader.foreign);
    received + report.echo().map_or(0, |echo| echo.foreign)
}

/// Returns the reasons why the reception of a report is not valid.
pub fn faults(report: &AgentReport) -> Vec<String> {
    let corrupt: u64 = report.received().map(|of| of.corrupt).sum();
    let mut faults = Vec::new();
    if corrupt > 0 {
        faults.push(format!("{corrupt} samples are corrupt"));
    }
    if report.echo().is_none() && report.received().all(|of| of.delivered == 0) {
        faults.push("no sample has arrived".to_owned());
    }
    faults
}

/// Returns CPU time in percent of all cores.
fn cpu(usage: &Usage, cpus: u32) -> Option<f64> {
    cpu_percent(usage.user_ns + usage.system_ns, usage.elapsed_ns, cpus)
}

/// Returns the CPU time between two readings of the progress in percent of all cores. A first reading is from the start of the
/// measurement.
fn interval_cpu(before: &Progress, now: &Progress, cpus: u32) -> Option<f64> {
    let (before, now) = (before.cpu.unwrap_or_default(), now.cpu?);
    let elapsed_ns = now.elapsed_ns.saturating_sub(before.elapsed_ns);
    cpu_percent(now.used_ns.saturating_sub(before.used_ns), elapsed_ns, cpus)
}

fn cpu_percent(used_ns: u64, elapsed_ns: u64, cpus: u32) -> Option<f64> {
    let all_ns = elapsed_ns.saturating_mul(u64::from(cpus));
    (all_ns > 0).then(|| 100.0 * used_ns as f64 / all_ns as f64)
}

/// Returns effective values with the labels of the banner, where it has one.
pub fn effective(
    qos: &BTreeMap<String, Qos>,
    settings: &BTreeMap<String, BTreeMap<String, String>>,
    requested: &Settings,
) -> Vec<EffectiveValue> {
    let mut values = Vec::new();
    let mut add = |name: String, value: String| values.push(EffectiveValue { name, value });
    let main = if qos.contains_key("writer") && requested.role == perftest::Role::Publisher {
        "writer"
    } else {
        "reader"
    };
    for (entity, qos) in qos {
        let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(qos) else { continue };
        for (policy, value) in fields {
            let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            match policy.as_str() {
                "reliability" if entity == main => add("Reliability".to_owned(), title(&value)),
                "durability" if entity == main => add("Durability".to_owned(), title(&value)),
                "history" if entity == main => add("History".to_owned(), title(&value)),
                _ => add(format!("{entity} {policy}"), value),
            }
        }
    }
    for (entity, settings) in settings {
        for (name, value) in settings {
            match (entity.as_str(), name.as_str()) {
                ("participant", "transport") => add("Kind".to_owned(), value.clone()),
                ("participant", "interface") => add("Nic".to_owned(), value.clone()),
                _ => add(format!("{entity} {name}"), value.clone()),
            }
        }
    }
    values
}

/// Returns a word of a policy as the banner has it: `Best Effort`.
fn title(word: &str) -> String {
    let words = word.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the effective values that the banner shows: those with a label of its own, and those of queues, batches and
/// buffers. The JSON document has all.
pub fn of_banner(effective: &[EffectiveValue]) -> Vec<EffectiveValue> {
    let shown = ["Reliability", "Durability", "History", "Kind", "Nic"];
    let is_shown = |name: &str| {
        shown.contains(&name)
            || name.ends_with(" max_samples")
            || name.ends_with(" batching")
            || name.ends_with(" receive_mode")
            || name.starts_with("agent ")
            || name.starts_with("participant ") && name.ends_with("_buffer_bytes")
    };
    effective.iter().filter(|value| is_shown(&value.name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_length_is_that_of_all_samples() {
        let lengths = Lengths { size: 104, around: 4 };
        assert_eq!(lengths.mean(0, 0), 104.0);
        assert_eq!(lengths.mean(7, 700), 104.0);
        assert_eq!(lengths.mean(4, 3 * 100 + 1000), 329.0, "three of 104 bytes and one of 1004");
    }
}
