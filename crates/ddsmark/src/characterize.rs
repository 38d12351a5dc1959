//! `ddsmark characterize`: from flags to a plan, from the plan to a result.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use experiment::{Characterize, Effort, Experiment, Pin, Reliability, ReliabilityChoice};
use results::{Directory, Header, State, Tool};
use runner::{
    LocalLauncher, Outcome, Session, Stop, allowed_cores, capture_host, check_cores, check_interface,
    host_warnings,
};

use crate::{
    arguments::{Characterize as Flags, Reliability as ReliabilityFlag},
    drivers,
    output::say,
    parse::PinChoice,
    problem::{Problem, Status},
    progress::Display,
    report_again,
};

pub fn execute(flags: &Flags) -> Result<Status, Problem> {
    let stop = Stop::on_signals()?;
    let launcher = LocalLauncher::find()?;

    // plan: everything that can be wrong is found before the first packet
    check_interface(&flags.interface)?;
    let pin = pin(flags.pin.clone())?;
    let drivers = drivers::choose(&flags.driver, &launcher, &stop)?;
    let experiment = as_written(flags, drivers.names, pin).plan(&drivers.descriptions)?;
    let runs = experiment.schedule().len();
    let directory = Directory::create(&out(flags), runs)?;
    announce(&experiment, runs, &directory);

    // run
    let host = capture_host();
    let warnings = host_warnings(&host);
    let header = Header::new(tool(), host, experiment, drivers.descriptions, warnings);
    let session =
        Session { header, files: drivers.files, launcher: &launcher, directory: &directory, stop: &stop };
    let Outcome { document, trouble } = session.execute(&mut Display::new());

    // report
    if document.state == State::Interrupted {
        say("stopped before the last run");
    }
    say(&format!("the result is in `{}`", directory.path().display()));
    report_again::print(&document, flags.json)?;
    match trouble {
        Some(error) => Err(error.into()),
        None => Ok(Status::of(&document)),
    }
}

/// What the flags say.
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
        interface: flags.interface.clone(),
        multicast: flags.multicast,
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
        match_ns: flags.match_timeout.map(ns),
    }
}

/// The cores meant, all of which can be used.
fn pin(choice: PinChoice) -> Result<Pin, Problem> {
    match choice {
        PinChoice::None => Ok(Pin::None),
        PinChoice::Cores(writer, reader) => {
            check_cores(&[writer.as_slice(), reader.as_slice()].concat())?;
            Ok(Pin::Cores(writer, reader))
        }
        // each end on cores of its own: where both end up on one core is decided anew for each run otherwise, and
        // decides the figures
        PinChoice::Auto => match allowed_cores() {
            cores if cores.len() < 2 => Ok(Pin::None),
            cores => {
                let (writer, reader) = cores.split_at(cores.len() / 2);
                Ok(Pin::Cores(writer.to_vec(), reader.to_vec()))
            }
        },
    }
}

/// A short number, from the clock.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // microseconds within about a quarter of an hour: short enough to type again
    u64::try_from(now.as_micros() % 1_000_000_000).unwrap_or_default()
}

fn out(flags: &Flags) -> PathBuf {
    flags.out.clone().unwrap_or_else(|| {
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        // without what a shell or a file system may find special
        PathBuf::from("results").join(format!("characterize-{}", now.replace(':', "-")))
    })
}

fn tool() -> Tool {
    Tool {
        name: "ddsmark".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
    }
}

fn announce(experiment: &Experiment, runs: usize, directory: &Directory) {
    for note in &experiment.notes {
        say(&format!("note: {note}"));
    }
    let cells = match experiment.cells.len() {
        1 => "the one cell".to_owned(),
        n => format!("each of {n} cells"),
    };
    say(&format!(
        "{runs} runs: {} of {cells}, in the order of seed {}; saved in `{}`",
        experiment.design.blocks,
        experiment.design.seed,
        directory.path().display()
    ));
}
