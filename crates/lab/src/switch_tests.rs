use super::*;

#[test]
fn bytes_are_counted_while_a_frame_waits() {
    let queued_bytes = Rc::new(Cell::new(MAX_QUEUED_BYTES - 150));
    let first = QueuedFrame::new(&[0; 100], &queued_bytes).map(Rc::new).expect("it fits");
    let again = Rc::clone(&first);
    assert!(QueuedFrame::new(&[0; 51], &queued_bytes).is_none());
    drop(first);
    assert_eq!(queued_bytes.get(), MAX_QUEUED_BYTES - 50);
    drop(again);
    assert!(QueuedFrame::new(&[0; 150], &queued_bytes).is_some());
}

#[test]
fn frames_are_for_the_host_with_their_address() {
    let frame = |address: [u8; 6]| [&[0; HEADER_BYTES][..], &address, &[7; 52]].concat();
    assert_eq!(destination(&frame(mac(0)), 3), Destination::Host(0));
    assert_eq!(destination(&frame(mac(2)), 3), Destination::Host(2));
    for multicast in [[1, 0, 0x5e, 0, 0, 1], [0x33, 0x33, 0, 0, 0, 1]] {
        assert_eq!(destination(&frame(multicast), 3), Destination::Members, "{multicast:?}");
    }
    // Not in this lab, broadcast, another host, too short.
    for other in [mac(3), [0xff; 6], [2, 0x4c, 0x41, 0x43, 0, 1], [0; 6]] {
        assert_eq!(destination(&frame(other), 3), Destination::All, "{other:?}");
    }
    assert_eq!(destination(&[0; HEADER_BYTES + 3], 3), Destination::All);
}
