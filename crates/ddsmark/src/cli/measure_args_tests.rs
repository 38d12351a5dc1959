//! Changes of the experiment file that flags mean.

use clap::FromArgMatches as _;

use super::*;

#[test]
fn several_values_of_a_key_are_a_list() {
    let entry = |value: &str| ("options.d.k".to_owned(), value.to_owned(), format!("d.k={value}"));
    let changes = |values: &[&str]| values_by_key("--option", values.iter().map(|value| entry(value)));
    let change =
        |text: &str, shown_as: &str| vec![Override::flag("--option", "options.d.k", text).shown_as(shown_as)];
    assert_eq!(changes(&["a"]), change("a", "--option d.k=a"));
    assert_eq!(changes(&["a", "b c"]), change("[\"a\", \"b c\"]", "--option d.k=a --option d.k=b c"));
    assert_eq!(changes(&["1", "true"]), change("[1, true]", "--option d.k=1 --option d.k=true"));
}

#[test]
fn baseline_names_an_option_with_or_without_its_group() {
    for entry in ["udp.packing=off", "option.udp.packing=off", "options.udp.packing=off"] {
        let command = crate::cli::help::command();
        let words = ["ddsmark", "latency", "--driver", "udp", "--baseline", entry];
        let matches = command.try_get_matches_from(words).expect("flags");
        let matches = matches.subcommand_matches("latency").expect("the command");
        let flags = MeasureArgs::from_arg_matches(matches).expect("its flags");
        let key = "design.baseline.options.\"udp\".\"packing\"";
        let expected = Override::flag("--baseline", key, "off").shown_as(format!("--baseline {entry}"));
        assert_eq!(flags.baselines(), [expected], "{entry}");
    }
}
