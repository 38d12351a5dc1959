//! Options of DDS Security.

use crate::table::row::{Kind, OptionRow, number, plain};

use super::rejected;

/// Reason for all of them.
const NONE: (&str, &str) = ("no driver is built with DDS Security", "leave it out");

pub(super) const ROWS: &[OptionRow] = &[
    rejected("secureGovernanceFile", Kind::Text("file"), plain(""), "Governance document.", NONE),
    rejected("securePermissionsFile", Kind::Text("file"), plain(""), "Permissions document.", NONE),
    rejected("secureCertAuthority", Kind::Text("file"), plain(""), "Certificate authority.", NONE),
    rejected("secureCertFile", Kind::Text("file"), plain(""), "Certificate of the participant.", NONE),
    rejected("securePrivateKey", Kind::Text("file"), plain(""), "Private key of the participant.", NONE),
    rejected(
        "secureEncryptionAlgorithm",
        Kind::Text("name"),
        plain("aes-128-gcm"),
        "Algorithm of the encryption.",
        NONE,
    ),
    rejected("secureEnableAAD", Kind::Flag, plain(""), "Authenticate additional data.", NONE),
    rejected("secureLibrary", Kind::Text("file"), plain(""), "Library with the plug-ins.", NONE),
    rejected("lightWeightSecurity", Kind::Flag, plain(""), "Use the plug-ins without certificates.", NONE),
    rejected("securePSK", Kind::Text("key"), plain(""), "Shared key.", NONE),
    rejected(
        "securePSKAlgorithm",
        Kind::Text("name"),
        plain("AES256+GCM"),
        "Algorithm of the shared key.",
        NONE,
    ),
    rejected("secureRtpsHmacOnly", Kind::Flag, plain(""), "Sign messages only.", NONE),
    rejected("secureDebug", Kind::Integer("level"), number("", 0, 7), "Log level of the plug-ins.", NONE),
];
