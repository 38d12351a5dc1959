//! Limits of the rate of publishers.

use std::{hint::black_box, time::Instant};

use experiment::RateSpec;
use perftest::{Mode, Shared};

use crate::cli::cli_error::{CliError, ExitStatus};

/// Longest interval of a schedule, and its largest rate in samples/s.
const HOUR_S: u64 = 3600;
const HOUR_NS: u64 = HOUR_S * 1_000_000_000;
const MAX_RATE: u64 = 100_000_000;
/// Rounds of an empty loop by which `-spin` is calibrated.
const CALIBRATION_ROUNDS: u64 = 20_000_000;

/// Limit of the rate.
pub enum Rate {
    /// Rate that follows the subscriber.
    Throttled,
    /// Rate of a size.
    Planned(Box<dyn Fn(u64) -> RateSpec>),
}

/// Returns the limit of the rate; `None` if there is none.
pub fn rate(shared: &Shared, notes: &mut Vec<String>) -> Result<Option<Rate>, CliError> {
    let pacing = &shared.pacing;
    if pacing.throttle {
        return Ok(Some(Rate::Throttled));
    }
    if shared.mode == Mode::Latency {
        return Ok(None);
    }
    if let Some(rate) = pacing.samples_per_s {
        return Ok(Some(Rate::Planned(Box::new(move |_| every_second(rate.per_second)))));
    }
    if let Some(rate) = pacing.bits_per_s {
        for size in &shared.sizes {
            check_bits(rate.per_second, *size)?;
        }
        // The bits are those of serialized samples.
        let of = move |size: u64| match (rate.per_second, size.saturating_mul(8)) {
            (bits, of_sample) if bits % of_sample == 0 => every_second(bits / of_sample),
            (bits, of_sample) => {
                // Samples in an hour, the longest period: the rate is off by less than one of them.
                let samples = u128::from(bits) * u128::from(HOUR_S) / u128::from(of_sample);
                RateSpec::Samples { samples: samples.try_into().unwrap_or(u64::MAX), period_ns: HOUR_NS }
            }
        };
        return Ok(Some(Rate::Planned(Box::new(of))));
    }
    let mut interval_ns = 0;
    if pacing.sleep_ms > 0 {
        interval_ns += pacing.sleep_ms.saturating_mul(1_000_000);
        notes.push(format!("`-sleep {}` is a schedule with that interval", pacing.sleep_ms));
    }
    if pacing.spin_count > 0 {
        let spin_ns = (round_ns() * pacing.spin_count as f64) as u64;
        interval_ns += spin_ns;
        notes.push(format!(
            "`-spin {}` is a schedule with an interval of {spin_ns} ns, the time of that loop on this host",
            pacing.spin_count
        ));
    }
    match interval_ns {
        0 => Ok(None),
        10..=HOUR_NS => {
            let rate = RateSpec::Samples { samples: 1, period_ns: interval_ns };
            Ok(Some(Rate::Planned(Box::new(move |_| rate))))
        }
        1..10 => {
            let error = format!("`-spin {}` is too short for a schedule", pacing.spin_count);
            Err(CliError::new(ExitStatus::WrongUse, error, "increase it, or remove it"))
        }
        _ => {
            let options = match (pacing.sleep_ms, pacing.spin_count) {
                (0, spin) => format!("`-spin {spin}`"),
                (sleep, 0) => format!("`-sleep {sleep}`"),
                (sleep, spin) => format!("`-sleep {sleep}` with `-spin {spin}`"),
            };
            let error =
                format!("{options} has an interval of {} s, more than an hour", interval_ns / 1_000_000_000);
            Err(CliError::new(ExitStatus::WrongUse, error, "use a shorter interval"))
        }
    }
}

const fn every_second(samples: u64) -> RateSpec {
    RateSpec::Samples { samples, period_ns: 1_000_000_000 }
}

/// Rejects bits per second that are too many or too few samples of a size.
fn check_bits(bits: u64, size: u64) -> Result<(), CliError> {
    let of_sample = size.saturating_mul(8);
    let (fast, slow) = (bits / of_sample > MAX_RATE, bits.saturating_mul(HOUR_S) < of_sample);
    if !fast && !slow {
        return Ok(());
    }
    let error = format!("`-pubRatebps {bits}` is out of range for samples of {size} bytes");
    let hint = format!("use 1 sample in an hour to {MAX_RATE} samples/s, of {of_sample} bits each");
    Err(CliError::new(ExitStatus::WrongUse, error, hint))
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
