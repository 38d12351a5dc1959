//! Header of a sample: stamping what was read reproduces the payload. The counts of a reader add up for any input.

use agent::traffic::{
    header::{HEADER_BYTES, Header},
    identity::{Identity, PayloadSize},
    keys::Keys,
    payload::Payloads,
    per_writer::PerWriter,
    receive_stats::ReceiveStats,
};
use driver_host::Sample;
use results::WindowCounts;

const SIZE: usize = 24;
const IDENTITY: Identity =
    Identity { tag: 5, writer: 2, size: PayloadSize::One(SIZE), since_ns: 0, slack_ns: 0, keys: Keys::NONE };
const WINDOWS: u32 = 4;

pub fn run(payloads: &[u8]) {
    // Two writers, so that the number in the header selects one of them.
    let stats = |writer| {
        let windows = WindowCounts::new(WINDOWS, 1_000);
        let identity = Identity { writer, ..IDENTITY };
        (writer, ReceiveStats::new(identity, Payloads::new(1, SIZE), 1, windows))
    };
    let mut per_writer = PerWriter::new(vec![stats(IDENTITY.writer), stats(7)]);
    for payload in payloads.chunks(SIZE) {
        stamped_again(payload);
        per_writer.alone(Sample::new(payload, 0));
    }
    for received in per_writer.recorders.iter().map(ReceiveStats::received) {
        assert_eq!(received.delivered + received.missing, received.next);
        assert_eq!(received.window_delivered.iter().sum::<u64>(), received.delivered);
    }
}

fn stamped_again(payload: &[u8]) {
    let Some(header) = Header::read(payload) else {
        assert!(payload.len() < HEADER_BYTES || payload[7] & 0x70 != 0);
        return;
    };
    // a deliberate defect, which shows that the targets find defects
    if std::env::var_os("FUZZ_PLANTED_DEFECT").is_some() {
        assert_ne!(header.sequence, 0x7fff_ffff, "planted");
    }
    let mut again = payload.to_vec();
    header.stamp(&mut again);
    assert_eq!(again, payload);
}
