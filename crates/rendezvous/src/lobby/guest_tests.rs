//! Lobby of a guest: leaders that are lost, end or are replaced.

use std::time::Duration;

use super::{Announcement, DEFAULT_SILENCE, DriverIdentity, GuestLobby};
use crate::{
    identity::{PeerAddress, PeerRole},
    message::{Control, Message, Outcome},
    message_channel::Delivery,
};

const SECOND: Duration = Duration::from_secs(1);

fn address(role: PeerRole) -> PeerAddress {
    PeerAddress::of_this_process(role, 0).expect("a random number")
}

fn announced(from: PeerAddress) -> Delivery {
    let announcement = Announcement {
        host: "a".to_owned(),
        pid: 7,
        driver: DriverIdentity { name: "d".to_owned(), version: "D 1".to_owned() },
        ddsmark: "1".to_owned(),
        generation: "4.3".to_owned(),
        options: Vec::new(),
        publishers: None,
        subscribers: Some(1),
        offer: serde_json::Value::Null,
    };
    let message = Message::Control(Control::Announce(Box::new(announcement)));
    Delivery::Message { from, to_all: true, message }
}

fn told(from: PeerAddress, control: Control) -> Delivery {
    Delivery::Message { from, to_all: false, message: Message::Control(control) }
}

#[test]
fn silent_leader_is_lost_unless_another_has_come() {
    let mut lobby = GuestLobby::new(address(PeerRole::Subscriber));
    // A further subscriber that has gone is not missed.
    assert_eq!(lobby.received(Duration::ZERO, announced(address(PeerRole::Subscriber))), Ok(None));
    assert_eq!(lobby.check(100 * SECOND), Ok(()));
    assert_eq!(lobby.received(SECOND, announced(address(PeerRole::Publisher))), Ok(None));
    assert_eq!(lobby.check(SECOND + DEFAULT_SILENCE - SECOND / 10), Ok(()));
    let lost = lobby.check(SECOND + DEFAULT_SILENCE).expect_err("it is silent");
    assert_eq!(lost.to_string(), "publisher 0 on host `a` (process 7) is lost: no sign of life for 10 s");
    assert!(lost.hint().is_some_and(|hint| hint.contains("start both sides again")));
    let again = address(PeerRole::Publisher);
    assert_eq!(lobby.received(5 * SECOND, announced(again)), Ok(None));
    assert_eq!(lobby.check(SECOND + DEFAULT_SILENCE), Ok(()));
    let invited = lobby.received(6 * SECOND, told(again, Control::Invite)).expect("no error");
    assert_eq!(invited.map(|leader| leader.address), Some(again));
}

#[test]
fn leader_that_ends_ends_the_wait_with_its_reason() {
    for ends in [Control::Reject, Control::Goodbye] {
        let mut lobby = GuestLobby::new(address(PeerRole::Subscriber));
        let leader = address(PeerRole::Publisher);
        assert_eq!(lobby.received(SECOND, announced(leader)), Ok(None));
        let outcome = Outcome::failure("it was interrupted", None);
        let error = lobby.received(SECOND, told(leader, ends(outcome))).expect_err("it has ended");
        let text = error.to_string();
        assert!(text.starts_with("rejected by publisher 0") && text.contains("it was interrupted"), "{text}");
    }
}
