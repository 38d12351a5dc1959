//! Message types of ros2-performance and their sizes.

/// Size of the header of each message in bytes: a stamp, a number, a frequency and a size.
pub(super) const HEADER_BYTES: u64 = 20;

/// Size of the data of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataSize {
    /// Always the same number of bytes.
    Fixed(u64),
    /// `msg_size` bytes.
    Vector,
}

/// Returns the size of the data of a type, such as `stamped4_float32`, or `vector` in older files.
pub(super) fn data_size(name: &str) -> Option<DataSize> {
    let name = name.rsplit("::").next()?;
    let name = name.strip_prefix("stamped").unwrap_or(name);
    let name = name.strip_prefix('_').unwrap_or(name);
    let begin = name.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, kind) = name.split_at(begin);
    let kind = kind.strip_prefix('_').unwrap_or(kind);
    let number = || digits.parse::<u64>().ok().filter(|number| (1..=1_000_000).contains(number));
    Some(DataSize::Fixed(match (digits, kind) {
        ("", "vector") => return Some(DataSize::Vector),
        ("", "int64") => 8,
        ("3" | "4" | "9" | "12", "float32") => 4 * number()?,
        ("4", "int32") => 16,
        // Defined as an array of 5,120,000 bytes.
        ("5", "mb") => 5_120_000,
        ("1" | "4" | "8", "mb") => number()? << 20,
        (_, "kb") => number()? << 10,
        (_, "b") => number()?,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_the_size_of_its_definition() {
        for (names, bytes) in [
            (&["stamped_int64", "int64"][..], 8),
            (&["stamped3_float32", "3float32"], 12),
            (&["stamped4_float32"], 16),
            (&["stamped9_float32", "9float32", "my_plugin::stamped9_float32"], 36),
            (&["stamped12_float32"], 48),
            (&["stamped4_int32"], 16),
            (&["stamped10b", "10b"], 10),
            (&["stamped1kb"], 1_024),
            (&["stamped250kb"], 256_000),
            (&["stamped1mb"], 1_048_576),
            (&["stamped4mb"], 4_194_304),
            (&["stamped5mb"], 5_120_000),
            (&["stamped8mb"], 8_388_608),
        ] {
            for name in names {
                assert_eq!(data_size(name), Some(DataSize::Fixed(bytes)), "{name}");
            }
        }
        assert_eq!(data_size("stamped_vector"), Some(DataSize::Vector));
        assert_eq!(data_size("vector"), Some(DataSize::Vector));
        for unknown in [
            "",
            "stamped",
            "stamped2mb",
            "stamped5_float32",
            "stamped0b",
            "image",
            "b",
            "stamped99999999999999999999b",
        ] {
            assert_eq!(data_size(unknown), None, "{unknown}");
        }
    }
}
