//! Inspection of drivers.

use std::{fs, time::Duration};

use host::{DriverFile, LocalSite};
use runner::{RunnerError, StopToken, describe};

use crate::rig::{SHORT_NS, children, limits, local_site};

fn ask(script: &str, limit_ns: u64) -> Result<experiment::DriverDescription, RunnerError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("d.so");
    fs::write(&path, script).unwrap();
    let driver = DriverFile { name: "d".to_owned(), path };
    describe(&local_site(), &driver, &limits(limit_ns), &StopToken::new())
}

#[test]
fn describe_returns_the_description_of_the_driver() {
    assert_eq!(ask("", 60 * SHORT_NS).unwrap().middleware_version, "1.2.3");
    assert_eq!(children(), [""; 0]);
}

#[test]
fn unusable_driver_has_its_reason() {
    let error = ask("fail", 60 * SHORT_NS).unwrap_err();
    assert_eq!(error.to_string(), "cannot use driver `d`: it does not work");
    assert_eq!(error.hint().as_deref(), Some("try harder"));

    let error = ask("exit", 60 * SHORT_NS).unwrap_err();
    assert_eq!(error.to_string(), "cannot use driver `d`: the agent's process exited with status 3");
    let RunnerError::Driver { failure, .. } = error else { panic!() };
    assert_eq!(failure.last_log_lines, ["the driver has seen", "enough"]);

    let error = ask("hang", SHORT_NS).unwrap_err();
    assert_eq!(error.to_string(), "cannot use driver `d`: no answer within 1.5 s");
}

#[test]
fn stop_request_ends_the_inspection() {
    let stop = StopToken::new();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("d.so");
    fs::write(&path, "hang").unwrap();
    let wish = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        wish.request();
    });
    let driver = DriverFile { name: "d".to_owned(), path };
    let answer = describe(&local_site(), &driver, &limits(600_000_000_000), &stop);
    assert!(matches!(answer, Err(RunnerError::Stopped)), "{answer:?}");
}

#[test]
fn agent_program_that_cannot_start_is_an_error() {
    let driver = DriverFile { name: "d".to_owned(), path: "/dev/null".into() };
    let site = LocalSite::new("/nowhere/agent");
    let error = describe(&site, &driver, &limits(SHORT_NS), &StopToken::new()).unwrap_err();
    assert!(error.to_string().starts_with("cannot start the agent `/nowhere/agent`"), "{error}");
}
