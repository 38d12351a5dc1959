//! Tables: their values are those of the document, and they fit a terminal.

use crate::sample::Characterize;
use experiment::ReliabilityChoice;
use report::{driver_info, terminal};
use results::{
    Assembler, CellResult, LinkCeiling, LinkFrames, LinkRecord, ResultDocument, State, Tail, Throughput,
    format_micros, format_spread, format_value,
};

use crate::{print, sample};

/// Returns the words of the row of this size in the table with this heading.
fn row<'t>(text: &'t str, table: &str, size: u64) -> Vec<&'t str> {
    text.lines()
        .skip_while(|line| !line.starts_with(table))
        .find(|line| line.split_whitespace().next() == Some(&size.to_string()))
        .unwrap_or_else(|| panic!("no row {size} below {table}:\n{text}"))
        .split_whitespace()
        .collect()
}

fn cell<'d>(document: &'d ResultDocument, id: &str) -> &'d CellResult {
    document.cells.iter().find(|cell| cell.id == id).unwrap_or_else(|| panic!("no cell {id}"))
}

#[test]
fn latency_is_the_full_round_trip() {
    let document = sample::document();
    let text = print(&document);
    for size in [32, 1024, 8192] {
        let cell = cell(&document, &format!("plain/udp4/latency/{size}"));
        let rtt = &cell.latency["rtt"];
        let table = row(&text, "Latency: RTT", size);
        assert_eq!(table[1], rtt.n.to_string());
        assert_eq!(table[2], format_micros(rtt.mean_ns));
        assert_eq!(table[6], format_micros(rtt.min_ns as f64));
        assert_eq!(table[10], format_micros(rtt.p50_ns.unwrap() as f64));
        let of_runs: Vec<f64> =
            cell.runs.iter().map(|run| run.latency["rtt"].p50_ns.unwrap() as f64).collect();
        let spread = stats::Spread::from_values(&of_runs).unwrap().half_range_relative().unwrap();
        assert_eq!(table[11], format_spread(spread * 100.0));
        let table = row(&text, "Latency by direction", size);
        assert_eq!(table[1], format_micros(rtt.p50_ns.unwrap() as f64));
        assert_eq!(table[3], format_micros(cell.latency["one_way_out"].p50_ns.unwrap() as f64));
        assert_eq!(table[5], format_micros(cell.latency["one_way_back"].p50_ns.unwrap() as f64));
    }
}

#[test]
fn throughput_rows_are_those_of_the_cells() {
    let document = sample::document();
    let text = print(&document);
    let of = |id: &str| cell(&document, id).throughput.clone().unwrap();
    let check = |row: &[&str], throughput: &Throughput| {
        assert_eq!(row[0], throughput.delivered.to_string());
        assert_eq!(row[1], format!("{:.0}", throughput.delivered_sps));
        assert_eq!(row[5], throughput.lost.to_string());
        assert_eq!(row[6], format_value(throughput.lost_pct));
    };
    check(&row(&text, "Throughput, unbatched", 32)[1..], &of("plain/udp4/throughput/32"));
    check(&row(&text, "Throughput, batched", 32)[1..], &of("plain/udp4/throughput/32/batch-8192"));
    // one sample per batch: the row is copied and marked
    let same = row(&text, "Throughput, batched", 8192);
    assert_eq!(same[1], "=");
    check(&same[2..], &of("plain/udp4/throughput/8192"));
    let cpu = cell(&document, "plain/udp4/throughput/32").cpu_ns_per_sample.as_ref().unwrap();
    assert_eq!(row(&text, "Throughput, unbatched", 32)[10], format!("{:.2}", cpu.writer / 1e3));
}

#[test]
fn throughput_between_hosts_is_beside_what_the_link_carries() {
    let mut document = sample::document();
    let plain = print(&document);
    assert!(!plain.contains("Link carries"));
    for cell in &mut document.cells {
        let is_known = cell.id == "plain/udp4/throughput/32";
        cell.link_ceiling = is_known.then_some(LinkCeiling { link_mbps: 100.0, goodput_mbps: 32.65 });
    }
    let text = print(&document);
    assert!(text.contains("Link carries is the highest goodput of UDP over IPv4"), "{text}");
    for (size, ceiling) in [(32, "32.6"), (1024, "n/a")] {
        let (before, with) =
            (row(&plain, "Throughput, unbatched", size), row(&text, "Throughput, unbatched", size));
        assert_eq!(with[6], ceiling, "{with:?}");
        assert_eq!([&with[..6], &with[7..]].concat(), before);
    }
    let screen = report::first_screen(&document, report::ScreenOptions::default());
    assert!(screen.contains("Link carries"), "{screen}");
}

#[test]
fn frames_that_a_link_dropped_are_shown() {
    let with = |lost: u64| {
        sample::document_with(|run| {
            let mut link = LinkRecord::new(&"rate=100mbit,loss=1%".parse().expect("a link"));
            link.frames = Some(LinkFrames { sent: 2_000, lost, queue_drops: lost / 4, interface_drops: 0 });
            run.link = Some(link);
        })
    };
    let text = print(&with(20));
    let row = row(&text, "Links: frames per run", 1024);
    assert_eq!(row[1..], ["none", "latency", "2000", "20", "1.00", "5", "0", "n/a", "n/a"], "{text}");
    assert!(text.contains("Frames are medians over the valid runs"), "{text}");
    assert!(!print(&with(0)).contains("Links: frames per run"));
}

#[test]
fn tail_is_shown_if_samples_arrived_too_late_for_the_rate() {
    let header = sample::header();
    let mut assembler = Assembler::new(header.clone());
    for (mut run, log) in sample::runs_of(&header.experiment) {
        let ns = 2_950_000_000 + 10_000_000 * u64::from(run.block);
        if run.cell == "plain/udp4/throughput/32"
            && let Some(throughput) = run.throughput_mut()
        {
            throughput.tail = Tail { samples: 2, ns };
        }
        assembler.add(run, &log.merged());
    }
    let text = print(&assembler.document(State::Complete));
    // sum over three runs, and the longest of them
    let late = row(&text, "Throughput, unbatched", 32);
    assert_eq!(late[late.len() - 2..], ["6", "2980"]);
    let in_time = row(&text, "Throughput, unbatched", 1024);
    assert_eq!(in_time[in_time.len() - 2..], ["0", "0.060"]);
}

#[test]
fn twelve_sizes_with_large_values_fit_a_terminal_of_120_columns() {
    let header = sample::header_of(&Characterize {
        drivers: vec!["dds".to_owned()],
        sizes: vec![32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 63000],
        reliability: ReliabilityChoice::Reliable,
        options: vec![("dds".to_owned(), "receive_buffer".to_owned(), "4194304".to_owned())],
        warm_up_ns: Some(200_000_000),
        measure_ns: Some(800_000_000),
        seed: u64::MAX,
        keep_awake: true,
        ..sample::characterize()
    });
    let mut assembler = Assembler::new(header.clone());
    for (mut run, log) in sample::runs_of(&header.experiment) {
        let histograms = log.merged();
        for latency in run.latency.values_mut() {
            latency.n = 300_000;
            latency.max_ns = 123_456_789;
            latency.p99_9_ns = Some(412_345 + 100_000 * u64::from(run.block));
        }
        if let Some(throughput) = run.throughput_mut() {
            (throughput.delivered, throughput.lost, throughput.lost_pct) = (12_345_678, 1_234_567, 10.0);
        }
        run.udp_buffer_drops = Some(123_456);
        assembler.add(run, &histograms);
    }
    let mut document = assembler.document(State::Complete);
    for latency in document.cells.iter_mut().flat_map(|cell| cell.latency.values_mut()) {
        (latency.p99_9_ns, latency.p99_99_ns, latency.p99_9999_ns) =
            (Some(1_412_345.0), Some(23_456_789.0), None);
    }
    let text = print(&document);
    let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() <= 120, "{} columns: {widest}", widest.chars().count());
    assert!(text.contains("options requested: receive_buffer=4194304"));
}

#[test]
fn a_narrow_terminal_wraps_text_and_keeps_numbers_whole() {
    let (wide, narrow) = (print(&sample::document()), terminal(&sample::document(), Some(60)));
    let rows = |text: &str| {
        text.lines()
            .filter(|line| line.trim_start().starts_with("8192 "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&wide), rows(&narrow));
    let legend = narrow.lines().skip_while(|line| *line != "How to read this");
    assert!(legend.clone().count() > 10);
    for line in legend {
        assert!(line.chars().count() <= 60, "{line}");
    }
}

#[test]
fn nothing_is_said_by_colour() {
    for text in
        [print(&sample::document()), driver_info(&sample::description("dds", true, "native_batching"))]
    {
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(text.lines().all(|line| line.trim_end() == line), "no line ends in blanks");
    }
}
