//! QoS file of `-qosFile`: the profile of the data topic.

use std::{collections::BTreeMap, path::Path};

use experiment::{InputFile, Policies, qos_profile};
use perftest::{Generation, Settings};

use crate::{
    cli::cli_error::{CliError, Result},
    work::files,
};

/// Profile of the data topic in the files of RTI Perftest.
const PROFILE: &str = "ThroughputQos";

/// Policies of a QoS file.
pub struct FileQos {
    /// Policies of the profile, without limits of queues that the command line decides.
    pub policies: Policies,
    /// Origin of the policies, and the settings of the profile that are not applied.
    pub note: String,
    /// Name of the profile, and checksum of the file.
    pub identity: String,
}

/// Returns the option that names the QoS file.
pub const fn option(generation: Generation) -> &'static str {
    match generation {
        Generation::V5_1 => "qosprofile",
        Generation::V4_3 => "qosFile",
    }
}

/// Reads the QoS file of a process; `None` without the option.
pub fn read(settings: &Settings) -> Result<Option<FileQos>> {
    let Some(file) = &settings.local.qos_file else { return Ok(None) };
    let option = option(settings.generation);
    let input = files::read_qos(&file.path, Path::new("")).map_err(|error| {
        let hint = format!("name a file that exists with `-{option}`, or leave it out");
        CliError::usage(format!("command line: `-{option} {}`: {error}", file.path), hint)
    })?;
    let profile = format!("{}::{PROFILE}", file.library);
    let name = format!("{}#{profile}", file.path);
    let files: BTreeMap<String, InputFile> = [(file.path.clone(), input)].into();
    let Some(found) = qos_profile(&name, &files, &(0..0))? else { return Ok(None) };
    let local = &settings.local;
    // The command line decides the queue of the writer in any case, as in the original.
    let policies = found.policies.without_queue_limits(true, local.receive_queue.is_some());
    let identity = format!("{profile} of SHA-256 {}", found.identity.unwrap_or_default());
    Ok(Some(FileQos { policies, note: found.note.unwrap_or_default(), identity }))
}
