//! Records of the labs of this host, in `/run/ddsmark/labs`: what exists, and who owns it.
//!
//! A record is written before anything of its lab is created, and removed after everything of it. So whatever is left of a
//! killed owner has a record.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use experiment::LabSpec;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::{
    error::LabError,
    host::Host,
    layout::{self, DIRECTORY},
    namespace::{self, Namespace},
    owner::Owner,
    tools::Tool,
};

const RECORD: &str = "lab.json";
/// Maximum time that another process may hold the lock.
const LOCK_LIMIT: Duration = Duration::from_secs(60);

/// Lab of this host, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabRecord {
    /// Name of the lab.
    pub name: String,
    /// Number of hosts, and their links.
    pub spec: LabSpec,
    /// Hosts.
    pub hosts: Vec<Host>,
    /// Process that owns the lab.
    pub owner: Owner,
    /// Whether the owner only keeps the lab, until `ddsmark lab down`.
    pub is_kept: bool,
    /// Time of creation in ns after 1970.
    pub created_unix_ns: u64,
}

impl LabRecord {
    /// Returns the namespaces of the hosts, then that of the switch.
    pub(crate) fn namespaces(&self) -> Vec<Namespace> {
        let hosts = self.hosts.iter().map(|host| host.namespace.clone());
        hosts.chain([layout::switch_namespace(&self.name)]).map(Namespace::new).collect()
    }

    fn directory(&self) -> PathBuf {
        layout::directory(&self.name)
    }

    /// Writes the files of `/etc` of each host.
    fn write_files(&self) -> Result<(), LabError> {
        let names = layout::hosts_file(&self.hosts);
        for host in &self.hosts {
            let directory = layout::files_of(host);
            fs::create_dir(&directory).map_err(|error| failed("create", &directory, error))?;
            let mut files = vec![("hosts", names.clone())];
            // A middleware may take two hosts with the same id for one.
            if Path::new("/etc/machine-id").exists() {
                files.push(("machine-id", random_id()?));
            }
            for (name, text) in files {
                let path = directory.join(name);
                fs::write(&path, text).map_err(|error| failed("write", &path, error))?;
            }
            // For `ip netns exec`. Without it, only that program has the files of this host.
            let link = layout::files_of_ip(host);
            let _ = link.parent().map(fs::create_dir_all);
            let _ = symlink(directory, link);
        }
        Ok(())
    }

    /// Writes the record. A reader sees the whole old or new one.
    pub(crate) fn write(&self) -> Result<(), LabError> {
        let text = serde_json::to_string_pretty(self).expect("a record is JSON");
        let (path, new) = (self.directory().join(RECORD), self.directory().join("new"));
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, &path))
            .map_err(|error| failed("write", &path, error))
    }

    /// Ends the processes in the hosts, and removes namespaces, links and the record.
    pub(crate) fn remove(&self) -> Result<(), LabError> {
        let namespaces = self.namespaces();
        if namespace::contain_this_process(&namespaces) {
            return Err(LabError::Inside(self.name.clone()));
        }
        namespace::kill_processes(&namespaces)?;
        namespaces.iter().try_for_each(delete)?;
        for host in &self.hosts {
            let link = layout::files_of_ip(host);
            // Another directory stays.
            if fs::read_link(&link).is_ok_and(|target| target == layout::files_of(host)) {
                fs::remove_file(&link).map_err(|error| failed("remove", &link, error))?;
            }
        }
        remove_directory(&self.directory())
    }
}

/// Removes the name of a namespace. The namespace and its links end with the last process in it.
fn delete(namespace: &Namespace) -> Result<(), LabError> {
    if !namespace.exists() {
        return Ok(());
    }
    let name = namespace.name();
    let action = format!("delete network namespace `{name}`");
    let deleted = Tool::Ip.run(None, &action, &["netns", "delete", name], "");
    // Another process may have been faster.
    if namespace.exists() { deleted.map(drop) } else { Ok(()) }
}

/// Returns an id as in `/etc/machine-id`.
fn random_id() -> Result<String, LabError> {
    let path = Path::new("/proc/sys/kernel/random/uuid");
    let uuid = fs::read_to_string(path).map_err(|error| failed("read", path, error))?;
    Ok(uuid.replace('-', ""))
}

fn failed(verb: &str, path: &Path, error: io::Error) -> LabError {
    LabError::system(format!("{verb} `{}`", path.display()), error)
}

fn remove_directory(path: &Path) -> Result<(), LabError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path, error)),
        _ => Ok(()),
    }
}

/// Lock over the creation and removal of records. The kernel releases it when its process ends.
fn lock() -> Result<Flock<File>, LabError> {
    let directory = Path::new(DIRECTORY);
    fs::create_dir_all(directory).map_err(|error| failed("create", directory, error))?;
    let path = directory.with_file_name("labs.lock");
    let mut file = File::create(&path).map_err(|error| failed("open", &path, error))?;
    let deadline = Instant::now() + LOCK_LIMIT;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((returned, _)) => file = returned,
        }
        if Instant::now() > deadline {
            let what = format!("the lock `{}`", path.display());
            return Err(LabError::TimedOut { what, seconds: LOCK_LIMIT.as_secs() });
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reserves the name of a lab for this process, and removes what killed owners left.
pub(crate) fn create(name: String, spec: LabSpec, is_kept: bool) -> Result<LabRecord, LabError> {
    let _lock = lock()?;
    // A lab that cannot be removed now does not prevent another one.
    let _ = sweep_locked();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let record = LabRecord {
        hosts: layout::hosts(&name, &spec),
        name,
        spec,
        owner: Owner::this_process(),
        is_kept,
        created_unix_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
    };
    let directory = record.directory();
    if directory.exists() {
        return Err(LabError::Exists(record.name));
    }
    if let Some(taken) = record.namespaces().iter().find(|namespace| namespace.exists()) {
        return Err(LabError::NamespaceExists(taken.name().to_owned()));
    }
    fs::create_dir(&directory).map_err(|error| failed("create", &directory, error))?;
    match record.write().and_then(|()| record.write_files()) {
        Ok(()) => Ok(record),
        Err(error) => {
            let _ = record.remove();
            Err(error)
        }
    }
}

/// Returns the labs of this host, by name; also those whose owner was killed.
///
/// # Errors
/// Returns an error if the records cannot be read.
pub fn list() -> Result<Vec<LabRecord>, LabError> {
    let directory = Path::new(DIRECTORY);
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| failed("read", directory, error))?,
    };
    let mut records: Vec<LabRecord> = entries.filter_map(|entry| read(&entry.ok()?.path())).collect();
    records.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(records)
}

/// Returns the record in a directory; `None` without one of its name. Only root writes there.
fn read(directory: &Path) -> Option<LabRecord> {
    let text = fs::read_to_string(directory.join(RECORD)).ok()?;
    let record: LabRecord = serde_json::from_str(&text).ok()?;
    let names = |hosts: &[Host]| hosts.iter().map(|host| host.namespace.clone()).collect::<Vec<_>>();
    let is_valid = layout::is_valid_name(&record.name)
        && directory.file_name()? == record.name.as_str()
        && names(&record.hosts) == names(&layout::hosts(&record.name, &record.spec));
    is_valid.then_some(record)
}

/// Removes the labs whose owner has ended without removing them. Returns their names.
///
/// # Errors
/// Returns the first error after all were tried.
pub fn sweep() -> Result<Vec<String>, LabError> {
    if !Path::new(DIRECTORY).exists() {
        return Ok(Vec::new());
    }
    let _lock = lock()?;
    sweep_locked()
}

fn sweep_locked() -> Result<Vec<String>, LabError> {
    let directory = Path::new(DIRECTORY);
    let (mut removed, mut first_error) = (Vec::new(), None);
    for entry in fs::read_dir(directory).map_err(|error| failed("read", directory, error))?.flatten() {
        let path = entry.path();
        let result = match read(&path) {
            Some(record) if record.owner.is_alive() => continue,
            Some(record) => record.remove(),
            // Its creator ended before the record was written, and nothing else was created.
            None => remove_directory(&path),
        };
        match result {
            Ok(()) => removed.push(entry.file_name().to_string_lossy().into_owned()),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    first_error.map_or(Ok(removed), Err)
}
