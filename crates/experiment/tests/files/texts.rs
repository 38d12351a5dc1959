//! Property tests: any text is an experiment or an error, and a serialized experiment reads back.

use experiment::{Arrival, ExperimentFile, QosDuration, RateSpec};
use proptest::prelude::*;

use crate::{SMALL, planned, source, with};

#[test]
fn the_schema_knows_every_key() {
    let schema = experiment::json_schema();
    for key in [
        "batch_bytes",
        "rate",
        "arrival",
        "trace",
        "flows",
        "spin",
        "baseline",
        "deadline",
        "autopurge_disposed",
        "match",
        "precision",
        "keep_awake",
        "reference",
    ] {
        assert!(schema.contains(&format!("\"{key}\": {{")), "{key}");
    }
}

proptest! {
    /// Any text in a file or on the command line is a plan or an error with a text.
    #[test]
    fn any_text_parses_without_panic(text in "\\PC{0,80}", set in "\\PC{0,30}") {
        for source in [source(&text, &[]), source(&with(&text), &[&set]), source(SMALL, &["design.seed=1", &set])] {
            if let Err(fault) = planned(&source) {
                prop_assert!(!fault.error.is_empty() && !fault.hint.is_empty());
            }
        }
    }

    /// The same with texts that are almost valid.
    #[test]
    fn any_words_parse_without_panic(
        key in "(factors|design|qos|limits|profiles|options|flows|dds|size|rate|arrival|trace|driver|exclude|baseline|blocks|deadline|\\.|\"|'){1,6}",
        value in "(\\[|\\]|\\{|\\}|=|,|\"|'|64|-1|0|1e9|KiB|ms|/s|Mbit/s|max|burst|all\\.txt|true|dds|nan|inf|1979-05-27| |é){1,8}",
    ) {
        let line = format!("{key} = {value}\n");
        for source in [source(&with(&line), &[]), source(&line, &[]), source(SMALL, &[&format!("{key}={value}")])] {
            if let Err(fault) = planned(&source) {
                prop_assert!(!fault.error.is_empty() && !fault.hint.is_empty());
            }
        }
    }

    /// Serialized and parsed again.
    #[test]
    fn text_form_parses_back(
        sizes in prop::collection::vec(0_u64..1 << 40, 1..4),
        measure in 0_u64..1 << 50,
        percent in 0.0_f64..100.0,
        lasting in prop::option::of(0_u64..1 << 50),
        names in prop::collection::vec("\\PC{0,8}", 1..3),
        pin in prop::sample::select(vec!["none", "auto", "0,1", "0-3,4-7"]),
        (samples, period_ns, bits) in (any::<u64>(), 1_u64..1 << 40, any::<u64>()),
        arrival in prop::sample::select(Arrival::ALL),
    ) {
        let mut file = source(SMALL, &[&format!("design.pin=\"{pin}\"")]).read().expect("a file");
        file.factors.values.give("size", sizes.iter().copied().map(experiment::Size));
        file.factors.values.give("driver", names.clone());
        file.design.measure = Some(experiment::Located::nowhere(experiment::Time(measure)));
        file.design.precision = Some(experiment::Located::nowhere(experiment::Percent(percent)));
        let lasting_is_there = lasting.is_some();
        let lasting = lasting.map_or(QosDuration::INFINITE, QosDuration::Ns);
        let profile = experiment::Policies {
            deadline: Some(experiment::Located::nowhere(experiment::PolicyDuration(lasting))),
            ..experiment::Policies::default()
        };
        file.profiles.insert(experiment::Located::nowhere(names[0].clone()), profile);
        let rates = [RateSpec::Samples { samples, period_ns }, RateSpec::Bits(bits), RateSpec::Max];
        let per_writer = RateSpec::PerWriter(rates.clone().into());
        file.factors.values.give("rate", rates.into_iter().chain([per_writer]));
        file.factors.values.give("arrival", [arrival]);
        file.factors.values.give("trace", names.clone());
        file.design.spin = Some(experiment::Located::nowhere(samples % 2 == 0));
        file.flows.push(experiment::Located::nowhere(experiment::FlowSection { from: experiment::OneOrMany::unwritten([names[0].clone()]), to: experiment::OneOrMany::default(), kind: None,
            name: experiment::Located::nowhere(names[0].clone()),
            size: Some(experiment::Located::nowhere(experiment::SizeSpec::One(experiment::Size(sizes[0])))),
            rate: Some(experiment::Located::nowhere(RateSpec::Bits(bits))),
            arrival: Some(experiment::Located::nowhere(arrival)),
            count: None,
 phase: None,
 deadline: None,
 missed: None,
 trace: lasting_is_there.then(|| experiment::Located::nowhere(names[0].clone())),
            qos: file.qos.clone(),
        }));
        let text = toml::to_string(&file).expect("it can be written");
        let again: ExperimentFile = source(&text, &[]).read().unwrap_or_else(|fault| panic!("{text}\n{fault:#?}"));
        prop_assert_eq!(again, file);
    }
}
