//! Parser of command-line flags, each with a value.

use crate::Error;

/// Flags and values in the given order.
pub struct Flags<'w>(Vec<(&'w str, &'w str)>);

impl<'w> Flags<'w> {
    /// Parses the arguments of a command that has these flags. Returns an error for an unknown flag or a missing
    /// value.
    pub fn parse(words: &[&'w str], known: &[&str]) -> Result<Self, Error> {
        let known_ones = known.join(", ");
        let pair = |pair: &[&'w str]| match *pair {
            [flag, ..] if !known.contains(&flag) => {
                Err(format!("unknown flag `{flag}`\nhint: flags here are {known_ones}").into())
            }
            [flag, value] => Ok((flag, value)),
            _ => Err(format!("`{}` has no value\nhint: write it behind the flag", pair.join(" ")).into()),
        };
        words.chunks(2).map(pair).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the value of a flag; the last one if it is repeated.
    pub fn value(&self, flag: &str) -> Option<&'w str> {
        self.values(flag).last()
    }

    /// Returns all values of a flag.
    pub fn values(&self, flag: &str) -> impl Iterator<Item = &'w str> {
        self.0.iter().filter(move |pair| pair.0 == flag).map(|pair| pair.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 2] = ["--driver", "--size"];

    #[test]
    fn flags_have_the_values_behind_them() {
        let words = ["--size", "64", "--driver", "udp", "--size", "1024"];
        let flags = Flags::parse(&words, &KNOWN).expect("known flags");
        assert_eq!((flags.value("--driver"), flags.value("--size")), (Some("udp"), Some("1024")));
        assert_eq!(flags.values("--size").collect::<Vec<_>>(), ["64", "1024"]);
        assert_eq!(Flags::parse(&[], &KNOWN).expect("nothing").value("--size"), None);
    }

    #[test]
    fn an_unknown_flag_and_one_without_its_value_are_refused_with_the_next_step() {
        for (words, error) in [
            (&["--sise", "64"][..], "unknown flag `--sise`\nhint: flags here are --driver, --size"),
            (&["--size", "64", "1024"], "unknown flag `1024`\nhint: flags here are --driver, --size"),
            (&["--driver", "udp", "--help"], "unknown flag `--help`\nhint: flags here are --driver, --size"),
            (&["--driver"], "`--driver` has no value\nhint: write it behind the flag"),
        ] {
            let found = Flags::parse(words, &KNOWN).err().expect("it is refused");
            assert_eq!(found.to_string(), error);
        }
    }
}
