//! What is in force, on its way to the host.
use std::{ffi::c_void, marker::PhantomData};

use driver_abi as abi;

/// Shows settings to the host.
pub struct Settings<'a> {
    visit: abi::Visitor,
    context: *mut c_void,
    _of_this_call: PhantomData<&'a mut ()>,
}

impl Settings<'_> {
    /// # Safety
    /// `visit` may be called with `context` as long as the result lives.
    pub(super) unsafe fn new(visit: abi::Visitor, context: *mut c_void) -> Self {
        Self { visit, context, _of_this_call: PhantomData }
    }

    /// One setting that is in force.
    pub fn set(&mut self, name: &str, value: &(impl ToString + ?Sized)) {
        let (name, value) = (crate::error::c_text(name), crate::error::c_text(&value.to_string()));
        // SAFETY: the promise of `new`; C strings.
        unsafe { (self.visit)(self.context, name.as_ptr(), value.as_ptr()) };
    }
}

impl std::fmt::Debug for Settings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}
