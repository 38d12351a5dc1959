//! Records of a result. A metric has the name of its field in the JSON of a run, such as `latency.rtt.p50_ns`; those of `measured` have theirs in it.

use experiment::{Compared, FACTORS, Factors, Form};
use results::{CellResult, PublishedValue, ResultDocument, Run};
use serde_json::{Map, Number, Value};

/// Fields of a run with its metrics, and those that only a workload has.
const OF_RUN: [&str; 4] = ["latency", "cpu_ns_per_sample", "wire", "udp_buffer_drops"];
const OF_WORKLOAD: [&str; 5] = ["throughput", "paced", "search", "discovery", "ping_retries"];

/// Fields of a process, of an endpoint and of a flow with their metrics.
const OF_PROCESS: [&str; 1] = ["usage"];
const OF_ENDPOINT: [&str; 4] = ["matched_ns", "sockets", "interface", "counters"];
const OF_FLOW: [&str; 9] = [
    "planned",
    "offered",
    "counted",
    "delivered_in_time",
    "latency",
    "unplaced",
    "late",
    "timeliness",
    "lag_in_writes_pct",
];

/// Fields of a ring and of a hop with their metrics.
const OF_RING: [&str; 7] = [
    "per_hop_mean_ns",
    "per_hop_p50_ns",
    "mean_in_flight",
    "per_sample_hop_ns",
    "returned_sps",
    "elapsed_ns",
    "returned_in_time",
];
const OF_HOP: [&str; 7] =
    ["sent", "delivered", "lost", "duplicate", "out_of_order", "held_writes", "stopped"];

/// Columns before those of the factors.
const RUN: [&str; 6] = ["experiment", "cell", "run", "block", "twin", "state"];
/// Columns behind those of the factors: what the metric is of, if not of the whole run.
const PART: [&str; 5] = ["process", "endpoint", "flow", "writer", "reader"];
/// Fields of JSON for the columns of [`PART`] of a metric of the whole run: none.
const WHOLE: [&str; PART.len()] = [""; PART.len()];
/// Last columns. A published figure has the name of its system.
const METRIC: [&str; 4] = ["metric", "unit", "value", "system"];

/// Units by the end of a field's name.
const UNITS: [(&str, &str); 7] = [
    ("_ns", "ns"),
    ("_ns_per_sample", "ns/sample"),
    ("_sps", "samples/s"),
    ("_mbps", "Mbit/s"),
    ("_pct", "%"),
    ("_bytes", "bytes"),
    ("_ppm", "ppm"),
];

/// One metric of one run, or a published figure beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Values of the columns that identify the run, its factors and the part of the run.
    run: Vec<Value>,
    /// Name of the metric: its path in the JSON of the run.
    pub metric: String,
    /// Unit; empty for a count.
    pub unit: &'static str,
    /// Value, as in the JSON of the run.
    pub value: Number,
    /// System that a published figure is of; empty for a measured value.
    pub system: String,
}

impl Record {
    /// Returns the entries of the columns. A value that does not apply is empty.
    pub(super) fn entries(&self) -> Vec<String> {
        let text = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let metric = [self.metric.clone(), self.unit.to_owned(), self.value.to_string(), self.system.clone()];
        self.run.iter().map(text).chain(metric).collect()
    }

    /// Returns the record as an object, with the columns as keys.
    pub(super) fn object(&self) -> Value {
        let system = if self.system.is_empty() { Value::Null } else { self.system.clone().into() };
        let metric =
            [self.metric.clone().into(), self.unit.into(), Value::Number(self.value.clone()), system];
        let values = self.run.iter().cloned().chain(metric);
        Value::Object(columns().into_iter().map(str::to_owned).zip(values).collect::<Map<_, _>>())
    }
}

/// Factors that are one text each, by their keys in an experiment file.
fn factors() -> impl Iterator<Item = (&'static str, fn(&Factors) -> Option<String>)> {
    FACTORS.iter().filter_map(|row| match (row.form, row.compared) {
        (Form::Key(_) | Form::FileKey(_), Compared::Text(text)) => Some((row.key, text)),
        _ => None,
    })
}

/// Factors that several keys of a file determine together.
const JOINT: [&str; 2] = ["rate", "batch_bytes"];

/// Returns the names of the columns.
pub(super) fn columns() -> Vec<&'static str> {
    RUN.into_iter().chain(factors().map(|(key, _)| key)).chain(JOINT).chain(PART).chain(METRIC).collect()
}

/// Returns the records of all runs, in the order of the cells, each followed by its published figures. A run that failed before
/// it measured has no records.
#[must_use]
pub fn records(document: &ResultDocument) -> Vec<Record> {
    let mut all = Vec::new();
    for cell in &document.cells {
        let load = cell.factors.load.as_ref().map(|load| Value::from(load.to_string()));
        let of_cell: Vec<Value> = factors()
            .map(|(_, text)| text(&cell.factors).map_or(Value::Null, |text| typed(&text)))
            .chain([load.unwrap_or(Value::Null), cell.factors.batch_bytes.into()])
            .collect();
        for run in &cell.runs {
            let json = serde_json::to_value(run).unwrap_or(Value::Null);
            let of_run: Vec<Value> =
                identity(document, run, &json).into_iter().chain(of_cell.iter().cloned()).collect();
            let mut add = |part: [&str; PART.len()], prefix: &str, fields: &[&str], json: &Value| {
                let part = part.map(|field| json[field].clone());
                let identity: Vec<Value> = of_run.iter().cloned().chain(part).collect();
                for field in fields {
                    collect(&format!("{prefix}{field}"), &json[*field], &mut |metric, value| {
                        let unit = unit(&metric);
                        let system = String::new();
                        all.push(Record { run: identity.clone(), metric, unit, value, system });
                    });
                }
            };
            let measured = &json["measured"];
            add(WHOLE, "", &OF_RUN, &json);
            add(WHOLE, "", &OF_WORKLOAD, measured);
            add(WHOLE, "ring.", &OF_RING, &measured["ring"]);
            let parts: [(&Value, _, _, &[&str]); 4] = [
                (&json["processes"], ["number", "", "", "", ""], "process.", &OF_PROCESS),
                (&json["endpoints"], ["process", "id", "", "", ""], "endpoint.", &OF_ENDPOINT),
                (&measured["ring"]["hops"], ["", "", "", "writer", "reader"], "ring.hop.", &OF_HOP),
                (&json["flows"], ["", "", "name", "writer", "reader"], "flow.", &OF_FLOW),
            ];
            for (list, part, prefix, fields) in parts {
                for json in list.as_array().into_iter().flatten() {
                    add(part, prefix, fields, json);
                }
            }
        }
        all.extend(published(document, cell, &of_cell));
    }
    all
}

/// Returns the records of the published figures of a cell: without a run, in the unit and kind of the measured values, so an
/// RTT/2 is doubled.
fn published(document: &ResultDocument, cell: &CellResult, of_cell: &[Value]) -> Vec<Record> {
    let record = |value: &PublishedValue| {
        let (name, id) = (document.experiment.name.clone().into(), cell.id.clone().into());
        let identity = [name, id, Value::Null, Value::Null, false.into(), "published".into()];
        let mut factors = of_cell.to_vec();
        if let Some(batch_bytes) = factors.last_mut() {
            *batch_bytes = value.batch_bytes.into();
        }
        let part = [const { Value::Null }; PART.len()];
        Some(Record {
            run: identity.into_iter().chain(factors).chain(part).collect(),
            metric: value.metric.clone(),
            unit: unit(&value.metric),
            value: Number::from_f64(value.converted)?,
            system: value.system.clone(),
        })
    };
    cell.published.iter().filter_map(record).collect()
}

/// Returns the columns of [`RUN`].
fn identity(document: &ResultDocument, run: &Run, json: &Value) -> [Value; RUN.len()] {
    [
        document.experiment.name.clone().into(),
        run.cell.clone().into(),
        run.number.into(),
        run.block.into(),
        run.twin.into(),
        json["state"].clone(),
    ]
}

/// Converts the text of a factor: a whole number, `true`, `false`, or text.
fn typed(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
    }
}

/// Passes each number below a field with its path.
fn collect(path: &str, value: &Value, found: &mut impl FnMut(String, Number)) {
    match value {
        Value::Number(number) => found(path.to_owned(), number.clone()),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(&format!("{path}.{name}"), value, found));
        }
        Value::Array(values) => {
            values
                .iter()
                .enumerate()
                .for_each(|(index, value)| collect(&format!("{path}.{index}"), value, found));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn unit(metric: &str) -> &'static str {
    let of =
        |part: &str| UNITS.iter().filter(|(end, _)| part.ends_with(end)).max_by_key(|(end, _)| end.len());
    // `cpu_ns_per_sample.writer` has the unit in the name of the group
    metric.rsplit('.').find_map(of).map_or("", |(_, unit)| unit)
}
