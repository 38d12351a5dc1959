//! Plain words for values of flags that the parser of the command line rejects: as those of the experiment file.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::cli_error::CliError;

/// Largest numbers of the types of flags, as messages have them.
const U32_MAX: &str = "4294967295";
const U64_MAX: &str = "18446744073709551615";

/// Converts the error of a value; `None` for errors of another kind, such as an unknown flag.
pub fn in_words(error: &clap::Error) -> Option<CliError> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg)?;
    let flag = argument.split([' ', '=', '[']).next().unwrap_or(argument);
    let value = text(ContextKind::InvalidValue)?;
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            Some(CliError::usage(format!("{flag} has no value"), format!("write `{argument}`")))
        }
        ErrorKind::InvalidValue => {
            let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue) else { return None };
            let near = text(ContextKind::SuggestedValue);
            let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            Some(CliError::usage(not_valid(flag, value), format!("{near}available: {}", known.join(", "))))
        }
        ErrorKind::ValueValidation => {
            let cause = error.source()?.to_string();
            Some(match (cause.split_once("\nhint: "), expected(&cause)) {
                (Some((fault, hint)), _) => CliError::usage(format!("{flag} {value}: {fault}"), hint),
                (None, Some(expected)) => {
                    CliError::usage(not_valid(flag, value), format!("write {expected}"))
                }
                (None, None) => {
                    CliError::usage(format!("{flag} {value}: {cause}"), "`--help` describes the value")
                }
            })
        }
        _ => None,
    }
}

fn not_valid(flag: &str, value: &str) -> String {
    format!("{flag} {value}: `{value}` is not valid for `{flag}`")
}

/// Returns what is expected, from the messages of the parsers of numbers.
fn expected(cause: &str) -> Option<String> {
    if let Some((_, range)) = cause.split_once(" is not in ") {
        return Some(match range.split_once("..") {
            Some((from, to)) => match to.trim_start_matches('=') {
                // The largest number of a type does not help.
                "" | U32_MAX | U64_MAX => format!("a whole number, {from} or more"),
                to => format!("a whole number, {from} to {to}"),
            },
            None => format!("a number within {range}"),
        });
    }
    let words = match cause {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "a whole number, such as `3`"
        }
        "number too large to fit in target type" => "a smaller number",
        "number too small to fit in target type" => "a larger number",
        "invalid float literal" | "cannot parse float from empty string" => "a number, such as `1.5`",
        _ => return None,
    };
    Some(words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help;

    fn rejected(arguments: &str) -> String {
        let words = std::iter::once("ddsmark").chain(arguments.split(' '));
        let error = help::command().try_get_matches_from(words).expect_err("it is rejected");
        in_words(&error).unwrap_or_else(|| panic!("no value: {error}")).to_string()
    }

    #[test]
    fn rejected_values_are_named_with_their_flag_and_what_is_expected() {
        for (arguments, expected) in [
            (
                "latency --runs x",
                "error: --runs x: `x` is not valid for `--runs`\nhint: write a whole number, such as `3`",
            ),
            (
                "latency --seed 99999999999999999999",
                "error: --seed 99999999999999999999: `99999999999999999999` is not valid for `--seed`\nhint: write a smaller number",
            ),
            (
                "latency --domain=-1",
                "error: --domain -1: `-1` is not valid for `--domain`\nhint: write a whole number, 0 to 232",
            ),
            (
                "latency --option nonsense",
                "error: --option nonsense: not an option of a driver\nhint: write for instance `udp.batching=off`",
            ),
            (
                "compare a b --metric p98",
                "error: --metric p98: `p98` is not valid for `--metric`\nhint: did you mean `p99`? available: ",
            ),
            ("latency --runs=", "error: --runs"),
        ] {
            let found = rejected(arguments);
            assert!(found.starts_with(expected), "{arguments}: {found}");
            assert!(found.contains("\nhint: ") && !found.contains("digit found"), "{arguments}: {found}");
        }
    }

    #[test]
    fn ranges_are_words() {
        assert_eq!(expected("9 is not in 1..=5").as_deref(), Some("a whole number, 1 to 5"));
        assert_eq!(expected("0 is not in 1..").as_deref(), Some("a whole number, 1 or more"));
        assert_eq!(expected("it is late"), None);
    }

    #[test]
    fn unknown_flag_is_not_the_error_of_a_value() {
        let error = help::command().try_get_matches_from(["ddsmark", "latency", "--sise", "6"]);
        assert!(in_words(&error.expect_err("it is rejected")).is_none());
    }
}
