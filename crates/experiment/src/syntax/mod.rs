//! Texts of experiment files: values with positions and units, and errors that point at them.

pub(crate) mod driver_name;
pub(crate) mod many;
pub(crate) mod named;
pub(crate) mod refusal;
pub(crate) mod source;
pub(crate) mod trace;
pub(crate) mod units;
