//! `ddsmark characterize`: converts flags to an experiment, which is then measured as by `ddsmark run`.

use std::{collections::BTreeMap, time::Duration};

use experiment::{Characterize, Effort, Pin, Reliability, ReliabilityChoice};
use runner::{LocalLauncher, StopToken, check_interface};

use crate::{
    cli::{
        arguments::{CharacterizeArgs as Flags, Reliability as ReliabilityFlag},
        cli_error::{CliError, ExitStatus},
    },
    work::{
        drivers, measurement,
        preparation::{Prepared, pin, seed},
    },
};

pub fn execute(flags: &Flags) -> Result<ExitStatus, CliError> {
    let stop = StopToken::on_signals()?;
    let launcher = LocalLauncher::find()?;
    check_interface(&flags.interface)?;
    let pin = pin(&flags.pin)?;
    let mut drivers = drivers::choose(&flags.driver, &launcher, &stop)?;
    let names = std::mem::take(&mut drivers.names);
    let experiment = as_written(flags, names, pin).plan(&drivers.descriptions)?;
    measurement::measure(experiment, drivers, &flags.output, &launcher, &stop)
}

/// Prepares the flags as a variant of an interleaved experiment: without a number of blocks unless `--runs` is
/// given.
pub fn prepare(
    flags: &Flags,
    seed: u64,
    launcher: &LocalLauncher,
    stop: &StopToken,
) -> Result<Prepared, CliError> {
    check_interface(&flags.interface)?;
    let pin = pin(&flags.pin)?;
    let mut drivers = drivers::choose(&flags.driver, launcher, stop)?;
    let names = std::mem::take(&mut drivers.names);
    let characterize =
        Characterize { seed: flags.seed.unwrap_or(seed), ..as_written(flags, names, pin.clone()) };
    let mut written = characterize.written()?;
    if flags.runs.is_none() {
        written.design.blocks = None;
    }
    let (name, traces, installed) = ("characterize".to_owned(), BTreeMap::new(), Vec::new());
    Ok(Prepared { name, source: None, written, drivers, installed, traces, pin })
}

/// Converts the flags.
fn as_written(flags: &Flags, drivers: Vec<String>, pin: Pin) -> Characterize {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let options = flags.option.iter().cloned();
    Characterize {
        drivers,
        sizes: flags.size.clone(),
        workloads: flags.workload.clone(),
        batch_bytes: flags.batch_bytes,
        reliability: match flags.reliability {
            ReliabilityFlag::Strongest => ReliabilityChoice::Strongest,
            ReliabilityFlag::Reliable => ReliabilityChoice::All(Reliability::Reliable),
            ReliabilityFlag::BestEffort => ReliabilityChoice::All(Reliability::BestEffort),
        },
        receive: flags.receive,
        polling_delay_ns: flags.polling_delay.map(ns),
        interface: flags.interface.clone(),
        multicast: flags.multicast,
        vendor_defaults: flags.vendor_defaults,
        transport: flags.transport.clone(),
        options: options.map(|option| (option.driver, option.key, option.value)).collect(),
        effort: match (flags.quick, flags.precise) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Precise,
            _ => Effort::Standard,
        },
        runs: flags.runs,
        measure_ns: flags.duration.map(ns),
        warm_up_ns: flags.warm_up.map(ns),
        check_every: flags.check_every,
        seed: flags.seed.unwrap_or_else(seed),
        pin,
        keep_awake: flags.keep_awake,
        reference: !flags.reference.no_reference,
        match_ns: flags.match_timeout.map(ns),
    }
}
