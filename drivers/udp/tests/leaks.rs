//! Resources left after closing the driver. Alone in its process, because it counts that process's resources.
mod harness;

use driver_kit::testing::Entity;
use harness::*;

#[test]
fn close_leaves_no_socket_and_no_thread() {
    // Resources needed for loading and describing exist before the count.
    driver().description();
    let before = Census::take();
    for (transport, _) in transports() {
        let batched = Entity { batch_bytes: 500, ..sized(100) };
        assert_close_leaves_nothing(&before, &batched, || open(transport));
    }
}
