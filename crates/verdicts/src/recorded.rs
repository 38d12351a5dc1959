//! Recorded fields of runs that may be associated with the modes of their values.
//!
//! Fields that follow from the values are excluded: amount of traffic, memory, and the middleware's counters, which
//! grow with the number of samples.

use std::collections::{BTreeMap, BTreeSet};

use results::{
    Block, EndpointRecord, HostNoise, ModesBy, ResultDocument, Run, SeparatingField, TypicalValue, Usage,
};
use stats::{Field, Rules, median, separate};

/// Seed of the permutation test, so that a result always has the same verdicts.
const SEED: u64 = 1;

/// Result of the runs, and its noisy blocks.
#[derive(Clone, Copy)]
pub(crate) struct Source<'d> {
    /// Result.
    pub document: &'d ResultDocument,
    /// Numbers of its noisy blocks.
    pub noisy: &'d BTreeSet<u32>,
}

/// Returns the recorded fields that are associated with the modes of these runs; `groups` has the mode of each run.
pub(crate) fn modes_by(source: Source<'_>, runs: &[&Run], groups: &[usize]) -> ModesBy {
    let (names, fields): (Vec<String>, Vec<Field>) = fields(source, runs).into_iter().unzip();
    let found = separate(groups, &fields, Rules::DEFAULT.level, SEED);
    let mut separating = found.separating;
    separating.sort_by(|a, b| a.p_adjusted.total_cmp(&b.p_adjusted));
    let several = 1 + groups.iter().max().copied().unwrap_or(0);
    let separating = separating.into_iter().map(|tested| SeparatingField {
        field: names[tested.field].clone(),
        p_adjusted: tested.p_adjusted,
        typical: (0..several).map(|group| typical(&fields[tested.field], groups, group)).collect(),
    });
    ModesBy {
        tested: found.tested.len() as u32,
        separating: separating.collect(),
        enough_runs: found.enough_runs,
    }
}

/// Returns the typical value of a field in a mode.
fn typical(field: &Field, groups: &[usize], group: usize) -> Option<TypicalValue> {
    let in_group = |run: &usize| groups[*run] == group;
    let runs = (0..groups.len()).filter(in_group);
    match field {
        Field::Numbers(numbers) => {
            median(&runs.filter_map(|run| numbers[run]).collect::<Vec<_>>()).map(TypicalValue::Number)
        }
        Field::Words(words) => {
            let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
            runs.filter_map(|run| words[run].as_ref()).for_each(|word| *counts.entry(word).or_default() += 1);
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            most.map(|(word, _)| TypicalValue::Word(word.clone()))
        }
    }
}

/// Returns all fields that at least one of these runs has.
fn fields(source: Source<'_>, runs: &[&Run]) -> Vec<(String, Field)> {
    let mut fields = Vec::new();
    let mut numbers = |name: &str, of: &dyn Fn(&Run) -> Option<f64>| {
        fields.push((name.to_owned(), Field::Numbers(runs.iter().map(|run| of(run)).collect())));
    };
    let first_runs = first_runs(source.document);
    numbers("place in the block", &|run| Some(f64::from(run.number - first_runs.get(&run.block)?)));
    numbers("number of the run", &|run| Some(f64::from(run.number)));
    numbers("padding of the environment in bytes", &|run| run.environment_padding_bytes.map(f64::from));
    numbers("UDP buffer drops", &|run| run.udp_buffer_drops.map(|drops| drops as f64));
    numbers("time to match in ns", &|run| run.phases_ns.get("match").map(|ns| *ns as f64));

    let blocks: BTreeMap<u32, &Block> =
        source.document.blocks.iter().map(|block| (block.number, block)).collect();
    for (name, of) in OF_BLOCKS {
        numbers(name, &|run| of(blocks.get(&run.block)?));
    }
    for role in roles(runs) {
        for (name, of) in OF_PROCESSES {
            numbers(&format!("{name} of the {role}"), &|run| of(run, &run.process_of_role(role)?.usage));
        }
    }

    let mut words = |name: String, of: &dyn Fn(&Run) -> Option<String>| {
        fields.push((name, Field::Words(runs.iter().map(|run| of(run)).collect())));
    };
    words("noisy block".to_owned(), &|run| {
        let noisy = source.noisy.contains(&run.block);
        blocks.contains_key(&run.block).then(|| if noisy { "yes" } else { "no" }.to_owned())
    });
    for role in roles(runs) {
        words(format!("core of the {role}"), &|run| {
            run.process_of_role(role)?.usage.core.map(|core| core.to_string())
        });
        words(format!("cores allowed to the {role}"), &|run| {
            let cores = &endpoint(run, role)?.cpus;
            (!cores.is_empty()).then(|| cores.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
        });
        for (entity, setting) in settings(runs, role) {
            words(format!("setting {entity}.{setting} of the {role}"), &|run| {
                endpoint(run, role)?.settings.get(entity)?.get(setting).cloned()
            });
        }
    }
    fields
}

type OfBlock = fn(&Block) -> Option<f64>;

/// Fields of a run's block.
const OF_BLOCKS: [(&str, OfBlock); 10] = [
    ("time stolen round the block in %", |block| {
        block.probes().flat_map(|probe| &probe.cores).map(|core| core.stolen_pct).reduce(f64::max)
    }),
    ("steal of the block in %", |block| most(block, |host| host.steal_pct)),
    ("softirq of the block in %", |block| most(block, |host| host.softirq_pct)),
    ("CPU pressure of the block in %", |block| most(block, |host| host.cpu_pressure_pct)),
    ("softnet drops of the block", |block| most(block, |host| Some(host.softnet_drops? as f64))),
    ("UDP errors of the block", |block| most(block, |host| Some(host.udp_in_errors? as f64))),
    ("lowest frequency after the block in kHz", |block| {
        block.counters().filter_map(|host| Some(host.min_frequency_khz? as f64)).reduce(f64::min)
    }),
    ("highest frequency after the block in kHz", |block| {
        most(block, |host| Some(host.max_frequency_khz? as f64))
    }),
    ("throttling in the block", |block| most(block, |host| Some(host.throttled? as f64))),
    ("temperature after the block in m°C", |block| {
        most(block, |host| Some(host.max_temperature_millicelsius? as f64))
    }),
];

/// Returns the largest value over the hosts of a block.
fn most(block: &Block, of: impl Fn(&HostNoise) -> Option<f64>) -> Option<f64> {
    block.counters().filter_map(of).reduce(f64::max)
}

type OfProcess = fn(&Run, &Usage) -> Option<f64>;

/// Fields of a run's process.
const OF_PROCESSES: [(&str, OfProcess); 4] = [
    ("involuntary switches", |_, usage| Some(usage.involuntary_switches as f64)),
    // faster runs have more samples, and more of everything that each sample causes
    ("voluntary switches per sample", |run, usage| {
        let sent: u64 = run.counts().map(|counted| counted.sent).fold(0, u64::saturating_add);
        (sent > 0).then(|| usage.voluntary_switches as f64 / sent as f64)
    }),
    ("run delay in ns", |_, usage| usage.run_delay_ns.map(|ns| ns as f64)),
    ("major faults", |_, usage| Some(usage.major_faults as f64)),
];

fn endpoint<'r>(run: &'r Run, role: &str) -> Option<&'r EndpointRecord> {
    run.endpoints.iter().find(|endpoint| endpoint.role == role)
}

fn roles<'r>(runs: &[&'r Run]) -> BTreeSet<&'r str> {
    runs.iter().flat_map(|run| &run.endpoints).map(|endpoint| endpoint.role.as_str()).collect()
}

/// Returns entity and name of all settings that an endpoint of this role read back.
fn settings<'r>(runs: &[&'r Run], role: &str) -> BTreeSet<(&'r str, &'r str)> {
    let endpoints = runs.iter().flat_map(|run| &run.endpoints).filter(|endpoint| endpoint.role == role);
    let settings = endpoints.flat_map(|endpoint| &endpoint.settings);
    settings
        .flat_map(|(entity, settings)| settings.keys().map(|setting| (entity.as_str(), setting.as_str())))
        .collect()
}

/// Returns the number of the first run of each block.
fn first_runs(document: &ResultDocument) -> BTreeMap<u32, u32> {
    let mut first = BTreeMap::new();
    for run in document.cells.iter().flat_map(|cell| &cell.runs) {
        let least = first.entry(run.block).or_insert(run.number);
        *least = run.number.min(*least);
    }
    first
}
