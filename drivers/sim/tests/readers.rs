//! Several readers of one writer: each loses samples by itself, and the server moves a copy for each.
mod harness;

use std::time::{Duration, Instant};

use driver_kit::{Qos, QosDuration, Reliability};
use driver_testing::{EndpointSpec, value_of};
use harness::*;

const SAMPLES: u32 = 2_000;

fn reliable() -> EndpointSpec {
    let qos = Qos {
        reliability: Some(Reliability::Reliable),
        max_blocking_ns: Some(QosDuration::Ns(WAIT_NS)),
        ..Qos::default()
    };
    EndpointSpec { qos, ..sized(100) }
}

#[test]
fn each_reader_loses_its_own_samples() {
    let participant = open(&[("latency", "0"), ("loss", "30%")]);
    let mut writer = participant.writer(&sized(100)).expect("a writer");
    let mut readers = [(); 2].map(|()| participant.reader(&sized(100)).expect("a reader"));
    readers.iter_mut().for_each(|reader| connect(&writer, reader));
    let mut came = [const { Vec::new() }; 2];
    for number in 0..SAMPLES {
        writer.write(&number.to_le_bytes()).expect("written");
        // A reader that takes nothing holds a few samples only.
        for (reader, came) in readers.iter_mut().zip(&mut came) {
            reader.receive(0, 100, |payload| came.push(payload.to_vec())).expect("received");
        }
    }
    for (reader, came) in readers.iter_mut().zip(&mut came) {
        while reader.receive(20_000_000, 100, |payload| came.push(payload.to_vec())).expect("received") > 0 {}
    }
    // 1,400 expected at each reader, and 980 at both, within five standard deviations.
    let both = came[0].iter().filter(|sample| came[1].contains(sample)).count();
    for (found, expected, allowed) in
        [(came[0].len(), 1_400, 103), (came[1].len(), 1_400, 103), (both, 980, 112)]
    {
        assert!(found.abs_diff(expected) < allowed, "{found} instead of {expected}");
    }
    let lost = 2 * SAMPLES as usize - came[0].len() - came[1].len();
    let settings = writer.settings().expect("settings");
    assert_eq!(value_of(&settings, "lost_as_configured"), Some(lost.to_string().as_str()));
}

#[test]
fn server_moves_one_copy_for_each_reader() {
    const SERVICE: Duration = Duration::from_millis(2);
    let participant = open(&[("latency", "0"), ("service", "2ms")]);
    let mut writer = participant.writer(&reliable()).expect("a writer");
    let mut readers = [(); 3].map(|()| participant.reader(&reliable()).expect("a reader"));
    readers.iter_mut().for_each(|reader| connect(&writer, reader));
    let begun = Instant::now();
    writer.write(b"to all").expect("written");
    for (reader, copies) in readers.iter_mut().zip(1..) {
        assert_eq!(receive(reader, 1), [b"to all"]);
        assert!(begun.elapsed() >= SERVICE * copies, "{copies}: {:?}", begun.elapsed());
    }
    // A reader that has disconnected costs nothing, and its place is that of the next one.
    let [first, second, mut third] = readers;
    drop((first, second));
    for _ in 0..2 {
        writer.write(b"is gone").expect("written");
    }
    assert_eq!(writer.matched(), Ok(1));
    let begun = Instant::now();
    writer.write(b"to one").expect("written");
    assert!(receive(&mut third, 3).iter().any(|sample| sample == b"to one"));
    assert!(begun.elapsed() >= SERVICE, "{:?}", begun.elapsed());
}
