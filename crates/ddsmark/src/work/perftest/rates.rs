//! Limits of the rates of publishers. Each publisher has its own.

use std::{hint::black_box, time::Instant};

use experiment::RateSpec;
use perftest::{Pacing, Settings, WaitMethod};
use serde::{Deserialize, Serialize};

use crate::cli::cli_error::{CliError, Result};

/// Longest interval of a schedule, and its largest rate in samples/s.
const HOUR_S: u64 = 3600;
const HOUR_NS: u64 = HOUR_S * 1_000_000_000;
const MAX_RATE: u64 = 100_000_000;
/// Rounds of an empty loop by which `-spin` is calibrated.
const CALIBRATION_ROUNDS: u64 = 20_000_000;

/// Rate of a publisher, in its part of the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublisherRate {
    /// Limit; `None`: as fast as possible.
    pub limit: Option<RateLimit>,
    /// Option that decides it, as typed.
    pub option: String,
    /// Whether it spins for the last part of a wait.
    pub spins: bool,
}

/// Limit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateLimit {
    /// Samples per second.
    Samples(u64),
    /// Bits of serialized samples per second.
    Bits(u64),
    /// Time from one sample to the next in ns.
    Interval(u64),
}

impl PublisherRate {
    /// Returns the rate of a publisher. The loop of `-spin` is measured on this host.
    pub fn of(settings: &Settings) -> Result<Self> {
        let pacing = &settings.local.pacing;
        let rate = pacing.samples_per_s.or(pacing.bits_per_s);
        Ok(Self {
            limit: limit(pacing)?,
            option: settings.requested_rate().unwrap_or_default(),
            spins: rate.is_none_or(|rate| rate.method == WaitMethod::Spin),
        })
    }

    /// Returns the scheduled samples per second of one size; `None` without a limit.
    pub fn samples_per_s(&self, size: u64) -> Option<f64> {
        Some(match self.limit? {
            RateLimit::Samples(samples) => samples as f64,
            RateLimit::Bits(bits) => bits as f64 / (8.0 * size.max(1) as f64),
            RateLimit::Interval(ns) => 1e9 / ns.max(1) as f64,
        })
    }

    /// Returns notes on limits that are schedules here.
    pub fn notes(&self, pacing: &Pacing) -> Vec<String> {
        let Some(RateLimit::Interval(interval_ns)) = self.limit else { return Vec::new() };
        let mut notes = Vec::new();
        if pacing.sleep_ms > 0 {
            notes.push(format!("`-sleep {}` is a schedule with that interval", pacing.sleep_ms));
        }
        if pacing.spin_count > 0 {
            let spin_ns = interval_ns.saturating_sub(pacing.sleep_ms.saturating_mul(1_000_000));
            notes.push(format!(
                "`-spin {}` is a schedule with an interval of {spin_ns} ns, the time of that loop on this host",
                pacing.spin_count
            ));
        }
        notes
    }
}

impl RateLimit {
    /// Returns the rate of samples of this size.
    pub fn of_size(self, size: u64) -> RateSpec {
        match self {
            Self::Samples(samples) => every_second(samples),
            // The bits are those of serialized samples.
            Self::Bits(bits) => match size.saturating_mul(8).max(1) {
                of_sample if bits % of_sample == 0 => every_second(bits / of_sample),
                of_sample => {
                    // Samples in an hour, the longest period: the rate is off by less than one of them.
                    let samples = u128::from(bits) * u128::from(HOUR_S) / u128::from(of_sample);
                    let samples = samples.try_into().unwrap_or(u64::MAX);
                    RateSpec::Samples { samples, period_ns: HOUR_NS }
                }
            },
            Self::Interval(period_ns) => RateSpec::Samples { samples: 1, period_ns },
        }
    }
}

/// Returns the limit of the rate; `None` if there is none, or if it is the throttle, which a measurement decides.
fn limit(pacing: &Pacing) -> Result<Option<RateLimit>> {
    if pacing.throttle {
        return Ok(None);
    }
    if let Some(rate) = pacing.samples_per_s {
        return Ok(Some(RateLimit::Samples(rate.per_second)));
    }
    if let Some(rate) = pacing.bits_per_s {
        return Ok(Some(RateLimit::Bits(rate.per_second)));
    }
    let spin_ns = match pacing.spin_count {
        0 => 0,
        rounds => (round_ns() * rounds as f64) as u64,
    };
    let interval_ns = pacing.sleep_ms.saturating_mul(1_000_000).saturating_add(spin_ns);
    match interval_ns {
        // A loop that takes less than a nanosecond limits nothing.
        0 => Ok(None),
        10..=HOUR_NS => Ok(Some(RateLimit::Interval(interval_ns))),
        1..10 => {
            let error = format!("`-spin {}` is too short for a schedule", pacing.spin_count);
            Err(CliError::usage(error, "increase it, or remove it"))
        }
        _ => {
            let options = match (pacing.sleep_ms, pacing.spin_count) {
                (0, spin) => format!("`-spin {spin}`"),
                (sleep, 0) => format!("`-sleep {sleep}`"),
                (sleep, spin) => format!("`-sleep {sleep}` with `-spin {spin}`"),
            };
            let error =
                format!("{options} has an interval of {} s, more than an hour", interval_ns / 1_000_000_000);
            Err(CliError::usage(error, "use a shorter interval"))
        }
    }
}

const fn every_second(samples: u64) -> RateSpec {
    RateSpec::Samples { samples, period_ns: 1_000_000_000 }
}

/// Rejects bits per second of a publisher that are too many or too few samples of a size.
pub fn check_bits(bits: u64, size: u64, publisher: &str) -> Result<()> {
    let of_sample = size.saturating_mul(8).max(1);
    let (fast, slow) = (bits / of_sample > MAX_RATE, bits.saturating_mul(HOUR_S) < of_sample);
    if !fast && !slow {
        return Ok(());
    }
    let error = format!("`-pubRatebps {bits}` is out of range for samples of {size} bytes of {publisher}");
    let hint = format!("use 1 sample in an hour to {MAX_RATE} samples/s, of {of_sample} bits each");
    Err(CliError::usage(error, hint))
}

/// Returns the time of one round of an empty loop in ns: the shortest of three measurements.
fn round_ns() -> f64 {
    let once = || {
        let begin = Instant::now();
        for round in 0..CALIBRATION_ROUNDS {
            black_box(round);
        }
        begin.elapsed().as_nanos() as f64 / CALIBRATION_ROUNDS as f64
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}
