//! Kernel counters of other activity on the host, over a block.

use std::fs;

use results::HostNoise;
use serde::{Deserialize, Serialize};

use crate::values::clock::monotonic_ns;

/// Kernel counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Time of the host's monotonic clock in ns.
    at_ns: u64,
    cpu: Option<CpuTimes>,
    /// Total CPU pressure stall time in µs.
    pressure_us: Option<u64>,
    softnet_drops: Option<u64>,
    /// `InErrors` and `RcvbufErrors` of UDP.
    udp: Option<(u64, u64)>,
    throttled: Option<u64>,
    /// Lowest and highest current frequency of the cores.
    frequencies_khz: Option<(u64, u64)>,
    /// Temperature of the hottest thermal zone.
    max_temperature_millicelsius: Option<i64>,
}

impl Counters {
    pub(crate) fn read(cores: &[u32]) -> Self {
        let text = |path: &str| fs::read_to_string(path).ok();
        let frequencies = || cores.iter().filter_map(|core| of_core(*core, "cpufreq/scaling_cur_freq"));
        Self {
            at_ns: monotonic_ns(),
            cpu: text("/proc/stat").as_deref().and_then(cpu_times),
            pressure_us: text("/proc/pressure/cpu").as_deref().and_then(pressure),
            softnet_drops: text("/proc/net/softnet_stat").as_deref().and_then(softnet_drops),
            udp: text("/proc/net/snmp").as_deref().and_then(udp),
            throttled: sum_of(cores, "thermal_throttle/core_throttle_count"),
            frequencies_khz: frequencies().min().zip(frequencies().max()),
            max_temperature_millicelsius: temperature(),
        }
    }

    /// Returns the changes since earlier counters of the same host, with the current frequencies and temperature.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> HostNoise {
        let difference = |of: fn(&Self) -> Option<u64>| {
            let (before, now) = of(earlier).zip(of(self))?;
            Some(now.saturating_sub(before))
        };
        let share = |of: fn(&CpuTimes) -> u64| {
            let (before, now) = earlier.cpu.as_ref().zip(self.cpu.as_ref())?;
            let all = now.all.checked_sub(before.all).filter(|all| *all > 0)?;
            Some(100.0 * of(now).saturating_sub(of(before)) as f64 / all as f64)
        };
        let elapsed_us = (self.at_ns.saturating_sub(earlier.at_ns) / 1000).max(1) as f64;
        HostNoise {
            steal_pct: share(|times| times.steal),
            softirq_pct: share(|times| times.softirq),
            cpu_pressure_pct: difference(|counters| counters.pressure_us)
                .map(|us| 100.0 * us as f64 / elapsed_us),
            softnet_drops: difference(|counters| counters.softnet_drops),
            udp_in_errors: difference(|counters| Some(counters.udp?.0)),
            udp_receive_buffer_errors: difference(|counters| Some(counters.udp?.1)),
            min_frequency_khz: self.frequencies_khz.map(|(min, _)| min),
            max_frequency_khz: self.frequencies_khz.map(|(_, max)| max),
            throttled: difference(|counters| counters.throttled),
            max_temperature_millicelsius: self.max_temperature_millicelsius,
        }
    }
}

/// CPU times of all cores together, in ticks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CpuTimes {
    all: u64,
    softirq: u64,
    steal: u64,
}

/// Parses `/proc/stat`.
fn cpu_times(stat: &str) -> Option<CpuTimes> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|tick| tick.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; `user` already includes guest time.
    let [.., softirq, steal] = *ticks.get(..8)? else { return None };
    Some(CpuTimes { all: ticks[..8].iter().sum(), softirq, steal })
}

/// Parses `/proc/pressure/cpu`: total time in µs in which at least one task waited.
fn pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// Parses `/proc/net/softnet_stat`: the sum of the second column, the drops of each core.
fn softnet_drops(text: &str) -> Option<u64> {
    let dropped = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    text.lines().map(dropped).sum()
}

/// Parses `/proc/net/snmp`: `InErrors` and `RcvbufErrors` of UDP.
fn udp(text: &str) -> Option<(u64, u64)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let value = |wanted: &str| {
        let mut columns = names.split_whitespace().zip(values.split_whitespace());
        columns.find(|(name, _)| *name == wanted)?.1.parse().ok()
    };
    Some((value("InErrors")?, value("RcvbufErrors")?))
}

fn of_core(core: u32, name: &str) -> Option<u64> {
    fs::read_to_string(format!("/sys/devices/system/cpu/cpu{core}/{name}")).ok()?.trim().parse().ok()
}

/// Returns the sum over the cores; `None` unless all cores have the value.
fn sum_of(cores: &[u32], name: &str) -> Option<u64> {
    cores.iter().map(|core| of_core(*core, name)).sum()
}

/// Returns the temperature of the hottest thermal zone in millidegrees Celsius.
fn temperature() -> Option<i64> {
    let zones = fs::read_dir("/sys/class/thermal").ok()?.flatten();
    zones.filter_map(|zone| fs::read_to_string(zone.path().join("temp")).ok()?.trim().parse().ok()).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::cores::allowed_cores;

    #[test]
    fn kernel_counters_are_read_and_missing_ones_are_none() {
        let times = cpu_times("cpu  1 2 3 4 5 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1\n");
        assert_eq!(times, Some(CpuTimes { all: 36, softirq: 7, steal: 8 }));
        assert_eq!(cpu_times("cpu  1 2 3\n"), None);
        assert_eq!(pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull total=5\n"), Some(12));
        assert_eq!(pressure(""), None);
        assert_eq!(softnet_drops("00000001 0000000a 0\n00000001 00000001 0\n"), Some(11));
        assert_eq!(softnet_drops("nothing\n"), None);
        assert_eq!(udp("Udp: RcvbufErrors X InErrors\nUdp: 1 2 3\n"), Some((3, 1)));
        assert_eq!(udp("Udp: InErrors\nUdp: 1\n"), None);
        assert_eq!(of_core(4000, "cpufreq/scaling_cur_freq"), None);
        let cores = allowed_cores();
        let noise = Counters::read(&cores).since(&Counters::read(&cores));
        assert!(noise.udp_in_errors.is_some(), "{noise:?}");
    }

    #[test]
    fn changes_are_those_between_two_readings() {
        let earlier = Counters {
            at_ns: 1_000_000,
            cpu: Some(CpuTimes { all: 100, softirq: 10, steal: 0 }),
            pressure_us: Some(50),
            softnet_drops: Some(3),
            udp: Some((1, 2)),
            throttled: None,
            frequencies_khz: Some((1, 1)),
            max_temperature_millicelsius: Some(20),
        };
        let now = Counters {
            at_ns: 2_000_000,
            cpu: Some(CpuTimes { all: 200, softirq: 35, steal: 50 }),
            pressure_us: Some(150),
            softnet_drops: Some(2),
            udp: Some((5, 2)),
            throttled: Some(1),
            frequencies_khz: Some((800, 3000)),
            max_temperature_millicelsius: None,
        };
        let expected = HostNoise {
            steal_pct: Some(50.0),
            softirq_pct: Some(25.0),
            cpu_pressure_pct: Some(10.0),
            softnet_drops: Some(0),
            udp_in_errors: Some(4),
            udp_receive_buffer_errors: Some(0),
            min_frequency_khz: Some(800),
            max_frequency_khz: Some(3000),
            throttled: None,
            max_temperature_millicelsius: None,
        };
        assert_eq!(now.since(&earlier), expected);
    }
}
