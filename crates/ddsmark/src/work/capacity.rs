//! Check that this host and the links between hosts can carry the systems of a plan.

use experiment::{Cell, Factors, HostSpec, OfferedLoad, Plan, Scale, Workload};
use host::{LocalSite, LoopbackCapacity};
use results::{Environment, HostRecord, LinkLoad, format_value};

use super::hosts::{ConnectedHost, Hosts};
use crate::cli::cli_error::{CliError, Result};

/// Factor of the measured capacity of a host above which a system is rejected: middleware can be better than connections, and a busy host
/// shows less than it has.
const TOLERATED: f64 = 2.0;

/// Bound that a system is compared with.
struct Bound {
    /// Load as a share of what is permitted.
    share: f64,
    /// Sentence with what the flows need, and what carries less.
    words: String,
    /// Description of the bound, for a note.
    name: String,
}

/// Rejects a plan with a system that a link or this host cannot carry, unless it is forced. Searches do not try such scales. Notes what this
/// host carries.
pub fn check(mut experiment: Plan, hosts: &Hosts, is_forced: bool) -> Result<Plan> {
    if is_forced || experiment.offered_loads().is_empty() {
        return Ok(experiment);
    }
    let records: Vec<HostRecord> = hosts.list.iter().map(|host| record(host, &experiment)).collect();
    let is_remote = |at: &HostSpec| matches!(at, HostSpec::Ssh(_) | HostSpec::Slurm(_));
    let mut capacity = None;
    if !hosts.list.iter().any(|host| is_remote(&host.at)) {
        match LocalSite::loopback_capacity() {
            Ok(measured) => {
                experiment.notes.push(note(&measured));
                capacity = Some(measured);
            }
            Err(error) => {
                experiment.notes.push(format!("what this host carries is not known: loopback: {error}"));
            }
        }
    }
    within(experiment, &records, capacity.as_ref())
}

/// Returns a host with what the bound of its links needs.
fn record(host: &ConnectedHost, experiment: &Plan) -> HostRecord {
    let planned = experiment.design.hosts.iter().find(|planned| planned.name == host.name);
    HostRecord {
        name: host.name.clone(),
        at: host.at.clone(),
        machine_of: None,
        interface: planned.and_then(|planned| planned.interface.clone()),
        properties: host.facts.host.clone(),
        environment: Environment::default(),
    }
}

fn note(capacity: &LoopbackCapacity) -> String {
    let connections = match capacity.pairs {
        1 => "one connection".to_owned(),
        pairs => format!("{pairs} connections at once"),
    };
    format!(
        "over loopback this host carried {} and {} messages/s ({connections}), and copied {} in memory",
        bits(capacity.bit_per_s),
        format_value(capacity.messages_per_s),
        bits(capacity.copied_bit_per_s)
    )
}

/// Rejects a plan with a system beyond a bound, and limits the scales of searches.
fn within(mut experiment: Plan, records: &[HostRecord], capacity: Option<&LoopbackCapacity>) -> Result<Plan> {
    for index in 0..experiment.cells.len() {
        let cell = &experiment.cells[index];
        let (is_search, scale) = (cell.factors.workload == Workload::Search, cell.factors.scale);
        // A search has its loads from scale 1 on.
        let factors = if is_search { cell.factors.at_scale(Scale::ONE) } else { cell.factors.clone() };
        let Some(load) = factors.offered_load() else { continue };
        let link = LinkLoad::heaviest(&factors, &experiment.design, records).map(|link| of_link(&link));
        let host = capacity.map(|capacity| of_host(&load, &factors, capacity));
        let bounds = link.into_iter().chain(host);
        let Some(bound) = bounds.max_by(|left, right| left.share.total_cmp(&right.share)) else { continue };
        match experiment.search.as_mut().and_then(|search| search.scales.as_mut()).filter(|_| is_search) {
            Some(scales) => {
                // Rounded down, so that the load is within the bound.
                let most = (1e6 / bound.share).floor() / 1e6;
                if most <= scales.lowest.factor() {
                    return Err(rejected(
                        cell,
                        &bound,
                        &format!("`lowest_scale = {}` under `[search]`", rounded_down(most)),
                    ));
                }
                if most < scales.highest.factor() {
                    scales.highest = Scale::nearest(most);
                    let note = format!("scales above {} are not tried: {}", scales.highest, bound.name);
                    experiment.notes.push(note);
                }
            }
            None if bound.share > 1.0 => {
                let fits = rounded_down(scale.unwrap_or(Scale::ONE).factor() / bound.share);
                return Err(rejected(cell, &bound, &format!("`scale = [{fits}]` in `[factors]`")));
            }
            None => {}
        }
    }
    Ok(experiment)
}

fn rejected(cell: &Cell, bound: &Bound, fits: &str) -> CliError {
    let error = format!("cell `{}`: {}", cell.id, bound.words);
    CliError::usage(error, format!("use {fits}, or measure it anyway with `--force`"))
}

/// Compares the load of a link with its rate. This bound is exact.
fn of_link(link: &LinkLoad) -> Bound {
    let direction = if link.leaves { "leave" } else { "reach" };
    Bound {
        share: link.share(),
        words: format!(
            "{} of payload have to {direction} host `{}`, and its link of {} carries at most {}",
            bits(link.bit_per_s),
            link.host,
            bits(link.link_bit_per_s),
            bits(link.ceiling_bit_per_s)
        ),
        name: format!("that is what the link of host `{}` carries", link.host),
    }
}

/// Compares the load of a system with what this host carried: bytes and messages over loopback, or copies in memory if the transport may be
/// shared memory.
fn of_host(load: &OfferedLoad, factors: &Factors, capacity: &LoopbackCapacity) -> Bound {
    let over_sockets = factors.is_over_sockets();
    let carried =
        if over_sockets { capacity.bit_per_s } else { capacity.bit_per_s.max(capacity.copied_bit_per_s) };
    let of_bits = load.delivered_bit_per_s / (TOLERATED * carried);
    let of_samples = load.delivered_sps / (TOLERATED * capacity.messages_per_s);
    let how = if over_sockets { "over loopback" } else { "in memory" };
    let (needs, carries) = if of_bits >= of_samples {
        (bits(load.delivered_bit_per_s), format!("{} {how}", bits(carried)))
    } else {
        let samples = format!("{} samples/s", format_value(load.delivered_sps));
        (samples, format!("{} messages/s over loopback", format_value(capacity.messages_per_s)))
    };
    Bound {
        share: of_bits.max(of_samples),
        words: format!("its flows deliver {needs}, more than twice what this host carried: {carries}"),
        name: format!("that is twice what this host carried, {carries}"),
    }
}

/// Formats a rate of bits.
fn bits(bit_per_s: f64) -> String {
    match bit_per_s {
        rate if rate >= 1e9 => format!("{} Gbit/s", format_value(rate / 1e9)),
        rate => format!("{} Mbit/s", format_value(rate / 1e6)),
    }
}

/// Rounds down to one significant digit, within the range of scales.
fn rounded_down(scale: f64) -> Scale {
    let digit = 10_f64.powf(scale.log10().floor());
    Scale::nearest((scale / digit * (1.0 + 1e-9)).floor() * digit)
}

#[cfg(test)]
mod tests {
    use experiment::{Design, Flow, Load, Rate, ScaleRange, Search};

    use super::*;

    const CAPACITY: LoopbackCapacity =
        LoopbackCapacity { bit_per_s: 1e9, messages_per_s: 1e5, copied_bit_per_s: 1e10, pairs: 1 };

    fn cell(workload: Workload, transport: &str, size_bytes: u64, rate: u64) -> Cell {
        let flow = Flow::new("camera", size_bytes, Load::Constant { rate: Rate::per_second(rate) });
        let factors =
            Factors { workload, transport: transport.to_owned(), flows: vec![flow], ..Factors::default() };
        Cell { id: "cell".to_owned(), factors }
    }

    fn plan(cell: Cell) -> Plan {
        let scales = ScaleRange { lowest: Scale::nearest(0.01), highest: Scale::nearest(100.0) };
        let is_search = cell.factors.workload == Workload::Search;
        Plan {
            name: "test".to_owned(),
            question: "?".to_owned(),
            cells: vec![cell],
            design: Design { blocks: 3, ..Design::default() },
            search: is_search.then(|| Search { scales: Some(scales), ..Search::default() }),
            ..Plan::default()
        }
    }

    fn checked(cell: Cell) -> Result<Plan, (String, String)> {
        within(plan(cell), &[], Some(&CAPACITY))
            .map_err(|error| (error.to_string(), error.hint().unwrap_or_default().to_owned()))
    }

    #[test]
    fn system_beyond_twice_the_loopback_is_rejected() {
        // 1 Mbit each.
        assert!(checked(cell(Workload::Paced, "udp4", 125_000, 1_999)).is_ok());
        let (error, hint) = checked(cell(Workload::Paced, "udp4", 125_000, 2_100)).expect_err("too much");
        assert!(
            error.contains(
                "deliver 2.10 Gbit/s, more than twice what this host carried: 1.00 Gbit/s over loopback"
            ),
            "{error}"
        );
        assert_eq!(hint, "use `scale = [0.9]` in `[factors]`, or measure it anyway with `--force`");
        // Memory carries more.
        assert!(checked(cell(Workload::Paced, "shm", 125_000, 2_100)).is_ok());
        let (error, _) = checked(cell(Workload::Paced, "shm", 125_000, 21_000)).expect_err("too much");
        assert!(error.contains("10.0 Gbit/s in memory"), "{error}");
    }

    #[test]
    fn system_of_too_many_samples_is_rejected() {
        assert!(checked(cell(Workload::Paced, "udp4", 16, 199_999)).is_ok());
        let (error, hint) = checked(cell(Workload::Paced, "shm", 16, 2_100_000)).expect_err("too many");
        assert!(error.contains("2100000 samples/s") && error.contains("messages/s over loopback"), "{error}");
        assert!(hint.contains("`scale = [0.09]`"), "{hint}");
    }

    #[test]
    fn search_tries_scales_that_are_carried_only() {
        let highest = |plan: Plan| plan.search.and_then(|search| search.scales).expect("scales").highest;
        let small = checked(cell(Workload::Search, "udp4", 125_000, 1)).expect("carried");
        assert_eq!((highest(small.clone()), small.notes), (Scale::nearest(100.0), Vec::new()));
        let limited = checked(cell(Workload::Search, "udp4", 125_000, 200)).expect("at some scales");
        assert_eq!(limited.notes.len(), 1);
        assert_eq!(highest(limited), Scale::nearest(10.0));
        let (error, hint) =
            checked(cell(Workload::Search, "udp4", 125_000_000, 510)).expect_err("510 Gbit/s");
        assert!(error.contains("510 Gbit/s"), "{error}");
        assert!(hint.contains("`lowest_scale = 0.003` under `[search]`"), "{hint}");
    }

    #[test]
    fn suggested_scale_has_one_digit_and_is_not_too_much() {
        let rounded = [0.951_2, 0.095, 1.0, 0.1, 3.99, 57.0, 1e-9].map(|scale| rounded_down(scale).factor());
        assert_eq!(rounded, [0.9, 0.09, 1.0, 0.1, 3.0, 50.0, 0.001]);
    }
}
