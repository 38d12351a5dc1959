//! Routes of a run: each writer with each of its readers, as their agents reported them.

use std::collections::BTreeMap;

use experiment::{Factors, KeyFilter, ReaderSpec, SizeTable, StreamSpec};
use results::FlowRecord;

use crate::{
    RunContext,
    reports::{AgentOutcome, RunReports},
};

/// One writer with one of its readers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<'a> {
    pub(crate) writing: &'a AgentOutcome,
    pub(crate) reading: &'a AgentOutcome,
    /// Index of the flow of the experiment.
    pub(crate) flow: usize,
    /// Index of the writer at the writing endpoint, and of the reader at the reading one.
    pub(crate) entities: [usize; 2],
    /// Position of the stream among all streams that the reading endpoint expects.
    pub(crate) position: usize,
    pub(crate) stream: &'a StreamSpec,
    /// Content filter of the reader.
    pub(crate) filter: Option<KeyFilter>,
    /// Whether the reader hears other writers, too.
    pub(crate) shared: bool,
}

/// Stream that a reading endpoint expects: its position among all of them, and its reader with its index.
#[derive(Clone, Copy)]
struct Expected<'a> {
    position: usize,
    stream: &'a StreamSpec,
    reader: (usize, &'a ReaderSpec),
}

/// Returns the streams that an endpoint expects, by the index of the flow and the number of the writer.
fn expected(reading: &AgentOutcome) -> BTreeMap<(u32, u16), Expected<'_>> {
    let streams = reading
        .endpoint
        .readers
        .iter()
        .enumerate()
        .flat_map(|reader| reader.1.streams.iter().map(move |stream| (stream, reader)));
    let mut expected = BTreeMap::new();
    for (position, (stream, reader)) in streams.enumerate() {
        expected.entry((stream.flow, stream.writer)).or_insert(Expected { position, stream, reader });
    }
    expected
}

impl RunReports {
    /// Returns all routes of samples, without those of echoes: by writing endpoint, flow and reading endpoint.
    pub(crate) fn routes(&self) -> Vec<Route<'_>> {
        let serving: Vec<_> = self.all_serving().map(|reading| (reading, expected(reading))).collect();
        let mut routes = Vec::new();
        for writing in self.all_driving() {
            for (index, writer) in writing.endpoint.writers.iter().enumerate() {
                for (reading, expected) in &serving {
                    let found = expected.get(&(writer.stream.flow, writer.stream.writer)).copied();
                    routes.extend(found.map(|Expected { position, stream, reader: (of_reader, reader) }| {
                        Route {
                            writing,
                            reading,
                            flow: stream.flow as usize,
                            entities: [index, of_reader],
                            position,
                            stream,
                            filter: reader.content_filter,
                            shared: reader.streams.len() > 1,
                        }
                    }));
                }
            }
        }
        routes
    }

    /// Returns whether the run has one writing and one reading endpoint.
    pub(crate) fn is_pair(&self) -> bool {
        self.agents.len() + self.lost.len() == 2 && self.join.is_none()
    }
}

impl Route<'_> {
    /// Returns how many of the first samples of its writer its reader expects.
    pub(crate) fn expected(&self, samples: u64) -> u64 {
        self.stream.included(self.filter, samples)
    }

    /// Returns the maximum error of a time from its writer to its reader or back, in ns; `None` if a clock is unknown.
    pub(crate) fn error_ns(&self) -> Option<u64> {
        self.writing.error_between(self.reading)
    }

    /// Returns the prefix of messages about this route: empty for the only one of a run.
    pub(crate) fn whose(&self, factors: &Factors, pair: bool) -> String {
        let several = factors.flows.len() > 1 || factors.topics.is_some();
        let flow = several.then(|| format!("flow `{}`", self.name(factors)));
        let (writing, reading) = (&self.writing.endpoint, &self.reading.endpoint);
        let ends = (!pair).then(|| match writing.place.host == reading.place.host {
            true => format!("{} to {}", writing.id, reading.id),
            false => format!("{} -> {}", writing.label(), reading.label()),
        });
        let parts: Vec<String> = flow.into_iter().chain(ends).collect();
        if parts.is_empty() { String::new() } else { format!("{}: ", parts.join(", ")) }
    }

    /// Returns the index of the writing endpoint, where each writes as many streams as the others: not in a system, whose flows have one
    /// load for all writers.
    pub(crate) fn writer(&self) -> usize {
        self.stream.index() / self.writing.endpoint.writers.len().max(1)
    }

    /// Returns the size of each sample; `None` if all have one.
    pub(crate) fn sizes(&self, context: &RunContext<'_>) -> Option<SizeTable> {
        self.stream.flow_sizes().table(&context.traces.of_stream(self.stream))
    }

    /// Returns the name of the flow: that in the experiment, `data`, or that of its topic if there are several.
    fn name(&self, factors: &Factors) -> String {
        match factors.flows.get(self.flow) {
            Some(flow) => flow.name.clone(),
            None if factors.topics.is_some() => format!("topic-{}", self.flow + 1),
            None => "data".to_owned(),
        }
    }

    /// Returns the description of the load of the flow; with several topics, of the part of its topic.
    pub(crate) fn load(&self, factors: &Factors) -> Option<String> {
        let of_stream = self.stream.load.as_ref().map(ToString::to_string);
        let streams = factors.streams();
        let of_flow = streams.get(self.flow).filter(|_| factors.topics.is_none());
        of_flow.map(|flow| flow.load.for_writer(self.writer()).to_string()).or(of_stream)
    }

    /// Returns the record of the flow, with its identity only.
    pub(crate) fn record(&self, factors: &Factors) -> FlowRecord {
        FlowRecord {
            name: self.name(factors),
            group: factors.flows.get(self.flow).and_then(|flow| flow.group.clone()),
            writer: self.writing.endpoint.id.clone(),
            reader: self.reading.endpoint.id.clone(),
            size_bytes: self.stream.size_bytes,
            load: self.stream.load.as_ref().map(ToString::to_string),
            ..FlowRecord::default()
        }
    }
}
