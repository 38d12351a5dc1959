//! Errors of driver calls.

use driver_abi as abi;

/// Failed call of a driver function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operation}: {text}")]
pub struct DriverError {
    /// Name of the driver function.
    pub operation: &'static str,
    /// Status that it returned.
    pub status: abi::Status,
    /// Error message of the driver.
    pub text: String,
    /// Hint for fixing the error.
    pub hint: Option<String>,
    /// Whether the driver gave no message; then `text` is the status name alone.
    pub silent: bool,
}

impl DriverError {
    pub(crate) fn new(operation: &'static str, status: abi::Status, words: &str) -> Self {
        let (text, hint) = match words.split_once("hint: ") {
            Some((text, hint)) => {
                (text.trim_end_matches([';', ' ', '\n', '.']), Some(hint.trim().to_owned()))
            }
            None => (words, None),
        };
        let name = status_name(status);
        let silent = text.is_empty();
        let text = if silent { name } else { format!("{text} ({name})") };
        Self { operation, status, text, hint, silent }
    }

    /// Returns whether the driver rejects the request permanently. After other errors a retry may succeed.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(self.status, abi::UNSUPPORTED | abi::BAD_ARGUMENT | abi::INCONSISTENT | abi::TOO_LARGE)
    }

    pub(crate) fn missing(operation: &'static str) -> Self {
        Self::new(operation, abi::UNSUPPORTED, "the driver lacks this function")
    }
}

fn status_name(status: abi::Status) -> String {
    match status {
        abi::OK => "reported as OK".to_owned(),
        abi::ERROR => "error".to_owned(),
        abi::TIMED_OUT => "timed out".to_owned(),
        abi::REFUSED => "refused".to_owned(),
        abi::UNSUPPORTED => "unsupported".to_owned(),
        abi::BAD_ARGUMENT => "bad argument".to_owned(),
        abi::INCONSISTENT => "inconsistent request".to_owned(),
        abi::TOO_LARGE => "too large".to_owned(),
        other => format!("unknown status {other}"),
    }
}
