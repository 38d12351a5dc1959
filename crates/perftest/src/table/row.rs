//! Columns of the table of options.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::generation::Generation;

/// Option: a row of [`OPTIONS`](crate::OPTIONS).
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// Name without the dash.
    pub name: &'static str,
    /// Other names, which apply if no name begins with them.
    pub aliases: &'static [&'static str],
    /// Kind of the value.
    pub kind: Kind,
    /// Default, range and role in generation 5.1, if it has the option.
    pub v5_1: Option<Edition>,
    /// Default, range and role in generation 4.3, if it has the option.
    pub v4_3: Option<Edition>,
    /// Keys in `perftest.ini`.
    pub ini: &'static [IniKey],
    /// Ability that the driver needs for a value other than the default.
    pub needs: Need,
    /// Effect in ddsmark.
    pub honouring: Honouring,
    /// Largest value that ddsmark supports, if the range has larger ones.
    pub limit: Option<Limit>,
    /// Whether each occurrence adds a value.
    pub repeats: bool,
    /// Whether a value of another process must be that of publisher 0.
    pub agrees: bool,
    /// Option without which it has no effect in the release; empty if it needs none. Only for options that are rejected: the
    /// rules of the settings have the others.
    pub only_with: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Next step for users of the generation that lacks the option.
    pub instead: &'static str,
}

/// Returns an option with the most frequent values of the other columns.
pub(super) const fn option(name: &'static str, kind: Kind, about: &'static str) -> OptionRow {
    OptionRow {
        name,
        aliases: &[],
        kind,
        v5_1: None,
        v4_3: None,
        ini: &[],
        needs: Need::Nothing,
        honouring: Honouring::Honoured(""),
        limit: None,
        repeats: false,
        agrees: false,
        only_with: "",
        about,
        instead: "",
    }
}

/// Returns an option without a value.
pub(super) const fn flag(name: &'static str, about: &'static str) -> OptionRow {
    option(name, Kind::Flag, about)
}

/// Defines the functions that set columns of a row.
macro_rules! columns {
    ($($(#[$doc:meta])* $set:ident($($value:ident: $type:ty)?) { $($column:ident: $of:expr),+ })*) => {
        impl OptionRow {
            $($(#[$doc])* pub(super) const fn $set(self $(, $value: $type)?) -> Self {
                Self { $($column: $of,)+ ..self }
            })*
        }
    };
}

columns! {
    both(edition: Edition) { v5_1: Some(edition), v4_3: Some(edition) }
    v5_1(edition: Edition) { v5_1: Some(edition) }
    v4_3(edition: Edition) { v4_3: Some(edition) }
    aliases(names: &'static [&'static str]) { aliases: names }
    keys(keys: &'static [IniKey]) { ini: keys }
    needs(need: Need) { needs: need }
    limit(limit: Limit) { limit: Some(limit) }
    repeats() { repeats: true }
    agrees() { agrees: true }
    only_with(option: &'static str) { only_with: option }
    instead(step: &'static str) { instead: step }
    does(effect: &'static str) { honouring: Honouring::Honoured(effect) }
    /// Sets the reason for which it is rejected, and the next step.
    rejected(why: (&'static str, &'static str)) { honouring: Honouring::Rejected { reason: why.0, instead: why.1 } }
}

/// Kind of the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value on the command line; `true` or `false` in a file.
    Flag,
    /// Whole number, with the name of its place.
    Integer(&'static str),
    /// Whole number that can be left out.
    OptionalInteger(&'static str),
    /// Text, with the name of its place.
    Text(&'static str),
    /// One of several words.
    Choice(&'static [&'static str]),
    /// Sizes with `:`, or nothing for the usual ones. A flag in generation 5.1.
    Sizes,
    /// Number per second, and how to wait: `1000:spin`.
    Rate,
    /// Seconds and nanoseconds: `0:10000000`.
    Period,
    /// Priorities of three threads: `h:n:l`.
    Priorities,
    /// Key, or first and last key: `3:5`.
    Keys,
    /// Address of a host, with an optional number: `10.0.0.2:1`.
    Peer,
}

/// Option in one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edition {
    /// Default, as typed; empty if there is none, or if it depends on other options.
    pub default: &'static str,
    /// Range of the numbers, if the value has numbers.
    pub range: Option<Range>,
    /// Roles that the option is for.
    pub roles: Roles,
    /// Whether ddsmark adds the option to this generation.
    pub added: bool,
}

/// Range of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Smallest number.
    pub min: i64,
    /// Largest number.
    pub max: i64,
    /// Further number with a meaning of its own.
    pub also: Option<i64>,
}

/// Largest value that ddsmark supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Largest value.
    pub max: i64,
    /// Reason for the limit.
    pub reason: &'static str,
}

/// Role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Publishes the data, and measures latency.
    Publisher,
    /// Subscribes to the data, and measures throughput.
    Subscriber,
}

/// Roles that an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// Publishers and subscribers.
    Both,
    /// Publishers.
    Publisher,
    /// Subscribers.
    Subscriber,
}

/// Key of an option in `perftest.ini`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IniKey {
    /// Name in lower case, with single spaces.
    pub name: &'static str,
    /// Part of the option that the key sets.
    pub part: Part,
}

/// Part of an option that a key sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The value.
    Whole,
    /// The opposite of the flag.
    Inverted,
    /// Seconds of a period.
    Seconds,
    /// Nanoseconds of a period.
    Nanoseconds,
}

/// Ability of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// No ability: every driver can do it.
    Nothing,
    /// Batches, of the middleware or of the driver.
    Batching,
    /// A type with a key.
    KeyedType,
    /// Content filters, and a type with a key.
    ContentFilter,
    /// Loans of the writer, and a type of fixed size.
    Loans,
    /// Publication from a thread of the middleware.
    AsyncWrite,
    /// Multicast.
    Multicast,
    /// A reader that waits for data in a thread of its own.
    Waitset,
    /// The policy DURABILITY.
    Durability,
    /// The policy RELIABILITY.
    Reliability,
    /// The policy RESOURCE_LIMITS.
    ResourceLimits,
    /// The policy HISTORY.
    History,
    /// The transport of that name.
    Transport,
    /// Peers and an interface of its own, without discovery.
    Sockets,
}

/// Effect of an option in ddsmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Honouring {
    /// Honoured, with the effect.
    Honoured(&'static str),
    /// Rejected, unless it is the default.
    Rejected {
        /// Reason.
        reason: &'static str,
        /// Next step.
        instead: &'static str,
    },
}

impl OptionRow {
    /// Returns the option in a generation.
    #[must_use]
    pub const fn edition(&self, generation: Generation) -> Option<&Edition> {
        match generation {
            Generation::V5_1 => self.v5_1.as_ref(),
            Generation::V4_3 => self.v4_3.as_ref(),
        }
    }

    /// Returns the form of the option, such as `-dataLen <bytes>`.
    #[must_use]
    pub fn usage(&self, generation: Generation) -> String {
        match self.kind.placeholder(generation) {
            Some(place) => format!("-{} {place}", self.name),
            None => format!("-{}", self.name),
        }
    }
}

impl Kind {
    /// Returns the place of the value in a usage; `None` for a flag.
    #[must_use]
    pub fn placeholder(self, generation: Generation) -> Option<String> {
        Some(match self {
            Self::Flag => return None,
            Self::Sizes if generation == Generation::V5_1 => return None,
            Self::Integer(place) | Self::Text(place) => format!("<{place}>"),
            Self::OptionalInteger(place) => format!("[<{place}>]"),
            Self::Choice(words) => format!("<{}>", words.join("|")),
            Self::Sizes => "[<bytes>:<bytes>:...]".to_owned(),
            Self::Rate => "<number>:<spin|sleep>".to_owned(),
            Self::Period => "<seconds>:<nanoseconds>".to_owned(),
            Self::Priorities => "<main>:<receive>:<event>".to_owned(),
            Self::Keys => "<first>[:<last>]".to_owned(),
            Self::Peer => "<address>[:<number>]".to_owned(),
        })
    }
}

impl Edition {
    pub(super) const fn also(self, number: i64) -> Self {
        match self.range {
            Some(range) => Self { range: Some(Range { also: Some(number), ..range }), ..self },
            None => self,
        }
    }

    pub(super) const fn of_publishers(self) -> Self {
        Self { roles: Roles::Publisher, ..self }
    }

    pub(super) const fn of_subscribers(self) -> Self {
        Self { roles: Roles::Subscriber, ..self }
    }

    pub(super) const fn addition(self) -> Self {
        Self { added: true, ..self }
    }
}

/// Returns an option without numbers.
pub(super) const fn plain(default: &'static str) -> Edition {
    Edition { default, range: None, roles: Roles::Both, added: false }
}

/// Returns an option with numbers in a range.
pub(super) const fn number(default: &'static str, min: i64, max: i64) -> Edition {
    Edition { range: Some(Range { min, max, also: None }), ..plain(default) }
}

/// Returns a key that sets the value.
pub(super) const fn key(name: &'static str) -> IniKey {
    IniKey { name, part: Part::Whole }
}

/// Returns a key that sets the opposite of a flag.
pub(super) const fn inverted(name: &'static str) -> IniKey {
    IniKey { name, part: Part::Inverted }
}

impl Range {
    /// Returns whether a number is valid.
    #[must_use]
    pub fn contains(self, number: i64) -> bool {
        (self.min..=self.max).contains(&number) || self.also == Some(number)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let min = match self.also {
            // The further number continues the range.
            Some(also) if also.checked_add(1) == Some(self.min) => also,
            Some(also) => {
                write!(f, "{also}, or ")?;
                self.min
            }
            None => self.min,
        };
        match self.max {
            i64::MAX => write!(f, "{min} or more"),
            max => write!(f, "{min} to {max}"),
        }
    }
}

impl Role {
    /// Returns the other role.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Publisher => Self::Subscriber,
            Self::Subscriber => Self::Publisher,
        }
    }

    /// Returns the option that selects the role.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Publisher => "pub",
            Self::Subscriber => "sub",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Publisher => "publisher",
            Self::Subscriber => "subscriber",
        })
    }
}

impl Roles {
    /// Returns whether a role is among them.
    #[must_use]
    pub const fn contains(self, role: Role) -> bool {
        matches!(
            (self, role),
            (Self::Both, _) | (Self::Publisher, Role::Publisher) | (Self::Subscriber, Role::Subscriber)
        )
    }
}
