//! What a driver is, as it says so itself, and the checks that follow from it.
use std::{
    ffi::{CString, c_char},
    ops::BitOr,
    ptr,
};

use driver_abi as abi;

use crate::{
    error::{Error, Result},
    qos::{Policy, Qos, values},
};

/// `DDSMARK_FEATURE_` bits: `Features::LOCATORS.and(Features::INSTANCES)` in a constant, or with `|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "explained in the header")]
pub struct Features(u32);

#[allow(missing_docs, reason = "explained in the header")]
impl Features {
    pub const NONE: Self = Self(0);
    pub const LOCATORS: Self = Self(abi::FEATURE_LOCATORS);
    pub const NATIVE_BATCHING: Self = Self(abi::FEATURE_NATIVE_BATCHING);
    pub const APPLICATION_BATCHING: Self = Self(abi::FEATURE_APPLICATION_BATCHING);
    pub const WAIT_ACKED: Self = Self(abi::FEATURE_WAIT_ACKED);
    pub const WRITER_LOANS: Self = Self(abi::FEATURE_WRITER_LOANS);
    pub const READER_LOANS: Self = Self(abi::FEATURE_READER_LOANS);
    pub const ECHO_IN_LISTENER: Self = Self(abi::FEATURE_ECHO_IN_LISTENER);
    pub const CONTENT_FILTER: Self = Self(abi::FEATURE_CONTENT_FILTER);
    pub const INSTANCES: Self = Self(abi::FEATURE_INSTANCES);
    pub const MULTICAST: Self = Self(abi::FEATURE_MULTICAST);
    pub const ASYNC_WRITE: Self = Self(abi::FEATURE_ASYNC_WRITE);
    pub const SIMULATED: Self = Self(abi::FEATURE_SIMULATED);
    pub const ONE_PROCESS: Self = Self(abi::FEATURE_ONE_PROCESS);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any bit of `other` is here too.
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Features {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

values! {
    /// A type on the wire.
    TypeKind: u32 {
        /// `sequence<octet>`.
        Octets = TYPE_OCTETS,
        /// The same with a key.
        Keyed = TYPE_KEYED,
        /// A fixed-size array, for loans.
        Plain = TYPE_PLAIN,
    }
}
values! {
    /// How samples are received.
    ReceiveMode: u32 {
        /// `receive` sleeps until there is data.
        Waitset = RECEIVE_WAITSET,
        /// `receive` with a time limit of 0, again and again.
        Polling = RECEIVE_POLLING,
        /// A thread of the driver's calls the sink.
        Listener = RECEIVE_LISTENER,
    }
}
values! {
    /// What a driver does with a policy.
    Support: u32 {
        /// Asking for it fails the open call.
        Unsupported = SUPPORT_UNSUPPORTED,
        /// Accepted, without effect.
        Ignored = SUPPORT_IGNORED,
        /// Only decides whether writer and reader match.
        MatchedOnly = SUPPORT_MATCHED_ONLY,
        /// May change how, not what, is delivered.
        Hint = SUPPORT_HINT,
        /// Acts only with a further process or store.
        NeedsService = SUPPORT_NEEDS_SERVICE,
        /// Behaviour changes.
        Enforced = SUPPORT_ENFORCED,
    }
}

/// Where the version of the middleware was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// The library, at run time.
    Library,
    /// What the driver was built against.
    Headers,
    /// The running kernel.
    Kernel,
}

/// A transport of the driver's; the first one is the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// udp4, udp6, tcp4, shm ...
    pub name: &'static str,
    /// The largest payload that it carries through this driver.
    pub max_payload_bytes: u64,
    /// What is special about it.
    pub note: Option<&'static str>,
}

/// An option of the driver's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverOption {
    /// Its name.
    pub name: &'static str,
    /// Its default as text; `None` where the middleware decides.
    pub default: Option<&'static str>,
    /// One line: what it does, unit, range.
    pub help: &'static str,
}

/// What the driver does with each policy: everything is unsupported until said otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    entries: [(Support, Option<&'static str>); abi::POLICY_COUNT],
    fixed: Qos,
}

impl Policies {
    /// Nothing is supported.
    pub fn none() -> Self {
        Self { entries: [(Support::Unsupported, None); abi::POLICY_COUNT], fixed: Qos::default() }
    }

    /// The same, but for one policy.
    #[must_use]
    pub fn with(mut self, policy: Policy, support: Support, note: Option<&'static str>) -> Self {
        self.entries[policy as usize] = (support, note);
        self
    }

    /// Values that are in force whatever is asked, of policies that are unsupported: asking for just these is granted,
    /// asking for others is not. `max_blocking_ns` is not looked at.
    #[must_use]
    pub fn fixed(mut self, fixed: Qos) -> Self {
        self.fixed = fixed;
        self
    }

    /// Fails for a policy that is asked for and unsupported.
    pub(crate) fn check(&self, qos: &Qos) -> Result<()> {
        for policy in Policy::ALL {
            let (support, note) = self.entries[policy as usize];
            if support == Support::Unsupported && qos.has(policy) && !qos.agrees(&self.fixed, policy) {
                let text = if self.fixed.has(policy) {
                    format!("this driver cannot set another {} than the one it has", policy.name())
                } else {
                    format!("this driver has no policy {}", policy.name())
                };
                let error = Error::unsupported(match note {
                    Some(note) => format!("{text}: {note}"),
                    None => text,
                });
                return Err(error.hint("`ddsmark drivers info` shows what a driver does with each policy"));
            }
        }
        Ok(())
    }
}

/// What a driver is. Its features, on which the table depends, are a constant of [`Driver`](crate::Driver), as are the
/// threads that stay, which few have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// As in the file name and on the command line.
    pub name: &'static str,
    /// Of the driver: `env!("CARGO_PKG_VERSION")`.
    pub driver_version: &'static str,
    /// As its makers write it.
    pub middleware: &'static str,
    /// Of the middleware.
    pub middleware_version: String,
    /// Where it was asked.
    pub version_source: VersionSource,
    /// Build type and what else decides speed, where it can be known.
    pub build: Option<String>,
    /// Of the middleware; SPDX.
    pub licence: &'static str,
    /// What `receive` and sinks it has.
    pub receive_modes: &'static [ReceiveMode],
    /// What it carries.
    pub type_kinds: &'static [TypeKind],
    /// At least one; the first is the default.
    pub transports: Vec<Transport>,
    /// The driver's own options.
    pub options: Vec<DriverOption>,
    /// What it does with each policy.
    pub policies: Policies,
}

/// A description with its C twin, which lives as long as the library.
pub struct Described {
    pub(crate) features: Features,
    pub(crate) words: Description,
    raw: abi::Description,
}

// SAFETY: every pointer of `raw` leads to memory that is leaked and that nothing changes.
unsafe impl Send for Described {}
// SAFETY: as above.
unsafe impl Sync for Described {}

impl Described {
    /// Leaks the texts: call it once a driver.
    pub(crate) fn new(features: Features, kept_threads: &[&str], words: Description) -> Self {
        assert!(!words.transports.is_empty(), "a driver has at least one transport");
        let transports: Vec<_> = words
            .transports
            .iter()
            .map(|transport| abi::TransportInfo {
                name: leak(transport.name),
                max_payload_bytes: transport.max_payload_bytes,
                note: leak_or_null(transport.note),
            })
            .collect();
        let options: Vec<_> = words
            .options
            .iter()
            .map(|option| abi::OptionInfo {
                name: leak(option.name),
                default_value: leak_or_null(option.default),
                help: leak(option.help),
            })
            .collect();
        let kept_threads: Vec<_> = kept_threads.iter().map(|name| leak(name)).collect();
        let policies = words.policies.entries.map(|(support, note)| abi::PolicySupport {
            support: support.to_abi(),
            reserved: 0,
            note: leak_or_null(note),
        });
        let raw = abi::Description {
            struct_size: size_of::<abi::Description>() as u32,
            features: features.0,
            name: leak(words.name),
            driver_version: leak(words.driver_version),
            middleware: leak(words.middleware),
            middleware_version: leak(&words.middleware_version),
            version_source: leak(match words.version_source {
                VersionSource::Library => "library",
                VersionSource::Headers => "headers",
                VersionSource::Kernel => "kernel",
            }),
            build: leak_or_null(words.build.as_deref()),
            licence: leak(words.licence),
            receive_modes: words.receive_modes.iter().fold(0, |bits, mode| bits | 1 << mode.to_abi()),
            type_kinds: words.type_kinds.iter().fold(0, |bits, kind| bits | 1 << kind.to_abi()),
            transport_count: transports.len() as u32,
            transports: Box::leak(transports.into_boxed_slice()).as_ptr(),
            option_count: options.len() as u32,
            options: leak_all(options),
            policies,
            kept_thread_count: kept_threads.len() as u32,
            kept_threads: leak_all(kept_threads),
            reserved: 0,
        };
        Self { features, words, raw }
    }

    pub(crate) fn raw(&self) -> *const abi::Description {
        &raw const self.raw
    }
}

fn leak(text: &str) -> *const c_char {
    CString::new(text).expect("a text of a description holds no NUL").into_raw()
}

/// NULL where there are none.
fn leak_all<T>(items: Vec<T>) -> *const T {
    if items.is_empty() { ptr::null() } else { Box::leak(items.into_boxed_slice()).as_ptr() }
}

fn leak_or_null(text: Option<&str>) -> *const c_char {
    text.map_or(ptr::null(), leak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{Durability, Reliability};

    #[test]
    fn unsupported_policies_are_refused_unless_they_are_what_is_there_anyway() {
        let best_effort = Qos { reliability: Some(Reliability::BestEffort), ..Qos::default() };
        let reliable =
            Qos { reliability: Some(Reliability::Reliable), max_blocking_ns: Some(1), ..Qos::default() };
        let volatile = Qos { durability: Some(Durability::Volatile), ..Qos::default() };
        let deadline = Qos { deadline_ns: Some(1), ..Qos::default() };
        let policies = Policies::none()
            .with(Policy::Reliability, Support::Unsupported, Some("best effort is all there is"))
            .with(Policy::Deadline, Support::Ignored, None)
            .fixed(best_effort.clone());
        assert_eq!(policies.check(&Qos::default()), Ok(()));
        assert_eq!(policies.check(&best_effort), Ok(()));
        assert_eq!(policies.check(&deadline), Ok(()));
        let error = policies.check(&reliable).expect_err("refused");
        assert_eq!(error.status(), crate::Status::Unsupported);
        assert_eq!(
            error.to_string(),
            "this driver cannot set another reliability than the one it has: best effort is all there is; \
             hint: `ddsmark drivers info` shows what a driver does with each policy"
        );
        let error = policies.check(&volatile).expect_err("refused").to_string();
        assert!(error.starts_with("this driver has no policy durability; hint: "), "{error}");
    }
}
