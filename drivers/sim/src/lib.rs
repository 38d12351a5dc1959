//! Simulated middleware: its effect on each sample is configured, so the correct results of a measurement are
//! known. See README.md for its options.
#![deny(unsafe_code)]

mod delay_queue;
mod reader;
mod socket;
mod writer;

use std::{path::Path, sync::Arc};

use driver_kit::{
    Description, Driver, DriverOption, Error, Features, Participant, ParticipantConfig, Policies, Policy,
    Qos, QosDuration, ReaderConfig, ReceiveMode, Result, Settings, Support, Transport, TypeKind,
    VersionSource, WriterConfig, effective_qos,
};
use sim_model::{Config, OPTIONS};

use crate::{reader::SimReader, socket::MAX_PAYLOAD, writer::SimWriter};

/// Name of the only transport.
const TRANSPORT: &str = "local";

/// Driver of the simulated middleware.
struct Sim;

impl Driver for Sim {
    type Participant = SimParticipant;

    const FEATURES: Features = Features::LOCATORS
        .and(Features::APPLICATION_BATCHING)
        .and(Features::ECHO_IN_LISTENER)
        .and(Features::WAIT_ACKED)
        .and(Features::SIMULATED);

    fn describe() -> Description {
        Description {
            name: "sim",
            driver_version: env!("CARGO_PKG_VERSION"),
            middleware: "Simulated middleware",
            middleware_version: env!("CARGO_PKG_VERSION").to_owned(),
            version_source: VersionSource::Library,
            build: None,
            licence: "Apache-2.0",
            receive_modes: &[ReceiveMode::Waitset, ReceiveMode::Polling, ReceiveMode::Listener],
            type_kinds: &[TypeKind::Octets],
            transports: vec![Transport {
                name: TRANSPORT,
                max_payload_bytes: MAX_PAYLOAD as u64,
                note: Some(
                    "between processes of one host; samples are lost only as the option `loss` specifies",
                ),
            }],
            options: OPTIONS
                .iter()
                .map(|option| DriverOption {
                    name: option.name,
                    default: Some(option.default),
                    help: option.help,
                })
                .collect(),
            variables: &[],
            policies: Policies::without_storage("`reliable`: lost samples are retransmitted")
                .with(
                    Policy::LatencyBudget,
                    Support::Hint,
                    Some("adds the latency that the option `qos` specifies"),
                )
                .with(
                    Policy::TransportPriority,
                    Support::Hint,
                    Some("adds the latency that the option `qos` specifies"),
                ),
        }
    }

    fn open(config: &ParticipantConfig<'_>) -> Result<SimParticipant> {
        // the interface is not used, but an unknown name is an error
        if let Some(name) = config.interface
            && !Path::new("/sys/class/net").join(name).exists()
        {
            return Err(Error::bad_argument(format!("interface `{name}` does not exist"))
                .hint("list the interfaces with `ip -br link`"));
        }
        let options = config.options.iter().copied();
        let model =
            Config::parse(options).map_err(|error| Error::bad_argument(error.message).hint(error.hint))?;
        let texts = OPTIONS
            .iter()
            .map(|option| (option.name, config.option(option.name).unwrap_or(option.default).to_owned()))
            .collect();
        Ok(SimParticipant { model: Arc::new(model), texts, run_name: config.run_name.to_owned() })
    }
}

/// Returns the effective QoS: the supported policies with the requested values, otherwise with their defaults.
fn in_force(asked: &Qos, max_blocking_ns: u64, writes: bool) -> Qos {
    Qos {
        latency_budget_ns: Some(asked.latency_budget_ns.unwrap_or(QosDuration::Ns(0))),
        // writers only
        transport_priority: writes.then(|| asked.transport_priority.unwrap_or(0)),
        ..effective_qos(asked, max_blocking_ns)
    }
}

/// Configuration of the model, and the name of the run.
struct SimParticipant {
    model: Arc<Config>,
    texts: Vec<(&'static str, String)>,
    run_name: String,
}

impl Participant for SimParticipant {
    type Writer = SimWriter;
    type Reader = SimReader;

    fn settings(&self, settings: &mut Settings<'_>) -> Result<()> {
        settings.set("transport", TRANSPORT);
        for (name, text) in &self.texts {
            settings.set(name, text);
        }
        Ok(())
    }

    fn open_writer(&self, config: WriterConfig<'_>) -> Result<SimWriter> {
        SimWriter::open(self.model.clone(), &self.run_name, &config)
    }

    fn open_reader(&self, config: ReaderConfig<'_>) -> Result<SimReader> {
        reader::open(&self.run_name, config)
    }
}

driver_kit::export!(Sim);
