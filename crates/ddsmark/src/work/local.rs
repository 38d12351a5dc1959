//! This host, as commands work on it.

use host::LocalSite;
use runner::StopToken;

use crate::cli::cli_error::Result;

/// This host, and the stop requests of its user.
pub struct Local {
    pub site: LocalSite,
    pub stop: StopToken,
}

impl Local {
    /// Finds the agent of this host. From now on, signals are stop requests.
    pub fn find() -> Result<Self> {
        let stop = StopToken::on_signals()?;
        Ok(Self { site: LocalSite::find()?, stop })
    }
}
