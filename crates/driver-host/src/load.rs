//! From a file to a driver.

use std::{
    ffi::CStr,
    fmt,
    path::{Path, PathBuf},
    ptr,
};

use driver_abi as abi;
use experiment::DriverDescription;
use libloading::Library;

use crate::{DriverError, Participant, ParticipantConfig, describe};

/// A driver: its table and its description. The library stays loaded until the process ends.
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

/// Why a file cannot serve as a driver.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("driver file `{0}` does not exist")]
    Missing(PathBuf),
    /// The dynamic linker refuses it.
    #[error("`{path}` cannot be loaded as a shared library: {cause}")]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// In the linker's words.
        cause: String,
    },
    /// A library of another kind.
    #[error("`{0}` is not a driver: it does not export `{entry}`", entry = abi::ENTRY_SYMBOL)]
    NotADriver(PathBuf),
    /// A driver of another version of the contract.
    #[error("driver `{path}` has ABI version {found}; this ddsmark knows version {known}", known = abi::ABI_VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A driver that breaks the contract while being loaded.
    #[error("driver `{path}` breaks the contract: {cause}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// How.
        cause: String,
    },
}

impl LoadError {
    /// The next step.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Missing(_) => "check the path, or name an installed driver: `ddsmark drivers list`".to_owned(),
            Self::NotALibrary { .. } => {
                "if a library is not found, set LD_LIBRARY_PATH to where the middleware is installed, or build the \
                 driver again"
                    .to_owned()
            }
            Self::NotADriver(_) => "a driver is built against include/ddsmark/driver.h".to_owned(),
            Self::Version { .. } => "build the driver again, against the header of this ddsmark".to_owned(),
            Self::Broken { .. } => "report it to the driver's author".to_owned(),
        }
    }
}

impl Driver {
    /// Loads a driver and asks it what it is. Opens nothing.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let path = path.to_owned();
        if !path.exists() {
            return Err(LoadError::Missing(path));
        }
        // SAFETY: loading runs the initialisers of code that the user chose to run; nothing else is assumed of it.
        let library = match unsafe { Library::new(&path) } {
            Ok(library) => library,
            Err(error) => {
                return Err(LoadError::NotALibrary { cause: words_of(&error), path });
            }
        };
        // SAFETY: a library that exports this name claims the type of the contract; it is called below only.
        let entry = match unsafe { library.get::<abi::Entry>(abi::ENTRY_SYMBOL) } {
            Ok(entry) => *entry,
            Err(_) => return Err(LoadError::NotADriver(path)),
        };
        // Threads of the middleware may outlive every handle: the library is never unloaded.
        std::mem::forget(library);
        let broken = |cause: &str| LoadError::Broken { path: path.clone(), cause: cause.to_owned() };
        // SAFETY: the entry takes nothing and returns a table or NULL.
        let foreign = unsafe { entry() };
        if foreign.is_null() {
            return Err(broken("its entry returns no table"));
        }
        // SAFETY: in every version the table begins with these two fields.
        let (found, size) = unsafe { ((*foreign).abi_version, (*foreign).struct_size as usize) };
        if found != abi::ABI_VERSION {
            return Err(LoadError::Version { path, found });
        }
        let table = copy_table(foreign, size).ok_or_else(|| broken("its table is cut short"))?;
        if let Some(name) = missing_function(table) {
            return Err(broken(&format!("`{name}` is NULL")));
        }
        let describe = table.describe.expect("checked above");
        // SAFETY: describe() takes nothing and returns a static description.
        let raw = unsafe { describe() };
        // SAFETY: what describe() returns lives as long as the library, which is never unloaded.
        let (description, features) =
            unsafe { describe::description(raw) }.map_err(|cause| broken(&format!("describe(): {cause}")))?;
        Ok(Self { table, description, features, path })
    }

    /// The file that it was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the driver says of itself.
    #[must_use]
    pub const fn description(&self) -> &DriverDescription {
        &self.description
    }

    /// Whether it declares a feature of the contract (`driver_abi::FEATURE_*`).
    #[must_use]
    pub const fn has(&self, feature: u32) -> bool {
        self.features & feature != 0
    }

    /// Opens a participant.
    ///
    /// # Errors
    /// In the driver's words.
    pub fn open(&self, config: &ParticipantConfig) -> Result<Participant, DriverError> {
        Participant::open(self.table, config)
    }
}

/// The text of the last failure on this thread.
pub(crate) fn last_error(table: &abi::Driver) -> String {
    let Some(function) = table.last_error else { return String::new() };
    // SAFETY: the text is valid until the next call on this thread, and copied at once.
    unsafe {
        let text = function();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

/// Our own copy of a table that may be shorter or longer than the one known here.
fn copy_table(foreign: *const abi::Driver, size: usize) -> Option<&'static abi::Driver> {
    let known = size_of::<abi::Driver>();
    if size < std::mem::offset_of!(abi::Driver, reader_sample_intact) {
        return None;
    }
    let mut table = Box::new(std::mem::MaybeUninit::<abi::Driver>::zeroed());
    // SAFETY: the driver vouches for `size` bytes, of which no more than our own table takes are copied.
    unsafe {
        ptr::copy_nonoverlapping(foreign.cast::<u8>(), table.as_mut_ptr().cast::<u8>(), size.min(known));
    };
    // SAFETY: all fields are integers or optional functions, for which zero is a value.
    Some(Box::leak(unsafe { table.assume_init() }))
}

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
