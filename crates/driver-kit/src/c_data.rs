//! Data in C memory: versioned structs, strings and arrays, read once and checked.

use std::{
    ffi::{CStr, c_char},
    slice,
};

use driver_abi as abi;

use crate::error::{Error, Result};

/// Struct of the driver ABI that starts with `u32 struct_size`.
///
/// # Safety
/// `repr(C)`, its first field is that `u32`, and 0 is valid for all of its fields.
pub(crate) unsafe trait Versioned: Copy {}
// SAFETY: only numbers and pointers.
unsafe impl Versioned for abi::ParticipantConfig {}
// SAFETY: see above.
unsafe impl Versioned for abi::WriterConfig {}
// SAFETY: see above; 0 is valid for an optional function, too.
unsafe impl Versioned for abi::ReaderConfig {}
// SAFETY: see above.
unsafe impl Versioned for abi::Qos {}
// SAFETY: see above.
unsafe impl Versioned for abi::Counters {}
// SAFETY: see above.
unsafe impl Versioned for abi::Match {}

/// Returns the size that the host set, checked to exceed the size field itself.
///
/// # Safety
/// `from` is NULL or points to a struct of the size that it states.
unsafe fn size_of_caller<T: Versioned>(from: *const T, what: &str) -> Result<usize> {
    if from.is_null() {
        return Err(Error::bad_argument(format!("`{what}` is NULL")));
    }
    // SAFETY: not NULL, and every such struct starts with its size.
    let size = unsafe { from.cast::<u32>().read() } as usize;
    if size < size_of::<u64>() {
        return Err(Error::bad_argument(format!("invalid `struct_size` of `{what}`: {size}"))
            .hint("set it to the size of the struct"));
    }
    Ok(size.min(size_of::<T>()))
}

/// Copies a struct from the host. Fields beyond its size are 0.
///
/// # Safety
/// Same as for [`size_of_caller`].
pub(crate) unsafe fn read<T: Versioned>(from: *const T, what: &str) -> Result<T> {
    // SAFETY: the caller guarantees it.
    let size = unsafe { size_of_caller(from, what) }?;
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: both sides have `size` bytes; 0 is valid for all fields that are not copied.
    unsafe {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), size);
        Ok(value.assume_init())
    }
}

/// Writes a struct to the host as far as it fits, and stores the written size in `struct_size`.
///
/// # Safety
/// Same as for [`size_of_caller`], and the struct is writable.
pub(crate) unsafe fn write<T: Versioned>(to: *mut T, value: &T, what: &str) -> Result<()> {
    // SAFETY: the caller guarantees it.
    let size = unsafe { size_of_caller(to, what) }?;
    // SAFETY: both sides have `size` bytes; the first field is a u32.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const *value).cast::<u8>(), to.cast::<u8>(), size);
        to.cast::<u32>().write(size as u32);
    }
    Ok(())
}

/// Returns a C string; `None` for NULL.
///
/// # Safety
/// `text` is NULL or points to a NUL-terminated string that is valid for `'a`.
pub(crate) unsafe fn text_of<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL, and the caller guarantees the rest.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Error::bad_argument(format!("`{what}` is not UTF-8: {text:?}")))
}

/// Returns a C string that must not be NULL.
///
/// # Safety
/// Same as for [`text_of`].
pub(crate) unsafe fn required<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the caller guarantees it.
    unsafe { text_of(text, what) }?.ok_or_else(|| Error::bad_argument(format!("`{what}` is NULL")))
}

/// Returns an array of C strings.
///
/// # Safety
/// `start` is NULL or points to `count` strings as for [`text_of`].
pub(crate) unsafe fn strings_of<'a>(
    start: *const *const c_char,
    count: u32,
    what: &str,
) -> Result<Vec<&'a str>> {
    // SAFETY: the caller guarantees it.
    let pointers = unsafe { array(start, count, what) }?;
    // SAFETY: the caller guarantees it.
    pointers.iter().map(|text| unsafe { required(*text, what) }).collect()
}

/// Returns a C array as a slice. NULL is allowed for an empty one.
///
/// # Safety
/// `start` is NULL or points to `count` values that are valid for `'a`.
pub(crate) unsafe fn array<'a, T>(start: *const T, count: u32, what: &str) -> Result<&'a [T]> {
    match (count, start.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Error::bad_argument(format!("`{what}` is NULL, but its count is {count}"))
            .hint("pass the array, or a count of 0")),
        // SAFETY: not NULL, and the caller guarantees the rest.
        (_, false) => Ok(unsafe { slice::from_raw_parts(start, count as usize) }),
    }
}
