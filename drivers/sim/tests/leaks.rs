//! What is left of the driver when it is closed. Alone in its process: it counts what belongs to that.
mod harness;

use harness::*;

#[test]
fn close_leaves_no_socket_and_no_thread() {
    // Whatever loading and describing need is there before.
    driver().description();
    let before = Census::take();
    assert_close_leaves_nothing(&before, &sized(100), || open(&[("latency", "1ms")]));
}
