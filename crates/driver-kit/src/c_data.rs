//! What lies in C's memory: structs that say their size, strings and arrays, read once and checked.

use std::{
    ffi::{CStr, c_char},
    slice,
};

use driver_abi as abi;

use crate::error::{Error, Result};

/// A struct of the contract that begins with `u32 struct_size`.
///
/// # Safety
/// `repr(C)`, its first field is that `u32`, and all of its fields may be 0.
pub(crate) unsafe trait Versioned: Copy {}
// SAFETY: numbers and pointers only, as the three below.
unsafe impl Versioned for abi::ParticipantConfig {}
// SAFETY: see above.
unsafe impl Versioned for abi::WriterConfig {}
// SAFETY: see above; an optional function may be 0 too.
unsafe impl Versioned for abi::ReaderConfig {}
// SAFETY: see above.
unsafe impl Versioned for abi::Qos {}
// SAFETY: see above.
unsafe impl Versioned for abi::Counters {}

/// The size that the host gave to a struct, checked to hold more than the size itself.
///
/// # Safety
/// `from` is NULL or leads to a struct of the size that it says.
unsafe fn size_given<T: Versioned>(from: *const T, what: &str) -> Result<usize> {
    if from.is_null() {
        return Err(Error::bad_argument(format!("`{what}` is NULL")));
    }
    // SAFETY: not NULL, and every such struct begins with its size.
    let size = unsafe { from.cast::<u32>().read() } as usize;
    if size < size_of::<u64>() {
        return Err(Error::bad_argument(format!("`struct_size` of `{what}` is {size}"))
            .hint("the caller sets it to the size of the struct"));
    }
    Ok(size.min(size_of::<T>()))
}

/// Copies a struct from the host: fields beyond the size that it gave are 0.
///
/// # Safety
/// As [`size_given`].
pub(crate) unsafe fn read<T: Versioned>(from: *const T, what: &str) -> Result<T> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_given(from, what) }?;
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: `size` bytes are there on both sides; 0 is fine for all fields that are not copied.
    unsafe {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), size);
        Ok(value.assume_init())
    }
}

/// Writes a struct to the host, as far as it has room for it, and says how far in `struct_size`.
///
/// # Safety
/// As [`size_given`], and the struct may be written.
pub(crate) unsafe fn write<T: Versioned>(to: *mut T, value: &T, what: &str) -> Result<()> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_given(to, what) }?;
    // SAFETY: `size` bytes are there on both sides; the first field is a u32.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const *value).cast::<u8>(), to.cast::<u8>(), size);
        to.cast::<u32>().write(size as u32);
    }
    Ok(())
}

/// A C string, or `None` where it is NULL.
///
/// # Safety
/// `text` is NULL or leads to a NUL-terminated string that lives for `'a`.
pub(crate) unsafe fn text_of<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not NULL, and the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Error::bad_argument(format!("`{what}` is not UTF-8: {text:?}")))
}

/// The same where it must be given.
///
/// # Safety
/// As [`text_of`].
pub(crate) unsafe fn required<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    unsafe { text_of(text, what) }?.ok_or_else(|| Error::bad_argument(format!("`{what}` is NULL")))
}

/// An array of C strings.
///
/// # Safety
/// `start` is NULL or leads to `count` strings as in [`text_of`].
pub(crate) unsafe fn strings_of<'a>(
    start: *const *const c_char,
    count: u32,
    what: &str,
) -> Result<Vec<&'a str>> {
    // SAFETY: the caller's promise.
    let pointers = unsafe { array(start, count, what) }?;
    // SAFETY: the caller's promise.
    pointers.iter().map(|text| unsafe { required(*text, what) }).collect()
}

/// An array of octets.
///
/// # Safety
/// `start` is NULL or leads to `count` octets that live for `'a`.
pub(crate) unsafe fn bytes_of<'a>(start: *const u8, count: u32, what: &str) -> Result<&'a [u8]> {
    // SAFETY: the caller's promise.
    unsafe { array(start, count, what) }
}

/// A slice from a C array that may be NULL when it is empty.
///
/// # Safety
/// `start` is NULL or leads to `count` values that live for `'a`.
pub(crate) unsafe fn array<'a, T>(start: *const T, count: u32, what: &str) -> Result<&'a [T]> {
    match (count, start.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Error::bad_argument(format!("`{what}` is NULL, and {count} are said to be there"))),
        // SAFETY: not NULL, and the caller's promise.
        (_, false) => Ok(unsafe { slice::from_raw_parts(start, count as usize) }),
    }
}
