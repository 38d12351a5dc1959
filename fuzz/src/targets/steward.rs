//! Stream between a runner and a steward, as each of them reads it: noise and greeting are optional. Each valid message can
//! be sent and read again.

use remote_hosts::{
    framing::{Frame, MAX_NOISE_BYTES, find_greeting},
    protocol::{Hello, ToRunner, ToSteward},
    remote::probe::{Needs, Probe},
};
use serde::{Serialize, de::DeserializeOwned};

/// Longest frame of this target: memory is limited.
const LIMIT: u32 = 1 << 20;

pub fn run(bytes: &[u8]) {
    let mut stream = bytes;
    match find_greeting(&mut stream) {
        Ok(noise) => assert!(noise.len() <= MAX_NOISE_BYTES),
        Err(error) => {
            assert!(error.noise().len() <= bytes.len());
            stream = bytes;
        }
    }
    while let Ok(frame) = Frame::read(&mut stream, LIMIT) {
        let mut written = Vec::new();
        frame.write(&mut written).expect("a vector takes all bytes");
        assert_eq!(Frame::read(&mut written.as_slice(), LIMIT).expect("what was written is read"), frame);
        if let Frame::Message(body) = &frame {
            sent_again::<Hello>(body);
            sent_again::<ToRunner>(body);
            sent_again::<ToSteward>(body);
        }
    }
    let probe = Probe::parse(&String::from_utf8_lossy(bytes));
    let _ = (probe.check(&Needs { glibc: Some((2, 36)), bytes: 1 << 20 }), probe.installed());
}

fn sent_again<T: Serialize + DeserializeOwned>(body: &[u8]) {
    let Ok(message) = serde_json::from_slice::<T>(body) else { return };
    let text = serde_json::to_vec(&message).expect("a message is JSON");
    let again: T = serde_json::from_slice(&text).expect("what was sent is understood");
    assert_eq!(serde_json::to_vec(&again).expect("a message is JSON"), text);
}
