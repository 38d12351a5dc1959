//! `cargo validation one-topic`: whether a system of one topic is measured as the pair of the workload `paced` is that writes the same.
//!
//! Both are variants of one experiment, measured in alternating blocks. Each block gives one ratio of each metric. Writer and reader of the
//! system are two processes with names, as those of any system; everything else is that of the pair.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;
use results::{CellResult, Directory, Metric, ResultDocument};
use stats::Ranks;

use crate::{Error, preload::output_of, tree::release_programs};

/// Metrics that are compared.
const METRICS: [Metric; 5] =
    [Metric::ResponseP50, Metric::ResponseP99, Metric::Delivered, Metric::CpuWriter, Metric::CpuReader];
/// Probability that all intervals together cover their ratios.
const LEVEL: f64 = 0.95;

/// Compare a system of one topic with the pair that writes the same
#[derive(Args)]
pub struct OneTopicArgs {
    /// Driver to measure
    #[arg(long, value_name = "NAME")]
    driver: String,
    /// Sample size in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1024)]
    size: u64,
    /// Rate of the topic
    #[arg(long, value_name = "RATE", default_value = "1k/s")]
    rate: String,
    /// Number of blocks
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(10..))]
    blocks: u32,
    /// Measurement time of a run
    #[arg(long, value_name = "TIME", default_value = "1s")]
    measure: String,
    /// Directory for the result, to be read with `ddsmark report`. By default it is removed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Directory of the programs
    #[arg(long, value_name = "DIR", default_value_os_t = release_programs(), hide_default_value = true)]
    programs: PathBuf,
}

/// Measures and prints the ratios. Returns an error if an interval excludes 1, or if a metric was not measured.
pub fn run(arguments: &OneTopicArgs) -> Result<(), Error> {
    let temporary = tempfile::tempdir()?;
    let directory = arguments.out.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(directory)?;
    let document = measured(arguments, directory)?;
    let [pair, system] = &document.cells[..] else { return Err("one cell of each variant is needed".into()) };
    let level = 1.0 - (1.0 - LEVEL) / METRICS.len() as f64;
    println!(
        "A system of one topic over the pair that writes the same: {}, {} bytes, {}, {} blocks of {}. All intervals together: {:.0} %.\n",
        arguments.driver,
        arguments.size,
        arguments.rate,
        arguments.blocks,
        arguments.measure,
        100.0 * LEVEL
    );
    println!("| metric | blocks | ratio | interval |\n|---|---|---|---|");
    let mut excluded = Vec::new();
    for metric in METRICS {
        let ratios = log_ratios([pair, system], metric);
        let ratio = Ratio::new(&ratios, level)
            .ok_or_else(|| format!("{} blocks are too few for the {}", ratios.len(), metric.words()))?;
        println!(
            "| {} | {} | {:.3} | {:.3}..{:.3} |",
            metric.words(),
            ratios.len(),
            ratio.estimate,
            ratio.low,
            ratio.high
        );
        if ratio.excludes_one() {
            excluded.push(metric.words());
        }
    }
    if excluded.is_empty() {
        Ok(())
    } else {
        Err(format!("a system of one topic differs from the pair in: {}", excluded.join(", ")).into())
    }
}

/// Ratio of the system to the pair, with its interval.
struct Ratio {
    estimate: f64,
    low: f64,
    high: f64,
}

impl Ratio {
    /// Creates it from the logarithms of the ratios of blocks; `None` if they are too few for the level.
    fn new(log_ratios: &[f64], level: f64) -> Option<Self> {
        let ranks = Ranks::of_blocks(log_ratios)?;
        let interval = ranks.interval(level)?.map(f64::exp);
        Some(Self { estimate: ranks.estimate().exp(), low: interval.low, high: interval.high })
    }

    fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// Returns the logarithm of the ratio of system to pair for each block that has both values.
fn log_ratios(cells: [&CellResult; 2], metric: Metric) -> Vec<f64> {
    let value = |cell: &CellResult, block: u32| {
        let run = cell.runs.iter().find(|run| run.block == block && !run.twin)?;
        run.value(metric).filter(|value| *value > 0.0)
    };
    let blocks = cells[0].runs.iter().map(|run| run.block).max().unwrap_or(0);
    (1..=blocks).filter_map(|block| Some((value(cells[1], block)? / value(cells[0], block)?).ln())).collect()
}

/// Executes both variants as one experiment and returns its result.
fn measured(arguments: &OneTopicArgs, directory: &Path) -> Result<ResultDocument, Error> {
    for (name, text) in [("pair.toml", pair(arguments)), ("system.toml", system(arguments))] {
        fs::write(directory.join(name), text)?;
    }
    let mut command = Command::new(arguments.programs.join("ddsmark"));
    command.current_dir(directory).args([
        "compare",
        "--interleave",
        "pair.toml",
        "system.toml",
        "--out",
        "result",
    ]);
    output_of(&mut command)?;
    Ok(Directory::load(&directory.join("result"))?)
}

fn pair(arguments: &OneTopicArgs) -> String {
    let OneTopicArgs { driver, size, rate, .. } = arguments;
    let factors = format!("[factors]\ndriver = {driver:?}\nsize = {size}\nrate = {rate:?}\n");
    experiment(arguments, &factors)
}

fn system(arguments: &OneTopicArgs) -> String {
    let OneTopicArgs { driver, size, rate, .. } = arguments;
    let flow =
        format!("name = \"topic\"\nsize = {size}\nrate = {rate:?}\nfrom = \"sensor\"\nto = \"control\"\n");
    experiment(arguments, &format!("factors.driver = {driver:?}\n[[flows]]\n{flow}"))
}

fn experiment(arguments: &OneTopicArgs, traffic: &str) -> String {
    let OneTopicArgs { blocks, measure, .. } = arguments;
    format!(
        "question = \"Does a system of one topic differ from a pair?\"\nworkload = \"paced\"\n{traffic}[design]\nblocks = {blocks}\n\
         measure = {measure:?}\n"
    )
}

#[cfg(test)]
mod tests {
    use experiment::Source;

    use super::*;

    #[test]
    fn variants_differ_in_the_processes_of_the_topic_only() {
        let arguments = OneTopicArgs {
            driver: "udp".to_owned(),
            size: 64,
            rate: "2k/s".to_owned(),
            blocks: 12,
            measure: "500ms".to_owned(),
            out: None,
            programs: PathBuf::new(),
        };
        let read = |text: String| {
            let source = Source { path: "f.toml".to_owned(), text, sets: Vec::new() };
            source.read().unwrap_or_else(|fault| panic!("{fault:#?}"))
        };
        let (pair, system) = (read(pair(&arguments)), read(system(&arguments)));
        assert_eq!((pair.flows.len(), system.flows.len()), (0, 1));
        let flow = system.flows[0].get();
        assert_eq!(flow.rate.as_ref().expect("a rate").get().to_string(), "2000/s");
        assert_eq!(flow.from.values().chain(flow.to.values()).collect::<Vec<_>>(), ["sensor", "control"]);
        assert_eq!(pair.design, system.design);
    }

    #[test]
    fn interval_that_excludes_1_is_found() {
        let level = 1.0 - (1.0 - LEVEL) / METRICS.len() as f64;
        let scattered =
            |middle: f64| (0..12).map(|i| middle + 0.01 * (f64::from(i) - 5.5)).collect::<Vec<f64>>();
        for (middle, excludes) in [(0.0, false), (0.2, true), (-0.2, true)] {
            let ratio = Ratio::new(&scattered(middle), level).expect("enough");
            assert_eq!(ratio.excludes_one(), excludes, "{middle}");
            assert!((ratio.estimate.ln() - middle).abs() < 1e-9);
        }
        assert!(Ratio::new(&[0.1; 4], level).is_none(), "too few blocks");
    }
}
