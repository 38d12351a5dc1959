//! Measurement of a plan: preflight, runs, and the result.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use experiment::{Cell, MAXIMUM_RUNS, Plan};
use host::{EnvironmentInputs, host_warnings, lab_warnings, limit_warnings};
use results::{
    CpuOversubscription, DetectableEffects, Directory, HostRecord, ResultHeader, State, Tool, Warning,
};
use runner::{ExperimentOutcome, ExperimentRunner, RunnerError, Sites, StopToken};

use super::{
    capacity,
    hosts::{ConnectedHost, Hosts},
    pages,
    preparation::Prepared,
    results::{Form, print},
    selftests,
};
use crate::cli::{
    cli_error::{ExitStatus, Result},
    output::{self, note},
    progress::ProgressDisplay,
    result_args::OutputArgs,
};

/// Time without output after which progress is printed.
const SILENCE: Duration = Duration::from_secs(2);

/// Plans a prepared experiment, and measures it or only prints the plan. A system that the host or a link cannot carry is rejected,
/// unless that is forced.
pub fn plan_and_measure(
    prepared: &Prepared,
    seed: u64,
    (is_dry, is_forced): (bool, bool),
    output: &OutputArgs,
    stop: &StopToken,
) -> Result<ExitStatus> {
    let mut experiment = capacity::check(prepared.plan(seed)?, &prepared.hosts, is_forced)?;
    let sites = prepared.hosts.sites();
    if !is_dry {
        runner::check_domain(&sites, &experiment)?;
    }
    let is_of_profile = |cell: &Cell| prepared.file.may_leave_out_profile(cell, &experiment);
    let rejected = preflight(&experiment, &sites, stop, is_of_profile)?;
    if !rejected.is_empty() {
        let without = prepared.plan_without(rejected, seed)?;
        experiment = capacity::check(without, &prepared.hosts, is_forced)?;
    }
    if is_dry {
        return show(&experiment, &prepared.hosts, output.format.json);
    }
    let (outcome, directory) = measure(experiment, &prepared.hosts, output.out.as_deref(), stop)?;
    conclude(outcome, &directory, output)
}

/// Prints a plan.
pub fn show(experiment: &Plan, hosts: &Hosts, json: bool) -> Result<ExitStatus> {
    // A selftest is of one host, and says nothing about several.
    let kept = if hosts.are_several() { BTreeMap::new() } else { selftests::load() };
    let host = &hosts.list[0].facts.host;
    let detectable_effects =
        DetectableEffects::predict(experiment, host, &|driver: &str| kept.get(driver).cloned());
    let text = if json {
        report::plan_json(experiment, &detectable_effects)
    } else {
        report::plan(experiment, &detectable_effects)
    };
    output::print(&text)?;
    Ok(ExitStatus::Done)
}

/// Measures a plan that passed the preflight, and prints the directory of the result. Returns the outcome and the directory.
pub fn measure(
    experiment: Plan,
    hosts: &Hosts,
    out_directory: Option<&Path>,
    stop: &StopToken,
) -> Result<(ExperimentOutcome, PathBuf)> {
    let sites = hosts.sites();
    let runs = experiment.runs();
    let directory = Directory::create(&out(out_directory, &experiment.name), runs)?;
    announce(&experiment, runs, &directory);

    let header = header(experiment, hosts)?;
    let oversubscription = oversubscription(&header);
    for text in header.warnings.iter().map(ToString::to_string).chain(oversubscription) {
        note(&format!("warning: {text}"));
    }
    let mut progress = ProgressDisplay::new(&header.experiment);
    let session = ExperimentRunner { header, sites: &sites, directory: &directory, stop, on_progress: None };
    let outcome = session.execute(&mut progress);
    print_directory(&outcome, &directory);
    Ok((outcome, directory.path().to_owned()))
}

/// Preflight: opens every planned configuration, so that a driver's rejection is reported before anything is
/// measured. Returns the cells that drivers reject and `spares` selects, with the errors.
fn preflight(
    experiment: &Plan,
    sites: &Sites<'_>,
    stop: &StopToken,
    spares: impl Fn(&Cell) -> bool,
) -> Result<Vec<(Cell, RunnerError)>> {
    let mut last_note = Instant::now();
    let how_far = |done: usize, all: usize| {
        if last_note.elapsed() >= SILENCE {
            note(&format!("preflight: {done} of {all} configurations opened"));
            last_note = Instant::now();
        }
    };
    let found = runner::preflight(sites, experiment, stop, spares, how_far)?;
    for words in found.notes {
        note(&format!("note: {words}; its runs are attempted"));
    }
    Ok(found.rejected)
}

/// Accepts a plan of which no cell may be left out: its domain is free, and each configuration opens.
pub fn accept(experiment: &Plan, hosts: &Hosts, is_dry: bool, stop: &StopToken) -> Result<()> {
    let sites = hosts.sites();
    if !is_dry {
        runner::check_domain(&sites, experiment)?;
    }
    preflight(experiment, &sites, stop, |_| false).map(|_| ())
}

/// Returns the header of the result, which is known before the first run.
pub fn header(experiment: Plan, hosts: &Hosts) -> Result<ResultHeader> {
    let (records, run_topologies) = (host_records(&experiment, hosts)?, experiment.run_topologies());
    let mut warnings: Vec<(&HostRecord, Warning)> = Vec::new();
    for record in &records {
        let of_machine =
            if record.machine_of.is_none() { host_warnings(&record.properties) } else { Vec::new() };
        for warning in of_machine.into_iter().chain(limit_warnings(record, &experiment, &run_topologies)) {
            // Hosts of a machine share most limits.
            let is_known = |(other, known): &(&HostRecord, Warning)| {
                other.machine() == record.machine() && known.text == warning.text
            };
            if !warnings.iter().any(is_known) {
                warnings.push((record, warning));
            }
        }
    }
    let several = hosts.are_several();
    let named = |(record, warning): (&HostRecord, Warning)| match several {
        true => Warning { text: format!("host `{}`: {}", record.name, warning.text), ..warning },
        false => warning,
    };
    let warnings = lab_warnings(&experiment).into_iter().chain(warnings.into_iter().map(named)).collect();
    // The planner used the descriptions of this host.
    let descriptions = hosts.list[0].drivers.descriptions.clone();
    Ok(ResultHeader::new(tool(), records, experiment, descriptions, warnings))
}

/// Formats how many endpoints share too few cores, with the next step; `None` if each has a core. The head of the report
/// has it as well.
fn oversubscription(header: &ResultHeader) -> Option<String> {
    let design = &header.experiment.design;
    let cells = header.experiment.cells.iter();
    let oversubscribed: Vec<CpuOversubscription> =
        cells.filter_map(|cell| CpuOversubscription::of(&cell.factors, design, &header.hosts)).collect();
    let most = oversubscribed.iter().max_by_key(|of| (of.driving + of.serving, **of))?;
    Some(format!(
        "in {} of {} cells endpoints share cores, up to {most}, and wait for each other; hint: give each a core, by `--pin` or \
         with more hosts by `--host`",
        oversubscribed.len(),
        header.experiment.cells.len()
    ))
}

/// Returns the hosts with their environments.
pub fn host_records(experiment: &Plan, hosts: &Hosts) -> Result<Vec<HostRecord>> {
    let (sites, interfaces) = (hosts.sites(), interfaces(experiment));
    let record = |(index, host): (usize, &ConnectedHost)| {
        let facts = host.site.facts()?;
        let inputs = EnvironmentInputs {
            tool: tool(),
            revision: option_env!("DDSMARK_REVISION").map(ToOwned::to_owned),
            host: facts.host,
            experiment: experiment.clone(),
            interfaces: interfaces.get(&host.name).cloned().unwrap_or_default(),
            descriptions: host.drivers.descriptions.clone(),
            files: host.drivers.files.clone(),
            libraries: host.drivers.libraries.clone(),
        };
        let environment = host.site.environment(&inputs)?;
        let planned = experiment.design.hosts.iter().find(|planned| planned.name == host.name);
        Ok(HostRecord {
            name: host.name.clone(),
            at: host.at.clone(),
            machine_of: sites.machine_of(index).map(ToOwned::to_owned),
            interface: planned.and_then(|planned| planned.interface.clone()),
            properties: inputs.host,
            environment,
        })
    };
    hosts.list.iter().enumerate().map(record).collect()
}

/// Returns the network interfaces that the endpoints of an experiment use, by host.
fn interfaces(experiment: &Plan) -> BTreeMap<String, BTreeSet<String>> {
    let mut interfaces: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for endpoint in experiment.run_topologies().into_iter().flat_map(|topology| topology.endpoints) {
        interfaces.entry(endpoint.place.host).or_default().insert(endpoint.participant.interface);
    }
    interfaces
}

/// Prints the directory of the result.
pub fn print_directory(outcome: &ExperimentOutcome, directory: &Directory) {
    let out_directory = directory.path().display();
    if outcome.document.state == State::Interrupted {
        note(&format!("stopped before the last run; resume with `ddsmark run --resume {out_directory}`"));
    }
    note(&format!("the result is in `{out_directory}`"));
}

/// Writes the page of the result, and prints the result.
pub fn conclude(outcome: ExperimentOutcome, directory: &Path, output: &OutputArgs) -> Result<ExitStatus> {
    let ExperimentOutcome { document, error } = outcome;
    let form = Form::from_flags(output.verbose, &output.format);
    let page = (!output.no_html).then(|| pages::write_beside(&document, directory)).flatten();
    print(&document, directory, form)?;
    if let (Some(page), Form::Screen | Form::Full, Some(_)) = (page, form, output::width()) {
        output::print_page("", &page)?;
    }
    match error {
        Some(error) => Err(error.into()),
        None => Ok(ExitStatus::from_document(&document)),
    }
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

fn announce(experiment: &Plan, runs: usize, directory: &Directory) {
    let loads = report::offered_loads(experiment);
    let goals = experiment.search.iter().flat_map(|search| &search.goals);
    for words in experiment.notes.iter().cloned().chain(loads).chain(goals.filter_map(report::least_rate)) {
        note(&format!("note: {words}"));
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
    let max_rates = experiment.max_rates();
    if !max_rates.is_empty() {
        let each = match max_rates.len() {
            1 => "one cell".to_owned(),
            n => format!("{n} cells"),
        };
        note(&format!("first the maximum rates, 100 %: {MAXIMUM_RUNS} runs of {each} without a schedule"));
    }
    if let Some(precision) = &experiment.design.precision {
        note(&format!(
            "the first {} blocks determine the number of blocks, at most {}",
            precision.pilot_blocks, experiment.design.blocks
        ));
    }
    note(&format!(
        "{most}{runs} run{}: {} of {cells}{twins}, in the order of seed {}; saved in `{}`",
        if runs == 1 { "" } else { "s" },
        experiment.design.blocks,
        experiment.design.seed,
        directory.path().display()
    ));
}
