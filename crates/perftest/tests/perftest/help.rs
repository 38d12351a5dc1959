//! Tests of the help and the reference.

use perftest::{Generation, Honouring, OPTIONS, Role, help, reference};

#[test]
fn help_of_each_generation_and_role() {
    insta::assert_snapshot!("help_4_3", help(Generation::V4_3, None, "ddsmark perftest", "dds"));
    insta::assert_snapshot!("help_5_1", help(Generation::V5_1, None, "ddsmark perftest", "dds"));
    let subscriber = help(Generation::V4_3, Some(Role::Subscriber), "perftest_cpp", "dds");
    insta::assert_snapshot!("help_subscriber", subscriber);
}

#[test]
fn help_has_every_option_of_its_generation_and_role_and_no_other() {
    for generation in Generation::ALL {
        for role in [None, Some(Role::Publisher), Some(Role::Subscriber)] {
            let text = help(generation, role, "perftest_cpp", "dds");
            let words: Vec<&str> = text.split([' ', '\n', ',']).collect();
            for row in OPTIONS.iter() {
                let edition = row.edition(generation);
                let expected =
                    edition.is_some_and(|edition| role.is_none_or(|role| edition.roles.contains(role)));
                let found = words.contains(&format!("-{}", row.name).as_str());
                // Examples and descriptions of others may name an option of the other role.
                assert!(found || !expected, "{} of {generation} for {role:?}", row.name);
                if edition.is_none() {
                    assert!(!found, "{} is not of {generation}", row.name);
                }
            }
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            assert!(text.contains("Examples:"));
        }
    }
}

#[test]
fn reference_has_a_row_for_every_option() {
    let text = reference();
    for row in OPTIONS.iter() {
        let start = format!("| `-{}", row.name);
        let line = text.lines().find(|line| {
            let rest = line.strip_prefix(&start);
            rest.is_some_and(|rest| rest.starts_with(['`', ' ']))
        });
        let line = line.unwrap_or_else(|| panic!("{} is not in the reference", row.name));
        assert_eq!(
            line.contains("**rejected:**"),
            matches!(row.honouring, Honouring::Rejected { .. }),
            "{line}"
        );
        // A bar within a cell has a backslash.
        assert_eq!(line.replace("\\|", "").matches('|').count(), 9, "{line}");
    }
}
