//! Abilities of a driver, and the settings that need them.

use crate::{
    error::{Cause, PerftestError, Source},
    settings::{Batch, Durability, History, Receive, Settings},
    table::Need,
    warning::Warning,
};

/// Abilities of a driver, as its description has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverAbilities {
    /// Name of the driver.
    pub name: String,
    /// Whether it has discovery: without it, it is a bare socket.
    pub discovery: bool,
    /// Whether it batches samples, natively or by itself.
    pub batching: bool,
    /// Whether it has a type with a key.
    pub keyed_type: bool,
    /// Whether it filters by content.
    pub content_filter: bool,
    /// Whether a writer lends memory for samples of a type of fixed size.
    pub loans: bool,
    /// Whether a thread of the middleware can publish samples.
    pub async_write: bool,
    /// Whether it sends data by multicast.
    pub multicast: bool,
    /// Whether a reader can wait in a thread of its own.
    pub waitset: bool,
    /// Whether a reader can call a listener.
    pub listener: bool,
    /// Whether the policy RELIABILITY can be chosen.
    pub reliability: bool,
    /// Whether the policy DURABILITY can be chosen.
    pub durability: bool,
    /// Whether the policy HISTORY can be chosen.
    pub history: bool,
    /// Whether queues can have limits.
    pub queue_limits: bool,
    /// Transports, the default first: name, and maximum payload in bytes.
    pub transports: Vec<(String, u64)>,
    /// Smallest and largest domain; `None` without domains.
    pub domains: Option<(u32, u32)>,
}

impl DriverAbilities {
    /// Returns the text of a missing ability; `None` if the driver has it.
    #[must_use]
    pub fn lacks(&self, need: Need) -> Option<&'static str> {
        let (has, what) = match need {
            Need::Nothing | Need::Transport => (true, ""),
            Need::Batching => (self.batching, "batches"),
            Need::KeyedType => (self.keyed_type, "type with a key"),
            Need::ContentFilter => (self.content_filter && self.keyed_type, "content filter"),
            Need::Loans => (self.loans, "loans of a writer"),
            Need::AsyncWrite => (self.async_write, "thread that publishes"),
            Need::Multicast => (self.multicast, "multicast"),
            Need::Waitset => (self.waitset, "waitset"),
            // A bare socket is best-effort anyway.
            Need::Reliability => (self.reliability || !self.discovery, "choice of reliability"),
            Need::Durability => (self.durability, "choice of durability"),
            Need::ResourceLimits => (self.queue_limits, "limits of queues"),
            Need::History => (self.history, "choice of the history"),
            Need::Sockets => (!self.discovery, "bare sockets"),
        };
        (!has).then_some(what)
    }
}

impl Settings {
    /// Adapts the settings to a driver: defaults that it cannot honour are changed, with a warning.
    ///
    /// # Errors
    /// Returns an error if the user asked for something that the driver cannot honour.
    pub fn adapt(&mut self, driver: &DriverAbilities) -> Result<Vec<Warning>, PerftestError> {
        self.check_requested(driver)?;
        let mut warnings = Vec::new();
        for (option, need) in self.needs() {
            let Some(what) = driver.lacks(need) else { continue };
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
            if driver.discovery {
                let text = format!("has no effect: driver `{}` has no {what}; {changed}", driver.name);
                warnings.push(Warning::new(option, text));
            }
        }
        if self.local.receive == Receive::Listener && !driver.listener {
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
    pub fn check_requested(&self, driver: &DriverAbilities) -> Result<(), PerftestError> {
        if !driver.discovery && !driver.reliability && !self.local.raw_transport {
            let reason =
                format!("driver `{}` has bare sockets, without discovery and repetition", driver.name);
            let instead = "add `-rawTransport`, or use a driver of DDS middleware";
            return Err(self.error("driver", Cause::unsupported(&reason, instead)));
        }
        for (option, need) in self.needs() {
            if let Some(what) = driver.lacks(need).filter(|_| self.given(option).is_some()) {
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

    fn check_transport(&self, driver: &DriverAbilities) -> Result<(), PerftestError> {
        let found = match self.transport_names() {
            None => driver.transports.first(),
            Some(names) => {
                names.iter().find_map(|name| driver.transports.iter().find(|(has, _)| has == name))
            }
        };
        let option = ["transport", "enableSharedMemory", "enableTcpOnly"]
            .into_iter()
            .find(|option| self.given(option).is_some())
            .unwrap_or("transport");
        let Some((name, max)) = found else {
            let known: Vec<&str> = driver.transports.iter().map(|(name, _)| name.as_str()).collect();
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

    fn check_domain(&self, driver: &DriverAbilities) -> Result<(), PerftestError> {
        match driver.domains {
            Some((first, last)) if !(first..=last).contains(&self.local.domain) => {
                let reason = format!("driver `{}` has the domains {first} to {last}", driver.name);
                Err(self.unsupported("domain", &reason))
            }
            _ => Ok(()),
        }
    }

    fn lacking(&self, option: &str, driver: &DriverAbilities, what: &str) -> PerftestError {
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
