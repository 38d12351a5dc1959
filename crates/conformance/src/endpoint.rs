//! Configuration and matching of the endpoints of a pair.

use driver_host::{MatchState, Monitor, ReaderConfig, TypeKind, WriterConfig};
use experiment::{Qos, ReceiveMode};
use serde::{Deserialize, Serialize};

use crate::Stop;

/// Configuration of a pair; `Fixture::pair_config` selects the strongest delivery guarantee of the driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PairConfig {
    /// Requested policies of both endpoints.
    pub qos: Qos,
    /// Receive mode of the reader.
    pub mode: ReceiveMode,
    /// Type of the samples.
    pub type_kind: TypeKind,
    /// Largest payload in bytes.
    pub max_payload_bytes: u64,
    /// Maximum payload of a batch in bytes; 0: no batches.
    pub batch_bytes: u64,
    /// Whether the writer writes in lent memory.
    pub loans: bool,
    /// Condition on the key of the samples that the reader receives.
    pub content_filter: Option<String>,
}

/// Returns the configuration of a writer.
pub fn writer_config(topic: &str, pair_config: &PairConfig) -> WriterConfig {
    WriterConfig {
        topic: topic.to_owned(),
        type_kind: pair_config.type_kind,
        qos: pair_config.qos.clone(),
        max_payload_bytes: pair_config.max_payload_bytes,
        batch_bytes: pair_config.batch_bytes,
        async_write: false,
        loans: pair_config.loans,
    }
}

/// Returns the configuration of a reader.
pub fn reader_config(topic: &str, pair_config: &PairConfig) -> ReaderConfig {
    ReaderConfig {
        topic: topic.to_owned(),
        type_kind: pair_config.type_kind,
        qos: pair_config.qos.clone(),
        max_payload_bytes: pair_config.max_payload_bytes,
        batched: pair_config.batch_bytes > 0,
        polling: pair_config.mode == ReceiveMode::Polling,
        content_filter: pair_config.content_filter.clone(),
    }
}

/// Endpoint of a pair, in this process or in another.
pub trait End {
    /// Returns the number of matched peers, and when it last changed.
    fn match_state(&self) -> Result<MatchState, Stop>;
    /// Returns the locator, with which a peer without discovery connects.
    fn locator(&self) -> Result<String, Stop>;
    /// Connects to the peer with this locator.
    fn connect(&self, locator: &str) -> Result<(), Stop>;

    /// Returns the number of matched peers.
    fn matched(&self) -> Result<u32, Stop> {
        Ok(self.match_state()?.count)
    }
}

impl End for Monitor {
    fn match_state(&self) -> Result<MatchState, Stop> {
        Ok(self.match_state()?)
    }
    fn locator(&self) -> Result<String, Stop> {
        Ok(self.locator()?)
    }
    fn connect(&self, locator: &str) -> Result<(), Stop> {
        Ok(self.connect(locator)?)
    }
}
