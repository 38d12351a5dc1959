//! `metadata.yaml` of a bag: its files, and figures that its messages must agree with.

use crate::{
    ImportError,
    document::{Fields, parse_yaml},
};

/// Newest known version.
const NEWEST: u32 = 9;

/// Metadata of a bag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Version of the format.
    pub version: u32,
    /// Files of the bag, in their order, relative to its directory.
    pub files: Vec<String>,
    /// `mcap` or `sqlite3`. Empty: the extension of the files tells.
    pub storage: String,
    /// Number of messages.
    pub messages: u64,
    /// Distribution of ROS 2 that recorded it; empty: not stored.
    pub distribution: String,
    /// Whether whole files are compressed.
    pub compressed_files: bool,
}

/// Reads the metadata of a bag.
///
/// # Errors
/// Returns an error if the text is not valid, or if its version is not known.
pub fn metadata(text: &str) -> Result<Metadata, ImportError> {
    let document = parse_yaml(text)?;
    let root = Fields::new(&document, "metadata")?;
    let fields = Fields::new(root.required("rosbag2_bagfile_information")?, "information about a bag")?;
    let version = fields.number::<u32>("version")?.unwrap_or(0);
    if !(1..=NEWEST).contains(&version) {
        let message = format!("version {version} of the metadata is not supported");
        let hint = format!("convert the bag to version 1 to {NEWEST}: `ros2 bag convert`");
        return Err(ImportError::new(message, hint).at(fields.position("version")));
    }
    let text = |key: &str| Ok(fields.text(key)?.unwrap_or_default().to_owned());
    let files = fields.list("relative_file_paths")?.iter();
    let files: Vec<String> = files.filter_map(|file| file.scalar().map(str::to_owned)).collect();
    if files.is_empty() {
        let message = "the metadata names no files";
        return Err(ImportError::new(message, "write it again: `ros2 bag reindex`")
            .at(fields.position("relative_file_paths")));
    }
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
    Ok(Metadata {
        version,
        files,
        storage: text("storage_identifier")?,
        messages: fields.number("message_count")?.unwrap_or(0),
        distribution: text("ros_distro")?,
        compressed_files: mode == "FILE",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_names_files_and_figures() {
        let text = "rosbag2_bagfile_information:\n  version: 8\n  storage_identifier: mcap\n  duration:\n    nanoseconds: 5\n  relative_file_paths:\n    - a_0.mcap\n    - a_1.mcap\n  message_count: 7\n  compression_format: \"\"\n  compression_mode: \"\"\n  ros_distro: jazzy\n";
        let expected = Metadata {
            version: 8,
            files: vec!["a_0.mcap".into(), "a_1.mcap".into()],
            storage: "mcap".into(),
            messages: 7,
            distribution: "jazzy".into(),
            compressed_files: false,
        };
        assert_eq!(metadata(text), Ok(expected));
        assert!(metadata(&text.replace("mode: \"\"", "mode: file")).expect("a bag").compressed_files);
        for (from, to) in [
            ("version: 8", "version: 10"),
            ("version: 8", "version: 0"),
            ("mode: \"\"", "mode: x"),
            ("format: \"\"", "format: lz4"),
            ("message_count: 7", "message_count: x"),
        ] {
            assert!(metadata(&text.replace(from, to)).is_err(), "{to}");
        }
        assert!(metadata("a: 1").is_err());
    }
}
