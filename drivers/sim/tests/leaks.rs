//! What is left of the driver when it is closed. Alone in its process: it counts what belongs to that.
mod harness;

use driver_kit::testing::Entity;
use harness::*;

#[test]
fn close_leaves_no_socket_and_no_thread() {
    // Whatever loading and describing need is there before.
    driver().description();
    let before = Census::take();
    for _ in 0..5 {
        let participant = open(&[("latency", "1ms")]);
        let (mut writer, mut reader) = pair(&participant, &sized(100));
        let mut listener = participant.listener(&sized(100), |_| {}).expect("a listener");
        let mut other = participant.writer(&sized(100)).expect("a writer");
        connect(&mut other, &mut listener);
        other.write(b"x").expect("written");
        writer.write(b"under way").expect("written");
        assert_eq!(receive(&mut reader, 1), [b"under way"]);
        writer.write(b"never received").expect("written");
        let now = Census::take();
        assert!(now.descriptors.len() >= before.descriptors.len() + 4);
        assert_eq!(now.threads.len(), before.threads.len() + 1);
        // What failed to open has left nothing either.
        assert!(participant.writer(&sized(1 << 20)).is_err());
        assert!(participant.reader(&Entity { qos: None, type_kind: 5, ..sized(1) }).is_err());
        listener.close().expect("closed");
        reader.close().expect("closed");
        writer.close().expect("closed");
        other.close().expect("closed");
        participant.close().expect("closed");
    }
    assert_eq!(Census::take(), before);
}
