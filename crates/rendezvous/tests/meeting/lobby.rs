//! Meeting in the lobby, and failing to.

use std::{
    thread,
    time::{Duration, Instant},
};

use rendezvous::{
    MessageChannel, Outcome, PeerRole,
    envelope::Splitter,
    lobby::{LeaderRules, Peer, join, lead},
};

use crate::{
    network::MemoryNetwork,
    rig::{LIMIT, RULES, SHORT, address, announcement, joins, leads, meet, message_channel},
};

/// Lets two processes wait for each other, and returns what they find.
fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().expect("no panic"), other)
    })
}

fn pair(network: &MemoryNetwork, roles: [PeerRole; 2]) -> [MessageChannel; 2] {
    roles.map(|role| message_channel(network.mailbox(), role, 0))
}

#[test]
fn processes_meet_in_any_order_of_start() {
    let network = MemoryNetwork::new();
    network.set_repeats(1);
    let (leader, guests) = meet(&network, 3, LIMIT);
    let ids: Vec<u16> = leader.streams.iter().map(|stream| stream.peer.address.id).collect();
    assert_eq!((ids, guests.len()), (vec![0, 1, 2], 3));
    // A leader that comes later finds a guest that waits for it.
    let network = MemoryNetwork::new();
    let [mut leader, mut guest] = pair(&network, [PeerRole::Publisher, PeerRole::Subscriber]);
    let (leader, guest) = both(
        || joins(&mut guest, LIMIT),
        || {
            thread::sleep(SHORT);
            leads(&mut leader, 1, LIMIT)
        },
    );
    leader.expect("an invitation");
    guest.expect("a guest");
}

#[test]
fn missing_processes_are_named_with_those_that_were_seen() {
    let network = MemoryNetwork::new();
    let [mut leader, mut guest] = pair(&network, [PeerRole::Publisher, PeerRole::Subscriber]);
    let (alone, led) = both(|| joins(&mut guest, LIMIT), || leads(&mut leader, 2, SHORT));
    let led = led.unwrap_err();
    let text = "subscriber 1 not found within 0.3 s; seen: subscriber 0 on host `here` (process 7); 1 other mailboxes in memory";
    assert_eq!(led.to_string(), text);
    assert!(led.hint().is_some_and(|hint| hint.contains("`-domain`")));
    // The guest prints the same reason.
    assert!(alone.unwrap_err().to_string().ends_with(&led.to_string()));
}

#[test]
fn two_subscribers_find_that_a_publisher_is_missing() {
    let network = MemoryNetwork::new();
    let [mut one, mut other] = pair(&network, [PeerRole::Subscriber; 2]);
    let (one, _) = both(|| joins(&mut one, SHORT), || joins(&mut other, 2 * SHORT));
    let error = one.unwrap_err();
    assert!(
        error.to_string().starts_with("publisher 0 not found within 0.3 s; seen: subscriber 0"),
        "{error}"
    );
    assert!(error.hint().is_some_and(|hint| hint.starts_with("all processes are subscribers")), "{error}");
}

#[test]
fn two_publishers_find_each_other() {
    let network = MemoryNetwork::new();
    let [mut one, mut other] = pair(&network, [PeerRole::Publisher; 2]);
    for found in <[_; 2]>::from(both(|| leads(&mut one, 1, LIMIT), || leads(&mut other, 1, LIMIT))) {
        let error = found.unwrap_err();
        assert!(error.to_string().contains("two processes are publisher 0"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("`-sub`")), "{error}");
    }
}

#[test]
fn process_that_comes_when_the_leader_has_failed_learns_the_reason() {
    let network = MemoryNetwork::new();
    let [mut one, mut other] = pair(&network, [PeerRole::Publisher; 2]);
    // Its first announcement arrives after those of the publishers.
    let mut subscriber = message_channel(network.mailbox(), PeerRole::Subscriber, 0);
    let (found, _) = both(
        || {
            thread::sleep(SHORT);
            joins(&mut subscriber, LIMIT)
        },
        || both(|| leads(&mut one, 1, LIMIT), || leads(&mut other, 1, LIMIT)),
    );
    let error = found.unwrap_err();
    assert!(error.to_string().contains("two processes are publisher 0"), "{error}");
}

#[test]
fn disagreement_is_an_error_of_both_with_its_reason_and_hint() {
    let network = MemoryNetwork::new();
    let [mut leader, mut guest] = pair(&network, [PeerRole::Publisher, PeerRole::Subscriber]);
    let compare = |leader: &Peer, guest: &Peer| {
        let text = format!("`-keyed` is set at {leader} and not set at {guest}");
        Err(Outcome::failure(text, Some("set it on both".to_owned())))
    };
    let rules = LeaderRules { compare: &compare, ..RULES };
    let own = announcement(None, Some(1));
    let (guest, leader) =
        both(|| joins(&mut guest, LIMIT), || lead(&mut leader, &own, &rules, LIMIT, &|| false).map(drop));
    let text = "`-keyed` is set at publisher 0 on host `here` (process 7) and not set at subscriber 0 on host `here` (process 7)";
    let leader = leader.unwrap_err();
    assert_eq!(leader.to_string(), text);
    let guest = guest.unwrap_err();
    assert_eq!(guest.to_string(), format!("rejected by publisher 0 on host `here` (process 7): {text}"));
    for error in [leader, guest] {
        assert_eq!(error.hint(), Some("set it on both"));
    }
}

#[test]
fn stop_request_ends_a_wait_and_the_other_side_learns_it() {
    let network = MemoryNetwork::new();
    let [mut leader, mut guest] = pair(&network, [PeerRole::Publisher, PeerRole::Subscriber]);
    let own = announcement(None, Some(2));
    let began = Instant::now();
    // The leader is interrupted when it has seen the guest.
    let (guest, leader) = both(
        || joins(&mut guest, LIMIT),
        || lead(&mut leader, &own, &RULES, LIMIT, &|| began.elapsed() > Duration::from_millis(500)),
    );
    assert!(leader.unwrap_err().is_stopped);
    let guest = guest.unwrap_err();
    assert!(guest.to_string().starts_with("rejected by publisher 0"), "{guest}");
    let [_, mut guest] = pair(&MemoryNetwork::new(), [PeerRole::Publisher, PeerRole::Subscriber]);
    let began = Instant::now();
    let own = announcement(Some(1), None);
    let stopped = join(&mut guest, &own, LIMIT, &|| true);
    assert!(stopped.unwrap_err().is_stopped && began.elapsed() < LIMIT);
}

#[test]
fn process_of_another_version_is_named() {
    let network = MemoryNetwork::new();
    let mut leader = message_channel(network.mailbox(), PeerRole::Publisher, 0);
    let mut splitter = Splitter::new(address(PeerRole::Subscriber, 4));
    let mut sample = splitter.split(None, b"other").expect("short").remove(0);
    sample[8] = 77;
    network.inject(b"noise of a stranger");
    network.inject(&sample);
    let error = leads(&mut leader, 1, LIMIT).unwrap_err();
    let text = "subscriber 4 uses version 77 of the messages between hosts, this process version 1";
    assert_eq!(error.to_string(), text);
    assert!(error.hint().is_some());
}
