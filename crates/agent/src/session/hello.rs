//! Identity of this agent: its process, its clock, its libraries and its driver.

use control::{Hello, MonotonicClock, PROTOCOL, loaded_libraries};
use driver_host::Driver;
use experiment::Role;

/// Returns the identity of this agent.
pub fn hello(driver: &Driver) -> Hello {
    Hello {
        protocol: PROTOCOL,
        pid: std::process::id(),
        roles: Role::ALL.into(),
        clock: MonotonicClock::of_this_process(),
        libraries: loaded_libraries(),
        driver: driver.description().clone(),
    }
}
