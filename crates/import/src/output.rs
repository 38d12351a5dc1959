//! Files of an import: the experiment file, its traces, and a summary.

use std::fmt::Write as _;

use experiment::{Rate, SizeDistribution};

use crate::{
    qos::duration,
    system::{RecordedSends, Sends, System, Topic},
};

const SECOND_NS: u64 = 1_000_000_000;
/// Shortest and longest measured time that is chosen for rates, in s.
const MEASURE_S: (u64, u64) = (2, 30);
/// Width of comments.
const WIDTH: usize = 110;

/// Returns the number of samples that a 99th percentile needs.
fn p99_samples() -> f64 {
    stats::min_n_for(0.99) as f64
}

/// File to write, with its path in the output directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Path, such as `traces/camera.trace`.
    pub path: String,
    /// Text.
    pub text: String,
}

impl System {
    /// Returns the files of a [checked](System::checked) system.
    #[must_use]
    pub fn files(&self) -> Vec<OutputFile> {
        let file = |path: &str, text: String| OutputFile { path: path.to_owned(), text };
        let mut files = vec![file("system.toml", self.experiment()), file("import.txt", self.summary())];
        for topic in &self.topics {
            if let Sends::Recorded(recorded) = &topic.sends {
                files.push(file(&trace_path(topic), trace(topic, recorded)));
            }
        }
        files
    }

    /// Returns the text of the experiment file.
    fn experiment(&self) -> String {
        let mut text = String::new();
        comment(&mut text, "# ", &self.question);
        text.push_str("#\n");
        for line in &self.source {
            comment(&mut text, "# ", line);
        }
        if !self.not_applied.is_empty() {
            text.push_str("#\n# Not applied:\n");
            for note in &self.not_applied {
                comment(&mut text, "# - ", &note.to_string());
            }
        }
        put(&mut text, format_args!("\nquestion = {}\nworkload = \"paced\"\n", quoted(&self.question)));
        for topic in &self.topics {
            text.push_str(&flow(topic));
        }
        put(&mut text, format_args!("\n[design]\nmeasure = \"{}\"\n", duration(self.measure_ns())));
        text
    }

    /// Returns the measured time of a run: past the last recorded time, or long enough for the 99th percentile of the slowest
    /// topic, within bounds.
    #[must_use]
    pub fn measure_ns(&self) -> u64 {
        let recorded = self.topics.iter().filter_map(|topic| match &topic.sends {
            Sends::Recorded(recorded) => recorded.times_ns.last().copied(),
            Sends::Rate(_) => None,
        });
        if let Some(last) = recorded.max() {
            const STEP_NS: u64 = 100_000_000;
            return (last / STEP_NS + 1) * STEP_NS;
        }
        let slowest = self.topics.iter().filter_map(Topic::sps).fold(f64::INFINITY, f64::min);
        ((p99_samples() / slowest).ceil() as u64).clamp(MEASURE_S.0, MEASURE_S.1) * SECOND_NS
    }

    /// Returns the text of `import.txt`.
    fn summary(&self) -> String {
        let mut text = format!("{}\n\n", self.question);
        for line in &self.source {
            put(&mut text, format_args!("{line}\n"));
        }
        let number: u64 = self.topics.iter().map(Topic::number).sum();
        let (mut written, mut delivered, mut bits) = (0.0, 0.0, 0.0);
        for topic in &self.topics {
            let writers = topic.from.len().max(1) as f64 * topic.number() as f64;
            let sps = topic.sps().unwrap_or(0.0) * writers;
            written += sps;
            bits += sps * topic.size_bytes as f64 * 8.0;
            delivered += sps * topic.to.len().max(1) as f64;
        }
        put(
            &mut text,
            format_args!(
                "\n{number} {}: {written:.1} samples/s and {:.3} Mbit/s written, {delivered:.1} samples/s delivered; {} s a run\n\n",
                if number == 1 { "topic" } else { "topics" },
                bits / 1e6,
                self.measure_ns() as f64 / 1e9
            ),
        );
        let rows = self.topics.iter().map(row);
        let heading = ["topic", "size (B)", "samples/s", "samples", "from", "to"].map(str::to_owned);
        text.push_str(&aligned(&std::iter::once(heading).chain(rows).collect::<Vec<_>>()));
        let few = self.few_samples();
        let sections = [
            ("Not applied", self.not_applied.iter().map(ToString::to_string).collect::<Vec<_>>()),
            ("Remarks", self.remarks.iter().cloned().chain(few).collect()),
        ];
        for (title, lines) in sections {
            put(&mut text, format_args!("\n{title}:{}\n", if lines.is_empty() { " nothing" } else { "" }));
            for line in lines {
                put(&mut text, format_args!("- {line}\n"));
            }
        }
        text
    }

    /// Returns a remark about topics with too few samples in a run for a 99th percentile.
    fn few_samples(&self) -> Option<String> {
        let seconds = self.measure_ns() as f64 / 1e9;
        let is_few = |topic: &&Topic| topic.sps().is_none_or(|sps| sps * seconds < p99_samples());
        let few: Vec<&str> = self.topics.iter().filter(is_few).map(|topic| topic.name.as_str()).collect();
        (!few.is_empty()).then(|| {
            format!(
                "no p99 in runs of {seconds} s, which needs {} samples: {}; `--set design.measure=TIME` changes it",
                p99_samples(),
                few.join(", ")
            )
        })
    }
}

impl std::fmt::Display for crate::system::NotApplied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { item, count, reason } = self;
        if *count > 1 {
            write!(f, "{count} x ")?;
        }
        write!(f, "{item}: {reason}")
    }
}

/// Appends a formatted text.
fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a string grows");
}

/// Returns the path of the trace of a topic.
fn trace_path(topic: &Topic) -> String {
    format!("traces/{}.trace", topic.name)
}

fn trace(topic: &Topic, RecordedSends { times_ns, sizes_bytes }: &RecordedSends) -> String {
    let sizes = if sizes_bytes.is_empty() { "" } else { ", and sizes in bytes" };
    let mut text = format!("# Send times of {} in seconds{sizes}\n", topic.name);
    for (index, ns) in times_ns.iter().enumerate() {
        put(&mut text, format_args!("{}.{:09}", ns / SECOND_NS, ns % SECOND_NS));
        if let Some(size) = sizes_bytes.get(index) {
            put(&mut text, format_args!(" {size}"));
        }
        text.push('\n');
    }
    text
}

/// Returns the entry of a topic.
fn flow(topic: &Topic) -> String {
    let mut text = format!("\n[[flows]]\nname = {}\n", quoted(&topic.name));
    let mut entry = |key: &str, value: String| put(&mut text, format_args!("{key} = {value}\n"));
    if let Some(count) = topic.count {
        entry("count", count.to_string());
    }
    if topic.recorded_sizes().is_empty() {
        entry("size", topic.sizes.as_ref().map_or_else(|| topic.size_bytes.to_string(), size_table));
    }
    match &topic.sends {
        Sends::Rate(rate) => entry("rate", format!("\"{}\"", rate_text(*rate))),
        Sends::Recorded(_) => entry("trace", quoted(&trace_path(topic))),
    }
    for (key, processes) in [("from", &topic.from), ("to", &topic.to)] {
        let names: Vec<String> = processes.iter().map(|name| quoted(name)).collect();
        match &names[..] {
            [] => {}
            [one] => entry(key, one.clone()),
            several => entry(key, format!("[{}]", several.join(", "))),
        }
    }
    if topic.is_background {
        entry("kind", quoted("background"));
    }
    if let Some(qos) = topic.qos.to_toml() {
        entry("qos", qos);
    }
    if let Some(ns) = topic.deadline_ns {
        entry("deadline", format!("\"{}\"", duration(ns)));
    }
    if let Some(pct) = topic.missed_pct {
        entry("missed", format!("\"{pct}%\""));
    }
    text
}

/// Returns the text of a rate in an experiment file.
fn rate_text(Rate { samples, period_ns }: Rate) -> String {
    if let Some(in_second) = (samples * SECOND_NS).checked_div(period_ns)
        && in_second * period_ns == samples * SECOND_NS
    {
        return format!("{in_second}/s");
    }
    format!("{samples}/{}", duration(period_ns))
}

/// Returns the table of a distribution of sizes.
fn size_table(sizes: &SizeDistribution) -> String {
    match sizes {
        SizeDistribution::Values { values, weights } => {
            format!("{{ values = {values:?}, weights = {weights:?} }}")
        }
        SizeDistribution::LogNormal { median_bytes, p99_bytes } => {
            format!("{{ median = {median_bytes}, p99 = {p99_bytes} }}")
        }
    }
}

/// Returns the row of a topic in the summary.
fn row(topic: &Topic) -> [String; 6] {
    let list =
        |names: &[String], default: &str| if names.is_empty() { default.to_owned() } else { names.join(" ") };
    let samples = match &topic.sends {
        Sends::Recorded(recorded) => recorded.times_ns.len().to_string(),
        Sends::Rate(_) => "-".to_owned(),
    };
    let recorded = topic.recorded_sizes().iter();
    let size = match (recorded.clone().min().zip(recorded.max()), &topic.sizes) {
        (Some((least, most)), _) => format!("{least} to {most}"),
        (None, Some(sizes)) => sizes.to_string(),
        (None, None) => topic.size_bytes.to_string(),
    };
    [
        topic.count.map_or_else(|| topic.name.clone(), |count| format!("{} x {count}", topic.name)),
        size,
        topic.sps().map_or_else(|| "-".to_owned(), |sps| format!("{sps:.2}")),
        samples,
        list(&topic.from, "writer"),
        list(&topic.to, "reader"),
    ]
}

/// Returns a table with aligned columns; numbers to the right.
fn aligned(rows: &[[String; 6]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            if (1..4).contains(&column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        put(&mut text, format_args!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end()));
    }
    text
}

/// Appends a comment, wrapped, with `begin` before its first line.
fn comment(text: &mut String, begin: &str, words: &str) {
    let next = format!("#{}", " ".repeat(begin.len() - 1));
    let mut line = begin.to_owned();
    let mut is_empty = true;
    // Control characters would end the comment, or are not valid in one.
    let plain: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    for word in plain.split(' ').filter(|word| !word.is_empty()) {
        if !is_empty && line.chars().count() + word.chars().count() >= WIDTH {
            put(text, format_args!("{}\n", line.trim_end()));
            line.clone_from(&next);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    put(text, format_args!("{}\n", line.trim_end()));
}

/// Returns a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use experiment::{Size, SizeSpec, Source, TraceSamples};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        qos::{Durability, EndpointQos, TopicQos},
        system::NotApplied,
    };

    /// Returns the experiment of a system, as it is read from its text.
    fn read(system: &System) -> experiment::ExperimentFile {
        let text = system.files()[0].text.clone();
        let source = Source { path: "system.toml".to_owned(), text, sets: Vec::new() };
        source.read().unwrap_or_else(|fault| panic!("{fault:#?}\n{}", source.text))
    }

    fn topic(name: &str, sends: Sends) -> Topic {
        Topic::new(name, 64, sends)
    }

    #[test]
    fn experiment_file_has_all_keys_of_each_topic() {
        let mut full = topic("camera", Sends::Rate(Rate { samples: 25, period_ns: 2_000_000_000 }));
        full.qos = TopicQos::both(EndpointQos::of_rmw());
        full.qos.writer.durability = Some(Durability::TransientLocal);
        full.qos.writer.lifespan_ns = Some(1_500_000_000);
        (full.count, full.deadline_ns, full.missed_pct) = (Some(3), Some(33_000_000), Some(0.5));
        let recorded = Topic::recorded("imu", vec![0, 2_500_000, 1_200_000_000], vec![64; 3]);
        let sized = Topic::recorded("scan", vec![0, 2_500_000], vec![900, 1_024]);
        let system = System {
            question: "Which \"one\"?".to_owned(),
            topics: vec![full, recorded, sized],
            ..System::default()
        };
        let file = read(&system);
        assert_eq!(file.question.get(), "Which \"one\"?");
        let flow = file.flows[0].get();
        assert_eq!(
            (flow.count.as_ref().map(|count| *count.get()), flow.size.as_ref().map(experiment::Located::get)),
            (Some(3), Some(&SizeSpec::One(Size(64))))
        );
        assert_eq!(flow.rate.as_ref().expect("a rate").get().to_string(), "25/2s");
        assert_eq!(flow.deadline.as_ref().expect("a deadline").get().0, 33_000_000);
        assert_eq!(file.flows[1].get().trace.as_ref().expect("a trace").get(), "traces/imu.trace");
        assert_eq!(file.design.measure.as_ref().expect("a time").get().0, 1_300_000_000);
        assert_eq!(
            system.files()[2].text,
            "# Send times of imu in seconds\n0.000000000\n0.002500000\n1.200000000\n"
        );
        let samples = |file: usize| experiment::trace_samples(&system.files()[file].text).expect("samples");
        let times_ns = [0, 2_500_000, 1_200_000_000].into();
        assert_eq!(samples(2), TraceSamples { times_ns, ..TraceSamples::default() });
        assert!(file.flows[2].get().size.is_none(), "the trace has the sizes");
        assert_eq!(
            system.files()[3].text,
            "# Send times of scan in seconds, and sizes in bytes\n0.000000000 900\n0.002500000 1024\n"
        );
        assert_eq!(samples(3).sizes_bytes[..], [900, 1_024]);
    }

    #[test]
    fn processes_are_one_name_or_a_list() {
        let mut shared = topic("a", Sends::Rate(Rate::every(1_000_000)));
        shared.from = vec!["one".into()];
        shared.to = vec!["two".into(), "three".into()];
        shared.is_background = true;
        let text = flow(&shared);
        let expected =
            "\nrate = \"1000/s\"\nfrom = \"one\"\nto = [\"two\", \"three\"]\nkind = \"background\"\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn measured_time_supports_p99_within_bounds() {
        let measure = |period_ns| {
            System { topics: vec![topic("a", Sends::Rate(Rate::every(period_ns)))], ..System::default() }
                .measure_ns()
        };
        assert_eq!(measure(1_000_000), 2_000_000_000);
        assert_eq!(measure(50_000_000), 15_000_000_000);
        assert_eq!(measure(5_000_000_000), 30_000_000_000);
    }

    proptest! {
        #[test]
        fn any_words_are_a_valid_file(question in "\\PC{1,80}", reason in ".{0,200}", period_ns in 1_000_u64..1_000_000_000, samples in 1_u64..1_000) {
            let topics = vec![topic("a", Sends::Rate(Rate { samples, period_ns }))];
            let note = NotApplied { item: question.clone(), count: 2, reason: reason.clone() };
            let system = System { question: question.clone(), source: vec![reason], topics, not_applied: vec![note], remarks: Vec::new() };
            let file = read(&system);
            prop_assert_eq!(file.question.get(), &question);
        }
    }
}
