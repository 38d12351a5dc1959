//! Abilities of a driver, and the settings that need them.

use experiment::{DriverDescription, Durability, Policy, ReceiveMode, Support, TransportInfo};

use crate::{
    error::{Cause, PerftestError, Source},
    settings::{Batch, History, Receive, Settings},
    table::Need,
    warning::Warning,
};

/// Largest DDS domain whose ports are valid with the default mapping of RTPS.
const LAST_DOMAIN: u32 = 232;

impl Need {
    /// Returns the text of an ability that a driver lacks; `None` if the driver has it.
    #[must_use]
    pub fn missing_in(self, driver: &DriverDescription) -> Option<&'static str> {
        let receives = |mode| driver.receive_modes.contains(&mode);
        let supports = |policy| driver.support(policy) != Support::Unsupported;
        let keyed = driver.type_kinds.iter().any(|kind| kind == "keyed");
        let (has, what) = match self {
            Self::Nothing | Self::Transport => (true, ""),
            Self::Batching => {
                (driver.has("native_batching") || driver.has("application_batching"), "batches")
            }
            Self::KeyedType => (keyed, "type with a key"),
            Self::ContentFilter => (driver.has("content_filter") && keyed, "content filter"),
            Self::Loans => (driver.has("writer_loans"), "loans of a writer"),
            Self::AsyncWrite => (driver.has("async_write"), "thread that publishes"),
            Self::Multicast => (driver.has("multicast"), "multicast"),
            Self::Waitset => (receives(ReceiveMode::Waitset), "waitset"),
            // A bare socket is best-effort anyway.
            Self::Reliability => {
                (supports(Policy::Reliability) || !has_discovery(driver), "choice of reliability")
            }
            Self::Durability => (supports(Policy::Durability), "choice of durability"),
            Self::ResourceLimits => (supports(Policy::ResourceLimits), "limits of queues"),
            Self::History => (supports(Policy::History), "choice of the history"),
            Self::Sockets => (!has_discovery(driver), "bare sockets"),
        };
        (!has).then_some(what)
    }
}

/// Returns whether a driver has discovery: without it, it is a bare socket.
fn has_discovery(driver: &DriverDescription) -> bool {
    !driver.has("locators")
}

impl Settings {
    /// Adapts the settings to a driver: defaults that it cannot honour are changed, with a warning.
    ///
    /// # Errors
    /// Returns an error if the user asked for something that the driver cannot honour.
    pub fn adapt(&mut self, driver: &DriverDescription) -> Result<Vec<Warning>, PerftestError> {
        self.check_requested(driver)?;
        let mut warnings = Vec::new();
        for (option, need) in self.needs() {
            let Some(what) = need.missing_in(driver) else { continue };
            let changed = match option {
                "batchSize" => {
                    self.shared.batch = Batch::Off;
                    "samples are not batched"
                }
                "sendQueueSize" => {
                    self.local.send_queue = None;
                    "the queue is that of the driver"
                }
                // Adopted from a publisher, or implied by another option.
                _ => return Err(self.lacking(option, driver, what)),
            };
            if has_discovery(driver) {
                let text = format!("has no effect: driver `{}` has no {what}; {changed}", driver.name);
                warnings.push(Warning::new(option, text));
            }
        }
        if self.local.receive == Receive::Listener && !driver.receive_modes.contains(&ReceiveMode::Listener) {
            self.local.receive = Receive::ReadThread { group_samples: 1, group_us: 0 };
            let text = format!("is implied: driver `{}` has no listener", driver.name);
            warnings.push(Warning::new("useReadThread", text));
        }
        self.check_domain(driver)?;
        Ok(warnings)
    }

    /// Checks that a driver has what the options of this process need, also before it knows those of the others.
    ///
    /// # Errors
    /// Returns an error if the user asked for something that the driver cannot honour.
    pub fn check_requested(&self, driver: &DriverDescription) -> Result<(), PerftestError> {
        let is_socket = !has_discovery(driver) && driver.support(Policy::Reliability) == Support::Unsupported;
        if is_socket && !self.local.raw_transport {
            let reason =
                format!("driver `{}` has bare sockets, without discovery and repetition", driver.name);
            let instead = "add `-rawTransport`, or use a driver of DDS middleware";
            return Err(self.error("driver", Cause::unsupported(&reason, instead)));
        }
        for (option, need) in self.needs() {
            if let Some(what) = need.missing_in(driver).filter(|_| self.given(option).is_some()) {
                return Err(self.lacking(option, driver, what));
            }
        }
        self.check_transport(driver)
    }

    /// Returns the abilities that the settings need, each with its option.
    fn needs(&self) -> Vec<(&'static str, Need)> {
        let (shared, local) = (&self.shared, &self.local);
        let all = [
            (local.raw_transport, "rawTransport", Need::Sockets),
            (matches!(shared.batch, Batch::Bytes(_)), "batchSize", Need::Batching),
            (shared.batch == Batch::Turbo, "enableTurboMode", Need::Batching),
            (shared.keyed, "keyed", Need::KeyedType),
            (local.filter.is_some(), "cft", Need::ContentFilter),
            (shared.zero_copy, "zeroCopy", Need::Loans),
            (local.asynchronous, "asynchronous", Need::AsyncWrite),
            (shared.multicast, "multicast", Need::Multicast),
            (local.receive != Receive::Listener, "useReadThread", Need::Waitset),
            (!shared.reliable, "bestEffort", Need::Reliability),
            (shared.durability != Durability::Volatile, "durability", Need::Durability),
            (shared.history != History::KeepAll, "keepLast", Need::History),
            (local.send_queue.is_some(), "sendQueueSize", Need::ResourceLimits),
            (local.receive_queue.is_some(), "receiveQueueSize", Need::ResourceLimits),
        ];
        all.into_iter().filter(|(needed, ..)| *needed).map(|(_, option, need)| (option, need)).collect()
    }

    /// Returns the names that drivers have for the transport of the test, the preferred one first; `None`: the default of the
    /// driver. Samples of `-zeroCopy` are shared where the driver can.
    #[must_use]
    pub fn transport_names(&self) -> Option<&'static [&'static str]> {
        let transport = self.local.transport?;
        Some(if self.shared.zero_copy { transport.sharing_names() } else { transport.driver_names() })
    }

    fn check_transport(&self, driver: &DriverDescription) -> Result<(), PerftestError> {
        let found = match self.transport_names() {
            None => driver.transport(None),
            Some(names) => names.iter().find_map(|name| driver.transport(Some(name))),
        };
        let option = ["transport", "enableSharedMemory", "enableTcpOnly"]
            .into_iter()
            .find(|option| self.given(option).is_some())
            .unwrap_or("transport");
        let Some(TransportInfo { name, max_payload_bytes: max, .. }) = found else {
            let known: Vec<&str> = driver.transports.iter().map(|own| own.name.as_str()).collect();
            let reason = format!("driver `{}` has the transports {}", driver.name, known.join(", "));
            return Err(self.unsupported(option, &reason));
        };
        let largest = self.shared.max_size();
        if self.shared.payload_bytes(largest, self.local.raw_transport) > *max {
            let option = if self.shared.scan { "scan" } else { "dataLen" };
            let reason = format!("transport {name} of driver `{}` takes at most {max} bytes", driver.name);
            return Err(self.unsupported(option, &reason));
        }
        Ok(())
    }

    fn check_domain(&self, driver: &DriverDescription) -> Result<(), PerftestError> {
        if self.local.domain <= LAST_DOMAIN || !has_discovery(driver) {
            return Ok(());
        }
        let reason = format!("driver `{}` has the domains 0 to {LAST_DOMAIN}", driver.name);
        Err(self.unsupported("domain", &reason))
    }

    fn lacking(&self, option: &str, driver: &DriverDescription, what: &str) -> PerftestError {
        self.unsupported(option, &format!("driver `{}` has no {what}", driver.name))
    }

    fn unsupported(&self, option: &str, reason: &str) -> PerftestError {
        let instead = "remove it, or use another driver: `ddsmark drivers info` shows their abilities";
        self.error(option, Cause::unsupported(reason, instead))
    }

    /// Returns the error of an option, as it was given.
    fn error(&self, option: &str, cause: Cause) -> PerftestError {
        let given = self.given(option);
        let value = given.map(|given| given.value.as_str()).filter(|value| *value != "true");
        let source = given.map_or(Source::CommandLine, |given| given.source.clone());
        let item = value.map_or_else(|| format!("-{option}"), |value| format!("-{option} {value}"));
        PerftestError { source, item, cause }
    }
}
