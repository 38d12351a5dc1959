//! Values of a site as text: a site may be on another host, and its values then arrive as JSON.

use std::{collections::BTreeMap, fmt::Debug, path::PathBuf};

use control::MonotonicClock;
use host::{
    AgentCommand, ChannelEnd, DriverFile, EnvironmentInputs, LocalSite, ProcessExit, Site as _, SiteError,
    Timeline,
};
use serde::{Serialize, de::DeserializeOwned};

/// Checks that a value is the same after it was sent as JSON.
fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("JSON");
    assert_eq!(serde_json::from_str::<T>(&text).expect(&text), *value);
}

#[test]
fn what_a_site_returns_survives_as_json() {
    let site = LocalSite::new("agent");
    let facts = site.facts().expect("facts");
    survives(&facts);
    survives(&site.counters(&facts.cores).expect("counters"));
    survives(&site.owner());
    survives(&site.clock());
    survives(&Timeline::between(&MonotonicClock::of_this_process(), &site.clock()));
    for exit in [
        ProcessExit::Status(3),
        ProcessExit::Signal(9),
        ProcessExit::Killed,
        ProcessExit::Stuck,
        ProcessExit::Unknown,
    ] {
        survives(&exit);
    }
    survives(&ChannelEnd::Gone("closed".to_owned()));
    survives(&ChannelEnd::Invalid("no JSON".to_owned()));
    let (host, error, hint) = ("pi1".to_owned(), "gone".to_owned(), Some("look".to_owned()));
    survives(&ChannelEnd::Lost(SiteError::Lost { host, error, hint }));
}

#[test]
fn what_a_site_takes_survives_as_json() {
    fn is_value<T: Serialize + DeserializeOwned>() {}
    is_value::<EnvironmentInputs>();
    let variables = BTreeMap::from([("A".to_owned(), Some("1".to_owned())), ("B".to_owned(), None)]);
    let driver = DriverFile { name: "udp@1".to_owned(), path: PathBuf::from("/opt/libddsmark_udp.so") };
    survives(&AgentCommand { driver, variables, padding_bytes: 7, channels: 2 });
}

#[test]
fn errors_of_a_site_survive_as_json() {
    let error = || "no such file".to_owned();
    for error in [
        SiteError::no_log(None, error()),
        SiteError::failed(error(), "set it"),
        SiteError::NotFound { error: error(), hint: "available: lo".to_owned() },
        SiteError::Clock { error: error() },
        SiteError::Lost { host: "pi1".to_owned(), error: error(), hint: None },
        SiteError::NoAnswer { host: "pi1".to_owned(), call: "facts".to_owned(), limit_ms: 5 },
    ] {
        survives(&error);
    }
}
