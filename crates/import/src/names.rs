//! Names of topics and processes: conversion to those that an experiment file allows.

use std::collections::BTreeMap;

use experiment::MAX_FLOW_NAME;

use crate::{error::ImportError, system::System};

/// Converts a name to letters, digits and `-`: `/cmd_vel` to `cmd-vel`. Returns `None` if nothing is left or it is too long.
#[must_use]
pub fn plain_name(name: &str) -> Option<String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let plain = words.collect::<Vec<_>>().join("-");
    (!plain.is_empty() && plain.len() <= MAX_FLOW_NAME).then_some(plain)
}

/// Names that are taken, each with the name in the source that it is from.
#[derive(Debug, Default)]
struct Taken(BTreeMap<String, String>);

impl Taken {
    /// Converts a name. `is_shared`: whether the same name in the source may come again.
    fn convert(&mut self, what: &str, name: &str, is_shared: bool) -> Result<String, ImportError> {
        let Some(plain) = plain_name(name) else {
            let message = format!("`{name}` cannot be the name of a {what}");
            return Err(ImportError::new(message, "rename it: up to 64 letters, digits and `-`"));
        };
        match self.0.insert(plain.clone(), name.to_owned()) {
            Some(other) if other != name => Err(ImportError::new(
                format!("{what}s `{other}` and `{name}` would both have the name `{plain}`"),
                "rename one of them in the source",
            )),
            Some(_) if !is_shared => {
                Err(ImportError::new(format!("{what} `{name}` is given twice"), "remove one of them"))
            }
            _ => Ok(plain),
        }
    }
}

impl System {
    /// Converts the names of topics and processes.
    ///
    /// # Errors
    /// Returns an error if a name cannot be converted, or if two of them would be the same.
    pub(crate) fn with_plain_names(mut self) -> Result<Self, ImportError> {
        let (mut topics, mut processes) = (Taken::default(), Taken::default());
        for topic in &mut self.topics {
            let name = topics.convert("topic", &topic.name, false)?;
            let group = topic.count.into_iter().flat_map(|count| 1..=count);
            for index in group {
                topics.convert("topic", &format!("{name}-{index}"), false)?;
            }
            topic.name = name;
            for process in topic.from.iter_mut().chain(&mut topic.to) {
                *process = processes.convert("process", process, true)?;
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use experiment::Rate;
    use proptest::prelude::*;

    use super::*;
    use crate::system::{Sends, Topic};

    fn system(names: &[&str]) -> System {
        let topic = |name: &&str| Topic::new(*name, 16, Sends::Rate(Rate::every(1)));
        System { topics: names.iter().map(topic).collect(), ..System::default() }
    }

    #[test]
    fn names_become_letters_digits_and_hyphens() {
        assert_eq!(plain_name("/cmd_vel").as_deref(), Some("cmd-vel"));
        assert_eq!(plain_name("/front/camera/image_raw/").as_deref(), Some("front-camera-image-raw"));
        assert_eq!((plain_name("/"), plain_name("é"), plain_name(&"a".repeat(65))), (None, None, None));
    }

    #[test]
    fn clash_names_both_topics() {
        let error = system(&["/a/b", "/a_b"]).with_plain_names().expect_err("a clash");
        assert_eq!(error.message, "topics `/a/b` and `/a_b` would both have the name `a-b`");
        let error = system(&["a", "a"]).with_plain_names().expect_err("twice");
        assert_eq!(error.message, "topic `a` is given twice");
        let mut group = system(&["a", "a_2"]);
        group.topics[0].count = Some(2);
        assert!(group.with_plain_names().is_err());
    }

    proptest! {
        #[test]
        fn converted_name_is_valid_and_stays(name in "\\PC{0,80}") {
            if let Some(plain) = plain_name(&name) {
                prop_assert!(plain.len() <= MAX_FLOW_NAME && !plain.is_empty());
                prop_assert!(plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
                prop_assert_eq!(plain_name(&plain), Some(plain.clone()));
            }
        }
    }
}
