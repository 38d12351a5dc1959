//! Loading a driver from a file.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use driver_abi::{self as abi, description::DriverDescription};
use libloading::Library;

use crate::{config::ParticipantConfig, describe, error::DriverError, participant::Participant};

/// Loaded driver: its function table and its description. The library stays loaded until the process ends.
pub struct Driver {
    table: &'static abi::Driver,
    description: DriverDescription,
    features: u32,
    path: PathBuf,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("description", &self.description).finish_non_exhaustive()
    }
}

/// Reasons why a file cannot be loaded as a driver.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LoadError {
    /// File not found.
    #[error("driver file `{0}` does not exist")]
    Missing(PathBuf),
    /// Not loadable by the dynamic linker.
    #[error("cannot load `{path}` as a shared library: {cause}")]
    NotALibrary { path: PathBuf, cause: String },
    /// Library without a driver entry.
    #[error("`{0}` is not a driver: it does not export `{entry}`", entry = abi::ENTRY_SYMBOL)]
    NotADriver(PathBuf),
    /// Driver with another ABI version.
    #[error("driver `{path}` has ABI version {found}; this ddsmark supports version {known}", known = abi::ABI_VERSION)]
    Version {
        path: PathBuf,
        /// ABI version of the driver.
        found: u32,
    },
    /// Contract violation while loading.
    #[error("driver `{path}` violates the contract: {cause}")]
    Broken { path: PathBuf, cause: String },
}

impl LoadError {
    /// Returns how to fix the error.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Missing(_) => {
                "check the path, or list the installed drivers with `ddsmark drivers list`".to_owned()
            }
            Self::NotALibrary { .. } => {
                "rebuild the driver; if a library is not found, add its directory to LD_LIBRARY_PATH"
                    .to_owned()
            }
            Self::NotADriver(_) => "build the driver against include/ddsmark/driver.h".to_owned(),
            Self::Version { .. } => "rebuild the driver against include/ddsmark/driver.h of this ddsmark; `ddsmark drivers install NAME` \
                 rebuilds one of its own"
                .to_owned(),
            Self::Broken { .. } => "report it to the author of the driver".to_owned(),
        }
    }
}

impl Driver {
    /// Loads a driver and its description. Opens no entity.
    ///
    /// # Errors
    /// Returns an error if the file is not a usable driver: see [`LoadError`].
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let path = path.to_owned();
        if !path.exists() {
            return Err(LoadError::Missing(path));
        }
        // SAFETY: loading runs the initialisers of a library that the user chose; nothing else is assumed.
        let library = match unsafe { Library::new(&path) } {
            Ok(library) => library,
            Err(error) => {
                return Err(LoadError::NotALibrary { cause: words_of(&error), path });
            }
        };
        // SAFETY: the contract defines the type of this symbol; it is called below only.
        let entry = match unsafe { library.get::<abi::Entry>(abi::ENTRY_SYMBOL) } {
            Ok(entry) => *entry,
            Err(_) => return Err(LoadError::NotADriver(path)),
        };
        // Threads of the middleware may outlive every handle: the library is never unloaded.
        std::mem::forget(library);
        // SAFETY: the contract defines the type of the entry.
        unsafe { Self::from_entry(entry, path) }
    }

    /// Creates a driver from its entry. `path` is the file that it is from, for messages.
    ///
    /// # Safety
    /// `entry` is that of a driver of some version of the contract, which is never unloaded.
    ///
    /// # Errors
    /// Returns an error if the driver is not usable: see [`LoadError`].
    pub unsafe fn from_entry(entry: abi::Entry, path: PathBuf) -> Result<Self, LoadError> {
        let broken = |cause: &str| LoadError::Broken { path: path.clone(), cause: cause.to_owned() };
        // SAFETY: the entry takes no argument and returns a table or NULL.
        let foreign = unsafe { entry() };
        if foreign.is_null() {
            return Err(broken("its entry returned NULL"));
        }
        // SAFETY: in every version the table starts with these two fields.
        let (found, size) = unsafe { ((*foreign).abi_version, (*foreign).struct_size as usize) };
        if found != abi::ABI_VERSION {
            return Err(LoadError::Version { path, found });
        }
        // SAFETY: the driver guarantees `size` bytes; all fields are integers or optional functions, for which zero is valid.
        let table = unsafe { describe::known_part(foreign, size, LEAST_BYTES) };
        let table: &'static _ = Box::leak(Box::new(table.ok_or_else(|| broken("its table is cut short"))?));
        if let Some(name) = missing_function(table) {
            return Err(broken(&format!("`{name}` is NULL")));
        }
        let describe = table.describe.expect("checked above");
        // SAFETY: describe() takes no argument and returns a static description.
        let raw = unsafe { describe() };
        // SAFETY: the description is valid as long as the library, which is never unloaded.
        let (description, features) =
            unsafe { describe::description(raw) }.map_err(|cause| broken(&format!("describe(): {cause}")))?;
        Ok(Self { table, description, features, path })
    }

    /// Returns the path of the loaded file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the description of the driver.
    #[must_use]
    pub const fn description(&self) -> &DriverDescription {
        &self.description
    }

    /// Returns whether the driver has a feature (`driver_abi::FEATURE_*`).
    #[must_use]
    pub const fn has(&self, feature: u32) -> bool {
        self.features & feature != 0
    }

    /// Opens a participant.
    pub fn open(&self, config: &ParticipantConfig) -> Result<Participant, DriverError> {
        Participant::open(self.table, config)
    }
}

/// Minimum size of a table of this version; fields that are added later lie beyond it.
const LEAST_BYTES: usize = 264;
const _: () = assert!(LEAST_BYTES <= size_of::<abi::Driver>());

fn missing_function(table: &abi::Driver) -> Option<&'static str> {
    macro_rules! first_missing {
        ($($name:ident)*) => { [$((stringify!($name), table.$name.is_none())),*] };
    }
    let required = first_missing!(
        describe last_error participant_open participant_close participant_settings writer_open writer_close
        writer_matched writer_qos writer_settings writer_counters writer_write writer_flush reader_open reader_close
        reader_matched reader_qos reader_settings reader_counters reader_receive
    );
    required.iter().find(|(_, missing)| *missing).map(|(name, _)| *name)
}

fn words_of(error: &libloading::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
