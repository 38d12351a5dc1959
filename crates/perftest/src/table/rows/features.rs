//! Options of features that only one middleware has.

use crate::table::row::{Kind, OptionRow, flag, number, option, plain};

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
    flag("dynamicData", "Use types that are made at run time.").v4_3(plain("")).rejected(TYPE),
    flag("flatData", "Use types without serialization.").v4_3(plain("")).rejected(TYPE),
    option("compressionId", Kind::Choice(&["NONE", "ZLIB", "LZ4", "BZIP2"]), "Compression of the data.")
        .v4_3(plain("NONE"))
        .rejected(COMPRESSION),
    option("compressionLevel", Kind::Integer("level"), "Level of the compression.")
        .v4_3(number("10", 0, 10))
        .only_with("compressionId")
        .rejected(COMPRESSION),
    option("compressionThreshold", Kind::Integer("bytes"), "Size from which data is compressed.")
        .v4_3(number("0", 0, i64::MAX))
        .only_with("compressionId")
        .rejected(COMPRESSION),
    flag("crc", "Add a checksum to each message.").v4_3(plain("")).rejected(CRC),
    option("crcKind", Kind::Text("name"), "Kind of the checksum.")
        .v4_3(plain("CRC_32_CUSTOM"))
        .only_with("crc")
        .rejected(CRC),
    flag("enable-message-length", "Add its length to each message.").v4_3(plain("")).rejected(CRC),
    flag("enableMonitoring2", "Send metrics to a collector.").v4_3(plain("")).rejected(ONE),
    option("collectorPeer", Kind::Text("address"), "Address of the collector.")
        .v4_3(plain(""))
        .only_with("enableMonitoring2")
        .rejected(ONE),
    flag("fastQueue", "Use the queue of a private build.").v4_3(plain("")).rejected(ONE),
    flag("printCycloneDdsUriXml", "Print the configuration of a branch for other middleware.")
        .v4_3(plain(""))
        .rejected(("drivers have different configurations", "see the effective settings in the banner")),
];
