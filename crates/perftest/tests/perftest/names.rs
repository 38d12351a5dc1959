//! Tests of names and their abbreviations.

use perftest::{Generation, Match, OPTIONS, OTHER_OPTIONS, OptionRow, resolve};
use proptest::prelude::*;

use crate::common::{error, text, valid};

/// Returns the options of a generation that begin with a name.
fn beginning(name: &str, generation: Generation) -> Vec<&'static OptionRow> {
    let starts = |row: &&OptionRow| row.name.to_lowercase().starts_with(&name.to_lowercase());
    let rows = OPTIONS.iter().copied().filter(|row| row.edition(generation).is_some());
    rows.filter(starts).collect()
}

/// Returns the beginning of a name with other case.
fn abbreviated(name: &str, length: usize, upper: &[bool]) -> String {
    let mixed = name.chars().zip(upper.iter().cycle()).map(|(letter, upper)| match upper {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    });
    mixed.take(length).collect()
}

proptest! {
    #[test]
    fn a_unique_beginning_is_its_option_and_others_are_the_first_by_name(
        index in any::<prop::sample::Index>(),
        length in 1_usize..32,
        upper in prop::collection::vec(any::<bool>(), 1..8),
        newer in any::<bool>(),
    ) {
        let generation = if newer { Generation::V4_3 } else { Generation::V5_1 };
        let rows = beginning("", generation);
        let row = index.get(&rows);
        let name = abbreviated(row.name, length, &upper);
        let candidates = beginning(&name, generation);
        let exact = candidates.iter().find(|candidate| candidate.name.eq_ignore_ascii_case(&name));
        let is_alias = |row: &&&OptionRow| row.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&name));
        match resolve(&name, generation) {
            Match::One(found) if exact.is_some() => prop_assert_eq!(found.name, exact.unwrap().name),
            Match::One(found) if candidates.len() == 1 => prop_assert_eq!(found.name, row.name),
            Match::One(found) => prop_assert!(is_alias(&&found), "{} for {}", found.name, name),
            Match::First(found, number) => {
                prop_assert!(exact.is_none() && number > 1);
                prop_assert_eq!(number, candidates.len());
                let of_release = |row: &&&'static OptionRow| row.edition(generation).is_some_and(|own| !own.added);
                let mut names: Vec<&str> = candidates.iter().filter(of_release).map(|row| row.name).collect();
                names.sort_unstable();
                prop_assert_eq!(found.name, names[0]);
            }
            Match::Several(found) => {
                prop_assert!(exact.is_none() && candidates.len() > 1);
                let names = |rows: &[&'static OptionRow]| rows.iter().map(|row| row.name).collect::<Vec<_>>();
                prop_assert_eq!(names(&found), names(&candidates));
            }
            other => prop_assert!(false, "{}: {:?}", name, other),
        }
    }
}

#[test]
fn exact_name_wins_over_longer_ones() {
    for (name, generation) in
        [("pub", Generation::V4_3), ("multicast", Generation::V5_1), ("crc", Generation::V4_3)]
    {
        assert!(beginning(name, generation).len() > 1, "{name} is also a beginning");
        assert!(matches!(resolve(name, generation), Match::One(row) if row.name == name));
    }
}

#[test]
fn listed_aliases_stand_for_their_options() {
    for (alias, name) in [
        ("h", "help"),
        ("exec", "executionTime"),
        ("raw", "rawTransport"),
        ("noPrint", "noPrintIntervals"),
        ("NOPRINT", "noPrintIntervals"),
        ("allowInterfaces", "nic"),
    ] {
        assert!(matches!(resolve(alias, Generation::V4_3), Match::One(row) if row.name == name), "{alias}");
    }
    // `-h` is also the beginning of `-heartbeatPeriod`.
    assert!(beginning("h", Generation::V5_1).len() > 1);
    assert!(matches!(resolve("h", Generation::V5_1), Match::One(row) if row.name == "help"));
}

#[test]
fn beginning_of_several_names_is_the_first_of_the_release_with_a_warning() {
    for (line, option) in [("-pub -latency 1", "latencyCount"), ("-pub -asynch", "asynchronous")] {
        let (settings, warnings) = valid(line, Generation::V4_3);
        assert!(settings.given(option).is_some(), "{line}");
        assert_eq!(warnings.iter().map(|warning| warning.option).collect::<Vec<_>>(), [option], "{line}");
        assert!(warnings[0].text.contains("the first by name of"), "{}", warnings[0]);
    }
}

#[test]
fn errors_of_names() {
    let errors: Vec<String> = [
        ("-lat", Generation::V4_3),
        ("-ddsmark", Generation::V4_3),
        ("-dataLne 32", Generation::V4_3),
        ("--dataLne 32", Generation::V4_3),
        ("--", Generation::V4_3),
        ("-nothingLikeIt", Generation::V5_1),
        ("-enableTcpOnly", Generation::V4_3),
        ("-peer 10.0.0.2", Generation::V5_1),
        ("-latencyFile out", Generation::V5_1),
        ("dataLen 32", Generation::V4_3),
        ("-bestEffort true", Generation::V4_3),
        ("-", Generation::V4_3),
        ("-5", Generation::V4_3),
    ]
    .map(|(line, generation)| text(&error(line, generation)))
    .to_vec();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn options_of_other_releases_have_a_next_step_that_helps() {
    for generation in [Generation::V4_3, Generation::V5_1] {
        for other in OTHER_OPTIONS {
            assert!(OPTIONS.iter().all(|row| !row.name.eq_ignore_ascii_case(other.name)), "{}", other.name);
            let text = text(&error(&format!("-pub -{}", other.name), generation));
            if text.contains("is an option of generation") {
                // A longer name of the other generation begins with it.
                continue;
            }
            let expected = format!(
                "error: command line: `-{}` is an option of {}, not of generation {generation}\nhint: {}",
                other.name, other.of, other.instead
            );
            assert_eq!(text, expected);
            let named = other.instead.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix('-'));
            for option in named {
                let option = option.split(' ').next().unwrap_or_default();
                assert!(OPTIONS.iter().any(|row| row.name == option), "{}: {option}", other.name);
            }
        }
    }
    let names: Vec<&str> = OTHER_OPTIONS.iter().map(|other| other.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let text = text(&error("-sub -secureSign -secureEncryptData", Generation::V4_3));
    assert!(!text.contains("-securePSK"), "{text}");
    assert!(text.ends_with("hint: leave it out: no driver is built with DDS Security"), "{text}");
}

#[test]
fn two_dashes_are_as_good_as_one() {
    let (one, _) = valid("-pub -dataLen 64 -pubRate 50000:spin -compat 4.3", Generation::V5_1);
    let (two, _) = valid("--pub --dataLen 64 --pubRate 50000:spin --compat 4.3", Generation::V5_1);
    assert_eq!(one.shared, two.shared);
    assert_eq!((one.generation, two.generation), (Generation::V4_3, Generation::V4_3));
    assert!(error("---pub", Generation::V4_3).to_string().contains("is not an option"));
}

#[test]
fn abbreviations_and_case_do_not_change_the_settings() {
    let (full, _) = valid("-pub -dataLen 64 -noPrintIntervals -executionTime 5", Generation::V4_3);
    let (short, _) = valid("-PUB -datal 64 -noprint -exec 5", Generation::V4_3);
    assert_eq!(full, short);
}
