//! Waits with a time limit.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::Error;

/// Time limit of the start of a server.
const LIMIT: Duration = Duration::from_secs(180);

/// Repeats the call until it returns a value. `what` names it in errors.
pub(crate) fn wait_for<T>(
    what: &str,
    mut value: impl FnMut() -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    let began = Instant::now();
    loop {
        if let Some(value) = value()? {
            return Ok(value);
        }
        if began.elapsed() > LIMIT {
            return Err(format!("{what}: not there after {LIMIT:?}").into());
        }
        thread::sleep(Duration::from_millis(5));
    }
}
