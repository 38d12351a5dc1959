//! Small writer of MCAP files for tests: chunks, their compression and the index as the test chooses.

/// Compression of the records of a chunk.
pub type Compress = fn(&[u8]) -> Vec<u8>;

/// Layout of a test file.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Messages of a chunk; 0: no chunks.
    pub chunk: usize,
    /// Compression of a chunk: its name, and a function on its records.
    pub compression: (&'static str, Compress),
    /// Whether there are message indexes, a summary and statistics.
    pub has_index: bool,
    /// Metadata of the bag in the file, as YAML. Empty: none.
    pub metadata: &'static str,
}

/// Layout that rosbag2 writes by default: plain chunks with an index.
pub const PLAIN: Layout =
    Layout { chunk: 10, compression: ("", <[u8]>::to_vec), has_index: true, metadata: "" };

/// Topic of a test file: name, QoS, and its messages as log time, publish time and data.
pub type TestTopic<'t> = (&'t str, &'t str, Vec<(u64, u64, Vec<u8>)>);

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn map(entries: &[(&str, &str)]) -> Vec<u8> {
    let entries =
        entries.iter().flat_map(|(key, value)| [text(key), text(value)]).collect::<Vec<_>>().concat();
    [&(entries.len() as u32).to_le_bytes()[..], &entries].concat()
}

fn record(opcode: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    [&[opcode][..], &(content.len() as u64).to_le_bytes(), &content].concat()
}

/// Returns the bytes of a file with these topics. Messages are in the order of their log times.
pub fn mcap(topics: &[TestTopic<'_>], layout: Layout) -> Vec<u8> {
    const MAGIC: &[u8] = b"\x89MCAP0\r\n";
    let mut file = MAGIC.to_vec();
    file.extend(record(1, &[&text("ros2"), &text("test")]));
    let mut definitions =
        record(3, &[&1_u16.to_le_bytes(), &text("test/msg/Data"), &text("ros2msg"), &text("")]);
    for (id, (name, qos, _)) in topics.iter().enumerate() {
        let map = map(&[("offered_qos_profiles", qos), ("topic_type_hash", "")]);
        definitions.extend(record(
            4,
            &[&(id as u16).to_le_bytes(), &1_u16.to_le_bytes(), &text(name), &text("cdr"), &map],
        ));
    }
    let mut messages: Vec<(u64, u64, u16, &[u8])> = Vec::new();
    for (id, (_, _, of_topic)) in topics.iter().enumerate() {
        messages.extend(of_topic.iter().map(|(log, publish, data)| (*log, *publish, id as u16, &data[..])));
    }
    messages.sort_by_key(|message| message.0);
    let bytes = |(log, publish, id, data): &(u64, u64, u16, &[u8])| {
        record(
            5,
            &[&id.to_le_bytes(), &0_u32.to_le_bytes(), &log.to_le_bytes(), &publish.to_le_bytes(), data],
        )
    };
    let mut chunk_indexes = Vec::new();
    if layout.chunk == 0 {
        file.extend(&definitions);
        messages.iter().for_each(|message| file.extend(bytes(message)));
    }
    for chunk in messages.chunks(layout.chunk.max(1)).filter(|_| layout.chunk > 0) {
        let mut records = definitions.clone();
        let mut indexes = vec![Vec::new(); topics.len()];
        for message in chunk {
            indexes[usize::from(message.2)]
                .extend([message.0.to_le_bytes(), (records.len() as u64).to_le_bytes()].concat());
            records.extend(bytes(message));
        }
        let (name, compress) = layout.compression;
        let stored = compress(&records);
        let (first, last) = (chunk[0].0.to_le_bytes(), chunk[chunk.len() - 1].0.to_le_bytes());
        let size = (records.len() as u64).to_le_bytes();
        let begin = file.len() as u64;
        let length = (stored.len() as u64).to_le_bytes();
        file.extend(record(6, &[&first, &last, &size, &[0; 4], &text(name), &length, &stored]));
        let end = file.len() as u64;
        if layout.has_index {
            for (id, entries) in indexes.iter().enumerate().filter(|(_, entries)| !entries.is_empty()) {
                file.extend(record(
                    7,
                    &[&(id as u16).to_le_bytes(), &(entries.len() as u32).to_le_bytes(), entries],
                ));
            }
        }
        let index_bytes = file.len() as u64 - end;
        chunk_indexes.extend(record(
            8,
            &[
                &first,
                &last,
                &begin.to_le_bytes(),
                &(end - begin).to_le_bytes(),
                &[0; 4],
                &index_bytes.to_le_bytes(),
                &text(name),
                &(stored.len() as u64).to_le_bytes(),
                &size,
            ],
        ));
    }
    let mut metadata_index = Vec::new();
    // The record that rosbag2 writes when it opens the file, and that at its end.
    for yaml in ["message_count: 0", layout.metadata].into_iter().filter(|_| !layout.metadata.is_empty()) {
        let (begin, name) = (file.len() as u64, text("rosbag2"));
        file.extend(record(12, &[&name, &map(&[("serialized_metadata", yaml)])]));
        let length = file.len() as u64 - begin;
        metadata_index.extend(record(13, &[&begin.to_le_bytes(), &length.to_le_bytes(), &name]));
    }
    file.extend(record(15, &[&[0; 4]]));
    let summary = file.len() as u64;
    if layout.has_index {
        file.extend(&definitions);
        let number = (messages.len() as u64).to_le_bytes();
        file.extend(record(11, &[&number, &[0; 2 + 4 + 4 + 4 + 4 + 8 + 8 + 4]]));
        file.extend(&chunk_indexes);
        file.extend(&metadata_index);
    }
    let begin = if layout.has_index { summary } else { 0 };
    file.extend(record(2, &[&begin.to_le_bytes(), &[0; 12]]));
    file.extend(MAGIC);
    file
}
