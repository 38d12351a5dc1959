//! What is left of the driver when it is closed. Alone in its process: it counts what belongs to that.
mod harness;

use driver_kit::testing::Entity;
use harness::*;

#[test]
fn close_leaves_no_socket_and_no_thread() {
    // Whatever loading and describing need is there before.
    driver().description();
    let before = Census::take();
    for transport in transports() {
        let batched = Entity { batch_bytes: 500, ..sized(100) };
        assert_close_leaves_nothing(&before, &batched, || open(transport));
    }
}
