//! Threads that write the flows of an endpoint.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::factors::flow::Flow;

/// Threads that write the flows of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "ThreadsText", into = "ThreadsText")]
#[cfg_attr(feature = "schema", schemars(with = "ThreadsText"))]
pub enum WritingThreads {
    /// One thread writes all flows.
    #[default]
    One,
    /// A thread for each flow.
    PerTopic,
    /// A thread for each of these groups of flows, by name, and one for each other flow.
    Groups(Vec<Vec<String>>),
}

/// Text of the threads in a file.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
enum ThreadsText {
    /// `per-topic` or `one`.
    Word(String),
    /// Groups of names.
    Groups(Vec<Vec<String>>),
}

impl TryFrom<ThreadsText> for WritingThreads {
    type Error = String;

    fn try_from(written: ThreadsText) -> Result<Self, String> {
        match written {
            ThreadsText::Word(word) if word == "one" => Ok(Self::One),
            ThreadsText::Word(word) if word == "per-topic" => Ok(Self::PerTopic),
            ThreadsText::Word(word) => Err(format!(
                "`{word}` does not say which threads write: use `per-topic`, `one`, or groups of names such as \
                 [[\"imu\"], [\"camera\", \"lidar\"]]"
            )),
            ThreadsText::Groups(groups) => Ok(Self::Groups(groups)),
        }
    }
}

impl From<WritingThreads> for ThreadsText {
    fn from(threads: WritingThreads) -> Self {
        match threads {
            WritingThreads::One => Self::Word("one".to_owned()),
            WritingThreads::PerTopic => Self::Word("per-topic".to_owned()),
            WritingThreads::Groups(groups) => Self::Groups(groups),
        }
    }
}

impl WritingThreads {
    /// Returns whether one thread writes all flows.
    #[must_use]
    pub fn is_one(&self) -> bool {
        *self == Self::One
    }

    /// Returns the number of the thread of each flow, from 0 in the order of the flows.
    #[must_use]
    pub fn of_flows(&self, flows: &[&Flow]) -> Vec<u32> {
        let mut known: Vec<usize> = Vec::new();
        let mut number = |key: usize| {
            let found = known.iter().position(|of| *of == key);
            found.unwrap_or_else(|| {
                known.push(key);
                known.len() - 1
            }) as u32
        };
        let keys = flows.iter().enumerate().map(|(index, flow)| match self {
            Self::One => 0,
            Self::PerTopic => index,
            Self::Groups(groups) => {
                let names = |group: &Vec<String>| {
                    group.iter().any(|name| *name == flow.name || flow.group.as_ref() == Some(name))
                };
                groups.iter().position(names).map_or(index, |group| flows.len() + group)
            }
        });
        keys.map(&mut number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factors::load::Load;

    #[test]
    fn flows_without_a_group_have_threads_of_their_own() {
        let flow = |name: &str, group: Option<&str>| Flow {
            group: group.map(str::to_owned),
            ..Flow::new(name, 64, Load::Max)
        };
        let flows = [
            flow("imu", None),
            flow("small-1", Some("small")),
            flow("camera", None),
            flow("small-2", Some("small")),
        ];
        let flows: Vec<&Flow> = flows.iter().collect();
        let groups = |names: &[&[&str]]| {
            WritingThreads::Groups(
                names.iter().map(|group| group.iter().map(|&name| name.to_owned()).collect()).collect(),
            )
        };
        assert_eq!(WritingThreads::One.of_flows(&flows), [0, 0, 0, 0]);
        assert_eq!(WritingThreads::PerTopic.of_flows(&flows), [0, 1, 2, 3]);
        assert_eq!(groups(&[&["small"], &["imu"]]).of_flows(&flows), [0, 1, 2, 1]);
        assert_eq!(groups(&[&["small-2", "camera"]]).of_flows(&flows), [0, 1, 2, 2]);
    }

    #[test]
    fn text_of_threads_is_read_and_written() {
        for text in ["\"one\"", "\"per-topic\"", "[[\"a\"],[\"b\",\"c\"]]"] {
            let threads: WritingThreads = serde_json::from_str(text).expect("threads");
            assert_eq!(serde_json::to_string(&threads).expect("JSON"), text);
        }
        let error = serde_json::from_str::<WritingThreads>("\"many\"").expect_err("not a word").to_string();
        assert!(error.contains("`per-topic`, `one`"), "{error}");
    }
}
