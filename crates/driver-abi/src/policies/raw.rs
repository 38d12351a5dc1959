//! Conversion between the safe types and [`abi::Qos`](crate::Qos), for hosts and for drivers.

use std::{
    ffi::{CStr, CString, c_char},
    slice,
};

use super::{
    DestinationOrder, Durability, History, Liveliness, Ownership, Presentation, Qos, QosDuration,
    Reliability, Scope,
};

/// QoS struct of the driver ABI with the memory that it points to. Its pointers are valid as long as this.
pub struct RawQos {
    raw: crate::Qos,
    _memory: RawMemory,
}

// SAFETY: the pointers lead to heap memory of `_memory`, which never changes.
unsafe impl Send for RawQos {}

impl RawQos {
    /// Returns the struct.
    #[must_use]
    pub const fn get(&self) -> &crate::Qos {
        &self.raw
    }
}

/// Memory that the pointers of a struct lead to.
#[derive(Default)]
pub(super) struct RawMemory {
    names: Vec<CString>,
    pointers: Vec<*const c_char>,
    texts: Vec<String>,
}

/// Returns a struct without any policy.
#[must_use]
pub const fn empty() -> crate::Qos {
    // SAFETY: all fields are integers or pointers, for which zero is valid.
    let mut raw: crate::Qos = unsafe { std::mem::zeroed() };
    raw.struct_size = size_of::<crate::Qos>() as u32;
    raw
}

impl Qos {
    /// Converts to the driver ABI. Absent policies are not present in the struct. If only some fields of a policy are
    /// given, the others have the defaults of DDS 1.4.
    #[must_use]
    pub fn to_raw(&self) -> RawQos {
        let (mut raw, mut memory) = (empty(), RawMemory::default());
        self.set_fields(&mut raw, &mut memory);
        RawQos { raw, _memory: memory }
    }

    /// Copies the present policies from the driver ABI. Returns them with an error text for the first value that the
    /// contract does not define; such values are absent.
    ///
    /// # Safety
    /// The arrays and texts of `raw` are valid for their counts, or NULL.
    #[must_use]
    pub unsafe fn from_raw(raw: &crate::Qos) -> (Self, Option<String>) {
        // SAFETY: the caller guarantees it.
        unsafe { Self::read_fields(raw) }
    }
}

/// Value of a field of a policy.
pub(super) trait AbiValue: Sized {
    /// The fields of the driver ABI that hold it.
    type Raw;

    fn to_raw(self, memory: &mut RawMemory) -> Self::Raw;

    /// Returns `None` for a value that the contract does not define.
    ///
    /// # Safety
    /// Pointers are valid for their counts, or NULL.
    unsafe fn from_raw(raw: Self::Raw) -> Option<Self>;
}

macro_rules! numbers {
    ($($type:ty: $raw:ty, $to:expr, $from:expr;)*) => {
        $(impl AbiValue for $type {
            type Raw = $raw;

            fn to_raw(self, _: &mut RawMemory) -> $raw {
                $to(self)
            }

            unsafe fn from_raw(raw: $raw) -> Option<Self> {
                $from(raw)
            }
        })*
    };
}

numbers! {
    i32: i32, i32::from, Some;
    bool: u32, u32::from, flag;
    QosDuration: u64, QosDuration::raw, |raw| Some(QosDuration::from_raw(raw));
    Reliability: i32, Reliability::number, Reliability::from_number;
    History: i32, History::number, History::from_number;
    Durability: i32, Durability::number, Durability::from_number;
    Liveliness: i32, Liveliness::number, Liveliness::from_number;
    Ownership: i32, Ownership::number, Ownership::from_number;
    DestinationOrder: i32, DestinationOrder::number, DestinationOrder::from_number;
}

const fn flag(raw: u32) -> Option<bool> {
    match raw {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

impl AbiValue for Presentation {
    type Raw = (i32, u32, u32);

    fn to_raw(self, _: &mut RawMemory) -> Self::Raw {
        (self.scope.number(), self.coherent_access.into(), self.ordered_access.into())
    }

    unsafe fn from_raw((scope, coherent, ordered): Self::Raw) -> Option<Self> {
        Some(Self {
            scope: Scope::from_number(scope)?,
            coherent_access: flag(coherent)?,
            ordered_access: flag(ordered)?,
        })
    }
}

impl AbiValue for Vec<String> {
    type Raw = (*const *const c_char, u32);

    fn to_raw(self, memory: &mut RawMemory) -> Self::Raw {
        let name = |name: String| CString::new(name.replace('\0', "")).expect("no NUL is left");
        memory.names = self.into_iter().map(name).collect();
        memory.pointers = memory.names.iter().map(|name| name.as_ptr()).collect();
        (memory.pointers.as_ptr(), memory.pointers.len() as u32)
    }

    unsafe fn from_raw((start, count): Self::Raw) -> Option<Self> {
        // SAFETY: the caller guarantees it.
        let names = unsafe { array(start, count) }?;
        let text = |name: &*const c_char| {
            // SAFETY: as above.
            (!name.is_null()).then(|| unsafe { CStr::from_ptr(*name) }.to_string_lossy().into_owned())
        };
        names.iter().map(text).collect()
    }
}

impl AbiValue for String {
    type Raw = (*const u8, u32);

    fn to_raw(self, memory: &mut RawMemory) -> Self::Raw {
        let raw = (self.as_ptr(), self.len() as u32);
        // moving the text does not move its bytes
        memory.texts.push(self);
        raw
    }

    unsafe fn from_raw((start, count): Self::Raw) -> Option<Self> {
        // SAFETY: the caller guarantees it.
        unsafe { array(start, count) }.map(|bytes| Self::from_utf8_lossy(bytes).into_owned())
    }
}

/// Returns a C array as a slice; `None` if it is NULL and not empty.
///
/// # Safety
/// `start` is NULL or points to `count` values that are valid for `'a`.
unsafe fn array<'a, T>(start: *const T, count: u32) -> Option<&'a [T]> {
    match (count, start.is_null()) {
        (0, _) => Some(&[]),
        (_, true) => None,
        // SAFETY: not NULL, and the caller guarantees the rest.
        (_, false) => Some(unsafe { slice::from_raw_parts(start, count as usize) }),
    }
}
