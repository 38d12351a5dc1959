//! `ddsmark run`: plans a file or a recipe, and measures any plan, including that of `characterize`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use experiment::{
    Experiment, Fault, Given, MAXIMUM_RUNS, Pin, PinChoice, Refusal, Source, TraceText, Written,
    drivers_of_ends,
};
use results::{Directory, Foresight, Header, State, Tool, least_blocks};
use runner::{
    DriverPath, LocalLauncher, Outcome, Parts, RunnerError, Session, Stop, allowed_cores,
    capture_environment, capture_host, check_cores, check_interface, host_warnings, missing_file,
};

use crate::{
    arguments::{Output, Run},
    drivers::{self, Drivers},
    output::{self, say},
    problem::{Problem, Status},
    progress::Display,
    recipes, report_again, resume, selftest, traces,
};

/// Time without output after which progress is printed.
const SILENCE: Duration = Duration::from_secs(2);

pub fn execute(flags: &Run) -> Result<Status, Problem> {
    let stop = Stop::on_signals()?;
    let launcher = LocalLauncher::find()?;
    let Some(asked) = &flags.experiment else {
        return resume::execute(flags, &launcher, &stop);
    };
    // All validation happens before anything is measured.
    let prepared = prepare(flags, asked, &launcher, &stop)?;
    let experiment = prepared.plan(seed())?;
    if flags.dry_run {
        return show(&experiment, &prepared.drivers, flags.output.json, &launcher, &stop);
    }
    measure(experiment, prepared.drivers, &flags.output, &launcher, &stop)
}

/// Experiment file with the inputs of its plan.
pub struct Prepared {
    pub name: String,
    /// Text of the file; `None` for an experiment from flags.
    pub source: Option<Source>,
    pub written: Written,
    pub drivers: Drivers,
    /// Drivers that are measured if the file names none.
    pub installed: Vec<String>,
    pub traces: BTreeMap<String, TraceText>,
    pub pin: Pin,
}

impl Prepared {
    /// Returns the inputs of the plan.
    pub fn given(&self, seed: u64) -> Given<'_> {
        Given {
            name: &self.name,
            descriptions: &self.drivers.descriptions,
            installed: &self.installed,
            traces: &self.traces,
            pin: self.pin.clone(),
            seed,
            least_blocks: &least_blocks,
        }
    }

    pub fn plan(&self, seed: u64) -> Result<Experiment, Problem> {
        self.written.plan(&self.given(seed)).map_err(|refusal| self.rejected(&refusal))
    }

    /// Adds the position in the text to a rejection.
    pub fn rejected(&self, refusal: &Refusal) -> Problem {
        match &self.source {
            Some(source) => source.refused(refusal).into(),
            None => refusal.error.clone().into(),
        }
    }
}

/// Reads a file or a recipe, and finds the drivers that it names.
pub fn prepare(flags: &Run, asked: &str, launcher: &LocalLauncher, stop: &Stop) -> Result<Prepared, Problem> {
    let duet = flags.duet.then(|| "design.duet=true".to_owned());
    let shipped = flags.vendor_defaults.then(|| "factors.vendor_defaults=true".to_owned());
    let reference = flags.reference.no_reference.then(|| "design.reference=false".to_owned());
    let sets = flags.set.iter().cloned().chain(duet).chain(shipped).chain(reference).collect();
    let (name, source) = source(asked, sets)?;
    let written = source.read()?;
    check_interfaces(&written, &source)?;
    check_variables(&written, &source)?;
    let choice = written.design.pin.as_ref();
    let pin = pin(choice.map_or(&PinChoice::Auto, |pin| pin.get()))
        .map_err(|error| placed(&source, choice.map_or(0..0, experiment::At::span), &error))?;
    let traces = traces::read(&written, &source)?;
    let (drivers, installed) = find_drivers(&written, &source, launcher, stop)?;
    Ok(Prepared { name, source: Some(source), written, drivers, installed, traces, pin })
}

/// Prints a plan, after a preflight.
pub fn show(
    experiment: &Experiment,
    drivers: &Drivers,
    json: bool,
    launcher: &LocalLauncher,
    stop: &Stop,
) -> Result<Status, Problem> {
    rehearse(experiment, drivers, launcher, stop)?;
    let kept = selftest::kept();
    let foresight = Foresight::of(experiment, &capture_host(), &|driver: &str| kept.get(driver).cloned());
    let text =
        if json { report::plan_json(experiment, &foresight) } else { report::plan(experiment, &foresight) };
    output::print(&text)?;
    Ok(Status::Done)
}

/// Measures a plan and prints the result.
pub fn measure(
    experiment: Experiment,
    drivers: Drivers,
    output: &Output,
    launcher: &LocalLauncher,
    stop: &Stop,
) -> Result<Status, Problem> {
    let (outcome, _) = conduct(experiment, drivers, output.out.as_deref(), launcher, stop)?;
    conclude(outcome, output.json)
}

/// Measures a plan and prints the directory of the result. Returns the outcome and the directory.
pub fn conduct(
    experiment: Experiment,
    drivers: Drivers,
    place: Option<&Path>,
    launcher: &LocalLauncher,
    stop: &Stop,
) -> Result<(Outcome, PathBuf), Problem> {
    rehearse(&experiment, &drivers, launcher, stop)?;
    let runs = experiment.runs();
    let directory = Directory::create(&out(place, &experiment.name), runs)?;
    announce(&experiment, runs, &directory);

    let header = header(experiment, &drivers, launcher);
    let session = Session { header, files: drivers.files, launcher, directory: &directory, stop };
    let outcome = session.execute(&mut Display::new());
    tell(&outcome, &directory);
    Ok((outcome, directory.path().to_owned()))
}

/// Preflight: opens every planned configuration, so that a driver's rejection is reported before anything is
/// measured.
fn rehearse(
    experiment: &Experiment,
    drivers: &Drivers,
    launcher: &LocalLauncher,
    stop: &Stop,
) -> Result<(), Problem> {
    let mut said = Instant::now();
    let how_far = |done: usize, all: usize| {
        if said.elapsed() >= SILENCE {
            say(&format!("opening what is planned, before anything is measured: {done} of {all} ways"));
            said = Instant::now();
        }
    };
    let notes = runner::rehearse(launcher, experiment, &drivers.files, stop, how_far)?;
    for words in notes {
        say(&format!("note: {words}; its runs will tell"));
    }
    Ok(())
}

/// Returns the header of the result, which is known before the first run.
pub fn header(experiment: Experiment, drivers: &Drivers, launcher: &LocalLauncher) -> Header {
    let (tool, host) = (tool(), capture_host());
    let environment = capture_environment(&Parts {
        tool: &tool,
        revision: option_env!("DDSMARK_REVISION"),
        agent: launcher.agent(),
        host: &host,
        experiment: &experiment,
        descriptions: &drivers.descriptions,
        files: &drivers.files,
        libraries: &drivers.libraries,
    });
    let warnings = host_warnings(&host);
    let header = Header::new(tool, host, experiment, drivers.descriptions.clone(), warnings);
    Header { environment: Some(environment), ..header }
}

/// Prints the directory of the result.
pub fn tell(outcome: &Outcome, directory: &Directory) {
    let place = directory.path().display();
    if outcome.document.state == State::Interrupted {
        say(&format!("stopped before the last run; `ddsmark run --resume {place}` goes on"));
    }
    say(&format!("the result is in `{place}`"));
}

/// Prints the result.
pub fn conclude(outcome: Outcome, json: bool) -> Result<Status, Problem> {
    let Outcome { document, trouble } = outcome;
    report_again::print(&document, json)?;
    match trouble {
        Some(error) => Err(error.into()),
        None => Ok(Status::of(&document)),
    }
}

/// Returns the name and the text of the experiment: a file if the argument looks like a path, else a recipe.
fn source(asked: &str, sets: Vec<String>) -> Result<(String, Source), Problem> {
    let path = Path::new(asked);
    if !asked.contains('/') && path.extension().is_none() {
        let text = recipes::find(asked)?.to_owned();
        return Ok((asked.to_owned(), Source { path: format!("recipe {asked}"), text, sets }));
    }
    let text = fs::read_to_string(path).map_err(|error| {
        let error = format!("cannot read `{asked}`: {error}");
        Problem::new(Status::WrongUse, error, "name a file, or a recipe of `ddsmark recipes list`")
    })?;
    let name = path.file_stem().map_or_else(|| asked.to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok((name, Source { path: asked.to_owned(), text, sets }))
}

/// Returns the drivers of the experiment, and the names of those that are measured if it names none.
fn find_drivers(
    written: &Written,
    source: &Source,
    launcher: &LocalLauncher,
    stop: &Stop,
) -> Result<(Drivers, Vec<String>), Problem> {
    let path = DriverPath::from_environment();
    let mut named: Vec<String> = Vec::new();
    for driver in written.values_of::<String>("driver") {
        let name = driver.get();
        for end in drivers_of_ends(name) {
            path.find(end).map_err(|error| placed(source, driver.span(), &error))?;
        }
        if !named.contains(name) {
            named.push(name.clone());
        }
    }
    let mut drivers = Drivers::default();
    let mut installed = Vec::new();
    if written.factors.values.get("driver").is_none() {
        drivers = drivers::choose(&[], launcher, stop)?;
        installed.clone_from(&drivers.names);
    }
    named.retain(|name| !drivers.names.contains(name));
    if !named.is_empty() {
        drivers.extend(drivers::choose(&named, launcher, stop)?);
    }
    Ok((drivers, installed))
}

fn check_interfaces(written: &Written, source: &Source) -> Result<(), Problem> {
    for interface in written.values_of::<String>("interface") {
        check_interface(interface.get()).map_err(|error| placed(source, interface.span(), &error))?;
    }
    Ok(())
}

/// Rejects a value of a variable that names a missing file.
fn check_variables(written: &Written, source: &Source) -> Result<(), Problem> {
    for (name, values) in written.all_values().flat_map(|values| &values.env) {
        for value in &values.0 {
            let missing = value.get().0.as_deref().and_then(missing_file);
            if let Some(file) = missing {
                let error = format!("file `{}` of variable `{}` not found", file.display(), name.get());
                return Err(source.fault(value.span(), &error, "name a file that exists").into());
            }
        }
    }
    Ok(())
}

/// Adds the position in the text to an error of the runner.
fn placed(source: &Source, at: experiment::Span, error: &RunnerError) -> Fault {
    source.fault(
        at,
        &error.to_string(),
        error.hint().unwrap_or_else(|| "see `ddsmark run --help`".to_owned()),
    )
}

/// Returns the CPU cores to pin to. Rejects cores that are not available.
pub fn pin(choice: &PinChoice) -> Result<Pin, RunnerError> {
    match choice {
        PinChoice::None => Ok(Pin::None),
        PinChoice::Cores(writer, reader) => {
            check_cores(&[writer.as_slice(), reader.as_slice()].concat())?;
            Ok(Pin::Cores(writer.clone(), reader.clone()))
        }
        // Each endpoint has its own cores. Otherwise the scheduler may place both on one core in some runs, which
        // dominates the results.
        PinChoice::Auto => match allowed_cores() {
            cores if cores.len() < 2 => Ok(Pin::None),
            cores => {
                let (writer, reader) = cores.split_at(cores.len() / 2);
                Ok(Pin::Cores(writer.to_vec(), reader.to_vec()))
            }
        },
    }
}

/// Returns a short seed from the clock.
pub fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Microseconds modulo 1000 s: short enough to type.
    u64::try_from(now.as_micros() % 1_000_000_000).unwrap_or_default()
}

fn out(out: Option<&Path>, name: &str) -> PathBuf {
    out.map(Path::to_path_buf).unwrap_or_else(|| {
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        // Without the colons, which shells and file systems may treat specially.
        PathBuf::from("results").join(format!("{name}-{}", now.replace(':', "-")))
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
    let goals = experiment.search.iter().flat_map(|search| &search.goals);
    for words in goals.filter_map(report::least_rate) {
        say(&format!("note: {words}"));
    }
    let cells = match experiment.cells.len() {
        1 => "the one cell".to_owned(),
        n => format!("each of {n} cells"),
    };
    let most = if experiment.design.precision.is_some() { "at most " } else { "" };
    let twins = match experiment.design.baseline.len() {
        0 => "",
        _ if experiment.design.duet => ", each at the same time as one of its baseline",
        _ => ", the baseline twice in each block",
    };
    let maxima = experiment.maxima();
    if !maxima.is_empty() {
        let each = match maxima.len() {
            1 => "one cell".to_owned(),
            n => format!("{n} cells"),
        };
        say(&format!("first what 100 % of a rate is: {MAXIMUM_RUNS} runs of {each} as fast as it goes"));
    }
    if let Some(precision) = &experiment.design.precision {
        say(&format!(
            "the first {} blocks decide how many it takes, {} at most",
            precision.pilot_blocks, experiment.design.blocks
        ));
    }
    say(&format!(
        "{most}{runs} runs: {} of {cells}{twins}, in the order of seed {}; saved in `{}`",
        experiment.design.blocks,
        experiment.design.seed,
        directory.path().display()
    ));
}
