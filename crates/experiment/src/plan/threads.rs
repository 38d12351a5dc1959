//! Threads that write the flows of an endpoint.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::factors::flow::Flow;

/// Threads that write the flows of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Threads of each of these processes, by name; a thread for each flow in the others.
    Processes(BTreeMap<String, Self>),
}

/// Text of the threads in a file.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum ThreadsText {
    /// `per-topic` or `one`.
    Word(String),
    /// Groups of names.
    Groups(Vec<Vec<String>>),
    /// Any of these for each process.
    Processes(BTreeMap<String, Self>),
}

impl TryFrom<ThreadsText> for WritingThreads {
    type Error = String;

    fn try_from(written: ThreadsText) -> Result<Self, String> {
        match written {
            ThreadsText::Word(word) if word == "one" => Ok(Self::One),
            ThreadsText::Word(word) if word == "per-topic" => Ok(Self::PerTopic),
            ThreadsText::Word(word) => Err(format!(
                "`{word}` does not say which threads write: use `per-topic`, `one`, groups of names such as \
                 [[\"imu\"], [\"camera\", \"lidar\"]], or one of these for each process"
            )),
            ThreadsText::Groups(groups) => Ok(Self::Groups(groups)),
            ThreadsText::Processes(processes) => {
                let of_process = |(name, text)| match text {
                    ThreadsText::Processes(_) => Err(format!("process `{name}` has no processes of its own")),
                    text => Ok((name, Self::try_from(text)?)),
                };
                processes.into_iter().map(of_process).collect::<Result<_, _>>().map(Self::Processes)
            }
        }
    }
}

impl From<WritingThreads> for ThreadsText {
    fn from(threads: WritingThreads) -> Self {
        match threads {
            WritingThreads::One => Self::Word("one".to_owned()),
            WritingThreads::PerTopic => Self::Word("per-topic".to_owned()),
            WritingThreads::Groups(groups) => Self::Groups(groups),
            WritingThreads::Processes(processes) => {
                Self::Processes(processes.into_iter().map(|(name, threads)| (name, threads.into())).collect())
            }
        }
    }
}

impl WritingThreads {
    /// Returns whether one thread writes all flows.
    #[must_use]
    pub fn is_one(&self) -> bool {
        *self == Self::One
    }

    /// Returns the number of the thread of each flow that a process writes, from 0 in the order of the flows.
    #[must_use]
    pub fn of_flows(&self, process: &str, flows: &[&Flow]) -> Vec<u32> {
        if let Self::Processes(processes) = self {
            return processes.get(process).unwrap_or(&Self::PerTopic).of_flows(process, flows);
        }
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
            Self::PerTopic | Self::Processes(_) => index,
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
        let of = |threads: &WritingThreads| threads.of_flows("sensors", &flows);
        assert_eq!(of(&WritingThreads::One), [0, 0, 0, 0]);
        assert_eq!(of(&WritingThreads::PerTopic), [0, 1, 2, 3]);
        assert_eq!(of(&groups(&[&["small"], &["imu"]])), [0, 1, 2, 1]);
        assert_eq!(of(&groups(&[&["small-2", "camera"]])), [0, 1, 2, 2]);
        let processes = WritingThreads::Processes([("sensors".to_owned(), WritingThreads::One)].into());
        assert_eq!((of(&processes), processes.of_flows("arm", &flows)), (vec![0; 4], vec![0, 1, 2, 3]));
    }

    #[test]
    fn text_of_threads_is_read_and_written() {
        let processes = "{\"arm\":[[\"a\"],[\"b\",\"c\"]],\"sensors\":\"one\"}";
        for text in ["\"one\"", "\"per-topic\"", "[[\"a\"],[\"b\",\"c\"]]", processes] {
            let threads: WritingThreads = serde_json::from_str(text).expect("threads");
            assert_eq!(serde_json::to_string(&threads).expect("JSON"), text);
        }
        let error = serde_json::from_str::<WritingThreads>("\"many\"").expect_err("not a word").to_string();
        assert!(error.contains("`per-topic`, `one`"), "{error}");
        let nested = "{\"arm\":{\"hand\":\"one\"}}";
        let error = serde_json::from_str::<WritingThreads>(nested).expect_err("nested").to_string();
        assert!(error.contains("process `arm` has no processes"), "{error}");
    }
}
