//! Pages of a SQLite file: rows of a table, without the overflow pages of large values.
//!
//! Format: <https://sqlite.org/fileformat2.html>.

use std::io::{Read, Seek, SeekFrom};

use crate::error::ImportError;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;
const LEAF: u8 = 0x0d;
const INTERIOR: u8 = 0x05;
/// Longest row that is read whole: names, types and QoS of a topic.
const MAX_ROW: u64 = 16 << 20;

/// Database file.
pub(super) struct Database<R> {
    file: R,
    page_bytes: u64,
    /// Bytes of a page without those reserved at its end.
    usable: u64,
    pages: u64,
}

/// Row of a table: its number, and its payload as far as it is on the page.
pub(super) struct Row<'p> {
    pub(super) id: i64,
    /// Begin of the payload.
    local: &'p [u8],
    /// Bytes of the whole payload.
    bytes: u64,
    /// First overflow page.
    overflow: Option<u64>,
}

/// Value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    Null,
    Integer(i64),
    Real,
    /// Text or blob: the position in the payload, and the number of bytes.
    Bytes {
        at: u64,
        bytes: u64,
    },
}

pub(super) fn damaged(what: &str) -> ImportError {
    ImportError::new(format!("the database is damaged: {what}"), "repair the bag: `sqlite3 FILE .recover`")
}

fn unreadable(error: &std::io::Error) -> ImportError {
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        return ImportError::new("the file is cut", "repair the bag: `sqlite3 FILE .recover`");
    }
    ImportError::new(format!("cannot read: {error}"), "check the file and its device")
}

impl<R: Read + Seek> Database<R> {
    /// Opens a database.
    pub(super) fn open(mut file: R) -> Result<Self, ImportError> {
        let length = file.seek(SeekFrom::End(0)).map_err(|error| unreadable(&error))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| unreadable(&error))?;
        if length == 0 {
            return Err(ImportError::new("the file is empty", "record the bag again"));
        }
        let mut header = [0; HEADER_BYTES];
        let read = file.read_exact(&mut header);
        if read.is_err() || header[..16] != *MAGIC {
            return Err(
                ImportError::new("not a SQLite file", "give a bag that `ros2 bag record` wrote").at_byte(0)
            );
        }
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            bytes if bytes >= 512 && bytes.is_power_of_two() => u64::from(bytes),
            _ => return Err(damaged("the size of its pages is not valid").at_byte(16)),
        };
        if u32::from_be_bytes([header[56], header[57], header[58], header[59]]) > 1 {
            return Err(ImportError::new(
                "the texts of the database are not UTF-8",
                "convert the bag: `ros2 bag convert`",
            ));
        }
        let usable = page_bytes - u64::from(header[20]);
        if usable < 480 {
            return Err(damaged("the size of its pages is not valid").at_byte(20));
        }
        Ok(Self { file, page_bytes, usable, pages: length.div_ceil(page_bytes) })
    }

    fn page(&mut self, number: u64) -> Result<Vec<u8>, ImportError> {
        if number == 0 || number > self.pages {
            return Err(damaged(&format!("page {number} is missing")));
        }
        let mut page = vec![0; self.page_bytes as usize];
        let begin = SeekFrom::Start((number - 1) * self.page_bytes);
        let read = self.file.seek(begin).and_then(|_| self.file.read_exact(&mut page));
        read.map_err(|error| unreadable(&error))?;
        Ok(page)
    }

    /// Calls `each` with the rows of the table at this page, in the order of their numbers.
    pub(super) fn rows(
        &mut self,
        root: u64,
        each: &mut dyn FnMut(&mut Self, &Row<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut next = vec![root];
        let mut read = 0;
        while let Some(number) = next.pop() {
            read += 1;
            if read > self.pages {
                return Err(damaged("its pages form a circle"));
            }
            let page = self.page(number)?;
            let begin = if number == 1 { HEADER_BYTES } else { 0 };
            let fault = || damaged(&format!("page {number} is not valid"));
            let kind = page[begin];
            let cells = usize::from(u16_at(&page, begin + 3).ok_or_else(fault)?);
            let pointers = begin + if kind == INTERIOR { 12 } else { 8 };
            let cell = |index: usize| u16_at(&page, pointers + 2 * index).map(usize::from).ok_or_else(fault);
            match kind {
                LEAF => {
                    for index in 0..cells {
                        let row = self.row(&page, cell(index)?).ok_or_else(fault)?;
                        each(self, &row)?;
                    }
                }
                INTERIOR => {
                    // The last one first: the stack reverses them.
                    next.push(u32_at(&page, begin + 8).ok_or_else(fault)?);
                    for index in (0..cells).rev() {
                        next.push(u32_at(&page, cell(index)?).ok_or_else(fault)?);
                    }
                    if next.len() as u64 > self.pages {
                        return Err(damaged("its pages form a circle"));
                    }
                }
                _ => return Err(fault()),
            }
        }
        Ok(())
    }

    fn row<'p>(&self, page: &'p [u8], at: usize) -> Option<Row<'p>> {
        let mut rest = page.get(at..self.usable as usize)?;
        let bytes = varint(&mut rest)?;
        let id = varint(&mut rest)? as i64;
        let (most, usable) = (self.usable - 35, self.usable);
        let local = if bytes <= most {
            bytes
        } else {
            let least = (usable - 12) * 32 / 255 - 23;
            let with_rest = least + (bytes - least) % (usable - 4);
            if with_rest <= most { with_rest } else { least }
        };
        let overflow = if local < bytes { Some(u32_at(rest, local as usize)?) } else { None };
        Some(Row { id, local: rest.get(..local as usize)?, bytes, overflow })
    }

    /// Returns the whole payload of a row.
    pub(super) fn payload(&mut self, row: &Row<'_>) -> Result<Vec<u8>, ImportError> {
        if row.bytes > MAX_ROW {
            return Err(damaged("a row is too long"));
        }
        let mut payload = row.local.to_vec();
        let mut next = row.overflow;
        while let Some(number) = next.filter(|_| (payload.len() as u64) < row.bytes) {
            let page = self.page(number)?;
            let content = &page[4..self.usable as usize];
            let left = (row.bytes - payload.len() as u64).min(content.len() as u64);
            payload.extend_from_slice(&content[..left as usize]);
            next = u32_at(&page, 0).filter(|number| *number > 0);
        }
        if payload.len() as u64 == row.bytes { Ok(payload) } else { Err(damaged("a row is cut")) }
    }
}

impl Row<'_> {
    /// Returns the columns, whose header is on the page.
    pub(super) fn columns(&self) -> Option<Vec<Column>> {
        columns(self.local)
    }

    /// Returns the first bytes of a value, as far as they are on the page.
    pub(super) fn head(&self, at: u64, bytes: u64) -> &[u8] {
        let begin = (at as usize).min(self.local.len());
        let end = at.saturating_add(bytes).min(self.local.len() as u64) as usize;
        &self.local[begin..end.max(begin)]
    }
}

/// Returns the columns of a payload. The numbers must be in `payload`, texts and blobs need not be.
pub(super) fn columns(payload: &[u8]) -> Option<Vec<Column>> {
    let mut rest = payload;
    let header = varint(&mut rest)?;
    let used = payload.len() - rest.len();
    let mut types = payload.get(used..usize::try_from(header).ok()?)?;
    let mut at = header;
    let mut columns = Vec::new();
    while !types.is_empty() {
        let kind = varint(&mut types)?;
        let integer = |bytes: u64| {
            let begin = usize::try_from(at).ok()?;
            let value = payload.get(begin..begin + bytes as usize)?;
            let first = if value[0] & 0x80 == 0 { 0 } else { -1 };
            Some(Column::Integer(value.iter().fold(first, |value, byte| value << 8 | i64::from(*byte))))
        };
        let (column, bytes) = match kind {
            0 => (Column::Null, 0),
            1..=4 => (integer(kind)?, kind),
            5 => (integer(6)?, 6),
            6 => (integer(8)?, 8),
            7 => (Column::Real, 8),
            8 | 9 => (Column::Integer(kind as i64 - 8), 0),
            10 | 11 => return None,
            _ => {
                let bytes = (kind - 12) / 2;
                (Column::Bytes { at, bytes }, bytes)
            }
        };
        at = at.checked_add(bytes)?;
        columns.push(column);
    }
    Some(columns)
}

/// Takes a variable-length integer of SQLite: up to 9 bytes, the first bits first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for index in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if index == 8 {
            return Some(value << 8 | u64::from(*byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

fn u16_at(page: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(page.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(page: &[u8], at: usize) -> Option<u64> {
    Some(u32::from_be_bytes(page.get(at..at + 4)?.try_into().ok()?).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_up_to_nine_bytes() {
        let of = |bytes: &[u8]| varint(&mut &bytes[..]);
        assert_eq!((of(&[0x7f]), of(&[0x81, 0x00]), of(&[0x81])), (Some(127), Some(128), None));
        assert_eq!(of(&[0xff; 9]), Some(u64::MAX));
    }

    #[test]
    fn columns_of_each_type() {
        // Header of 8 bytes: null, 1 byte, 3 bytes, 0, 1, text of 2 bytes, blob of 300.
        let payload = [9, 0, 1, 3, 8, 9, 17, 0x84, 0x64, 0xff, 0x01, 0x00, 0x00, b'h', b'i'];
        assert_eq!(
            columns(&payload).expect("a row"),
            [
                Column::Null,
                Column::Integer(-1),
                Column::Integer(65_536),
                Column::Integer(0),
                Column::Integer(1),
                Column::Bytes { at: 13, bytes: 2 },
                Column::Bytes { at: 15, bytes: 300 },
            ]
        );
        assert_eq!((columns(&[3, 6]), columns(&[2, 10])), (None, None));
    }
}
