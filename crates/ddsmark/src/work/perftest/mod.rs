//! Processes of `ddsmark perftest`: publisher 0 leads the test with the runner, and all others are its guests.

mod distances;
#[cfg(test)]
mod effects;
mod experiment;
pub mod guest;
mod interoperation;
pub mod leader;
mod leader_rows;
mod meeting;
mod missed_rates;
mod origins;
mod payload_file;
mod printer;
mod publishers;
mod qos_file;
mod queues;
mod rates;
mod receiving;
mod rows;

use std::{collections::BTreeMap, sync::Arc};

use ::experiment::{
    DriverDescription, KeyFilter, ParticipantSpec, PayloadFile, ReceiveMode, ThreadPriorities,
};
use host::{DriverFile, Facts, LocalSite, Site as _};
use perftest::{Nic, PerftestError, Receive, Settings, Transport};
use rendezvous::{Outcome, PeerRole, lobby::DriverIdentity, streams::SessionEvent};
use runner::StopToken;
use serde::{Deserialize, Serialize};

use self::{
    publishers::{OwnSamples, Publisher},
    qos_file::FileQos,
};
use super::{drivers::Drivers, local::Local};
use crate::cli::{
    cli_error::{CliError, ExitStatus, Result},
    output::note,
};

/// Reason of a test that a signal ended.
const INTERRUPTED: &str = "it was interrupted";
/// Next step if no option offers that of a message.
const CHANGE_OPTIONS: &str = "change the options of the test: `ddsmark perftest -help` lists them";
/// Beginning of the result of a test that is complete, and not valid.
const NOT_VALID: &str = "the test is complete, and not valid";
/// Name of the loopback interface.
const LOOPBACK: &str = "lo";

/// Process of a test, before it meets the others.
pub struct Process {
    /// Settings.
    pub settings: Settings,
    /// The driver.
    pub drivers: Drivers,
    /// This host.
    pub site: LocalSite,
    /// Facts about this host.
    pub facts: Facts,
    /// Name of the network interface.
    pub interface: String,
    /// File with the bytes of samples, if it has one.
    pub payload: Option<PayloadFile>,
    /// Policies of the QoS file, if it has one.
    pub qos: Option<FileQos>,
    /// Samples of a publisher.
    pub samples: Option<OwnSamples>,
    /// Stop requests of the user.
    pub stop: StopToken,
}

/// Part of a process that the leader plans with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnPart {
    /// Name of the transport.
    pub transport: String,
    /// Name of the network interface.
    pub interface: String,
    /// Receive mode of its reader of data, in a subscriber.
    pub receive: Option<(ReceiveMode, u32, u32)>,
    /// Keys of the samples that its reader of data receives.
    pub filter: Option<KeyFilter>,
    /// Its samples, in a publisher.
    pub samples: Option<OwnSamples>,
    /// Number of samples in the queue of its reader.
    pub receive_queue: Option<u32>,
    /// Checksum of its file with the bytes of samples.
    pub payload: Option<String>,
    /// Priorities of its threads.
    pub priorities: Option<ThreadPriorities>,
    /// Whether it prints rows during the test.
    pub intervals: bool,
    /// Profile of its QoS file, and the checksum of the file.
    pub qos: Option<String>,
    /// Whether its middleware packs batches, so that another middleware unpacks them.
    pub packs: bool,
}

impl Process {
    /// Creates a process, after checks that need no other process.
    pub fn new(settings: Settings, drivers: Drivers, Local { site, stop }: Local) -> Result<Self> {
        experiment::check_seconds(&settings.shared)?;
        let facts = site.facts()?;
        Self::on_host(settings, drivers, site, facts, stop)
    }

    /// Creates a process on a host with these facts.
    fn on_host(
        settings: Settings,
        drivers: Drivers,
        site: LocalSite,
        facts: Facts,
        stop: StopToken,
    ) -> Result<Self> {
        let interface = interface(&settings, &facts)?;
        let (payload, qos) = (payload_file::read(&settings)?, qos_file::read(&settings)?);
        let samples = OwnSamples::of(&settings)?;
        let mut process = Self { settings, drivers, site, facts, interface, payload, qos, samples, stop };
        match process.settings.role {
            perftest::Role::Publisher => {
                process.adapt()?;
                if process.settings.local.id == 0 {
                    experiment::check(&process)?;
                }
            }
            perftest::Role::Subscriber => {
                let checked = process.settings.check_requested(process.description());
                checked.map_err(|error| rejected(&error))?;
            }
        }
        Ok(process)
    }

    /// Adapts the settings to the driver. A subscriber does so when it has adopted those of the publisher.
    pub fn adapt(&mut self) -> Result<()> {
        let driver = self.description().clone();
        self.adapt_with(&driver)
    }

    /// Adapts the settings to the driver of the other side if its middleware is another one. `packs`: whether the middleware of the
    /// publishers packs batches.
    pub fn adapt_to(&mut self, other: &DriverIdentity, packs: bool) -> Result<()> {
        if middleware(&other.version) == middleware(&self.middleware()) {
            return Ok(());
        }
        let mut pair = self.description().clone();
        pair.name = match self.settings.role {
            perftest::Role::Publisher => format!("{}+{}", pair.name, other.name),
            perftest::Role::Subscriber => format!("{}+{}", other.name, pair.name),
        };
        // A driver unpacks only what it has packed itself.
        pair.features.retain(|feature| !feature.ends_with("_batching"));
        pair.features.extend(packs.then(|| "native_batching".to_owned()));
        self.adapt_with(&pair)
    }

    fn adapt_with(&mut self, driver: &DriverDescription) -> Result<()> {
        for warning in self.settings.adapt(driver).map_err(|error| rejected(&error))? {
            note(&format!("warning: {warning}"));
        }
        Ok(())
    }

    /// Returns the description of the driver.
    pub fn description(&self) -> &DriverDescription {
        &self.drivers.descriptions[&self.settings.driver]
    }

    /// Returns the file of the driver.
    pub fn driver_file(&self) -> DriverFile {
        let name = self.settings.driver.clone();
        DriverFile { path: self.drivers.files[&name].clone(), name }
    }

    /// Returns the name of the requested transport.
    pub fn transport(&self) -> String {
        self.transport_of(self.settings.local.transport.map(Transport::driver_names))
    }

    /// Returns the name of the transport of the test.
    pub fn test_transport(&self) -> String {
        self.transport_of(self.settings.transport_names())
    }

    /// Returns the first of these names that the driver has, or its default.
    fn transport_of(&self, names: Option<&[&str]>) -> String {
        let has = |name: &&&str| self.description().transports.iter().any(|own| own.name == ***name);
        match names.and_then(|names| names.iter().find(has)) {
            Some(name) => (*name).to_owned(),
            None => self.description().transports.first().map(|own| own.name.clone()).unwrap_or_default(),
        }
    }

    /// Returns the participant of the control topic over a transport.
    pub fn control_participant(&self, transport: String) -> ParticipantSpec {
        let local = &self.settings.local;
        let peers: Arc<[String]> = local.peers.iter().map(|peer| peer.address.clone()).collect();
        // Beside those of the test. Over connections, a driver may connect fewer.
        let participants = (local.transport == Some(Transport::Tcp))
            .then(|| local.partners.saturating_add(1).saturating_mul(2));
        ParticipantSpec {
            transport,
            participants,
            interface: self.interface.clone(),
            // Without peers, the middleware discovers by multicast, as it does by default.
            vendor_defaults: peers.is_empty(),
            peers,
            ..ParticipantSpec::default()
        }
    }

    /// Returns what the leader plans with.
    pub fn own_part(&self) -> OwnPart {
        let local = &self.settings.local;
        let receive = match local.receive {
            Receive::Listener => (ReceiveMode::Listener, 1, 0),
            Receive::ReadThread { group_samples, group_us } => {
                (ReceiveMode::Waitset, group_samples, group_us)
            }
        };
        OwnPart {
            transport: self.transport(),
            interface: self.interface.clone(),
            receive: (self.settings.role == perftest::Role::Subscriber).then_some(receive),
            filter: local.filter,
            samples: self.samples.clone(),
            receive_queue: local.receive_queue,
            payload: self.payload.as_ref().map(|file| file.sha256.clone()),
            priorities: local.priorities,
            intervals: local.output.intervals,
            qos: self.qos.as_ref().map(|qos| qos.identity.clone()),
            packs: self.description().has("native_batching"),
        }
    }

    /// Returns this process as a publisher; `None` for a subscriber.
    pub fn publisher(&self) -> Option<Publisher> {
        Publisher::of_process(self)
    }

    /// Returns the middleware with its version.
    pub fn middleware(&self) -> String {
        let description = self.description();
        format!("{} {}", description.middleware, description.middleware_version)
    }

    /// Returns properties of the host for the JSON document.
    pub fn host_texts(&self) -> BTreeMap<String, String> {
        let host = &self.facts.host;
        let cpu = host.cpu.clone().unwrap_or_default();
        [("name", host.name.clone()), ("kernel", host.kernel.clone()), ("cpu", cpu)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    /// Returns the versions for the JSON document.
    pub fn versions(&self) -> BTreeMap<String, String> {
        let description = self.description();
        [
            ("ddsmark", env!("CARGO_PKG_VERSION").to_owned()),
            ("driver", description.driver_version.clone()),
            ("middleware", self.middleware()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// Returns the network interface of `-nic`; without it, the only one that leads to other hosts, or the loopback interface
/// if there is none.
fn interface(settings: &Settings, facts: &Facts) -> Result<String> {
    let wrong = |error: String, hint: String| CliError::usage(error, hint);
    let of_addresses = || facts.addresses.iter().map(|own| own.interface.as_str());
    match &settings.local.nic {
        Some(Nic::Name(name)) => {
            facts.check_interface(name)?;
            Ok(name.clone())
        }
        Some(Nic::Address(address)) if address.is_loopback() => Ok(LOOPBACK.to_owned()),
        Some(Nic::Address(address)) => {
            let ipv4 = facts.addresses.iter().find(|own| *address == own.address);
            let ipv6 = facts.ipv6_addresses.iter().find(|(_, own)| address == *own).map(|(name, _)| name);
            ipv4.map(|own| &own.interface).or(ipv6).cloned().ok_or_else(|| {
                let known: Vec<String> = facts.addresses.iter().map(|own| own.address.to_string()).collect();
                let error = format!("`-nic {address}` is not an address of this host");
                wrong(error, format!("available: {}", known.join(", ")))
            })
        }
        None => {
            let mut names: Vec<&str> = of_addresses().collect();
            names.dedup();
            match names[..] {
                [] => Ok(LOOPBACK.to_owned()),
                [only] => Ok(only.to_owned()),
                _ => Err(wrong(
                    format!("this host has several network interfaces: {}", names.join(", ")),
                    format!("name one, such as `-nic {}`", names[0]),
                )),
            }
        }
    }
}

/// Returns the name of a process as a host of the plan.
fn host_name(role: PeerRole, id: u16) -> String {
    format!("{}-{id}", role.name())
}

/// Returns the name of the leader as a host of the plan.
fn leader_name() -> String {
    host_name(PeerRole::Publisher, 0)
}

/// Returns the name of a middleware without its version.
fn middleware(version: &str) -> &str {
    version.rsplit_once(' ').map_or(version, |(name, _)| name)
}

/// Returns how this process ended, for the other side. `invalid`: reasons why the test is not valid.
fn outcome(ended: &Result<ExitStatus>, invalid: &[String]) -> Outcome {
    match ended {
        Ok(ExitStatus::Done) => Outcome::success("the test is complete"),
        Ok(ExitStatus::Invalid) if invalid.is_empty() => Outcome::success(NOT_VALID),
        Ok(ExitStatus::Invalid) => Outcome::success(format!("{NOT_VALID}: {}", invalid.join("; "))),
        Ok(ExitStatus::Interrupted) => Outcome::failure(INTERRUPTED, None),
        Ok(_) => Outcome::failure("the test has failed", None),
        Err(error) => Outcome::failure(error.text(), error.hint().map(ToOwned::to_owned)),
    }
}

/// Returns why a test that ended so is not valid, unless its runs say it.
fn invalid(ended: &Result<ExitStatus>) -> Option<String> {
    match ended {
        Ok(ExitStatus::Interrupted) => Some(INTERRUPTED.to_owned()),
        Ok(_) => None,
        Err(error) => Some(error.text().to_owned()),
    }
}

/// Prints an event of a session that the user has to know.
fn note_event(event: &SessionEvent) {
    match event {
        SessionEvent::Intruder(peer) => note(&format!("warning: unexpected {peer} during the test")),
        SessionEvent::OtherVersion { address, version } => {
            note(&format!("warning: unexpected {address} with version {version} during the test"));
        }
        SessionEvent::Ignored(samples) => {
            note(&format!("warning: {samples} control samples of other programs were ignored"));
        }
        SessionEvent::Ended(_) => {}
    }
}

/// Returns an error that names options instead of keys of experiment files.
pub fn in_options(settings: &Settings, error: CliError) -> CliError {
    let hint = |hint: &str| settings.hint_in_options(hint).unwrap_or_else(|| CHANGE_OPTIONS.to_owned());
    error.reworded(|text| settings.in_options(text), hint)
}

/// Returns the error of an option.
pub fn rejected(error: &PerftestError) -> CliError {
    CliError::usage(error, error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_of_an_invalid_test_has_its_reasons() {
        let invalid = Ok(ExitStatus::Invalid);
        let reasons = ["100 bytes: no sample has arrived".to_owned()];
        let told = outcome(&invalid, &reasons);
        assert!(told.success && told.text.starts_with(NOT_VALID), "{told:?}");
        assert!(told.text.ends_with(": 100 bytes: no sample has arrived"), "{told:?}");
        assert_eq!(outcome(&invalid, &[]).text, NOT_VALID);
        assert!(!outcome(&Ok(ExitStatus::Done), &reasons).text.starts_with(NOT_VALID));
    }
}
