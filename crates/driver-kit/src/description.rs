//! Driver descriptions, and the checks based on them.
use std::{
    ffi::{CString, c_char},
    ops::BitOr,
    ptr,
};

use driver_abi::{
    self as abi,
    description::{ReceiveMode, Support, TypeKind},
    policies::{Durability, History, Policy, Qos, QosDuration, Reliability},
};

use crate::error::{Error, Result};

/// Feature bits `DDSMARK_FEATURE_*`. Combine them with `|`, or in a constant with
/// `Features::LOCATORS.and(Features::INSTANCES)`.
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

    /// Returns the union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the two sets have a common bit.
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

/// Source of the middleware version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// Library, at run time.
    Library,
    /// Headers that the driver was built against.
    Headers,
    /// Running kernel.
    Kernel,
}

/// Transport of a driver; the first one is the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Name: udp4, udp6, tcp4, shm ...
    pub name: &'static str,
    /// Maximum payload size in bytes with this driver.
    pub max_payload_bytes: u64,
    /// Remark on the transport.
    pub note: Option<&'static str>,
}

/// Driver-specific option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverOption {
    /// Option name.
    pub name: &'static str,
    /// Default value as text; `None` if the middleware decides.
    pub default: Option<&'static str>,
    /// One line of help: effect, unit, range.
    pub help: &'static str,
}

/// Support of each policy by the driver. Policies are unsupported by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    entries: [(Support, Option<&'static str>); abi::POLICY_COUNT],
    fixed: Qos,
}

impl Policies {
    /// Creates a set without supported policies.
    pub fn none() -> Self {
        Self { entries: [(Support::Unsupported, None); abi::POLICY_COUNT], fixed: Qos::default() }
    }

    /// Returns the set with the support of one policy changed.
    #[must_use]
    pub fn with(mut self, policy: Policy, support: Support, note: Option<&'static str>) -> Self {
        self.entries[policy as usize] = (support, note);
        self
    }

    /// Creates the set of a driver that stores no samples. `reliability`: note on that policy.
    pub fn without_storage(reliability: &'static str) -> Self {
        Self::none()
            .with(Policy::Reliability, Support::Enforced, Some(reliability))
            .with(
                Policy::History,
                Support::Enforced,
                Some("`keep_last` applies to samples that a reader has not taken; a writer sends at once and replaces none"),
            )
            .with(
                Policy::Durability,
                Support::Unsupported,
                Some("this driver stores no samples: `volatile` is accepted, other values are rejected"),
            )
            .fixed(Qos { durability: Some(Durability::Volatile), ..Qos::default() })
    }

    /// Sets the fixed values of fields of unsupported policies. A request for exactly these values is accepted, a request
    /// for others is rejected. Other fields of these policies are not compared.
    #[must_use]
    pub fn fixed(mut self, fixed: Qos) -> Self {
        self.fixed = fixed;
        self
    }

    /// Returns an error if an unsupported policy is requested.
    pub(crate) fn check(&self, qos: &Qos) -> Result<()> {
        let differences = self.fixed.differences(qos);
        let differs = |policy| differences.iter().any(|(field, ..)| Qos::policy_of(field) == Some(policy));
        for &policy in Policy::ALL {
            let (support, note) = self.entries[policy as usize];
            let fixed = self.fixed.has(policy);
            if support == Support::Unsupported && qos.has(policy) && (!fixed || differs(policy)) {
                let text = if fixed {
                    format!("this driver does not support the requested value of policy `{}`", policy.name())
                } else {
                    format!("this driver does not support policy `{}`", policy.name())
                };
                let error = Error::unsupported(match note {
                    Some(note) => format!("{text}: {note}"),
                    None => text,
                });
                return Err(error.hint("remove the policy from `[qos]` and the profile"));
            }
        }
        Ok(())
    }
}

/// Description of a driver. Its features, which the table depends on, and the names of kept threads are constants
/// of [`Driver`](crate::Driver).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Driver name, as in the file name and on the command line.
    pub name: &'static str,
    /// Driver version: `env!("CARGO_PKG_VERSION")`.
    pub driver_version: &'static str,
    /// Middleware name, as its vendor writes it.
    pub middleware: &'static str,
    /// Middleware version.
    pub middleware_version: String,
    /// Source of the middleware version.
    pub version_source: VersionSource,
    /// Build type and other build settings that affect the speed, if known.
    pub build: Option<String>,
    /// Licence of the middleware (SPDX).
    pub licence: &'static str,
    /// Supported receive modes.
    pub receive_modes: &'static [ReceiveMode],
    /// Supported type kinds.
    pub type_kinds: &'static [TypeKind],
    /// Transports, at least one; the first is the default.
    pub transports: Vec<Transport>,
    /// Driver-specific options.
    pub options: Vec<DriverOption>,
    /// Support of each policy.
    pub policies: Policies,
    /// Environment variables that the middleware reads; `NAME*` stands for all that begin so.
    pub variables: &'static [&'static str],
}

impl Description {
    /// Creates the description of a bare facility of the kernel, with all receive modes. It lacks transports, options and policies.
    pub fn of_kernel(name: &'static str, driver_version: &'static str, middleware: &'static str) -> Self {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease");
        Self {
            name,
            driver_version,
            middleware,
            middleware_version: release
                .map_or_else(|error| format!("unknown ({error})"), |release| release.trim().to_owned()),
            version_source: VersionSource::Kernel,
            build: None,
            licence: "GPL-2.0-only WITH Linux-syscall-note",
            receive_modes: &[ReceiveMode::Waitset, ReceiveMode::Polling, ReceiveMode::Listener],
            type_kinds: &[TypeKind::Octets],
            transports: Vec::new(),
            options: Vec::new(),
            policies: Policies::none(),
            variables: &[],
        }
    }
}

/// Returns the effective QoS of an endpoint of a driver that stores no samples; the defaults are best effort and KEEP_ALL.
pub fn effective_qos(asked: &Qos, max_blocking_ns: u64) -> Qos {
    Qos {
        reliability: Some(asked.reliability.unwrap_or(Reliability::BestEffort)),
        max_blocking_ns: Some(QosDuration::from_raw(max_blocking_ns)),
        history: Some(asked.history.unwrap_or(History::KeepAll)),
        history_depth: asked.history_depth,
        durability: Some(Durability::Volatile),
        ..Qos::default()
    }
}

/// Description with its C counterpart, which lives as long as the library.
pub struct Described {
    pub(crate) features: Features,
    pub(crate) words: Description,
    raw: abi::Description,
}

// SAFETY: every pointer of `raw` points to leaked, immutable memory.
unsafe impl Send for Described {}
// SAFETY: as above.
unsafe impl Sync for Described {}

impl Described {
    /// Creates the C counterpart. Leaks its strings: call it once per driver.
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
            writer: support.number(),
            reader: support.number(),
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
            receive_modes: words.receive_modes.iter().fold(0, |bits, mode| bits | 1 << mode.number()),
            type_kinds: words.type_kinds.iter().fold(0, |bits, kind| bits | 1 << kind.number()),
            transport_count: transports.len() as u32,
            transports: Box::leak(transports.into_boxed_slice()).as_ptr(),
            option_count: options.len() as u32,
            options: leak_all(options),
            policies,
            kept_thread_count: kept_threads.len() as u32,
            kept_threads: leak_all(kept_threads),
            variable_count: words.variables.len() as u32,
            variables: leak_all(words.variables.iter().map(|name| leak(name)).collect()),
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

/// Leaks an array; NULL if it is empty.
fn leak_all<T>(items: Vec<T>) -> *const T {
    if items.is_empty() { ptr::null() } else { Box::leak(items.into_boxed_slice()).as_ptr() }
}

fn leak_or_null(text: Option<&str>) -> *const c_char {
    text.map_or(ptr::null(), leak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver_abi::policies::{Durability, QosDuration, Reliability};

    #[test]
    fn unsupported_policies_are_rejected_unless_they_equal_the_default() {
        let best_effort = Qos { reliability: Some(Reliability::BestEffort), ..Qos::default() };
        let reliable = Qos {
            reliability: Some(Reliability::Reliable),
            max_blocking_ns: Some(QosDuration::Ns(1)),
            ..Qos::default()
        };
        let volatile = Qos { durability: Some(Durability::Volatile), ..Qos::default() };
        let deadline = Qos { deadline_ns: Some(QosDuration::Ns(1)), ..Qos::default() };
        let policies = Policies::none()
            .with(Policy::Reliability, Support::Unsupported, Some("it is always best effort"))
            .with(Policy::Deadline, Support::Ignored, None)
            .fixed(best_effort.clone());
        assert_eq!(policies.check(&Qos::default()), Ok(()));
        assert_eq!(policies.check(&best_effort), Ok(()));
        assert_eq!(policies.check(&deadline), Ok(()));
        let error = policies.check(&reliable).expect_err("refused");
        assert_eq!(error.status(), crate::error::Status::Unsupported);
        assert_eq!(
            error.to_string(),
            "this driver does not support the requested value of policy `reliability`: it is always best effort; \
             hint: remove the policy from `[qos]` and the profile"
        );
        let error = policies.check(&volatile).expect_err("refused").to_string();
        assert!(error.starts_with("this driver does not support policy `durability`; hint: "), "{error}");
    }
}
