//! Identity of this agent: its process, its clock, its libraries and its driver.

use std::fs;

use control::{ClockSource, Hello, PROTOCOL, loaded_libraries};
use driver_host::Driver;
use experiment::Role;

/// Roles that this agent can take.
const ROLES: [Role; 4] = [Role::Writer, Role::Reader, Role::Pinger, Role::Echo];

/// Returns the identity of this agent.
pub fn hello(driver: &Driver) -> Hello {
    Hello {
        protocol: PROTOCOL,
        pid: std::process::id(),
        roles: ROLES.into(),
        clock: clock(),
        libraries: loaded_libraries(),
        driver: driver.description().clone(),
    }
}

fn clock() -> ClockSource {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let time_namespace = fs::read_link("/proc/self/ns/time").ok();
    ClockSource {
        boot_id: boot_id.map(|id| id.trim().to_owned()),
        time_namespace: time_namespace.map(|link| link.to_string_lossy().into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_agents_of_this_process_read_the_same_clock() {
        assert!(clock().is_same(&clock()));
        assert!(!ClockSource { boot_id: None, ..clock() }.is_same(&ClockSource { boot_id: None, ..clock() }));
        let other = ClockSource { time_namespace: Some("time:[1]".to_owned()), ..clock() };
        assert!(!clock().is_same(&other));
    }
}
