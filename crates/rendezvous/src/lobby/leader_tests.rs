//! Tests of the lobby of the leader: every process that does not fit is named.

use std::time::Duration;

use serde_json::Value;

use super::*;
use crate::{
    error::RendezvousError,
    identity::{PeerAddress, PeerRole, ProcessId},
    message::Outcome,
};

const RULES: LeaderRules<'static> = LeaderRules { interoperate: &|_, _| false, compare: &|_, _| Ok(()) };

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn address(role: PeerRole, id: u16, process: u64) -> PeerAddress {
    PeerAddress { process: ProcessId::from_raw(process).expect("a number"), role, id }
}

fn publisher(id: u16, process: u64) -> PeerAddress {
    address(PeerRole::Publisher, id, process)
}

fn subscriber(id: u16, process: u64) -> PeerAddress {
    address(PeerRole::Subscriber, id, process)
}

fn announcement(publishers: Option<u32>, subscribers: Option<u32>) -> Announcement {
    Announcement {
        host: "b".to_owned(),
        pid: 7,
        driver: DriverIdentity { name: "x".to_owned(), version: "1".to_owned() },
        ddsmark: "0.1.0".to_owned(),
        generation: "4.3".to_owned(),
        options: Vec::new(),
        publishers,
        subscribers,
        offer: Value::Null,
    }
}

/// Announcement of a subscriber that expects this number of publishers.
fn expecting(publishers: u32) -> Announcement {
    announcement(Some(publishers), None)
}

/// Lobby of a leader that expects this number of subscribers.
fn lobby(subscribers: u32) -> LeaderLobby {
    let announcement = Announcement { host: "a".to_owned(), pid: 1, ..announcement(None, Some(subscribers)) };
    LeaderLobby::new(Peer { address: publisher(0, 1), announcement })
}

fn hear(
    lobby: &mut LeaderLobby,
    at: u64,
    address: PeerAddress,
    announcement: &Announcement,
) -> Result<(), RendezvousError> {
    lobby.announced(ms(at), address, announcement, &RULES)
}

#[track_caller]
fn complete(lobby: &mut LeaderLobby, at: u64) -> Option<Vec<PeerAddress>> {
    let guests = lobby.complete(ms(at)).expect("nothing contradicts");
    guests.map(|guests| guests.iter().map(|guest| guest.address).collect())
}

#[test]
fn lobby_is_complete_when_all_are_there_and_nothing_changes_for_a_second() {
    let mut lobby = lobby(2);
    assert_eq!(complete(&mut lobby, 0), None);
    hear(&mut lobby, 10, subscriber(1, 3), &expecting(2)).expect("it fits");
    let missing = lobby.missing(ms(10));
    assert_eq!((missing.publishers, missing.subscribers), (Some(1), Some(1)));
    assert_eq!(missing.names, ["subscriber 0", "publisher 1"]);
    hear(&mut lobby, 20, subscriber(0, 2), &expecting(2)).expect("it fits");
    hear(&mut lobby, 30, publisher(1, 4), &announcement(None, Some(2))).expect("it fits");
    assert_eq!(complete(&mut lobby, 1029), None);
    assert_eq!(complete(&mut lobby, 1030), Some(vec![publisher(1, 4), subscriber(0, 2), subscriber(1, 3)]));
}

#[test]
fn own_announcement_is_not_a_second_leader() {
    let mut lobby = lobby(1);
    hear(&mut lobby, 0, publisher(0, 1), &announcement(None, Some(1))).expect("its own");
    let error = hear(&mut lobby, 0, publisher(0, 9), &announcement(None, Some(1))).unwrap_err();
    let text = "two processes are publisher 0: publisher 0 on host `a` (process 1) and publisher 0 on host `b` (process 7)";
    assert_eq!(error.to_string(), text);
    assert!(error.hint().is_some_and(|hint| hint.contains("`-sub`")));
}

#[test]
fn two_living_processes_with_one_id_are_duplicates() {
    let mut lobby = lobby(1);
    hear(&mut lobby, 0, subscriber(0, 2), &expecting(1)).expect("it fits");
    hear(&mut lobby, 500, subscriber(0, 3), &expecting(1)).expect("it may be a restart");
    assert_eq!(complete(&mut lobby, 1900), None);
    hear(&mut lobby, 1300, subscriber(0, 3), &expecting(1)).expect("it may be a restart");
    // What was sent before the restart may arrive shortly after it.
    hear(&mut lobby, 1400, subscriber(0, 2), &expecting(1)).expect("it may be a restart");
    let error = hear(&mut lobby, 2000, subscriber(0, 2), &expecting(1)).unwrap_err();
    assert!(error.to_string().starts_with("two processes are subscriber 0: "), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("`-sidMultiSubTest`")));
}

#[test]
fn three_processes_with_one_id_are_duplicates_at_once() {
    let mut lobby = lobby(1);
    for process in [2, 3] {
        hear(&mut lobby, 0, subscriber(0, process), &expecting(1)).expect("it may be a restart");
    }
    let error = hear(&mut lobby, 10, subscriber(0, 4), &expecting(1)).unwrap_err();
    assert!(error.to_string().starts_with("two processes are subscriber 0: "), "{error}");
}

#[test]
fn restarted_process_takes_the_place_of_the_killed_one() {
    let mut lobby = lobby(1);
    hear(&mut lobby, 0, subscriber(0, 2), &expecting(3)).expect("it fits");
    // It was killed, and started again with another number of publishers.
    for at in (1000..4500).step_by(800) {
        hear(&mut lobby, at, subscriber(0, 3), &expecting(1)).expect("it may be a restart");
    }
    assert_eq!(complete(&mut lobby, 4500), Some(vec![subscriber(0, 3)]));
}

#[test]
fn process_that_leaves_or_falls_silent_is_missing_again() {
    let mut lobby = lobby(1);
    hear(&mut lobby, 0, subscriber(0, 2), &expecting(1)).expect("it fits");
    assert!(complete(&mut lobby, 1000).is_some());
    lobby.left(ms(1100), ProcessId::from_raw(2).expect("a number"));
    assert_eq!(lobby.missing(ms(1100)).names, ["subscriber 0"]);
    hear(&mut lobby, 2000, subscriber(0, 3), &expecting(1)).expect("it fits");
    assert!(lobby.missing(ms(4999)).names.is_empty());
    assert_eq!(lobby.missing(ms(5000)).names, ["subscriber 0"]);
}

#[test]
fn further_process_than_expected_is_named() {
    let mut lobby = lobby(2);
    hear(&mut lobby, 0, subscriber(2, 2), &expecting(1)).expect("it fits");
    hear(&mut lobby, 0, subscriber(0, 3), &expecting(1)).expect("it fits");
    let error = hear(&mut lobby, 0, subscriber(1, 4), &expecting(1)).unwrap_err();
    let text = "unexpected subscriber 2 on host `b` (process 7): only 2 subscribers are expected";
    assert_eq!(error.to_string(), text);
    assert!(error.hint().is_some_and(|hint| hint.contains("`-numSubscribers`")));
}

#[test]
fn ids_are_any_up_to_65535() {
    let mut lobby = lobby(2);
    hear(&mut lobby, 0, subscriber(u16::MAX, 2), &expecting(2)).expect("it fits");
    assert_eq!(lobby.missing(ms(0)).names, ["1 more subscriber", "publisher 1"]);
    hear(&mut lobby, 0, subscriber(7, 3), &expecting(2)).expect("it fits");
    hear(&mut lobby, 0, publisher(u16::MAX, 4), &announcement(None, Some(2))).expect("it fits");
    let all = vec![publisher(u16::MAX, 4), subscriber(7, 3), subscriber(u16::MAX, 2)];
    assert_eq!(complete(&mut lobby, 1000), Some(all));
    let error = hear(&mut lobby, 1000, subscriber(8, 5), &expecting(2)).unwrap_err();
    assert!(error.to_string().starts_with("unexpected subscriber 8 "), "{error}");
}

#[test]
fn publisher_that_no_subscriber_expects_is_unexpected() {
    let mut lobby = lobby(1);
    // The number of publishers is not known yet.
    hear(&mut lobby, 0, publisher(1, 2), &announcement(None, Some(1))).expect("it may fit");
    assert_eq!(lobby.missing(ms(0)).publishers, None);
    let error = hear(&mut lobby, 10, subscriber(0, 3), &expecting(1)).unwrap_err();
    assert!(error.to_string().starts_with("unexpected publisher 1 "), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("`-numPublishers` on each subscriber")));
}

#[test]
fn different_numbers_are_a_disagreement_with_both_values() {
    let error = hear(&mut lobby(1), 0, publisher(1, 2), &announcement(None, Some(2))).unwrap_err();
    let text = "`-numSubscribers` is 1 at publisher 0 on host `a` (process 1) and 2 at publisher 1 on host `b` (process 7)";
    assert_eq!(error.to_string(), text);
    let mut lobby = lobby(2);
    hear(&mut lobby, 0, subscriber(0, 2), &expecting(1)).expect("it fits");
    let error = hear(&mut lobby, 0, subscriber(1, 3), &expecting(2)).unwrap_err();
    assert!(error.to_string().starts_with("`-numPublishers` is 1 at subscriber 0 "), "{error}");
}

#[test]
fn other_driver_must_interoperate() {
    let other = DriverIdentity { name: "y".to_owned(), version: "2".to_owned() };
    let other = Announcement { driver: other, ..expecting(1) };
    let error = hear(&mut lobby(1), 0, subscriber(0, 2), &other).unwrap_err();
    assert!(error.to_string().starts_with("`-driver` is x 1 at publisher 0 "), "{error}");
    assert!(error.to_string().contains(" and y 2 at subscriber 0 "), "{error}");
    let rules = LeaderRules { interoperate: &|_, _| true, ..RULES };
    lobby(1).announced(ms(0), subscriber(0, 2), &other, &rules).expect("they interoperate");
}

#[test]
fn other_build_is_rejected() {
    let other = Announcement { ddsmark: "0.2.0".to_owned(), ..expecting(1) };
    let error = hear(&mut lobby(1), 0, subscriber(0, 2), &other).unwrap_err();
    assert!(error.to_string().starts_with("ddsmark has version 0.1.0 at publisher 0 "), "{error}");
}

#[test]
fn options_are_compared_once_for_each_process() {
    let calls = std::cell::Cell::new(0);
    let compare = |_: &Peer, guest: &Peer| {
        calls.set(calls.get() + 1);
        match guest.address.id {
            0 => Ok(()),
            _ => Err(Outcome::failure("`-keyed` is set at a and not set at b", Some("set it".to_owned()))),
        }
    };
    let rules = LeaderRules { compare: &compare, ..RULES };
    let mut lobby = lobby(2);
    for at in 0..3 {
        lobby.announced(ms(at), subscriber(0, 2), &expecting(1), &rules).expect("it fits");
    }
    assert_eq!(calls.get(), 1);
    let error = lobby.announced(ms(3), subscriber(1, 3), &expecting(1), &rules).unwrap_err();
    assert_eq!(error.to_string(), "`-keyed` is set at a and not set at b");
    assert_eq!(error.hint(), Some("set it"));
}

#[test]
fn huge_expected_number_is_named_in_short() {
    let mut lobby = lobby(1);
    hear(&mut lobby, 0, subscriber(0, 2), &expecting(u32::MAX)).expect("it fits");
    let missing = lobby.missing(ms(0));
    assert_eq!(missing.publishers, Some(65_535));
    assert_eq!(missing.names.last().map(String::as_str), Some("65527 more publishers"));
}
