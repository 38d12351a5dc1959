//! `ddsmark steward`.

use host::LocalSite;
use remote_hosts::{StewardEnd, framing::MAX_FRAME_BYTES, serve, take_streams};
use runner::StopToken;

use crate::cli::{
    cli_error::{CliError, ExitStatus, Result},
    output,
};

/// Serves the agents of this host until the runner ends the connection.
pub fn execute() -> Result<ExitStatus> {
    let streams = take_streams().map_err(|error| {
        let error = format!("cannot take the standard streams: {error}");
        CliError::failed(error, "start it with all three standard streams open")
    })?;
    let stop = StopToken::on_signals()?;
    match serve(LocalSite::find(), streams, MAX_FRAME_BYTES, move || stop.requested()) {
        StewardEnd::Bye => Ok(ExitStatus::Done),
        end => {
            output::to_stderr(&format!("error: {end}"));
            Ok(ExitStatus::Failed)
        }
    }
}
