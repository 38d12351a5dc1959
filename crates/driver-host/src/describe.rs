//! A driver's description, checked and copied into safe types.

use std::{
    collections::BTreeMap,
    ffi::{CStr, c_char},
    mem::MaybeUninit,
    ptr,
};

use driver_abi::{
    self as abi,
    description::{
        DriverDescription, OptionInfo, PolicySupport, ReceiveMode, Support, TransportInfo, TypeKind,
    },
    policies::Policy,
};

/// Names of the feature bits, as in results and in `drivers info`.
const FEATURES: [(u32, &str); 13] = [
    (abi::FEATURE_LOCATORS, "locators"),
    (abi::FEATURE_NATIVE_BATCHING, "native_batching"),
    (abi::FEATURE_APPLICATION_BATCHING, "application_batching"),
    (abi::FEATURE_WAIT_ACKED, "wait_acked"),
    (abi::FEATURE_WRITER_LOANS, "writer_loans"),
    (abi::FEATURE_READER_LOANS, "reader_loans"),
    (abi::FEATURE_ECHO_IN_LISTENER, "echo_in_listener"),
    (abi::FEATURE_CONTENT_FILTER, "content_filter"),
    (abi::FEATURE_INSTANCES, "instances"),
    (abi::FEATURE_MULTICAST, "multicast"),
    (abi::FEATURE_ASYNC_WRITE, "async_write"),
    (abi::FEATURE_SIMULATED, "simulated"),
    (abi::FEATURE_ONE_PROCESS, "one_process"),
];

/// Copies a description. Returns it with the feature bits.
///
/// # Safety
/// `raw` is NULL or was returned by a driver's `describe()`.
pub unsafe fn description(raw: *const abi::Description) -> Result<(DriverDescription, u32), String> {
    // SAFETY: the caller guarantees it.
    let raw = unsafe { own_copy(raw) }?;
    // SAFETY: each pointer is NULL or a string that is valid as long as the library is loaded.
    let optional = |text: *const c_char| unsafe { text_of(text) };
    let required = |name: &str, text| optional(text).ok_or_else(|| format!("`{name}` is NULL"));
    // SAFETY: the driver guarantees the array.
    let transports = unsafe { slice(raw.transports, raw.transport_count) }
        .iter()
        .map(|transport| {
            Ok(TransportInfo {
                name: required("transport name", transport.name)?,
                max_payload_bytes: transport.max_payload_bytes,
                note: optional(transport.note),
            })
        })
        .collect::<Result<Vec<_>, String>>()?;
    if transports.is_empty() {
        return Err("declares no transport".to_owned());
    }
    // SAFETY: the driver guarantees the array.
    let options = unsafe { slice(raw.options, raw.option_count) }
        .iter()
        .map(|option| {
            Ok(OptionInfo {
                name: required("option name", option.name)?,
                default_value: optional(option.default_value),
                help: required("option help", option.help)?,
            })
        })
        .collect::<Result<Vec<_>, String>>()?;
    let policies = Policy::ALL
        .iter()
        .zip(&raw.policies)
        .map(|(&policy, state)| {
            let known = |value| {
                Support::from_number(value).ok_or_else(|| format!("unknown support value of {policy}"))
            };
            let (writer, reader) = (known(state.writer)?, known(state.reader)?);
            Ok((policy, PolicySupport::of_ends(writer, reader, optional(state.note))))
        })
        .collect::<Result<BTreeMap<_, _>, String>>()?;
    let names = |of: &str, names, count| {
        // SAFETY: the driver guarantees the array.
        let names = unsafe { slice(names, count) }.iter();
        names.map(|name| required(&format!("name of a {of}"), *name)).collect::<Result<Vec<_>, String>>()
    };
    let kept_threads = names("kept thread", raw.kept_threads, raw.kept_thread_count)?;
    let variables = names("variable", raw.variables, raw.variable_count)?;
    let receive_modes: Vec<_> = ReceiveMode::ALL
        .iter()
        .copied()
        .filter(|mode| raw.receive_modes & (1 << mode.number()) != 0)
        .collect();
    if receive_modes.is_empty() {
        return Err("declares no receive mode".to_owned());
    }
    let type_kinds = TypeKind::ALL.iter().filter(|kind| raw.type_kinds & (1 << kind.number()) != 0);
    let features = FEATURES.iter().filter(|(bit, _)| raw.features & bit != 0);
    let description = DriverDescription {
        name: required("name", raw.name)?,
        driver_version: required("driver_version", raw.driver_version)?,
        middleware: required("middleware", raw.middleware)?,
        middleware_version: required("middleware_version", raw.middleware_version)?,
        version_source: required("version_source", raw.version_source)?,
        build: optional(raw.build),
        licence: required("licence", raw.licence)?,
        transports,
        options,
        receive_modes,
        type_kinds: type_kinds.map(|kind| kind.name().to_owned()).collect(),
        features: features.map(|(_, name)| (*name).to_owned()).collect(),
        policies,
        kept_threads,
        variables,
    };
    Ok((description, raw.features))
}

/// Least size of a description; fields that are added later lie beyond it.
const LEAST_BYTES: usize = 472;
const _: () = assert!(LEAST_BYTES <= size_of::<abi::Description>());

/// Copies a description.
///
/// # Safety
/// `raw` is NULL or was returned by a driver's `describe()`.
unsafe fn own_copy(raw: *const abi::Description) -> Result<abi::Description, String> {
    if raw.is_null() {
        return Err("returned NULL".to_owned());
    }
    // SAFETY: in every version a description starts with its size, and the driver guarantees that many bytes. All fields are
    // integers or pointers, for which zero is a value.
    let copy = unsafe { known_part(raw, (*raw).struct_size as usize, LEAST_BYTES) };
    copy.ok_or_else(|| "is cut short".to_owned())
}

/// Copies a value of a driver that may be shorter or longer than the type known here. Missing fields are 0. Returns `None` if it is
/// shorter than `least` bytes.
///
/// # Safety
/// `foreign` points to `size` bytes, and zero is a value of each field.
pub unsafe fn known_part<T>(foreign: *const T, size: usize, least: usize) -> Option<T> {
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller guarantees `size` bytes; at most the size of our own type is copied, and the rest is zero.
    (size >= least).then(|| unsafe {
        ptr::copy_nonoverlapping(
            foreign.cast::<u8>(),
            copy.as_mut_ptr().cast::<u8>(),
            size.min(size_of::<T>()),
        );
        copy.assume_init()
    })
}

/// Copies a C string; `None` for NULL.
///
/// # Safety
/// `text` is NULL, or NUL-terminated and valid for the call.
pub unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: the caller guarantees it.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Returns the array as a slice; empty for NULL.
///
/// # Safety
/// `items` is NULL or points to `count` items that are valid for `'a`.
pub unsafe fn slice<'a, T>(items: *const T, count: u32) -> &'a [T] {
    // SAFETY: the caller guarantees it.
    if items.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(items, count as usize) } }
}
