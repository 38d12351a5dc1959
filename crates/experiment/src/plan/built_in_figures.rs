//! Published figures that this crate contains: the files of the folder `published`.

use serde::Deserialize;

use crate::{plan::published_section::PublishedSection, syntax::one_or_many::Located};

/// Embeds `published/NAME.toml` of the source tree.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../published/", $name, ".toml")))),*]
    };
}

/// Names and texts of the files.
const FILES: &[(&str, &str)] = files!["seed-000", "seed-001", "seed-002", "seed-003", "seed-004"];

/// Published figures with a name: the tables of a publication.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltInFigures {
    tables: Vec<Located<PublishedSection>>,
}

impl BuiltInFigures {
    /// Returns the figures with this name; `None` if there are none.
    ///
    /// # Panics
    /// Never panics: a test parses every file.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(text).expect("the file is parsed by a test"))
    }

    /// Returns all names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// Returns the tables.
    pub fn tables(&self) -> impl Iterator<Item = &PublishedSection> {
        self.tables.iter().map(Located::get)
    }

    /// Returns the table of the earlier execution of a table.
    pub(crate) fn repeated(&self, table: &PublishedSection) -> Option<&PublishedSection> {
        // a test checks every file
        table.repeated(&self.tables).ok().flatten()
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            published: Vec<Located<PublishedSection>>,
        }
        let File { published } = toml::from_str(text)?;
        Ok(Self { tables: published })
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn every_file_is_embedded_and_its_tables_are_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published");
        let files = fs::read_dir(folder).expect("the files").flatten();
        let files: BTreeSet<String> = files
            .filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
            .collect();
        assert_eq!(files, BuiltInFigures::names().map(str::to_owned).collect());
        for (name, text) in FILES {
            let figures = BuiltInFigures::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut systems = BTreeSet::new();
            for table in figures.tables() {
                table.check().unwrap_or_else(|error| panic!("{name}: {}: {error:?}", table.system.get()));
                assert!(systems.insert(table.system.get()), "{name}: {}", table.system.get());
                let repeated = table.repeated(&figures.tables);
                repeated.unwrap_or_else(|error| panic!("{name}: {}: {error:?}", table.system.get()));
                let conditions = &table.conditions;
                for (text, what) in [
                    (&conditions.middleware, "middleware"),
                    (&conditions.hardware, "hardware"),
                    (&conditions.transport, "transport"),
                    (&conditions.link, "link"),
                    (&conditions.method, "method"),
                ] {
                    assert!(text.is_some(), "{name}: {}: no {what}", table.system.get());
                }
            }
        }
    }

    /// Returns the means over the campaigns of each setting of a table of the study.
    fn means(file: &str) -> Vec<f64> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/qos-study");
        let text = fs::read_to_string(folder.join(file)).expect("the table");
        let mut lines = text.lines();
        let campaigns =
            lines.next().expect("a heading").split(',').filter(|name| name.parse::<u32>().is_ok()).count();
        let mean = |line: &str| {
            let values =
                line.split(',').skip(1).take(campaigns).map(|value| value.parse::<f64>().expect("a number"));
            values.sum::<f64>() / campaigns as f64
        };
        lines.map(mean).collect()
    }

    /// Returns the averages of the second campaign of a table of the study.
    fn second(file: &str) -> Vec<f64> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/qos-study");
        let text = fs::read_to_string(folder.join(file)).expect("the table");
        let last =
            |line: &str| line.rsplit(',').next().and_then(|value| value.parse().ok()).expect("a number");
        text.lines().skip(1).map(last).collect()
    }

    /// The study rounds down, or to one decimal.
    #[test]
    fn averages_of_the_study_are_those_of_its_campaigns() {
        let figures = BuiltInFigures::find("seed-003").expect("the figures");
        for (system, file, exact) in
            [("setup 3", "setup-3.csv", 1.0), ("setup 4", "setup-4.csv", 1.0), ("flood", "flood.csv", 0.1)]
        {
            let table = |system: String| {
                figures.tables().find(|table| *table.system.get() == system).expect("the table")
            };
            let again = table(format!("QoS study, {system}, second execution"));
            let figures = again.rows.iter().map(|row| row.get()[1].number());
            assert_eq!(figures.collect::<Vec<_>>(), second(file), "{system}");
            let table = table(format!("QoS study, {system}"));
            assert_eq!(again.pairs(table).len(), table.rows.len(), "{system}: other rows");
            let means = means(file);
            assert_eq!(table.rows.len(), means.len(), "{system}");
            for (row, mean) in table.rows.iter().zip(means) {
                let published = row.get()[1].number();
                assert!((published - mean).abs() < exact, "{system}: {:?}: {mean}", row.get());
            }
        }
    }
}
