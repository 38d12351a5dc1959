//! Silence of a guest's stream: who sends heartbeats, and who expects them.

use std::{os::unix::net::UnixStream, thread, time::Duration};

use host::Site as _;
use remote_hosts::{
    Timeouts,
    framing::{Frame, find_greeting},
    protocol::{ToSteward, Versions},
    serve,
};

use crate::{
    fake_site::guest,
    leader::{FRAME_BYTES, served},
};

/// Returns the frames that a guest sends after its first message to a leader with this limit of silence, for 2.5 s.
fn frames_of_guest(silence: Option<Duration>) -> Vec<Frame> {
    let (guest, _, _) = guest();
    let (mut ours, theirs) = UnixStream::pair().expect("a pair");
    let input = theirs.try_clone().expect("a socket");
    let server = thread::spawn(move || serve(Ok(guest), (input, theirs), FRAME_BYTES, || false));
    find_greeting(&mut ours).expect("a greeting");
    let hello = ToSteward::Hello { versions: Versions::own(), silence };
    Frame::Message(serde_json::to_vec(&hello).expect("JSON")).write(&mut ours).expect("a frame");
    thread::sleep(Duration::from_millis(2500));
    ours.shutdown(std::net::Shutdown::Write).expect("a socket");
    server.join().expect("no panic");
    assert!(matches!(Frame::read(&mut ours, FRAME_BYTES), Ok(Frame::Message(_))), "its first message");
    std::iter::from_fn(|| Frame::read(&mut ours, FRAME_BYTES).ok()).collect()
}

#[test]
fn heartbeats_are_sent_only_where_silence_is_limited() {
    let beats = frames_of_guest(Some(Duration::from_secs(10)));
    assert!(beats.len() >= 2 && beats.iter().all(|frame| *frame == Frame::Heartbeat), "{beats:?}");
    assert_eq!(frames_of_guest(None), []);
}

#[test]
fn second_greeting_ends_the_connection() {
    let (guest, _, _) = guest();
    let (mut ours, theirs) = UnixStream::pair().expect("a pair");
    let input = theirs.try_clone().expect("a socket");
    let server = thread::spawn(move || serve(Ok(guest), (input, theirs), FRAME_BYTES, || false));
    let hello = ToSteward::Hello { versions: Versions::own(), silence: None };
    for _ in 0..2 {
        Frame::Message(serde_json::to_vec(&hello).expect("JSON")).write(&mut ours).expect("a frame");
    }
    assert_eq!(server.join().expect("no panic").to_string(), "a second greeting");
}

#[test]
fn given_streams_may_stay_silent() {
    let silence = Duration::from_millis(50);
    let (leader, _, _end) = served(Timeouts { silence, ..Timeouts::default() });
    thread::sleep(20 * silence);
    assert_eq!(leader.facts().expect("facts").host.name, "guest");
}
