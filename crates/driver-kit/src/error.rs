//! What a driver returns when something fails, and how it reaches the host: section 4 of the header.
use std::{
    any::Any,
    borrow::Cow,
    cell::RefCell,
    ffi::{CString, c_char},
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
};

use driver_abi as abi;

/// Shorthand for what almost every function here returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A `ddsmark_status` other than `DDSMARK_OK`; each is explained in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Anything not named below.
    Error,
    /// The time limit was reached; the sample was not accepted.
    TimedOut,
    /// No room now; the sample was not accepted; try again.
    Refused,
    /// This driver cannot do that, ever.
    Unsupported,
    /// A value out of range, an unknown option, a name that does not exist.
    BadArgument,
    /// Policies that contradict each other.
    Inconsistent,
    /// A sample over the size that was configured or that the transport carries.
    TooLarge,
}

impl Status {
    /// The number that crosses the boundary.
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

/// A failure: the status for the program, the text and the next step for the person.
///
/// On the hot path give texts that are `&'static str`: nothing is allocated then, neither here nor at the boundary,
/// where the text is composed only when the host asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: Cow<'static, str>,
    hint: Option<Cow<'static, str>>,
}

impl Error {
    /// A failure with `status`; `message` says what failed and why.
    pub fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    /// [`Status::Error`].
    pub fn failed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::Error, message)
    }

    /// [`Status::Unsupported`].
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::Unsupported, message)
    }

    /// [`Status::BadArgument`].
    pub fn bad_argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::BadArgument, message)
    }

    /// [`Status::TooLarge`].
    pub fn too_large(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Status::TooLarge, message)
    }

    /// [`Status::Error`]: `what` failed in the operating system.
    pub fn os(what: &str, cause: impl Into<io::Error>) -> Self {
        Self::failed(format!("{what}: {}", cause.into()))
    }

    /// The same with the next step for the person who reads it.
    #[must_use]
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// What kind of failure this is.
    pub fn status(&self) -> Status {
        self.status
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

/// The last failure of a thread: as recorded, then as the text that was handed out.
struct Last {
    pending: Option<Error>,
    text: Option<CString>,
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last { pending: None, text: None }) };
}

/// Keeps `error` for [`last_error`] and gives the status to return.
#[cold]
fn record(error: Error) -> abi::Status {
    let status = error.status.to_abi();
    // A thread that is being torn down has no place left to keep it: the status alone must do.
    let _ = LAST.try_with(|last| last.borrow_mut().pending = Some(error));
    status
}

#[cold]
fn record_panic(payload: Box<dyn Any + Send>) -> abi::Status {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => {
            // Of a type that we do not know: dropping it may panic again.
            std::mem::forget(payload);
            "(not a text)".to_owned()
        }
    };
    record(Error::failed(format!("the driver panicked: {text}")).hint("the agent's log names the line"))
}

/// `last_error` of the table.
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

/// As a C string; what cannot be in one is shown as U+FFFD.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// The boundary: runs `call`, turns its failure or its panic into a status, and keeps the text. Costs a branch where
/// nothing fails: a landing pad for panics is laid out beside the code, not entered.
#[inline]
pub(crate) fn guard(call: impl FnOnce() -> Result<()>) -> abi::Status {
    // An entity that panicked may be half changed. The host is told so, by DDSMARK_ERROR, and Rust's own guarantees
    // keep what it does with that entity from being undefined.
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
        // SAFETY: last_error gives a C string that lives until the next call on this thread.
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
        assert_eq!(text(), "the driver panicked: static; hint: the agent's log names the line");
        assert_eq!(guard(|| panic!("formatted {}", 1)), abi::ERROR);
        assert!(text().contains("panicked: formatted 1;"));
        assert_eq!(guard(|| std::panic::panic_any(Spiteful)), abi::ERROR);
        assert!(text().contains("(not a text)"));
    }
}
