//! Texts of experiment files: values with positions and units, and errors that point at them.

pub(crate) mod deserialization_error;
pub(crate) mod driver_name;
pub(crate) mod figure;
pub(crate) mod host_flag;
pub(crate) mod host_spec;
pub(crate) mod input_file;
pub(crate) mod link;
pub(crate) mod link_values;
pub(crate) mod named;
pub(crate) mod one_or_many;
pub(crate) mod scalar;
pub(crate) mod similar;
pub(crate) mod source;
pub(crate) mod spanned_error;
pub(crate) mod ssh_target;
pub(crate) mod trace;
pub(crate) mod units;

/// Returns whether a field has its default and is not serialized.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
