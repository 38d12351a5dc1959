//! Comparison of the metadata of a bag with the messages of its files.

use std::path::Path;

use super::{Message, Metadata, Recording, Stretch, metadata::own_metadata};

impl Recording {
    /// Completes the recording of a file alone with the metadata that it has of the bag, and returns it. `None` without, or with a remark
    /// if it is not valid.
    pub fn complete_alone(&mut self, file: &Path) -> Option<Metadata> {
        let text = self.own_metadata.take()?;
        let mut metadata = match own_metadata(&text) {
            Ok(metadata) => metadata,
            Err(error) => {
                self.remarks.push(format!("the metadata in the file is not used: {error}"));
                return None;
            }
        };
        if metadata.whole.messages == Some(0) {
            // It is of the time when the file was opened: the recorder did not close it.
            metadata.whole = Stretch::default();
            metadata.of_files.clear();
        }
        metadata.of_files.retain(|(path, _)| Path::new(path).file_name() == file.file_name());
        metadata.files = metadata.of_files.iter().map(|(path, _)| path.clone()).collect();
        let ends = [self.messages.len()];
        metadata.complete(self, &ends);
        Some(metadata)
    }
}

impl Metadata {
    /// Adds to the recording of its files what only the metadata has, and remarks about what does not agree. `ends`: for each
    /// file, the number of messages up to its end.
    pub fn complete(&self, recording: &mut Recording, ends: &[usize]) {
        recording.not_applied.extend(self.unknown.iter().cloned());
        let mut remarks = Vec::new();
        self.whole.compare("the bag", &recording.messages, &mut remarks);
        if !self.of_files.is_empty() {
            let paths: Vec<&str> = self.of_files.iter().map(|(path, _)| path.as_str()).collect();
            if paths != self.files {
                let remark = "the metadata has other paths in `files` than in `relative_file_paths`";
                remarks.push(remark.to_owned());
            }
        }
        let mut begin = 0;
        for ((path, stretch), end) in self.of_files.iter().zip(ends) {
            stretch.compare(&format!("file `{path}`"), &recording.messages[begin..*end], &mut remarks);
            begin = *end;
        }
        let mut numbers = vec![0_u64; recording.topics.len()];
        for message in &recording.messages {
            numbers[message.topic as usize] += 1;
        }
        for topic in &self.topics {
            let name = &topic.recorded.name;
            let index = recording.topic(topic.recorded.clone()) as usize;
            let found = numbers.get(index).copied().unwrap_or(0);
            if let Some(stated) = topic.messages.filter(|stated| *stated != found) {
                remarks.push(format!("topic `{name}` has {found} messages, the metadata says {stated}"));
            }
            let (known, stated) = (&mut recording.topics[index], &topic.recorded);
            if known.message_type.is_empty() {
                known.message_type.clone_from(&stated.message_type);
            } else if !stated.message_type.is_empty() && known.message_type != stated.message_type {
                remarks.push(format!(
                    "topic `{name}` has the type {}, the metadata says {}",
                    known.message_type, stated.message_type
                ));
            }
            known.type_details.clone_from(&stated.type_details);
        }
        recording.remarks.extend(remarks);
    }
}

impl Stretch {
    /// Adds remarks about what the messages do not agree with.
    fn compare(&self, what: &str, messages: &[Message], remarks: &mut Vec<String>) {
        let found = messages.len() as u64;
        if let Some(stated) = self.messages.filter(|stated| *stated != found) {
            remarks.push(format!("{what} has {found} messages, the metadata says {stated}"));
        }
        let times = || messages.iter().map(|message| message.log_ns);
        let (Some(first), Some(last)) = (times().min(), times().max()) else { return };
        let values = [
            ("starts at", self.start_ns, Some(first)),
            ("has a duration of", self.duration_ns, last.checked_sub(first)),
        ];
        for (words, stated, found) in values {
            if let (Some(stated), Some(found)) = (stated, found)
                && stated != found
            {
                remarks.push(format!("{what} {words} {found} ns, the metadata says {stated} ns"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rosbag2::{metadata, recording::RecordedTopic};

    fn recording() -> Recording {
        let mut recording = Recording::default();
        let topic = RecordedTopic { name: "/imu".into(), ..RecordedTopic::default() };
        let topic = recording.topic(topic);
        let message = |log_ns| Message { topic, bytes: 8, log_ns, publish_ns: log_ns };
        recording.messages = [5, 9, 7].map(message).to_vec();
        recording
    }

    fn completed(more: &str) -> Recording {
        let text = format!(
            "rosbag2_bagfile_information:\n  version: 9\n  relative_file_paths: [a.mcap, b.mcap]\n{more}"
        );
        let mut recording = recording();
        metadata(&text).expect("metadata").complete(&mut recording, &[2, 3]);
        recording
    }

    const TOPICS: &str = "  topics_with_message_count:
    - topic_metadata: {name: /imu, type: Imu, serialization_format: cdr, offered_qos_profiles: [{depth: 5}]}
      message_count: 3
    - topic_metadata: {name: /map, type: Map}
      message_count: 0
";

    #[test]
    fn metadata_that_agrees_adds_types_qos_and_topics_without_messages() {
        let found = completed(&format!(
            "  message_count: 3\n  starting_time: {{nanoseconds_since_epoch: 5}}\n  duration: {{nanoseconds: 4}}\n{TOPICS}  \
             files:\n    - {{path: a.mcap, message_count: 2}}\n    - {{path: b.mcap, message_count: 1, duration: {{nanoseconds: 0}}}}\n"
        ));
        assert_eq!((found.remarks, found.not_applied), (Vec::new(), Vec::new()));
        let [imu, map] = &found.topics[..] else { panic!("two topics") };
        assert_eq!((imu.message_type.as_str(), imu.offered_qos.as_str()), ("Imu", "[{depth: 5}]"));
        assert_eq!((&imu.type_details[..], map.name.as_str()), (&["cdr".to_owned()][..], "/map"));
    }

    #[test]
    fn each_figure_that_does_not_agree_is_a_remark() {
        let found = completed(&format!(
            "  message_count: 4\n  starting_time: {{nanoseconds_since_epoch: 6}}\n  duration: {{nanoseconds: 5}}\n{}  \
             files: [{{path: c.mcap, message_count: 1}}]\n  speed: 1\n",
            TOPICS.replace("message_count: 3", "message_count: 2")
        ));
        assert_eq!(
            found.remarks,
            [
                "the bag has 3 messages, the metadata says 4",
                "the bag starts at 5 ns, the metadata says 6 ns",
                "the bag has a duration of 4 ns, the metadata says 5 ns",
                "the metadata has other paths in `files` than in `relative_file_paths`",
                "file `c.mcap` has 2 messages, the metadata says 1",
                "topic `/imu` has 3 messages, the metadata says 2",
            ]
        );
        assert_eq!(found.not_applied.len(), 1, "{:?}", found.not_applied);
    }

    #[test]
    fn file_alone_is_completed_by_the_metadata_in_it() {
        let own = |text: &str| {
            let mut recording = recording();
            recording.own_metadata = Some(text.to_owned());
            let metadata = recording.complete_alone(Path::new("elsewhere/b.mcap"));
            (recording, metadata)
        };
        let text = |messages: u64| {
            let topics = TOPICS.replace("\n  ", "\n");
            format!(
                "version: 9\nrelative_file_paths: [a.mcap, b.mcap]\nmessage_count: {messages}\nros_distro: jazzy\n\
                 files: [{{path: a.mcap, message_count: 7}}, {{path: b.mcap, message_count: 3}}]\n{}",
                topics.trim_start()
            )
        };
        let (found, metadata) = own(&text(3));
        assert_eq!((found.remarks.len(), found.not_applied.len()), (0, 0), "{:?}", found.remarks);
        assert_eq!(found.topics[0].offered_qos, "[{depth: 5}]");
        assert_eq!(metadata.expect("metadata").distribution, "jazzy");
        let (found, _) = own(&text(10));
        assert_eq!(found.remarks, ["the bag has 3 messages, the metadata says 10"]);
        // As it was written when the file was opened.
        let opened =
            "version: 9\nrelative_file_paths: [a.mcap]\nmessage_count: 0\nduration: {nanoseconds: 0}\n";
        assert_eq!(own(opened).0.remarks, [""; 0]);
        let (found, metadata) = own("version: 10\n");
        assert_eq!(metadata, None);
        assert_eq!(
            found.remarks,
            ["the metadata in the file is not used: 1:10: version 10 of the metadata is not supported"]
        );
    }

    /// An empty bag has the largest time as its start.
    #[test]
    fn empty_bag_agrees() {
        let text = "rosbag2_bagfile_information: {version: 9, relative_file_paths: [a.mcap], message_count: 0, starting_time: \
                    {nanoseconds_since_epoch: 9223372036854775807}, duration: {nanoseconds: 0}}";
        let mut recording = Recording::default();
        metadata(text).expect("metadata").complete(&mut recording, &[0]);
        assert!(recording.remarks.is_empty(), "{:?}", recording.remarks);
    }
}
