//! Resources left after closing the driver. Alone in its process, because it counts that process's resources.
mod harness;

use harness::*;

#[test]
fn close_leaves_no_socket_and_no_thread() {
    // Resources needed for loading and describing exist before the count.
    driver().description();
    let before = Census::take();
    assert_close_leaves_nothing(&before, &sized(100), || open(&[("latency", "1ms")]));
}
