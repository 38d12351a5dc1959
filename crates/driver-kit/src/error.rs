//! Errors of a driver, and how they reach the host: section 4 of the header.
use std::{
    any::Any,
    borrow::Cow,
    cell::RefCell,
    ffi::{CString, c_char},
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
};

use driver_abi as abi;

/// Result with the error type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// `ddsmark_status` other than `DDSMARK_OK`; see the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Any other error.
    Error,
    /// Timeout; the sample was not accepted.
    TimedOut,
    /// No space at the moment; the sample was not accepted; a retry may succeed.
    Refused,
    /// Not supported by this driver.
    Unsupported,
    /// Value out of range, unknown option, or unknown name.
    BadArgument,
    /// Inconsistent policies.
    Inconsistent,
    /// Sample larger than the configured size or the limit of the transport.
    TooLarge,
}

impl Status {
    /// Returns the number in the driver ABI.
    pub fn to_abi(self) -> abi::Status {
        match self {
            Self::Error => abi::ERROR,
            Self::TimedOut => abi::TIMED_OUT,
            Self::Refused => abi::REFUSED,
            Self::Unsupported => abi::UNSUPPORTED,
            Self::BadArgument => abi::BAD_ARGUMENT,
            Self::Inconsistent => abi::INCONSISTENT,
            Self::TooLarge => abi::TOO_LARGE,
        }
    }
}

/// Error: a status for the program, a message and a hint for the user.
///
/// On the hot path, use messages of type `&'static str`: they need no allocation, neither here nor in the C
/// functions. The text is composed only when the host requests it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: Cow<'static, str>,
    hint: Option<Cow<'static, str>>,
}

impl Error {
    /// Creates an error with `status`; `message` says what failed and why.
    pub fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    /// Creates an error with [`Status::Error`].
    pub fn failed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::Error, message)
    }

    /// Creates an error with [`Status::Unsupported`].
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::Unsupported, message)
    }

    /// Creates an error with [`Status::BadArgument`].
    pub fn bad_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::BadArgument, message)
    }

    /// Creates an error with [`Status::TooLarge`].
    pub fn too_large(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::TooLarge, message)
    }

    /// Creates an error with [`Status::Error`] for a failed operation `what` of the operating system.
    pub fn os(what: &str, cause: impl Into<io::Error>) -> Self {
        Self::failed(format!("{what}: {}", cause.into()))
    }

    /// Returns the error with a hint that tells the user what to do.
    #[must_use]
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the status.
    pub fn status(&self) -> Status {
        self.status
    }
}

/// Result of an operation of the operating system.
pub trait OrFailed<T> {
    /// Returns the value, or an error with [`Status::Error`] for the failed operation `what`.
    fn or_failed(self, what: &str) -> Result<T>;
}

impl<T, E: Into<io::Error>> OrFailed<T> for Result<T, E> {
    #[inline]
    fn or_failed(self, what: &str) -> Result<T> {
        self.map_err(|cause| Error::os(what, cause))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Last error of a thread: as recorded, then as the text that was returned.
struct Last {
    pending: Option<Error>,
    text: Option<CString>,
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last { pending: None, text: None }) };
}

/// Stores `error` for [`last_error`] and returns its status.
#[cold]
fn record(error: Error) -> abi::Status {
    let status = error.status.to_abi();
    // A thread that is ending has no thread-local storage left: then only the status is reported.
    let _ = LAST.try_with(|last| last.borrow_mut().pending = Some(error));
    status
}

#[cold]
fn record_panic(payload: Box<dyn Any + Send>) -> abi::Status {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => {
            // The type is unknown: dropping the payload may panic again.
            std::mem::forget(payload);
            "the payload is not a text".to_owned()
        }
    };
    record(
        Error::failed(format!("the driver panicked: {text}"))
            .hint("see the log of the agent for the source line"),
    )
}

/// Implements `last_error` of the table.
pub(crate) fn last_error() -> *const c_char {
    let none = c"".as_ptr();
    LAST.try_with(|last| {
        let mut last = last.borrow_mut();
        if let Some(error) = last.pending.take() {
            last.text = Some(c_text(&error.to_string()));
        }
        last.text.as_ref().map_or(none, |text| text.as_ptr())
    })
    .unwrap_or(none)
}

/// Converts to a C string; NUL bytes become U+FFFD.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Runs the body of a C function. Converts an error or a panic into a status and stores its text. Without an error
/// it costs one branch: the landing pad for panics is not entered.
#[inline]
pub(crate) fn guard(call: impl FnOnce() -> Result<()>) -> abi::Status {
    // A panic may leave an entity in an inconsistent state. The host gets DDSMARK_ERROR, and further calls on that
    // entity remain free of undefined behaviour, because the driver is safe Rust.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => abi::OK,
        Ok(Err(error)) => record(error),
        Err(payload) => record_panic(payload),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn text() -> String {
        // SAFETY: last_error returns a C string that is valid until the next call on this thread.
        unsafe { CStr::from_ptr(last_error()) }.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn the_text_is_of_this_thread_and_of_the_last_failure() {
        assert_eq!(text(), "");
        assert_eq!(guard(|| Err(Error::bad_argument("a\0b").hint("c"))), abi::BAD_ARGUMENT);
        assert_eq!(text(), "a\u{fffd}b; hint: c");
        assert_eq!(guard(|| Ok(())), abi::OK);
        assert_eq!(text(), "a\u{fffd}b; hint: c");
        std::thread::spawn(|| assert_eq!(text(), "")).join().expect("joined");
    }

    #[test]
    fn panics_of_every_kind_become_errors() {
        struct Spiteful;
        impl Drop for Spiteful {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert_eq!(guard(|| panic!("static")), abi::ERROR);
        assert_eq!(text(), "the driver panicked: static; hint: see the log of the agent for the source line");
        assert_eq!(guard(|| panic!("formatted {}", 1)), abi::ERROR);
        assert!(text().contains("panicked: formatted 1;"));
        assert_eq!(guard(|| std::panic::panic_any(Spiteful)), abi::ERROR);
        assert!(text().contains("the payload is not a text"));
    }
}
