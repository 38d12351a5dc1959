//! Arguments to options.

use crate::{
    entry::{Entries, Entry},
    error::{Cause, PerftestError, Source},
    generation::Generation,
    table::{Kind, Match, OPTIONS, OptionRow, Role, resolve, similar},
    value::{OptionValue, on_command_line},
    warning::Warning,
};

/// Environment variable with the generation.
pub const COMPAT_VARIABLE: &str = "DDSMARK_PERFTEST_COMPAT";

/// Options of a command line.
#[derive(Clone, Debug)]
pub struct CommandLine {
    pub(crate) generation: Generation,
    pub(crate) entries: Entries,
    pub(crate) warnings: Vec<Warning>,
}

/// File with options, to be read by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Path.
    pub path: String,
    /// Whether a missing file is an error: only the default one may be missing.
    pub required: bool,
}

impl CommandLine {
    /// Creates the options of arguments, without the name of the program.
    ///
    /// `compat` is the value of [`COMPAT_VARIABLE`]. `-compat` takes precedence over it.
    ///
    /// # Errors
    /// Returns an error if an argument is not an option, or a value is not valid.
    pub fn parse<S: AsRef<str>>(arguments: &[S], compat: Option<&str>) -> Result<Self, PerftestError> {
        let generation = match generation(arguments)? {
            Some(generation) => generation,
            None => of_environment(compat)?.unwrap_or(Generation::V4_3),
        };
        let mut line = Self { generation, entries: Entries::default(), warnings: Vec::new() };
        let mut arguments = arguments.iter().map(AsRef::as_ref).peekable();
        while let Some(argument) = arguments.next() {
            let name = name_of(argument).filter(|name| !is_number(argument) && !name.is_empty());
            let name = name.ok_or_else(|| error(argument, Cause::stray()))?;
            let (row, number) = option(argument, name, generation)?;
            if number > 1 {
                let text = format!(
                    "is what `{argument}` stands for: the first by name of {number} options, as the release takes it"
                );
                line.warnings.push(Warning::new(row.name, text));
            }
            let takes = match row.kind {
                Kind::Flag => false,
                Kind::Sizes => generation != Generation::V5_1,
                _ => true,
            };
            let value = if takes { arguments.next_if(|next| is_value(next, row.kind)) } else { None };
            line.add(row, argument, value)?;
        }
        Ok(line)
    }

    fn add(
        &mut self,
        row: &'static OptionRow,
        argument: &str,
        value: Option<&str>,
    ) -> Result<(), PerftestError> {
        let item = value.map_or_else(|| argument.to_owned(), |value| format!("{argument} {value}"));
        let edition = row.edition(self.generation).ok_or_else(|| error(&item, Cause::stray()))?;
        let value =
            on_command_line(row, edition, self.generation, value).map_err(|cause| error(&item, cause))?;
        if row.name == "compat" && value != OptionValue::Choice(self.generation.name()) {
            // An abbreviation, or a second value: the options before it have been read already.
            let expected = format!("`-compat` once, and in full; this is generation {}", self.generation);
            return Err(error(&item, Cause::invalid(&expected)));
        }
        if let Some(before) = self.entries.get(row.name).filter(|_| !row.repeats)
            && before.value != value
        {
            self.warnings.push(Warning::new(row.name, format!("is given twice: `{item}` applies")));
        }
        self.entries.0.push(Entry { row, value, item, source: Source::CommandLine });
        Ok(())
    }

    /// Returns the generation.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// Returns whether help is requested.
    #[must_use]
    pub fn wants_help(&self) -> bool {
        self.entries.flag("help")
    }

    /// Returns the role, if it is given.
    #[must_use]
    pub fn given_role(&self) -> Option<Role> {
        match (self.entries.flag("pub"), self.entries.flag("sub")) {
            (true, _) => Some(Role::Publisher),
            (false, true) => Some(Role::Subscriber),
            (false, false) => None,
        }
    }

    /// Returns the file with further options; `None` in a generation without files.
    #[must_use]
    pub fn config_file(&self) -> Option<ConfigFile> {
        if let Some(path) = self.entries.text("configFile") {
            return Some(ConfigFile { path: path.to_owned(), required: true });
        }
        let row = OPTIONS.iter().find(|row| row.name == "configFile")?;
        let edition = row.edition(self.generation)?;
        Some(ConfigFile { path: edition.default.to_owned(), required: false })
    }
}

/// Returns the driver in the name of a program, such as `udp` of `perftest_udp`.
///
/// `perftest_cpp` and `perftest_cpp_micro` are names of the original programs, and name no driver.
#[must_use]
pub fn driver_of_program(program: &str) -> Option<&str> {
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("perftest_").filter(|name| !name.is_empty())?;
    let name = name.trim_end_matches(".sh");
    let original = ["cpp", "cpp03", "cpp_cert", "cpp_micro", "cpp_tss", "cs", "java"].contains(&name);
    (!original).then_some(name)
}

/// Returns the value of `-compat`, which decides what the other options are.
fn generation<S: AsRef<str>>(arguments: &[S]) -> Result<Option<Generation>, PerftestError> {
    let is_compat =
        |argument: &S| name_of(argument.as_ref()).is_some_and(|name| name.eq_ignore_ascii_case("compat"));
    let Some(place) = arguments.iter().position(is_compat) else { return Ok(None) };
    let usage = || Cause::new("has no value", "use `-compat <5.1|4.3>`");
    let value = arguments.get(place + 1).map(AsRef::as_ref).filter(|value| !value.starts_with('-'));
    let value = value.ok_or_else(|| error("-compat", usage()))?;
    named(value, Source::CommandLine, format!("-compat {value}"))
}

fn of_environment(value: Option<&str>) -> Result<Option<Generation>, PerftestError> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    named(value, Source::Environment, format!("{COMPAT_VARIABLE}={value}"))
}

/// Returns the generation of this name, which `item` gives.
fn named(name: &str, source: Source, item: String) -> Result<Option<Generation>, PerftestError> {
    let cause = Cause::invalid("one of: 5.1, 4.3");
    Generation::from_name(name).map(Some).ok_or(PerftestError { source, item, cause })
}

/// Returns the name of an option, after one dash, or after two as in C#; `None` without a dash.
fn name_of(argument: &str) -> Option<&str> {
    argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'))
}

/// Returns the option that an argument stands for, and the number of options that begin with its name.
fn option(
    argument: &str,
    name: &str,
    generation: Generation,
) -> Result<(&'static OptionRow, usize), PerftestError> {
    let cause = match resolve(name, generation) {
        Match::One(row) => return Ok((row, 1)),
        Match::First(row, number) => return Ok((row, number)),
        Match::Several(rows) => {
            let candidates = dashed(rows.iter().map(|row| row.name));
            Cause::new(format!("is short for {} options", rows.len()), format!("use one of: {candidates}"))
        }
        Match::OtherGeneration(row) => {
            let theirs = generation.other();
            let hint = match row.instead {
                "" => format!("use `-compat {theirs}`, or leave it out"),
                instead => format!("{instead}, or add `-compat {theirs}`"),
            };
            Cause::new(format!("is an option of generation {theirs}, not of {generation}"), hint)
        }
        Match::OtherRelease(other) => {
            Cause::new(format!("is an option of {}, not of generation {generation}", other.of), other.instead)
        }
        Match::Unknown => {
            let names = OPTIONS.iter().filter(|row| row.edition(generation).is_some());
            let similar = similar(name, names.map(|row| row.name));
            let hint = match &similar[..] {
                [] => "`-help` lists the options".to_owned(),
                _ => format!("similar: {}", dashed(similar)),
            };
            Cause::new(format!("is not an option of generation {generation}"), hint)
        }
    };
    Err(error(argument, cause))
}

/// Returns names as options, with commas.
fn dashed(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("-{name}")).collect();
    names.join(", ")
}

/// Returns whether an argument is the value of the option before it.
fn is_value(argument: &str, kind: Kind) -> bool {
    match kind {
        Kind::OptionalInteger(_) | Kind::Sizes => !argument.starts_with('-') || is_number(argument),
        // A text can be the name of a file that begins with a dash, but then the option before it has more likely no value.
        _ => !argument.starts_with('-') || is_number(argument) || argument == "-",
    }
}

/// Returns whether an argument begins as a negative number does.
fn is_number(argument: &str) -> bool {
    argument.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

fn error(item: &str, cause: Cause) -> PerftestError {
    PerftestError { source: Source::CommandLine, item: item.to_owned(), cause }
}
