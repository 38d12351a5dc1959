//! QoS per endpoint: different policies for writers and readers, and whether the two match.

use std::fmt::Write as _;

use driver_abi::{
    description::{DriverDescription, Support},
    policies::{Policy, Presentation, Qos, Reliability},
};
use serde::{Deserialize, Serialize};

use crate::{
    factors::{
        Factors,
        policies::{EndpointPolicies, Policies},
        qos::same_request,
    },
    syntax::{
        one_or_many::Span,
        spanned_error::{SpannedError, contradiction},
        units::short,
    },
};

/// Fields that limit the samples of a queue.
const QUEUE_LIMITS: [&str; 2] = ["max_samples", "max_samples_per_instance"];

/// Kind of endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Writer,
    Reader,
}

/// Returns the support of a policy by these endpoints of a driver: the weakest one.
pub(crate) fn support_of(driver: &DriverDescription, policy: Policy, ends: &[End]) -> Support {
    let of_ends = driver.support_of_ends(policy);
    ends.iter().map(|end| of_ends[*end as usize]).min().unwrap_or(Support::Unsupported)
}

/// Returns the name of a policy that a driver ignores, with the endpoints if only one of them ignores it. `ends`: those of which it is requested.
pub(crate) fn without_effect(driver: &DriverDescription, policy: Policy, ends: &[End]) -> String {
    let ignoring = driver.support_of_ends(policy).map(|support| support == Support::Ignored);
    let of = match End::BOTH.map(|end| ignoring[end as usize] && ends.contains(&end)) {
        [true, false] if !ignoring[End::Reader as usize] => " of writers",
        [false, true] if !ignoring[End::Writer as usize] => " of readers",
        _ => "",
    };
    format!("{policy}{of}")
}

/// QoS of writers and of readers, if they differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EndpointQos {
    /// QoS offered by writers.
    pub writer: Qos,
    /// QoS requested by readers.
    pub reader: Qos,
}

impl End {
    pub(crate) const BOTH: [Self; 2] = [Self::Writer, Self::Reader];

    /// Returns the plural name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Writer => "writers",
            Self::Reader => "readers",
        }
    }

    /// Returns the fields that this endpoint does not have.
    pub(crate) fn foreign(self, qos: &Qos) -> Vec<&'static str> {
        let of_it = match self {
            Self::Writer => qos.clone().of_writers(),
            Self::Reader => qos.clone().of_readers(),
        };
        qos.differences(&of_it).into_iter().map(|(field, ..)| field).collect()
    }
}

impl Policies {
    /// Returns the policies that are requested of both endpoints.
    pub(crate) fn of_both(&self) -> Self {
        Self { writer: None, reader: None, ..self.clone() }
    }

    /// Returns all policies that are requested of an endpoint, without those that it does not have.
    pub(crate) fn of_end(&self, end: End) -> Self {
        let all = match self.own(end) {
            Some(own) => own.0.over(&self.of_both()),
            None => self.of_both(),
        };
        let mut qos = Qos::default();
        all.apply(&mut qos);
        all.without_fields(&end.foreign(&qos))
    }

    /// Returns these policies without limits of the queues of writers, of readers, or of both.
    #[must_use]
    pub fn without_queue_limits(&self, of_writers: bool, of_readers: bool) -> Self {
        let of = |end, removes: bool| {
            let own = self.of_end(end);
            let own = if removes { own.without_fields(&QUEUE_LIMITS) } else { own };
            Some(EndpointPolicies::new(own))
        };
        let (writer, reader) = (of(End::Writer, of_writers), of(End::Reader, of_readers));
        Self { writer, reader, ..Self::default() }
    }

    const fn own(&self, end: End) -> Option<&EndpointPolicies> {
        match end {
            End::Writer => self.writer.as_ref(),
            End::Reader => self.reader.as_ref(),
        }
    }

    /// Rejects policies that are requested of an endpoint that does not have them.
    pub(crate) fn check_ends(&self) -> Result<(), SpannedError> {
        for end in End::BOTH {
            let Some(EndpointPolicies(own)) = self.own(end) else { continue };
            let mut qos = Qos::default();
            own.apply(&mut qos);
            if let Some(&field) = end.foreign(&qos).first() {
                let words = format!("{} have no {}", end.name(), without_unit(field));
                let hint = "put it under the other endpoint, or in `[qos]` for both (DDS 1.4 section 2.2.3)";
                return Err(contradiction(words, hint).at(own.place(field)));
            }
        }
        Ok(())
    }

    /// Rejects policies with which these writers and readers never match. `ends` is the resulting QoS.
    pub(crate) fn check_match(&self, ends: &EndpointQos, who: &str) -> Result<(), SpannedError> {
        let Some(Mismatch { field, words }) = mismatch(ends) else { return Ok(()) };
        let of_ends = [&self.reader, &self.writer].into_iter().flatten().map(|own| own.0.place(field));
        let at = of_ends.chain([self.place(field)]).find(|at| !at.is_empty()).unwrap_or_default();
        let words = format!("{who} never match: {} {words}", without_unit(field));
        let hint = match field {
            "ownership" => "request the same of `writer` and `reader` (DDS 1.4 section 2.2.3.9)",
            "partitions" => "give `writer` and `reader` a common partition (DDS 1.4 section 2.2.3.13)",
            _ => "let `writer` offer at least as much as `reader` requests (DDS 1.4 section 2.2.3)",
        };
        Err(contradiction(words, hint).at(at))
    }

    /// Returns the position of a field of [`Qos`] in the file.
    fn place(&self, field: &'static str) -> Span {
        let name = without_unit(field);
        self.set_fields()
            .into_iter()
            .find(|(set_fields, ..)| *set_fields == name)
            .map(|(.., at)| at)
            .unwrap_or_default()
    }
}

impl Factors {
    /// Returns the requested QoS of an endpoint of flow number `stream`, from 0, without queue limits.
    fn qos_of(&self, end: End, stream: usize) -> &Qos {
        let own = self.flows.get(stream).and_then(|flow| Some((flow.qos.as_ref()?, &flow.qos_of_ends)));
        let (both, ends) = own.unwrap_or((&self.qos, &self.qos_of_ends));
        match (ends, end) {
            (Some(ends), End::Writer) => &ends.writer,
            (Some(ends), End::Reader) => &ends.reader,
            (None, _) => both,
        }
    }

    /// Returns the QoS of the writer of a flow.
    #[must_use]
    pub fn writer_qos(&self, stream: usize) -> Qos {
        self.with_instances(limited(self.qos_of(End::Writer, stream), self.queues.send_samples))
    }

    /// Returns the QoS of the reader of a flow.
    #[must_use]
    pub fn reader_qos(&self, stream: usize) -> Qos {
        self.with_instances(limited(self.qos_of(End::Reader, stream), self.queues.receive_samples))
    }

    /// Returns whether two cells request the same QoS of writers and of readers, for samples of their sizes.
    pub(crate) fn same_qos(&self, other: &Self) -> bool {
        let same = |a: &Qos, b: &Qos| same_request(a, self.size_bytes, b, other.size_bytes);
        let of_ends = match (&self.qos_of_ends, &other.qos_of_ends) {
            (Some(a), Some(b)) => same(&a.writer, &b.writer) && same(&a.reader, &b.reader),
            (a, b) => a == b,
        };
        of_ends && same(&self.qos, &other.qos)
    }

    /// Appends the requested QoS, without the limits of samples, whose defaults depend on the size.
    pub(crate) fn write_qos(&self, text: &mut String) {
        let ends = self.qos_of_ends.iter().flat_map(|ends| [&ends.writer, &ends.reader]);
        for qos in std::iter::once(&self.qos).chain(ends) {
            let _ = writeln!(text, "{:?}", Qos { max_samples: None, ..qos.clone() });
        }
    }

    /// Returns whether delivery is reliable. The reader decides: a writer that offers less does not match.
    #[must_use]
    pub fn is_reliable(&self, stream: usize) -> bool {
        self.qos_of(End::Reader, stream).reliability == Some(Reliability::Reliable)
    }
}

fn limited(qos: &Qos, samples: Option<u32>) -> Qos {
    let limit = samples.and_then(|samples| i32::try_from(samples).ok());
    Qos { max_samples: limit.or(qos.max_samples), ..qos.clone() }
}

/// A policy of which the writer offers less than the reader requests.
pub(crate) struct Mismatch {
    pub(crate) field: &'static str,
    pub(crate) words: String,
}

/// Returns the first policy that prevents a match, by DDS 1.4 section 2.2.3. Policies that are not requested have
/// the defaults of the standard.
pub(crate) fn mismatch(ends: &EndpointQos) -> Option<Mismatch> {
    let EndpointQos { writer, reader } = ends;
    let standard = Qos::standard_defaults();
    macro_rules! first_unmet {
        ($(
            $(#[$doc:meta])* $file_doc:literal $key:ident: $in_file:ty => $field:ident: $type:ty,
            policy $policy:ident, ends $ends:ident, default $scope:ident($default:expr), abi($($abi:ident),+)
            $(, range $range:ident)? $(, agree $agree:path)?;
        )*) => {
            $($(
                let of = |qos: &Qos| qos.$field.clone().or_else(|| standard.$field.clone());
                let pair = of(writer).zip(of(reader));
                if let Some((offered, requested)) = pair.filter(|(offered, requested)| !$agree(offered, requested)) {
                    let words = format!("{} offered, {} requested", word(&offered), word(&requested));
                    return Some(Mismatch { field: stringify!($field), words });
                }
            )?)*
        };
    }
    driver_abi::policy_table!(first_unmet);
    None
}

fn at_least<T: Ord>(offered: &T, requested: &T) -> bool {
    offered >= requested
}

fn at_most<T: Ord>(offered: &T, requested: &T) -> bool {
    offered <= requested
}

fn presents(offered: &Presentation, requested: &Presentation) -> bool {
    offered.scope >= requested.scope
        && offered.coherent_access >= requested.coherent_access
        && offered.ordered_access >= requested.ordered_access
}

/// Returns whether the partitions may match. Patterns are assumed to match, because the middleware evaluates them.
fn meet(offered: &[String], requested: &[String]) -> bool {
    // An endpoint without partitions is in the partition with the empty name.
    let nameless = [String::new()];
    let [offered, requested] =
        [offered, requested].map(|names| if names.is_empty() { &nameless[..] } else { names });
    let mut all = offered.iter().chain(requested);
    all.any(|name| name.contains(['*', '?', '['])) || offered.iter().any(|name| requested.contains(name))
}

/// Returns a value in its file format.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value).unwrap_or_default() {
        serde_json::Value::String(word) => word,
        serde_json::Value::Number(ns) => ns.as_u64().map_or_else(|| ns.to_string(), short),
        other => other.to_string(),
    }
}

/// Returns the key of a duration in the experiment file.
fn without_unit(field: &'static str) -> &'static str {
    field.strip_suffix("_ns").unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_of_an_end_are_those_of_its_qos() {
        let text = "max_blocking = \"1s\"\nservice_cleanup = \"1s\"\nservice_history = \"keep_last\"\nservice_history_depth = 1\n\
                    service_max_samples = 9\nservice_max_instances = 9\nservice_max_samples_per_instance = 9\nlifespan = \"1s\"\n\
                    ownership_strength = 1\ntransport_priority = 1\nautodispose_unregistered = true\ndeadline = \"1s\"\n\
                    minimum_separation = \"1s\"\nautopurge_nowriter = \"1s\"\nautopurge_disposed = \"1s\"\nmax_samples = 9\n\
                    user_data = \"x\"\nhistory = \"keep_last\"\nhistory_depth = 1\n";
        let all: Policies = toml::from_str(text).expect("policies");
        let qos = |policies: &Policies| {
            let mut qos = Qos::default();
            policies.apply(&mut qos);
            qos
        };
        assert_eq!(qos(&all.of_end(End::Writer)), qos(&all).of_writers());
        assert_eq!(qos(&all.of_end(End::Reader)), qos(&all).of_readers());
    }
}
