//! Effective settings for the host.
use std::{ffi::c_void, marker::PhantomData};

use driver_abi as abi;

/// Reports settings to the host.
#[derive(Debug)]
pub struct Settings<'a> {
    visit: abi::Visitor,
    context: *mut c_void,
    _of_this_call: PhantomData<&'a mut ()>,
}

impl Settings<'_> {
    /// Creates a reporter.
    ///
    /// # Safety
    /// `visit` may be called with `context` during the lifetime of the result.
    pub(super) unsafe fn new(visit: abi::Visitor, context: *mut c_void) -> Self {
        Self { visit, context, _of_this_call: PhantomData }
    }

    /// Reports one effective setting.
    pub fn set(&mut self, name: &str, value: &(impl ToString + ?Sized)) {
        let (name, value) = (crate::error::c_text(name), crate::error::c_text(&value.to_string()));
        // SAFETY: guaranteed by the caller of `new`; both are C strings.
        unsafe { (self.visit)(self.context, name.as_ptr(), value.as_ptr()) };
    }
}
