//! `ddsmark selftest`: an experiment in which every cell is a baseline, and its noise floor. The outcome is stored
//! for `ddsmark run --dry-run`.

use std::collections::BTreeMap;

use experiment::{
    DesignSection, ExperimentFile, FactorValues, Located, OneOrMany, PinChoice, PlanInputs, Size, Time,
    Workload,
};
use host::Site as _;
use results::{SelfTest, State, least_blocks};
use runner::ExperimentOutcome;

use crate::{
    cli::{
        cli_error::{ExitStatus, Result},
        experiment_args::SelfTestArgs as Flags,
        output::{self, to_stderr},
    },
    work::{
        drivers,
        hosts::{Hosts, pin},
        local::Local,
        measurement, pages,
        preparation::seed,
        results::{Form, print},
        selftests::save,
    },
};

/// Payloads of a small and a large sample, in bytes.
const SIZES: [u64; 2] = [64, 16_384];
const PAIRS: u32 = 20;
const QUICK_PAIRS: u32 = 8;
const MS: u64 = 1_000_000;

pub fn execute(flags: &Flags) -> Result<ExitStatus> {
    flags.output.apply();
    let local = Local::find()?;
    let pin = pin(&PinChoice::Auto, &local.site.facts()?)?;
    let driver = flags.driver.clone().unwrap_or_else(|| drivers::BASELINE.to_owned());
    let drivers = drivers::choose(std::slice::from_ref(&driver), &local)?;
    let inputs = PlanInputs {
        name: "selftest",
        descriptions: &drivers.descriptions,
        installed: &[],
        files: &BTreeMap::new(),
        pin,
        hosts: &[],
        seed: flags.seed.unwrap_or_else(seed),
        least_blocks: &least_blocks,
    };
    let experiment = experiment_file(flags, &driver).plan(&inputs).map_err(|error| error.error)?;
    let (out, hosts) = (flags.output.out.as_deref(), Hosts::connect(Vec::new(), &local, &drivers)?);
    measurement::accept(&experiment, &hosts, false, &local.stop)?;
    let (ExperimentOutcome { document, error }, directory) =
        measurement::measure(experiment, &hosts, out, &local.stop)?;
    if let Some(error) = error {
        return Err(error.into());
    }
    if !flags.output.no_html {
        pages::write_beside(&document, &directory);
    }
    let outcome = SelfTest::from_document(&driver, &document);
    let form = Form::from_flags(flags.output.verbose, &flags.output.format);
    match form {
        Form::Screen => output::print(&report::selftest(&outcome))?,
        Form::Full => {
            print(&document, &directory, form)?;
            output::print(&report::selftest(&outcome))?;
        }
        Form::Json => {
            let json = serde_json::to_string_pretty(&outcome).expect("an outcome is JSON");
            output::print(&(json + "\n"))?;
        }
        Form::Csv | Form::JsonLines | Form::Markdown => print(&document, &directory, form)?,
    }
    if document.state == State::Interrupted {
        to_stderr("interrupted: the outcome is not stored");
        return Ok(ExitStatus::Interrupted);
    }
    save(&outcome)?;
    match ExitStatus::from_document(&document) {
        ExitStatus::Done if outcome.differs > 0 => Ok(ExitStatus::Broken),
        status => Ok(status),
    }
}

/// Returns the experiment of the selftest.
fn experiment_file(flags: &Flags, driver: &str) -> ExperimentFile {
    let (pairs, warm_up, measure) =
        if flags.quick { (QUICK_PAIRS, 50 * MS, 200 * MS) } else { (PAIRS, 200 * MS, 800 * MS) };
    let workloads = OneOrMany::unwritten([Workload::Latency, Workload::Throughput]);
    let mut experiment_file = ExperimentFile::new("What can this host resolve?", workloads);
    experiment_file.design = DesignSection {
        blocks: Some(Located::nowhere(flags.pairs.unwrap_or(pairs))),
        warm_up: Some(Located::nowhere(Time(warm_up))),
        measure: Some(Located::nowhere(Time(measure))),
        // Selects every cell.
        baseline: Some(Located::nowhere(FactorValues::default())),
        reference: Some(!flags.reference.no_reference),
        domain: flags.domain.map(Located::nowhere),
        ..DesignSection::default()
    };
    experiment_file.factors.values.give("driver", [driver.to_owned()]);
    experiment_file.factors.values.give("size", SIZES.map(Size));
    experiment_file
}
