//! `ddsmark compare --interleave`: two variants in alternating blocks of one experiment, and their comparison.

use clap::Parser as _;
use experiment::{Diagnostic, Located, Plan, Time};
use verdicts::CompareOptions;

use super::{built_in::BuiltIn, run};
use crate::{
    cli::{
        arguments::{Cli, Command},
        cli_error::{CliError, ExitStatus, Result},
        measure_args::MeasureArgs,
        output::to_stderr,
        result_args::CompareArgs,
    },
    work::{
        capacity,
        comparison::variants as compare_variants,
        local::Local,
        measurement, pages,
        preparation::{self, Prepared},
    },
};

const NAMES: [&str; 2] = ["A", "B"];
/// Commands that measure. Without one, a variant has the arguments of `run`.
const COMMANDS: [&str; 7] = ["run", "latency", "throughput", "load", "search", "discovery", "characterize"];
const HOW: &str = "write each variant as the quoted arguments of `ddsmark run`, `ddsmark latency` or another command that measures, such as \
                   `'latency-vs-size --driver udp'`";

pub fn execute(variants: &[String], flags: &CompareArgs, options: &CompareOptions) -> Result<ExitStatus> {
    let local = Local::find()?;
    let seed = preparation::seed();
    let prepare = |index: usize| {
        let prepared = prepare(&variants[index], flags, &local);
        prepared.map_err(|problem| problem.about(NAMES[index]))
    };
    let (a, b) = (prepare(0)?, prepare(1)?);
    let experiment = plan([&a, &b], variants, seed)?;
    let is_forced = a.is_forced || b.is_forced;
    let mut hosts = a.prepared.hosts;
    hosts.extend(b.prepared.hosts)?;
    let experiment = capacity::check(experiment, &hosts, is_forced)?;
    measurement::accept(&experiment, &hosts, flags.dry_run, &local.stop)?;
    if flags.dry_run {
        return measurement::show(&experiment, &hosts, flags.json);
    }
    let (outcome, path) = measurement::measure(experiment, &hosts, flags.out.as_deref(), &local.stop)?;
    pages::write_beside(&outcome.document, &path);
    let path = path.display().to_string();
    let compared = compare_variants(&path, &outcome.document, options, flags)?;
    let measured = ExitStatus::from_document(&outcome.document);
    if measured == ExitStatus::Interrupted {
        to_stderr(&format!("run `ddsmark run --resume {path}`, then `ddsmark compare {path}`"));
    }
    match outcome.error {
        Some(error) => Err(error.into()),
        None => Ok(worse(measured, compared)),
    }
}

/// Returns the exit status of a measurement with its comparison. An interruption takes precedence over a failed
/// criterion, and that over failed runs.
fn worse(measured: ExitStatus, compared: ExitStatus) -> ExitStatus {
    match (measured, compared) {
        (ExitStatus::Interrupted, _) => ExitStatus::Interrupted,
        (_, ExitStatus::Broken) => ExitStatus::Broken,
        (ExitStatus::Done, compared) => compared,
        (measured, _) => measured,
    }
}

/// Variant that is ready to be planned.
struct Variant {
    prepared: Prepared,
    /// Whether its file has a baseline, and whether it requests duets.
    had_baseline: bool,
    duet: bool,
    /// Whether a system is measured that the host or a link cannot carry.
    is_forced: bool,
}

/// Parses the arguments of a variant.
fn prepare(text: &str, flags: &CompareArgs, local: &Local) -> Result<Variant> {
    let wrong = |error: String| CliError::usage(error, HOW);
    let mut words = shlex::split(text).ok_or_else(|| wrong(format!("unterminated quote in `{text}`")))?;
    if words.first().is_some_and(|word| word == "ddsmark") {
        words.remove(0);
    }
    if !words.first().is_some_and(|word| COMMANDS.contains(&word.as_str())) {
        words.insert(0, "run".to_owned());
    }
    words.insert(0, "ddsmark".to_owned());
    let parsed = Cli::try_parse_from(&words).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        wrong(line.strip_prefix("error: ").unwrap_or(line).to_owned())
    })?;
    let elsewhere = |is_set: bool, flag: &str| {
        let hint = "give it to `ddsmark compare` itself";
        if is_set {
            return Err(CliError::usage(format!("`{flag}` is not valid in a variant"), hint));
        }
        Ok(())
    };
    let check = |measure: &MeasureArgs| {
        let output = &measure.output;
        elsewhere(output.out.is_some(), "--out")?;
        let format = &output.format;
        elsewhere(format.json, "--json")?;
        elsewhere(format.markdown, "--markdown")?;
        elsewhere(measure.dry_run, "--dry-run")?;
        let unused = [
            (output.verbose, "--verbose"),
            (output.quiet, "--quiet"),
            (output.no_html, "--no-html"),
            (format.csv, "--csv"),
            (format.jsonl, "--jsonl"),
        ];
        match unused.into_iter().find(|(is_set, _)| *is_set) {
            Some((_, flag)) => Err(wrong(format!("`{flag}` is not valid in a variant"))),
            None => Ok(()),
        }
    };
    let (mut prepared, is_forced) = match &parsed.command {
        Command::Run(flags) => {
            check(&flags.measure)?;
            let Some(experiment) = &flags.experiment else {
                return Err(wrong("`--resume` is not valid in a variant".to_owned()));
            };
            (run::prepare(flags, experiment, local)?, flags.force)
        }
        Command::BuiltIn(command) => {
            let built_in = BuiltIn::of(command);
            check(built_in.measure)?;
            // as many runs as claims need
            (built_in.prepare(None, local)?, built_in.is_forced)
        }
        _ => return Err(wrong(format!("`{text}` does not measure"))),
    };
    let file = &mut prepared.file;
    let duet = file.design.duet.as_ref().is_some_and(|duet| *duet.get());
    let had_baseline = file.prepare_variant();
    if flags.blocks.is_some() || flags.precision.is_some() {
        (file.design.blocks, file.design.precision) =
            (flags.blocks.map(Located::nowhere), flags.precision.map(Located::nowhere));
        if flags.blocks.is_some() {
            file.design.pilot = None;
        }
    }
    if let Some(budget) = flags.budget {
        let ns = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        file.design.budget = Some(Located::nowhere(Time(ns)));
    }
    Ok(Variant { prepared, had_baseline, duet, is_forced })
}

/// Plans both variants as one experiment.
fn plan(both: [&Variant; 2], arguments: &[String], seed: u64) -> Result<Plan> {
    let [a, b] = both;
    let alone = |index: usize| {
        let plan = both[index].prepared.plan(seed);
        plan.map_err(|problem| problem.about(NAMES[index]))
    };
    let plans = [alone(0)?, alone(1)?];
    if a.duet != b.duet {
        let difference = "A and B must both be measured in duets, or neither".to_owned();
        return Err(Diagnostic::other_design(vec![difference]).into());
    }
    let arguments = [0, 1].map(|index| arguments[index].trim().to_owned());
    let inputs = a.prepared.plan_inputs(seed);
    let mut experiment = a.prepared.file.interleave(&inputs, plans, arguments, a.duet)?;
    if a.had_baseline || b.had_baseline {
        let note = "the baseline of the experiment file is not used: cells of B are compared with those of A";
        experiment.notes.push(note.to_owned());
    }
    Ok(experiment)
}
