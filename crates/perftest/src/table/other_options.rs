//! Options of other releases, languages and forks, which neither generation has.

/// Option that neither generation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherOption {
    /// Name without the dash.
    pub name: &'static str,
    /// Release, language or fork that has it.
    pub of: &'static str,
    /// Next step.
    pub instead: &'static str,
}

/// Options of DDS Security that a file of policies replaced.
const SECURITY: (&str, &str) = ("releases 5.2 to 4.0", "leave it out: no driver is built with DDS Security");
/// Options of transports, with their names in C#.
const TRANSPORT: (&str, &str) =
    ("the release in C#", "leave it out: it is a setting of a transport that no driver has");
/// Options of a fork that sends bursts.
const BURSTS: (&str, &str) =
    ("a fork", "use `ddsmark load --rate 10/100ms --arrival burst` for bursts of 10 samples every 100 ms");

/// All of them, by name.
pub const OTHER_OPTIONS: &[OtherOption] = &[
    option("burstDelay", BURSTS),
    option("burstMode", BURSTS),
    option("burstSamples", BURSTS),
    option("configureTransportCertAuthority", TRANSPORT),
    option("configureTransportCertFile", TRANSPORT),
    option("configureTransportPrivateKey", TRANSPORT),
    option("configureTransportPublicAddress", TRANSPORT),
    option("configureTransportSecureWan", TRANSPORT),
    option("configureTransportServerBindPort", TRANSPORT),
    option("configureTransportVerbosity", TRANSPORT),
    option("configureTransportWan", TRANSPORT),
    option("configureTransportWanId", TRANSPORT),
    option("configureTransportWanServerAddress", TRANSPORT),
    option("configureTransportWanServerPort", TRANSPORT),
    option("disableInterfaceTracking", ("a fork", "leave it out: interfaces are those at the start")),
    option("enableUDPv6", ("releases 2.0 to 3.0, and of the release in C#", "use `-transport UDPv6`")),
    option("fileName", ("a fork", "use `-outputFile <file>`")),
    option(
        "reliable",
        ("examples of the release", "leave it out: samples are reliable without `-bestEffort`"),
    ),
    option("secureEncryptBoth", SECURITY),
    option("secureEncryptData", SECURITY),
    option("secureEncryptDiscovery", SECURITY),
    option("secureEncryptSM", SECURITY),
    option("secureSign", SECURITY),
    option("unboundedSize", ("the release in C#", "use `-unbounded <bytes>`")),
    option("useLegacyDynamicData", ("releases 3.0 to 4.1", "leave it out: drivers of ddsmark have one type")),
];

const fn option(name: &'static str, (of, instead): (&'static str, &'static str)) -> OtherOption {
    OtherOption { name, of, instead }
}

/// Returns the option of another release of this name. Case does not matter.
pub(super) fn find(name: &str) -> Option<&'static OtherOption> {
    OTHER_OPTIONS.iter().find(|other| other.name.eq_ignore_ascii_case(name))
}
