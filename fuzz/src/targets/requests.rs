//! Orders as an agent reads them, up to the first invalid line: each valid one can be sent and read again
//! unchanged.

use control::{Request, receive_line, send};

pub fn run(lines: &[u8]) {
    let mut lines = lines;
    while let Ok(message) = receive_line::<Request>(&mut lines) {
        let mut said = Vec::new();
        send(&mut said, &message).expect("a vector takes all bytes");
        let heard = receive_line::<Request>(&mut said.as_slice()).expect("what was said is understood");
        assert_eq!(heard, message);
    }
}
