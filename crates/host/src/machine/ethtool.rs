//! Settings of a network interface, read from the kernel with the ethtool ioctl: driver, offloads, interrupt
//! coalescing and ring sizes. Read-only.
//!
//! Source: `linux/ethtool.h`; each answer starts with a command, followed by numbers and texts in the order of that
//! header.

use std::os::fd::AsRawFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

/// Ethtool commands.
const DRIVER: u32 = 0x3;
const COALESCING: u32 = 0xe;
const RINGS: u32 = 0x10;
const TEXTS: u32 = 0x1b;
const COUNTS: u32 = 0x37;
const FEATURES: u32 = 0x3a;
/// String set with the names of features.
const FEATURE_NAMES: u32 = 4;
/// Size of a string in bytes.
const TEXT: usize = 32;
/// Maximum number of features accepted; no kernel has more.
const MOST_FEATURES: u32 = 1024;

/// Names of the coalescing parameters, in the order of the header.
const OF_COALESCING: [&str; 22] = [
    "rx_usecs",
    "rx_frames",
    "rx_usecs_irq",
    "rx_frames_irq",
    "tx_usecs",
    "tx_frames",
    "tx_usecs_irq",
    "tx_frames_irq",
    "stats_block_usecs",
    "adaptive_rx",
    "adaptive_tx",
    "pkt_rate_low",
    "rx_usecs_low",
    "rx_frames_low",
    "tx_usecs_low",
    "tx_frames_low",
    "pkt_rate_high",
    "rx_usecs_high",
    "rx_frames_high",
    "tx_usecs_high",
    "tx_frames_high",
    "rate_sample_interval",
];
/// Parameters reported even if 0. A 0 in the others mostly means that the card does not support them.
const TOLD_IF_0: [&str; 6] = ["rx_usecs", "rx_frames", "tx_usecs", "tx_frames", "adaptive_rx", "adaptive_tx"];

/// Returns names and values of the settings. Settings that the kernel or the interface does not report are absent.
pub(crate) fn settings(interface: &str) -> Vec<(String, String)> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let Ok(socket) = socket(AddressFamily::Inet, SockType::Datagram, flags, None) else { return Vec::new() };
    answers(|question| ask(&socket, interface, question))
}

/// Sends a command to the kernel, which writes the answer into `question`. Returns whether it succeeded.
fn ask(socket: &impl AsRawFd, interface: &str, question: &mut [u8]) -> bool {
    // SAFETY: `ifreq` consists of integers and pointers, for which all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // One byte is left for the terminating NUL.
    if interface.is_empty() || interface.len() >= request.ifr_name.len() {
        return false;
    }
    for (index, byte) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *index = byte.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_data = question.as_mut_ptr().cast();
    // SAFETY: `request` and the buffer that it points to live for the duration of the call. The kernel does not write
    // past the end of the buffer: the command and the count in the buffer determine the size of the answer.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
    status == 0
}

/// Returns all settings.
fn answers(mut ask: impl FnMut(&mut [u8]) -> bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut put = |name: &str, value: String| found.push((name.to_owned(), value));
    // Strings of 32 bytes: driver, version, firmware, two others; then a reserved area and five counts.
    let mut driver = question(DRIVER, 5 * TEXT + 12 + 5 * 4);
    if ask(&mut driver) {
        for (index, name) in ["driver", "driver_version", "firmware"].into_iter().enumerate() {
            let value = text(&driver[4 + index * TEXT..][..TEXT]);
            if !value.is_empty() {
                put(name, value);
            }
        }
    }
    let mut coalescing = question(COALESCING, OF_COALESCING.len() * 4);
    if ask(&mut coalescing) {
        for (name, value) in OF_COALESCING.iter().zip(numbers(&coalescing[4..])) {
            if value != 0 || TOLD_IF_0.contains(name) {
                put(&format!("coalescing/{name}"), value.to_string());
            }
        }
    }
    // Maximum sizes of the four rings, then their current sizes.
    let mut rings = question(RINGS, 8 * 4);
    if ask(&mut rings) {
        let rings: Vec<u32> = numbers(&rings[4..]).collect();
        put("ring/rx", rings[4].to_string());
        put("ring/tx", rings[7].to_string());
    }
    for (name, on) in features(&mut ask).unwrap_or_default() {
        put(&format!("feature/{name}"), if on { "on" } else { "off" }.to_owned());
    }
    found
}

/// Returns the features that are active or available, with their state.
fn features(ask: &mut impl FnMut(&mut [u8]) -> bool) -> Option<Vec<(String, bool)>> {
    // Mask with one bit per string set, then the size of each set.
    let mut counts = question(COUNTS, 4 + 8 + 4);
    counts[8..16].copy_from_slice(&(1_u64 << FEATURE_NAMES).to_ne_bytes());
    let counted = ask(&mut counts);
    // The kernel clears the bit of an unsupported set.
    let n = numbers(&counts[16..])
        .next()
        .filter(|n| counted && counts[8..16] != [0; 8] && *n <= MOST_FEATURES)?;
    let mut names = question(TEXTS, 8 + n as usize * TEXT);
    names[4..8].copy_from_slice(&FEATURE_NAMES.to_ne_bytes());
    names[8..12].copy_from_slice(&n.to_ne_bytes());
    // Per 32 features: available, requested, active, never changed.
    let parts = n.div_ceil(32);
    let mut states = question(FEATURES, 4 + parts as usize * 16);
    states[4..8].copy_from_slice(&parts.to_ne_bytes());
    if !ask(&mut names) || !ask(&mut states) {
        return None;
    }
    let states: Vec<u32> = numbers(&states[8..]).collect();
    let of = |feature: usize, what: usize| states[feature / 32 * 4 + what] >> (feature % 32) & 1 == 1;
    let named = names[12..].chunks_exact(TEXT).map(text).enumerate();
    let features = named.filter(|(feature, name)| !name.is_empty() && (of(*feature, 0) || of(*feature, 2)));
    Some(features.map(|(feature, name)| (name, of(feature, 2))).collect())
}

/// Creates a buffer with a command and `room` bytes for the answer.
fn question(command: u32, room: usize) -> Vec<u8> {
    let mut question = vec![0; 4 + room];
    question[..4].copy_from_slice(&command.to_ne_bytes());
    question
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes")))
}

/// Returns the text up to the first NUL, or all bytes if there is none.
fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Returns the settings reported for a simulated card that supports only the `known` commands.
    fn card(known: &[u32]) -> BTreeMap<String, String> {
        let put = |question: &mut [u8], at: usize, number: u32| {
            question[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        };
        let answer = |question: &mut [u8]| {
            let command = numbers(question).next().expect("a command");
            match command {
                _ if !known.contains(&command) => return false,
                DRIVER => {
                    assert_eq!(question.len(), 196, "the kernel writes so many bytes");
                    question[4..10].copy_from_slice(b"fastnc");
                    question[36..39].copy_from_slice(b"6.1");
                }
                COALESCING => {
                    assert_eq!(question.len(), 92);
                    (1..=22).for_each(|index| put(question, 4 * index, 0));
                    put(question, 4, 50);
                    put(question, 4 * 10, 1);
                    put(question, 4 * 22, 7);
                }
                RINGS => {
                    assert_eq!(question.len(), 36);
                    (1..=8).for_each(|index| put(question, 4 * index, 100 + index as u32));
                }
                COUNTS => put(question, 16, 40),
                TEXTS => {
                    assert_eq!(question.len(), 12 + 40 * TEXT);
                    for (feature, name) in
                        [(0, "tx-checksum"), (5, "rx-gro"), (33, "rx-hashing"), (34, "never")]
                    {
                        question[12 + feature * TEXT..][..name.len()].copy_from_slice(name.as_bytes());
                    }
                }
                FEATURES => {
                    assert_eq!((question.len(), numbers(question).nth(1)), (8 + 2 * 16, Some(2)));
                    // Available: 0 and 33. Active: 5, which cannot be switched off, and 33.
                    [(8, 1), (16, 1 << 5), (24, 2), (32, 2)]
                        .iter()
                        .for_each(|(at, bits)| put(question, *at, *bits));
                }
                _ => unreachable!("no such question"),
            }
            true
        };
        answers(answer).into_iter().collect()
    }

    fn offloads(found: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
        found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[test]
    fn each_property_is_read_from_its_offset() {
        assert_eq!(offloads(&card(&[DRIVER])), [("driver", "fastnc"), ("driver_version", "6.1")]);
        assert_eq!(
            offloads(&card(&[COALESCING])),
            [
                ("coalescing/adaptive_rx", "1"),
                ("coalescing/adaptive_tx", "0"),
                ("coalescing/rate_sample_interval", "7"),
                ("coalescing/rx_frames", "0"),
                ("coalescing/rx_usecs", "50"),
                ("coalescing/tx_frames", "0"),
                ("coalescing/tx_usecs", "0"),
            ]
        );
        assert_eq!(offloads(&card(&[RINGS])), [("ring/rx", "105"), ("ring/tx", "108")]);
        assert_eq!(
            offloads(&card(&[COUNTS, TEXTS, FEATURES])),
            [("feature/rx-gro", "on"), ("feature/rx-hashing", "on"), ("feature/tx-checksum", "off")]
        );
    }

    #[test]
    fn unanswered_request_leaves_its_property_absent() {
        assert_eq!(offloads(&card(&[])), []);
        // Features are reported completely or not at all.
        assert_eq!(offloads(&card(&[COUNTS, TEXTS])), []);
        assert_eq!(offloads(&card(&[TEXTS, FEATURES])), []);
    }

    #[test]
    fn ethtool_reads_loopback_and_rejects_an_unknown_interface() {
        let found: BTreeMap<String, String> = settings("lo").into_iter().collect();
        // The kernel reports this feature of the loopback interface as always on.
        assert_eq!(found.get("feature/loopback").map(String::as_str), Some("on"), "{found:?}");
        // Without a card there is no coalescing and no ring.
        assert!(!found.contains_key("ring/rx") && !found.contains_key("coalescing/rx_usecs"), "{found:?}");
        assert_eq!(settings("no-such-card"), []);
        assert_eq!(settings("a-name-that-is-too-long-for-the-kernel"), []);
        assert_eq!(settings(""), []);
    }
}
