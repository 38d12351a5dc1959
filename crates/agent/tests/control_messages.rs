//! No sample of a measurement is a control message of two commands on different hosts, and no control message is such
//! a sample, whatever the sizes.

use agent::traffic::{
    header::{HEADER_BYTES, Header},
    payload::Payloads,
};
use proptest::prelude::*;
use rendezvous::{
    PeerAddress, PeerRole, ProcessId,
    envelope::{MAX_CHUNK_BYTES, Sample, SampleError},
};

/// Largest sample of a test of `ddsmark perftest` that is not large data.
const LARGEST: usize = 65_000;

fn headers() -> impl Strategy<Value = Header> {
    (any::<u32>(), any::<u16>(), any::<u16>(), any::<bool>(), any::<u64>()).prop_map(
        |(sequence, writer, tag, warm_up, sent_ns)| Header { sequence, writer, tag, warm_up, sent_ns },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_payload_size_collides_with_a_control_message(header in headers(), seed in any::<u64>()) {
        let mut payloads = Payloads::new(seed, LARGEST);
        let payload = payloads.stamped(header.sequence.into(), &header);
        for size in HEADER_BYTES..=LARGEST {
            prop_assert_eq!(Sample::decode(&payload[..size]), Err(SampleError::Stranger), "{} bytes", size);
        }
    }

    #[test]
    fn no_control_message_is_a_sample(
        process in 1..=u64::MAX, to in any::<u64>(), id in any::<u16>(), message in any::<u64>(),
        bytes in prop::collection::vec(any::<u8>(), 0..=MAX_CHUNK_BYTES),
    ) {
        let process = ProcessId::from_raw(process).expect("a number");
        let from = PeerAddress { process, role: PeerRole::Publisher, id };
        let to = ProcessId::from_raw(to);
        let control = Sample { from, to, message, chunk: 0, chunks: 1, bytes: &bytes }.encode();
        prop_assert_eq!(Header::read(&control), None);
    }
}
