//! Stewards on virtual hosts.

use std::path::Path;

use lab::Host;

use crate::client::steward_command::StewardCommand;

/// Returns the way to start a steward on a virtual host: `program` is the command `ddsmark`, whose path is the same there. The
/// lab must be up for as long as the steward runs.
#[must_use]
pub fn lab_steward(host: &Host, program: &Path) -> StewardCommand {
    let (there, program) = (host.clone(), program.to_owned());
    StewardCommand::new(host.name.as_str(), move || {
        let mut command = there.command(&program);
        command.arg("steward");
        command
    })
}
