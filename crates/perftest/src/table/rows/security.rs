//! Options of DDS Security.

use crate::table::row::{Kind, OptionRow, flag, number, option, plain};

/// Reason for all of them.
const NONE: (&str, &str) = ("no driver is built with DDS Security", "leave it out");

pub(super) const ROWS: &[OptionRow] = &[
    option("secureGovernanceFile", Kind::Text("file"), "Governance document.").v4_3(plain("")).rejected(NONE),
    option("securePermissionsFile", Kind::Text("file"), "Permissions document.")
        .v4_3(plain(""))
        .rejected(NONE),
    option("secureCertAuthority", Kind::Text("file"), "Certificate authority.")
        .v4_3(plain(""))
        .rejected(NONE),
    option("secureCertFile", Kind::Text("file"), "Certificate of the participant.")
        .v4_3(plain(""))
        .rejected(NONE),
    option("securePrivateKey", Kind::Text("file"), "Private key of the participant.")
        .v4_3(plain(""))
        .rejected(NONE),
    option("secureEncryptionAlgorithm", Kind::Text("name"), "Algorithm of the encryption.")
        .v4_3(plain("aes-128-gcm"))
        .rejected(NONE),
    flag("secureEnableAAD", "Authenticate additional data.").v4_3(plain("")).rejected(NONE),
    option("secureLibrary", Kind::Text("file"), "Library with the plug-ins.").v4_3(plain("")).rejected(NONE),
    flag("lightWeightSecurity", "Use the plug-ins without certificates.").v4_3(plain("")).rejected(NONE),
    option("securePSK", Kind::Text("key"), "Shared key.").v4_3(plain("")).rejected(NONE),
    option("securePSKAlgorithm", Kind::Text("name"), "Algorithm of the shared key.")
        .v4_3(plain("AES256+GCM"))
        .rejected(NONE),
    flag("secureRtpsHmacOnly", "Sign messages only.").v4_3(plain("")).rejected(NONE),
    option("secureDebug", Kind::Integer("level"), "Log level of the plug-ins.")
        .v4_3(number("", 0, 7))
        .rejected(NONE),
];
