//! Transport that was requested of a driver.

use driver_abi::description::TransportInfo;

/// Transport that was requested of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestedTransport {
    pub(crate) name: String,
    pub(crate) max_payload_bytes: u64,
    /// Whether it is for the middleware as shipped; `None`: also for the tuned one.
    pub(crate) shipped: Option<bool>,
}

impl RequestedTransport {
    pub(crate) fn new(transport: &TransportInfo, shipped: Option<bool>) -> Self {
        let (name, max_payload_bytes) = (transport.name.clone(), transport.max_payload_bytes);
        Self { name, max_payload_bytes, shipped }
    }

    /// Returns whether it is for the middleware with or without the vendor's defaults.
    pub(crate) fn is_for(&self, vendor_defaults: bool) -> bool {
        self.shipped.is_none_or(|shipped| shipped == vendor_defaults)
    }
}
