//! SQLite files (`.db3`): topics, and the time and size of each message, without reading the data.

mod pages;

use std::io::{Read, Seek};

use super::recording::{HEAD_BYTES, Message, RecordedTopic, Recording};
use crate::error::ImportError;
use pages::{Column, Database, Row, columns, damaged};

/// Table of a bag: its first page and the names of its columns.
struct Table {
    root: u64,
    columns: Vec<String>,
}

impl Table {
    fn index(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    fn required(&self, table: &str, column: &str) -> Result<usize, ImportError> {
        self.index(column).ok_or_else(|| no_bag(&format!("table `{table}` has no column `{column}`")))
    }
}

fn no_bag(why: &str) -> ImportError {
    ImportError::new(format!("not a bag of rosbag2: {why}"), "give a file that `ros2 bag record` wrote")
}

/// Reads a SQLite file, and adds it to a recording.
///
/// # Errors
/// Returns an error if it is not a SQLite file, lacks the tables of a bag, or is damaged.
pub fn read_db3<R: Read + Seek>(file: R, recording: &mut Recording) -> Result<(), ImportError> {
    let mut database = Database::open(file)?;
    let (mut topics, mut messages, mut metadata) = (None, None, None);
    database.rows(1, &mut |database, row| {
        let payload = database.payload(row)?;
        let fields = columns(&payload).ok_or_else(|| damaged("its schema is not valid"))?;
        let text = |index: usize| text(&payload, fields.get(index));
        let (Some(kind), Some(name), Some(sql)) = (text(0), text(1), text(4)) else { return Ok(()) };
        let root = match fields.get(3) {
            Some(Column::Integer(root)) => u64::try_from(*root).unwrap_or(0),
            _ => 0,
        };
        let table = Table { root, columns: column_names(&sql) };
        match (kind.as_str(), name.as_str()) {
            ("table", "topics") => topics = Some(table),
            ("table", "messages") => messages = Some(table),
            ("table", "metadata") => metadata = Some(table),
            _ => {}
        }
        Ok(())
    })?;
    let topics = topics.ok_or_else(|| no_bag("it has no table `topics`"))?;
    let messages = messages.ok_or_else(|| no_bag("it has no table `messages`"))?;
    let indexes = read_topics(&mut database, &topics, recording)?;
    if let Some((table, column)) = metadata.and_then(|table| table.index("metadata").map(|at| (table, at))) {
        // The last one is that at the end of the recording.
        database.rows(table.root, &mut |database, row| {
            let payload = database.payload(row)?;
            let fields = columns(&payload).ok_or_else(|| damaged("its metadata is not valid"))?;
            recording.own_metadata = text(&payload, fields.get(column)).or(recording.own_metadata.take());
            Ok(())
        })?;
    }
    let (topic, time, data) = (
        messages.required("messages", "topic_id")?,
        messages.required("messages", "timestamp")?,
        messages.required("messages", "data")?,
    );
    database.rows(messages.root, &mut |_, row| {
        let fields = row.columns().ok_or_else(|| damaged("a message is not valid"))?;
        let value = |index: usize| fields.get(index).copied().unwrap_or(Column::Null);
        let (Column::Integer(topic), Column::Integer(ns)) = (value(topic), value(time)) else {
            return Err(damaged("a message has no topic or time"));
        };
        let (at, bytes) = match value(data) {
            Column::Bytes { at, bytes } => (at, bytes),
            _ => (0, 0),
        };
        let known = indexes.iter().find(|(id, _)| *id == topic);
        let Some((_, topic)) = known else {
            return Err(damaged(&format!("a message has the unknown topic {topic}")));
        };
        let message = Message { topic: *topic, bytes, log_ns: ns, publish_ns: ns };
        recording.message(message, row.head(at, bytes.min(HEAD_BYTES as u64)), bytes)
    })
}

/// Reads the topics; returns their numbers in the file and in the recording.
fn read_topics<R: Read + Seek>(
    database: &mut Database<R>,
    table: &Table,
    recording: &mut Recording,
) -> Result<Vec<(i64, u32)>, ImportError> {
    let name = table.required("topics", "name")?;
    let (kind, qos) = (table.index("type"), table.index("offered_qos_profiles"));
    let mut indexes = Vec::new();
    database.rows(table.root, &mut |database, row: &Row<'_>| {
        let payload = database.payload(row)?;
        let fields = columns(&payload).ok_or_else(|| damaged("a topic is not valid"))?;
        let of = |index: Option<usize>| text(&payload, fields.get(index?));
        let topic = RecordedTopic {
            name: of(Some(name)).ok_or_else(|| damaged("a topic has no name"))?,
            message_type: of(kind).unwrap_or_default(),
            offered_qos: of(qos).unwrap_or_default(),
            ..RecordedTopic::default()
        };
        indexes.push((row.id, recording.topic(topic)));
        Ok(())
    })?;
    Ok(indexes)
}

fn text(payload: &[u8], column: Option<&Column>) -> Option<String> {
    let Column::Bytes { at, bytes } = *column? else { return None };
    let begin = usize::try_from(at).ok()?;
    let text = payload.get(begin..begin.checked_add(usize::try_from(bytes).ok()?)?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Returns the names of the columns of a statement `CREATE TABLE`.
fn column_names(sql: &str) -> Vec<String> {
    let body = sql.split_once('(').map_or("", |(_, body)| body);
    let words = body.split(',').map(|definition| definition.split_whitespace().next().unwrap_or_default());
    words.map(|word| word.trim_matches(['"', '`', '[', ']', ')']).to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
