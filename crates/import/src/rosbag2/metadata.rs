//! `metadata.yaml` of a bag: its files, and figures that its messages must agree with.

use std::path::{Component, Path, PathBuf};

use crate::{
    document::{Fields, Node, Value, parse_yaml},
    error::ImportError,
    rosbag2::recording::RecordedTopic,
    system::NotApplied,
};

/// Newest known version.
const NEWEST: u32 = 9;
/// First version whose paths are relative to the directory of the bag, and not to the one around it.
const FIRST_RELATIVE_TO_BAG: u32 = 4;

/// Messages of a bag or of one of its files, as the metadata describes them. `None`: not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Time of the first message in ns.
    pub(super) start_ns: Option<i64>,
    /// Time from there to the last message in ns.
    pub(super) duration_ns: Option<i64>,
    /// Number of messages.
    pub(super) messages: Option<u64>,
}

/// Topic in the metadata of a bag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MetadataTopic {
    /// Name, type and QoS.
    pub(super) recorded: RecordedTopic,
    /// Number of messages; `None`: not stored.
    pub(super) messages: Option<u64>,
}

/// Metadata of a bag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Version of the format.
    pub version: u32,
    /// Files of the bag, in their order, relative to its directory and within it.
    pub files: Vec<String>,
    /// `mcap` or `sqlite3`. Empty: the extension of the files tells.
    pub storage: String,
    /// Distribution of ROS 2 that recorded it; empty: not stored.
    pub distribution: String,
    /// Whether whole files are compressed.
    pub compressed_files: bool,
    /// Data that the user stored with the bag, as `key: value`.
    pub custom_data: Vec<String>,
    /// Messages of the whole bag.
    pub(super) whole: Stretch,
    /// Messages of each file, with its path. Empty before version 5.
    pub(super) of_files: Vec<(String, Stretch)>,
    /// Topics.
    pub(super) topics: Vec<MetadataTopic>,
    /// Keys that are not known.
    pub(super) unknown: Vec<NotApplied>,
}

/// Reads the metadata of a bag.
///
/// # Errors
/// Returns an error if the text is not valid, if its version is not known, or if it names a file outside the bag.
pub fn metadata(text: &str) -> Result<Metadata, ImportError> {
    let document = parse_yaml(text)?;
    let root = Fields::new(&document, "metadata")?;
    let fields = Fields::new(root.required("rosbag2_bagfile_information")?, "information about a bag")?;
    let mut metadata = information(&fields)?;
    note_rest(&root, "the file", &mut metadata.unknown);
    Ok(metadata)
}

/// Reads the metadata that a file of a bag has of the bag.
///
/// # Errors
/// Returns an error as [`metadata`] does.
pub(super) fn own_metadata(text: &str) -> Result<Metadata, ImportError> {
    let document = parse_yaml(text)?;
    information(&Fields::new(&document, "information about a bag")?)
}

/// Reads the information about a bag.
fn information(fields: &Fields<'_>) -> Result<Metadata, ImportError> {
    let version = fields.number::<u32>("version")?.unwrap_or(0);
    if !(1..=NEWEST).contains(&version) {
        let message = format!("version {version} of the metadata is not supported");
        let hint = format!("convert the bag to version 1 to {NEWEST}: `ros2 bag convert`");
        return Err(ImportError::new(message, hint).at(fields.position("version")));
    }
    let files = fields.list("relative_file_paths")?.iter().map(|file| path_in_bag(file, version));
    let files = files.collect::<Result<Vec<String>, _>>()?;
    if files.is_empty() {
        let message = "the metadata names no files";
        return Err(ImportError::new(message, "write it again: `ros2 bag reindex`")
            .at(fields.position("relative_file_paths")));
    }
    let text = |key: &str| Ok(fields.text(key)?.unwrap_or_default().to_owned());
    let format = text("compression_format")?;
    if !matches!(format.as_str(), "" | "zstd") {
        let message = format!("compression `{format}` is not supported");
        return Err(ImportError::new(message, "decompress the bag first: `ros2 bag convert`")
            .at(fields.position("compression_format")));
    }
    let mode = text("compression_mode")?.to_ascii_uppercase();
    if !matches!(mode.as_str(), "" | "NONE" | "FILE" | "MESSAGE") {
        let message = format!("compression mode `{mode}` is not supported");
        return Err(ImportError::new(message, "decompress the bag first: `ros2 bag convert`")
            .at(fields.position("compression_mode")));
    }
    let mut unknown = Vec::new();
    let mut metadata = Metadata {
        version,
        files,
        storage: text("storage_identifier")?,
        distribution: text("ros_distro")?,
        compressed_files: mode == "FILE",
        custom_data: custom_data(fields, &mut unknown)?,
        whole: stretch(fields, &mut unknown)?,
        ..Metadata::default()
    };
    for file in fields.list("files")? {
        let file = Fields::new(file, "information about a file")?;
        let path = file.required_text("path")?.to_owned();
        metadata.of_files.push((path, stretch(&file, &mut unknown)?));
        note_rest(&file, "a file", &mut unknown);
    }
    for topic in fields.list("topics_with_message_count")? {
        metadata.topics.push(topic_of(topic, &mut unknown)?);
    }
    note_rest(fields, "the bag", &mut unknown);
    metadata.unknown = unknown;
    Ok(metadata)
}

/// Returns the path of a file, relative to the directory of the bag.
fn path_in_bag(file: &Node, version: u32) -> Result<String, ImportError> {
    let hint = "name files in the directory of the bag: `ros2 bag reindex` writes the metadata again";
    let Some(text) = file.scalar() else {
        return Err(ImportError::new("an entry of `relative_file_paths` is not a text", hint).at(file.at));
    };
    let parts: Vec<Component<'_>> =
        Path::new(text).components().filter(|part| *part != Component::CurDir).collect();
    let is_within = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    if !is_within || parts.is_empty() {
        let message = format!("file `{text}` of `relative_file_paths` is not in the directory of the bag");
        return Err(ImportError::new(message, hint).at(file.at));
    }
    // An old path begins with the name that the directory had when it was recorded.
    let skipped = usize::from(version < FIRST_RELATIVE_TO_BAG && parts.len() > 1);
    let path: PathBuf = parts[skipped..].iter().collect();
    Ok(path.to_string_lossy().into_owned())
}

/// Returns what a table says about the messages of a bag or a file.
fn stretch(fields: &Fields<'_>, unknown: &mut Vec<NotApplied>) -> Result<Stretch, ImportError> {
    let mut nanoseconds = |key: &str, unit: &str| -> Result<Option<i64>, ImportError> {
        let Some(node) = fields.get(key) else { return Ok(None) };
        let time = Fields::new(node, "time")?;
        let ns = time.number(unit)?;
        note_rest(&time, "a time", unknown);
        Ok(ns)
    };
    Ok(Stretch {
        start_ns: nanoseconds("starting_time", "nanoseconds_since_epoch")?,
        duration_ns: nanoseconds("duration", "nanoseconds")?,
        messages: fields.number("message_count")?,
    })
}

fn topic_of(node: &Node, unknown: &mut Vec<NotApplied>) -> Result<MetadataTopic, ImportError> {
    let fields = Fields::new(node, "information about a topic")?;
    let topic = Fields::new(fields.required("topic_metadata")?, "description of a topic")?;
    let text = |key: &str| Ok(topic.text(key)?.unwrap_or_default().to_owned());
    let details = [text("serialization_format")?, text("type_description_hash")?];
    let recorded = RecordedTopic {
        name: topic.required_text("name")?.to_owned(),
        message_type: text("type")?,
        offered_qos: topic.get("offered_qos_profiles").map(Node::to_yaml).unwrap_or_default(),
        type_details: details.into_iter().filter(|detail| !detail.is_empty()).collect(),
    };
    let messages = fields.number("message_count")?;
    note_rest(&topic, "a topic", unknown);
    note_rest(&fields, "a topic", unknown);
    Ok(MetadataTopic { recorded, messages })
}

/// Returns the data that the user stored with the bag.
fn custom_data(fields: &Fields<'_>, unknown: &mut Vec<NotApplied>) -> Result<Vec<String>, ImportError> {
    let Some(node) = fields.get("custom_data") else { return Ok(Vec::new()) };
    match &node.value {
        Value::Plain(text) if matches!(text.as_str(), "" | "~" | "null") => Ok(Vec::new()),
        Value::Table(entries) => {
            let mut lines = Vec::new();
            for entry in entries {
                match entry.value.scalar() {
                    Some(text) => lines.push(format!("{}: {text}", entry.key)),
                    None => unknown.push(NotApplied {
                        item: format!("key `{}` of `custom_data` in the metadata", entry.key),
                        count: 1,
                        reason: "its value is not a text".to_owned(),
                    }),
                }
            }
            Ok(lines)
        }
        _ => Err(ImportError::new("`custom_data` is not a table", "write keys and values").at(node.at)),
    }
}

/// Adds a note for each key that nothing has read.
fn note_rest(fields: &Fields<'_>, of: &str, notes: &mut Vec<NotApplied>) {
    for entry in fields.rest() {
        let item = format!("key `{}` of {of} in the metadata", entry.key);
        match notes.iter_mut().find(|note| note.item == item) {
            Some(note) => note.count += 1,
            None => {
                let reason = format!("not known, first at {}:{}", entry.at.line, entry.at.column);
                notes.push(NotApplied { item, count: 1, reason });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rosbag2_bagfile_information:
  version: 8
  storage_identifier: mcap
  duration:
    nanoseconds: 5
  starting_time:
    nanoseconds_since_epoch: 9
  relative_file_paths:
    - a_0.mcap
    - ./part/a_1.mcap
  files:
    - path: a_0.mcap
      starting_time: {nanoseconds_since_epoch: 9}
      duration: {nanoseconds: 2}
      message_count: 3
  message_count: 7
  topics_with_message_count:
    - topic_metadata:
        name: /imu
        type: sensor_msgs/msg/Imu
        serialization_format: cdr
        offered_qos_profiles:
          - {reliability: best_effort, depth: 5, deadline: {sec: 1, nsec: 0}}
        type_description_hash: RIHS01_1
      message_count: 7
  compression_format: \"\"
  compression_mode: \"\"
  ros_distro: jazzy
  custom_data: {driver: Ada, run: '7'}
";

    #[test]
    fn each_key_is_read() {
        let expected = Metadata {
            version: 8,
            files: vec!["a_0.mcap".into(), "part/a_1.mcap".into()],
            storage: "mcap".into(),
            distribution: "jazzy".into(),
            compressed_files: false,
            custom_data: vec!["driver: Ada".into(), "run: 7".into()],
            whole: Stretch { start_ns: Some(9), duration_ns: Some(5), messages: Some(7) },
            of_files: vec![(
                "a_0.mcap".into(),
                Stretch { start_ns: Some(9), duration_ns: Some(2), messages: Some(3) },
            )],
            topics: vec![MetadataTopic {
                recorded: RecordedTopic {
                    name: "/imu".into(),
                    message_type: "sensor_msgs/msg/Imu".into(),
                    offered_qos: "[{reliability: best_effort, depth: 5, deadline: {sec: 1, nsec: 0}}]".into(),
                    type_details: vec!["cdr".into(), "RIHS01_1".into()],
                },
                messages: Some(7),
            }],
            unknown: Vec::new(),
        };
        assert_eq!(metadata(TEXT), Ok(expected));
        assert!(metadata(&TEXT.replace("mode: \"\"", "mode: file")).expect("a bag").compressed_files);
        for (from, to) in [
            ("version: 8", "version: 10"),
            ("version: 8", "version: 0"),
            ("mode: \"\"", "mode: x"),
            ("format: \"\"", "format: lz4"),
            ("message_count: 7", "message_count: x"),
            ("{driver: Ada, run: '7'}", "[driver]"),
        ] {
            assert!(metadata(&TEXT.replace(from, to)).is_err(), "{to}");
        }
        assert!(metadata("a: 1").is_err());
        let nothing = metadata(&TEXT.replace("{driver: Ada, run: '7'}", "~")).expect("a bag");
        assert!(nothing.custom_data.is_empty());
    }

    #[test]
    fn unknown_key_is_noted_with_its_number_and_position() {
        let text = TEXT
            .replace("ros_distro", "ros_version")
            .replace("{nanoseconds: 2}", "{nanoseconds: 2, leap: 1}")
            .replace("type_description_hash", "md5")
            .replace("{driver: Ada, run: '7'}", "{driver: [Ada]}");
        let notes = metadata(&text).expect("a bag").unknown;
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            [
                "key `driver` of `custom_data` in the metadata: its value is not a text",
                "key `leap` of a time in the metadata: not known, first at 14:34",
                "key `md5` of a topic in the metadata: not known, first at 24:9",
                "key `ros_version` of the bag in the metadata: not known, first at 28:3",
            ]
        );
    }

    #[test]
    fn file_outside_the_bag_is_rejected_with_its_position() {
        for path in ["/etc/passwd", "../other/a_0.mcap", "part/../../a_0.mcap", "..", ".", "\"\""] {
            let text = TEXT.replace("- a_0.mcap", &format!("- {path}"));
            let error = metadata(&text).expect_err(path);
            let expected = format!(
                "9:7: file `{}` of `relative_file_paths` is not in the directory of the bag",
                path.trim_matches('"')
            );
            assert_eq!(error.to_string(), expected);
            let old = text.replace("version: 8", "version: 3");
            assert_eq!(metadata(&old).expect_err(path).to_string(), expected);
        }
        assert!(metadata(&TEXT.replace("- a_0.mcap", "- [a_0.mcap]")).is_err());
    }

    /// rosbag2 up to Foxy writes `drive/drive_0.db3` in `drive/metadata.yaml`.
    #[test]
    fn old_paths_are_relative_to_the_directory_around_the_bag() {
        let text = TEXT.replace("- a_0.mcap", "- drive/a_0.mcap").replace("- ./part/a_1.mcap", "- a_1.mcap");
        let files = |version| {
            metadata(&text.replace("version: 8", &format!("version: {version}"))).expect("a bag").files
        };
        assert_eq!(files(3), ["a_0.mcap", "a_1.mcap"]);
        assert_eq!(files(4), ["drive/a_0.mcap", "a_1.mcap"]);
        let absolute =
            text.replace("drive/a_0.mcap", "drive//etc/passwd").replace("version: 8", "version: 3");
        assert_eq!(metadata(&absolute).expect("a bag").files[0], "etc/passwd");
    }
}
