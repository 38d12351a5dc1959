//! Table entries that readers and writers have in common.

/// Defines the entries of an endpoint, given its type in the driver ABI, the functions that return the target and the endpoint of a
/// handle, the name of the locator that it connects to, and the names of the entries.
macro_rules! endpoint_entries {
    (
        $raw:ident, $at:ident, $in:ident, $peer:literal;
        $matched:ident, $qos:ident, $settings:ident, $counters:ident, $locator:ident, $connect:ident
    ) => {
        pub(super) unsafe extern "C" fn $matched<D: Driver>(
            endpoint: *mut abi::$raw,
            out: *mut abi::Match,
        ) -> abi::Status {
            guard(|| {
                // SAFETY: the contract.
                let state = unsafe { $at::<D>(endpoint) }?.monitor.matched()?;
                // SAFETY: the contract.
                unsafe { c_data::write(out, &state.to_abi(), "out") }
            })
        }

        pub(super) unsafe extern "C" fn $qos<D: Driver>(
            endpoint: *mut abi::$raw,
            out: *mut abi::Qos,
        ) -> abi::Status {
            guard(|| {
                // SAFETY: the contract.
                let handle = unsafe { $at::<D>(endpoint) }?;
                // SAFETY: the contract.
                unsafe { super::give_qos(&*handle.monitor, &handle.qos, out) }
            })
        }

        pub(super) unsafe extern "C" fn $settings<D: Driver>(
            endpoint: *mut abi::$raw,
            visit: abi::Visitor,
            context: *mut std::ffi::c_void,
        ) -> abi::Status {
            guard(|| {
                // SAFETY: the contract.
                let endpoint = unsafe { $in::<D>(endpoint) }?;
                // SAFETY: the contract.
                endpoint.settings(&mut unsafe { super::settings::Settings::new(visit, context) })
            })
        }

        pub(super) unsafe extern "C" fn $counters<D: Driver>(
            endpoint: *mut abi::$raw,
            out: *mut abi::Counters,
        ) -> abi::Status {
            // SAFETY: the contract.
            guard(|| unsafe { c_data::write(out, &$at::<D>(endpoint)?.monitor.counters().to_abi(), "out") })
        }

        pub(super) unsafe extern "C" fn $locator<D: Driver>(
            endpoint: *mut abi::$raw,
            buffer: *mut std::ffi::c_char,
            capacity: u64,
        ) -> abi::Status {
            // SAFETY: the contract.
            guard(|| unsafe { super::give_text(&$in::<D>(endpoint)?.locator()?, buffer, capacity) })
        }

        pub(super) unsafe extern "C" fn $connect<D: Driver>(
            endpoint: *mut abi::$raw,
            locator: *const std::ffi::c_char,
        ) -> abi::Status {
            // SAFETY: the contract.
            guard(|| unsafe { $in::<D>(endpoint)?.connect(c_data::required(locator, $peer)?) })
        }
    };
}
pub(super) use endpoint_entries;
