//! Values of a run that only its workload has.

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::schema::{
    batches::Batches, discovery::DiscoveryRecord, paced::Paced, probes::ProbeStats, ring::Ring,
    search::SearchRecord, spread::EndpointSpread, takes::TakeStats,
};

/// Values of a run that only its workload has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "workload", rename_all = "snake_case")]
pub enum Measurement {
    /// Workload `latency`.
    Latency {
        /// Write calls of pings and echoes that were not accepted at once.
        ping_retries: PingRetries,
        /// For a ring: its hops, and the time per hop.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ring: Option<Ring>,
    },
    /// Workload `throughput`.
    Throughput {
        /// Rates and counts of delivery.
        throughput: Throughput,
    },
    /// Workload `paced`.
    Paced {
        /// Rates and counts of delivery.
        throughput: Throughput,
        /// Planned samples, and whether the sender kept its schedule.
        paced: Paced,
    },
    /// Workload `search`. `endpoints` of such a run are those of its last trial.
    Search {
        /// Trials and bounds.
        search: SearchRecord,
    },
    /// Workload `discovery`.
    Discovery {
        /// Times, traffic and memory.
        discovery: DiscoveryRecord,
    },
}

// The derived implementation would buffer all fields to find the tag, which makes reading a large result slower.
impl<'de> Deserialize<'de> for Measurement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Tag {
            Latency,
            Throughput,
            Paced,
            Search,
            Discovery,
        }
        #[derive(Deserialize)]
        struct Fields {
            workload: Tag,
            ping_retries: Option<PingRetries>,
            ring: Option<Ring>,
            throughput: Option<Throughput>,
            paced: Option<Paced>,
            search: Option<SearchRecord>,
            discovery: Option<DiscoveryRecord>,
        }
        fn required<T, E: Error>(field: Option<T>, name: &'static str) -> Result<T, E> {
            field.ok_or_else(|| E::missing_field(name))
        }

        let Fields { workload, ping_retries, ring, throughput, paced, search, discovery } =
            Fields::deserialize(deserializer)?;
        Ok(match workload {
            Tag::Latency => Self::Latency { ping_retries: required(ping_retries, "ping_retries")?, ring },
            Tag::Throughput => Self::Throughput { throughput: required(throughput, "throughput")? },
            Tag::Paced => Self::Paced {
                throughput: required(throughput, "throughput")?,
                paced: required(paced, "paced")?,
            },
            Tag::Search => Self::Search { search: required(search, "search")? },
            Tag::Discovery => Self::Discovery { discovery: required(discovery, "discovery")? },
        })
    }
}

/// Rates and counts from all writers to all readers. Counts are sums over the flows: with several readers, a sample
/// counts once for each of them. Rates are over the writers' measurement: from the first write to the end of the last
/// write. For the workload `paced` this time is at least as long as the planned measurement.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Offered rate: samples that the writers tried to write, in samples/s.
    pub offered_sps: f64,
    /// Accepted rate: samples that the middleware accepted, in samples/s.
    pub accepted_sps: f64,
    /// Delivered rate: distinct samples that arrived in time (`delivered_in_time`) at a reader, in samples/s. Of each flow at
    /// most the rate between the first and the last of them: n samples have n - 1 intervals. With several readers: the mean
    /// over them. Later arrivals are in `tail`.
    pub delivered_sps: f64,
    /// Goodput: payload of these samples, in 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Number of accepted samples, for each of their readers.
    pub sent: u64,
    /// Number of distinct samples delivered, including the tail.
    pub delivered: u64,
    /// Delivered samples that count for the rate: those that arrived before the end of the writers' measurement
    /// plus the shortest time from write to arrival.
    pub delivered_in_time: u64,
    /// Delivered samples that do not count for the rate.
    pub tail: Tail,
    /// Number of samples sent and never delivered, including the first and last ones.
    pub lost: u64,
    /// Number of samples accepted by a reliable flow and not delivered when the time limit of the drain was
    /// reached.
    pub undelivered: u64,
    /// `lost` in percent of `sent`.
    pub lost_pct: f64,
    /// Number of duplicates.
    pub duplicate: u64,
    /// Number of samples that arrived after a later one.
    pub out_of_order: u64,
    /// Batches that ddsmark flushed. Absent without batching.
    pub batches: Option<Batches>,
    /// Samples per take of the reader's application. Absent if the reader uses listeners.
    pub takes: Option<TakeStats>,
    /// Echo probes. Absent without probes.
    pub probes: Option<ProbeStats>,
    /// Delivered rates of the readers. Absent if there is only one.
    pub readers: Option<EndpointSpread>,
    /// Delivered rates of the writers. Absent if there is only one.
    pub writers: Option<EndpointSpread>,
}

/// Write calls of pings and echoes that were not accepted. A ping is retried, and its RTT starts at the first
/// attempt. An echo is not retried, and its ping counts as lost. A relay, in a ring with several samples in flight,
/// repeats its writes for a limited time, unless a thread of the driver writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PingRetries {
    /// Number of write calls of pings that timed out.
    pub timed_out: u64,
    /// Number of write calls of pings that were rejected.
    pub refused: u64,
    /// Number of pings never accepted: 0, or 1 for the last ping of the run. Counted as lost.
    pub unsent: u64,
    /// Number of write calls of echoes that timed out.
    pub echoes_timed_out: u64,
    /// Number of write calls of echoes that were rejected.
    pub echoes_refused: u64,
}

/// Delivered samples that do not count for the delivered rate: they arrived later than the end of the writers'
/// measurement plus the shortest time from write to arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tail {
    /// Number of these samples.
    pub samples: u64,
    /// Time from the end of the writers' measurement to the last arrival, in ns. Over the runs of a cell: the
    /// maximum.
    pub ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Measurement, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn the_tag_is_found_in_any_place() {
        let retries = r#""ping_retries":{"timed_out":3,"refused":0,"unsent":1,"echoes_timed_out":0,"echoes_refused":0}"#;
        let tag = r#""workload":"latency""#;
        let ping_retries = PingRetries { timed_out: 3, unsent: 1, ..PingRetries::default() };
        let expected = Measurement::Latency { ping_retries, ring: None };
        assert_eq!(read(&format!("{{{tag},{retries}}}")), Ok(expected.clone()));
        assert_eq!(read(&format!("{{{retries},\"unknown\":[],{tag}}}")), Ok(expected));
    }

    #[test]
    fn values_that_the_workload_has_are_required() {
        for (json, field) in [
            ("{}", "workload"),
            (r#"{"workload":"latency"}"#, "ping_retries"),
            (r#"{"workload":"throughput","throughput":null}"#, "throughput"),
            (r#"{"workload":"paced"}"#, "throughput"),
            (r#"{"workload":"search"}"#, "search"),
            (r#"{"workload":"discovery"}"#, "discovery"),
        ] {
            let error = read(json).expect_err(json);
            assert!(error.starts_with(&format!("missing field `{field}`")), "{json}: {error}");
        }
        let error = read(r#"{"workload":"fast"}"#).expect_err("an unknown workload");
        assert!(error.starts_with("unknown variant `fast`"), "{error}");
    }
}
