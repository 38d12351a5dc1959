//! Messages of any kind: the guest never panics, and launches nothing but its own driver.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::Duration,
};

use control::{Drain, Exchange, Match, OpenOptions, Request};
use host::{ClockClient, ClockResponder, ExchangeKey};
use proptest::prelude::*;
use remote_hosts::{
    framing::Frame,
    protocol::{Call, ToSteward, Versions},
    serve,
};
use serde_json::Value;

use crate::{
    fake_site::{DRIVER, configure, guest, owner},
    leader::{FRAME_BYTES, command},
};

/// Returns messages of every kind that a leader may send after its greeting.
fn messages() -> Vec<ToSteward> {
    let key = ExchangeKey::from([1; 16]);
    let client = ClockClient {
        interface: "eth7".to_owned(),
        responder: ([10, 0, 0, 1], 1).into(),
        key,
        count: 1,
        limit: Duration::from_secs(1),
    };
    let responder = ClockResponder { interface: "eth7".to_owned(), key, limit: Duration::from_secs(1) };
    let calls = [
        Call::Launch { agent: 1, command: command() },
        Call::Launch { agent: 2, command: command() },
        Call::Facts,
        Call::MissingFile { value: "file:///etc/shadow".to_owned() },
        Call::Counters { cores: vec![0] },
        Call::Reference { sender_cores: vec![0], receiver_cores: vec![0], length_ns: 1 },
        Call::KeepAwake,
        Call::ClaimDomain { number: 1 },
        Call::Announce { directory: "/x".to_owned() },
        Call::Announced,
        Call::Clean { name: "a".to_owned() },
        Call::Clean { name: owner().run_name(1) },
        Call::Sweep,
        Call::ClockResponder(responder),
        Call::ClockExchange(client),
        Call::ClockReading,
    ];
    let drain = Drain { sent: 1, timeout_ns: 1, quiet_ns: 1, joined_ns: None };
    let (case, name, way) = ("delivery".to_owned(), "a".to_owned(), OpenOptions::default());
    let requests = [
        Request::Configure(Box::new(configure())),
        Request::Match(Match::default()),
        Request::WarmUp { duration_ns: 1, samples: None },
        Request::Measure { duration_ns: 1, samples: Some(1), begin_ns: None, progress: true, join: None },
        Request::Progress,
        Request::Drain(drain),
        Request::Report,
        Request::Exit,
        Request::Cases,
        Request::Exchange(Exchange::default()),
        Request::Check { case, name, domain: 1, way, probes: false },
    ];
    let calls = calls.into_iter().zip(1..).map(|(call, id)| ToSteward::Call { id, call: Box::new(call) });
    let requests = requests.into_iter().map(|request| {
        let request = Box::new(request);
        ToSteward::Send { agent: 1, channel: 0, request }
    });
    let others = [
        ToSteward::HangUp { agent: 1 },
        ToSteward::End { agent: 1, limit: Duration::ZERO },
        ToSteward::Release { id: 7 },
        ToSteward::Bye,
    ];
    calls.chain(requests).chain(others).collect()
}

/// Change of one value in a message: of the `at`-th one in its order of traversal.
#[derive(Clone, Debug)]
struct Change {
    at: prop::sample::Index,
    value: Value,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let value = prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..4).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(Value::from("/tmp/theirs.so")),
        Just(Value::from("ddsmark-1-00000000-1")),
        Just(Value::Null),
        Just(Value::Bool(true)),
        Just(Value::Array(vec![Value::from(1); 3])),
    ];
    let change = (any::<prop::sample::Index>(), value).prop_map(|(at, value)| Change { at, value });
    prop::collection::vec(change, 0..3)
}

/// Returns the number of values that are neither a list nor an object, and replaces the one with the number `at`.
fn replace(tree: &mut Value, at: usize, by: &Value) -> usize {
    match tree {
        Value::Array(values) => replace_all(values.iter_mut(), at, by),
        Value::Object(fields) => replace_all(fields.iter_mut().map(|(_, value)| value), at, by),
        leaf => {
            if at == 0 {
                *leaf = by.clone();
            }
            1
        }
    }
}

fn replace_all<'v>(values: impl Iterator<Item = &'v mut Value>, at: usize, by: &Value) -> usize {
    values.fold(0, |before, value| before + replace(value, at.wrapping_sub(before), by))
}

/// Returns the message with its changes, as bytes.
fn changed(message: &ToSteward, changes: &[Change]) -> Vec<u8> {
    let mut tree = serde_json::to_value(message).expect("a message is JSON");
    for Change { at, value } in changes {
        let leaves = replace(&mut tree, usize::MAX, value);
        if leaves > 0 {
            replace(&mut tree, at.index(leaves), value);
        }
    }
    serde_json::to_vec(&tree).expect("JSON")
}

/// Messages by their index in [`messages`], each with its changes; some are bytes of any kind.
fn bodies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let count = messages().len();
    let known = (0..count, changes()).prop_map(|(index, changes)| changed(&messages()[index], &changes));
    let body = prop_oneof![30 => known, 1 => prop::collection::vec(any::<u8>(), 0..40)];
    prop::collection::vec(body, 0..25)
}

/// Sends messages to a guest, and checks what it has done when it has ended.
fn serve_all(bodies: &[Vec<u8>]) {
    let (guest, site, _) = guest();
    let (mut ours, theirs) = UnixStream::pair().expect("a pair");
    let input = theirs.try_clone().expect("a socket");
    let server = thread::spawn(move || serve(Ok(guest), (input, theirs), FRAME_BYTES, || false));
    let mut answers = ours.try_clone().expect("a socket");
    let reader = thread::spawn(move || answers.read_to_end(&mut Vec::new()).map(drop));
    let hello = ToSteward::Hello { versions: Versions::own(), silence: None };
    let hello = serde_json::to_vec(&hello).expect("JSON");
    for body in [&hello].into_iter().chain(bodies) {
        // A guest that has ended does not take any message.
        if Frame::Message(body.clone()).write(&mut ours).is_err() {
            break;
        }
    }
    let _ = ours.flush();
    let _ = ours.shutdown(std::net::Shutdown::Write);
    server.join().expect("the guest does not panic");
    let _ = ours.shutdown(std::net::Shutdown::Both);
    let _ = reader.join().expect("no panic");
    let calls = site.calls();
    assert!(calls.launched.iter().all(|command| command.driver.path == Path::new(DRIVER)), "{bodies:?}");
    assert!(calls.launched.iter().all(|command| command.variables.is_empty()));
    assert!(site.most_agents() <= 1);
    let own = owner();
    assert!(calls.cleaned.iter().all(|name| own.owns(name)), "{:?}", calls.cleaned);
    assert!(calls.others.iter().all(|other| *other == "sweep"), "{:?}", calls.others);
    let configured = calls.requests.iter().filter_map(|request| match request {
        Request::Configure(configure) => Some(configure.domain),
        _ => None,
    });
    assert!(configured.into_iter().all(|domain| domain == 5));
    assert!(
        !calls
            .requests
            .iter()
            .any(|request| matches!(request, Request::Cases | Request::Check { .. } | Request::Exchange(_)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn messages_of_any_kind_launch_nothing_else(bodies in bodies()) {
        serve_all(&bodies);
    }
}

#[test]
fn all_messages_as_they_are_meant_launch_nothing_else() {
    let bodies: Vec<Vec<u8>> = messages().iter().map(|message| changed(message, &[])).collect();
    serve_all(&bodies);
}

#[test]
fn flood_of_requests_ends_the_connection() {
    let launch = changed(&messages()[0], &[]);
    let request = ToSteward::Send { agent: 1, channel: 0, request: Box::new(Request::Report) };
    let mut bodies = vec![launch];
    bodies.extend(vec![serde_json::to_vec(&request).expect("JSON"); 20_000]);
    serve_all(&bodies);
}
