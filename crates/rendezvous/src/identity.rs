//! Identity of a process: a random number, its role and its id.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
};

use serde::{Deserialize, Serialize};

/// Random number of a process. A restarted process has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(u64);

impl ProcessId {
    /// Creates a random number.
    ///
    /// # Errors
    /// Returns an error if the kernel gives no random bytes.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self::from_raw(u64::from_le_bytes(bytes)).unwrap_or(Self(1)))
    }

    /// Returns the id with this number; `None` for 0, which means all processes.
    #[must_use]
    pub const fn from_raw(number: u64) -> Option<Self> {
        if number == 0 { None } else { Some(Self(number)) }
    }

    /// Returns the number.
    #[must_use]
    pub const fn raw(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerRole {
    /// Started with `-pub`.
    Publisher,
    /// Started with `-sub`.
    Subscriber,
}

impl PeerRole {
    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Subscriber => "subscriber",
        }
    }

    /// Returns the option that sets the id of a process of this role.
    #[must_use]
    pub const fn id_option(self) -> &'static str {
        match self {
            Self::Publisher => "-pidMultiPubTest",
            Self::Subscriber => "-sidMultiSubTest",
        }
    }

    /// Returns the option that sets the number of processes of this role.
    #[must_use]
    pub const fn count_option(self) -> &'static str {
        match self {
            Self::Publisher => "-numPublishers",
            Self::Subscriber => "-numSubscribers",
        }
    }
}

/// Address of a process: its random number, its role, and its id among those of this role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerAddress {
    /// Random number of the process.
    pub process: ProcessId,
    /// Role.
    pub role: PeerRole,
    /// Id among the processes of its role, from 0.
    pub id: u16,
}

impl PeerAddress {
    /// Creates the address of this process, with a new random number.
    ///
    /// # Errors
    /// Returns an error if the kernel gives no random bytes.
    pub fn of_this_process(role: PeerRole, id: u16) -> io::Result<Self> {
        Ok(Self { process: ProcessId::random()?, role, id })
    }

    /// Returns whether it leads: publisher 0.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.role == PeerRole::Publisher && self.id == 0
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.role.name(), self.id)
    }
}
