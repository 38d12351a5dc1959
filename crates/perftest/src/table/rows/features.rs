//! Options of features that only one middleware has.

use crate::table::row::{Kind, OptionRow, number, plain};

use super::rejected;

/// Reason for features that only one middleware has.
const ONE: (&str, &str) = ("it is a feature of one middleware, and no driver has it", "leave it out");
/// Reason for types.
const TYPE: (&str, &str) =
    ("drivers of ddsmark have one type, so that all send the same bytes", "leave it out");
/// Reason for compression.
const COMPRESSION: (&str, &str) = ("no driver compresses", "leave it out");
/// Reason for checksums.
const CRC: (&str, &str) = ("no driver adds checksums; ddsmark checks every sample", "leave it out");

pub(super) const ROWS: &[OptionRow] = &[
    rejected("dynamicData", Kind::Flag, plain(""), "Use types that are made at run time.", TYPE),
    rejected("flatData", Kind::Flag, plain(""), "Use types without serialization.", TYPE),
    rejected(
        "compressionId",
        Kind::Choice(&["NONE", "ZLIB", "LZ4", "BZIP2"]),
        plain("NONE"),
        "Compression of the data.",
        COMPRESSION,
    ),
    OptionRow {
        only_with: "compressionId",
        ..rejected(
            "compressionLevel",
            Kind::Integer("level"),
            number("10", 0, 10),
            "Level of the compression.",
            COMPRESSION,
        )
    },
    OptionRow {
        only_with: "compressionId",
        ..rejected(
            "compressionThreshold",
            Kind::Integer("bytes"),
            number("0", 0, i64::MAX),
            "Size from which data is compressed.",
            COMPRESSION,
        )
    },
    rejected("crc", Kind::Flag, plain(""), "Add a checksum to each message.", CRC),
    OptionRow {
        only_with: "crc",
        ..rejected("crcKind", Kind::Text("name"), plain("CRC_32_CUSTOM"), "Kind of the checksum.", CRC)
    },
    rejected("enable-message-length", Kind::Flag, plain(""), "Add its length to each message.", CRC),
    rejected("enableMonitoring2", Kind::Flag, plain(""), "Send metrics to a collector.", ONE),
    OptionRow {
        only_with: "enableMonitoring2",
        ..rejected("collectorPeer", Kind::Text("address"), plain(""), "Address of the collector.", ONE)
    },
    rejected("fastQueue", Kind::Flag, plain(""), "Use the queue of a private build.", ONE),
    rejected(
        "printCycloneDdsUriXml",
        Kind::Flag,
        plain(""),
        "Print the configuration of a branch for other middleware.",
        ("drivers have different configurations", "see the effective settings in the banner"),
    ),
];
