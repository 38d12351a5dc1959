//! Parts of a result that an index needs.

use std::collections::BTreeMap;

use charts::Estimate;
use experiment::{Design, DriverDescription};
use report::parts;
use results::{CellResult, Metric, ReferenceMetric, ResultDocument, Run, flows_of, over_half_noisy};

use crate::{
    answer,
    scene::Scene,
    values::{Quantity, estimate, is_doubtful},
};

/// Start of 2020 in ns since 1970: a clock that shows an earlier time was not set.
const CLOCKS_ARE_SET_NS: u64 = 1_577_836_800_000_000_000;
/// Time in ns by which a run may begin before the previous one: clocks are corrected by small steps.
const STEP_NS: u64 = 60_000_000_000;
/// Number of sentences of an answer in the table of results.
const SENTENCES: usize = 1;
/// References that changes are corrected by.
const REFERENCES: [ReferenceMetric; 4] =
    [ReferenceMetric::RttP50, ReferenceMetric::RttP99, ReferenceMetric::Rate, ReferenceMetric::SampleTime];

/// Result of an index, without the parts that an index does not need.
#[derive(Clone, Debug)]
pub struct IndexedResult {
    /// Name: its directory.
    pub(super) name: String,
    /// Address of its page relative to the index, with that of the index in its query; `None` if there is no page.
    pub(super) link: Option<String>,
    /// Content, or why it cannot be loaded.
    pub(super) content: Result<Content, String>,
}

/// Content of a result.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub started_unix_ns: u64,
    pub experiment: String,
    pub question: String,
    pub answer: String,
    /// State as text, and the number of valid runs of those planned.
    pub state: String,
    pub valid: String,
    /// Names of the hosts, and what tells them apart from others of the same name.
    pub host: String,
    pub machine: String,
    pub kernel: String,
    /// Middleware and version of each driver.
    pub versions: Vec<String>,
    pub tool: String,
    /// Arguments, by which copies of a result are recognized beside the time and the host.
    pub command_line: Vec<String>,
    /// Whether its time says when it was measured.
    pub is_dated: bool,
    pub is_noisy: bool,
    /// Properties that can affect the values.
    pub environment: BTreeMap<String, String>,
    /// Median over the blocks of each reference.
    pub references: BTreeMap<ReferenceMetric, f64>,
    pub values: Vec<CellValue>,
}

/// Value of a cell in a result.
#[derive(Clone, Debug)]
pub(super) struct CellValue {
    /// Factors and conditions: values with the same ones belong to one history.
    pub key: String,
    pub cell: String,
    pub flow: Option<String>,
    pub metric: Metric,
    pub driver: String,
    /// Middleware, and its version; the version of a bare socket is that of the kernel, and left out.
    pub middleware: String,
    pub version: String,
    pub estimate: Estimate,
    pub runs: usize,
    pub is_doubtful: bool,
}

impl IndexedResult {
    /// Creates the entry of a result. `page` is the path of its page relative to the index, and `index` that of the index relative to the
    /// folder of the page: the link has it in its query, by which the page links back. So a page that is read alone has no dead link.
    #[must_use]
    pub fn new(name: String, page: Option<&str>, index: Option<&str>, document: &ResultDocument) -> Self {
        let back = index.map_or_else(String::new, |index| format!("?index={}", address(index)));
        let link = page.map(|page| format!("{}{back}", address(page)));
        Self { name, link, content: Ok(content(document)) }
    }

    /// Creates the entry of a result that cannot be loaded.
    #[must_use]
    pub const fn unreadable(name: String, error: String) -> Self {
        Self { name, link: None, content: Err(error) }
    }
}

/// Returns a relative path as an address: it begins with `./`, so that no name is read as a scheme.
fn address(path: &str) -> String {
    let mut address = "./".to_owned();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

fn content(document: &ResultDocument) -> Content {
    let host = document.host();
    let hosts: Vec<&str> = document.hosts.iter().map(|host| host.properties.name.as_str()).collect();
    let machine: Vec<String> = document
        .hosts
        .iter()
        .map(|of| {
            format!("{}, {}", of.properties.cpu.as_deref().unwrap_or("unknown processor"), of.properties.cpus)
        })
        .collect();
    let versions = document
        .drivers
        .iter()
        .filter(|(name, _)| document.cells.iter().any(|cell| cell.factors.driver == **name));
    let (answer, _) = answer::answer(&Scene::new(document, &|_, _| Vec::new()));
    let answer: Vec<String> = answer
        .iter()
        .take(SENTENCES)
        .map(|sentence| sentence.iter().map(crate::page::Words::text).collect())
        .collect();
    let environment = document.hosts.iter().flat_map(|host| {
        let prefix = if document.hosts.len() > 1 { format!("{}: ", host.name) } else { String::new() };
        host.environment.flat().map(move |(path, value)| (format!("{prefix}{path}"), value.to_owned()))
    });
    Content {
        started_unix_ns: host.started_unix_ns,
        experiment: document.experiment.name.clone(),
        question: crate::build::question(document),
        answer: answer.join(" "),
        state: parts::state(document).to_owned(),
        valid: parts::valid_runs(document),
        host: if hosts.iter().all(|name| name.is_empty()) {
            "unknown host".to_owned()
        } else {
            hosts.join(", ")
        },
        machine: machine.join("; "),
        kernel: host.kernel.split_whitespace().nth(1).unwrap_or(&host.kernel).to_owned(),
        versions: versions
            .map(|(_, driver)| format!("{} {}", driver.middleware, driver.middleware_version))
            .collect(),
        tool: format!("{} {}", document.tool.name, document.tool.version),
        command_line: document.tool.command_line.clone(),
        is_dated: is_dated(document),
        is_noisy: over_half_noisy(&document.blocks),
        environment: environment.collect(),
        references: references(document),
        values: document.cells.iter().flat_map(|cell| values(document, cell)).collect(),
    }
}

/// Returns whether the clock was set, and did not go back between two runs.
fn is_dated(document: &ResultDocument) -> bool {
    let mut runs: Vec<&Run> = document.cells.iter().flat_map(|cell| &cell.runs).collect();
    runs.sort_by_key(|run| run.number);
    let mut starts = vec![document.host().started_unix_ns];
    starts.extend(runs.iter().map(|run| run.started_unix_ns));
    let is_set = starts[0] >= CLOCKS_ARE_SET_NS;
    is_set && starts.windows(2).all(|pair| pair[1].saturating_add(STEP_NS) >= pair[0])
}

fn references(document: &ResultDocument) -> BTreeMap<ReferenceMetric, f64> {
    let median = |metric: ReferenceMetric| {
        let values: Vec<f64> = document.blocks.iter().filter_map(|block| block.reference(metric)).collect();
        let median = stats::median(&values).filter(|value| value.is_finite() && *value > 0.0)?;
        Some((metric, median))
    };
    REFERENCES.into_iter().filter_map(median).collect()
}

/// Returns the values of a cell: one for each metric of claims, and for each flow that has values of its own.
fn values(document: &ResultDocument, cell: &CellResult) -> Vec<CellValue> {
    // As planned: a rate in percent of a maximum is another number in each result.
    let planned = document.experiment.cells.iter().find(|planned| planned.id == cell.id);
    let factors = planned.map_or(&cell.factors, |planned| &planned.factors);
    let description = document.drivers.get(&factors.driver);
    let version = description.filter(|driver| !driver.is_bare_socket());
    let key = format!("{factors:?} {:?}", conditions(&document.experiment.design));
    let wanted = results::metrics_of(&document.experiment, factors)
        .flat_map(|metric| flows_of(factors, metric).into_iter().map(move |flow| (metric, flow)));
    let value = |(metric, flow): (Metric, Option<&str>)| {
        let quantity = Quantity::Metric(metric);
        let estimate = match flow {
            None => quantity.over_runs(cell),
            Some(_) => cell.values_of(metric, flow).and_then(|values| estimate(&values)),
        };
        Some(CellValue {
            key: key.clone(),
            cell: cell.id.clone(),
            flow: flow.map(ToOwned::to_owned),
            metric,
            driver: factors.driver.clone(),
            middleware: description.map_or_else(String::new, |driver| driver.middleware.clone()),
            version: version
                .map_or_else(String::new, |driver: &DriverDescription| driver.middleware_version.clone()),
            estimate: estimate.filter(|estimate| estimate.value > 0.0)?,
            runs: cell.claimed_runs().count(),
            is_doubtful: is_doubtful(cell),
        })
    };
    wanted.filter_map(value).collect()
}

/// Returns what a design changes in the values of a run: not its number of blocks, its order and its choice of domains.
fn conditions(design: &Design) -> Design {
    Design {
        blocks: 0,
        seed: 0,
        baseline: Vec::new(),
        second_tier: None,
        precision: None,
        budget_ns: None,
        domain: None,
        progress: false,
        repeat_noisy: false,
        ..design.clone()
    }
}

/// Returns the factors of a history as text: the id of its cell, and the flow.
pub(super) fn cell_words(value: &CellValue) -> String {
    match &value.flow {
        Some(flow) => format!("{}, flow `{flow}`", value.cell),
        None => value.cell.clone(),
    }
}

/// Returns whether a field of an environment belongs to another driver or its libraries.
pub(super) fn is_of_other_driver(path: &str, driver: &str) -> bool {
    let of = |group: &str| path.strip_prefix(group).map(|rest| !rest.starts_with(&format!("{driver}/")));
    of("driver/").or_else(|| of("library/")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_a_path_whatever_the_name() {
        assert_eq!(address("night 1/report.html"), "./night%201/report.html");
        assert_eq!(address("javascript:alert(1)"), "./javascript%3Aalert%281%29");
        assert_eq!(address("../a\"b/größe"), "./../a%22b/gr%C3%B6%C3%9Fe");
        assert_eq!(address("../a&b=c#d?e%20"), "./../a%26b%3Dc%23d%3Fe%2520", "it can be a value of a query");
    }
}
