//! Goodput that an Ethernet link can carry.

/// Bytes around the IP packet of each frame: preamble 8, header 14, checksum 4, gap 12.
const FRAME_BYTES: u64 = 38;
/// Minimum length of the IP packet in a frame; shorter ones are padded.
const MIN_PACKET_BYTES: u64 = 46;
const IP_HEADER_BYTES: u64 = 20;
const UDP_HEADER_BYTES: u64 = 8;

/// Returns the bytes on the wire of a UDP datagram over IPv4, with all its fragments and what Ethernet adds to each.
///
/// `None` if the MTU cannot carry a fragment, which has at least 8 bytes after the IP header.
#[must_use]
pub fn wire_bytes(mtu: u32, payload: u64) -> Option<u64> {
    // All fragments but the last one have a multiple of 8 bytes.
    let per_fragment = u64::from(mtu).checked_sub(IP_HEADER_BYTES)? / 8 * 8;
    if per_fragment == 0 {
        return None;
    }
    let datagram = UDP_HEADER_BYTES.checked_add(payload)?;
    // Only the last fragment may use what exceeds a multiple of 8.
    let in_last = u64::from(mtu) - IP_HEADER_BYTES;
    let full = if datagram <= in_last { 0 } else { (datagram - in_last).div_ceil(per_fragment) };
    let last = (IP_HEADER_BYTES + datagram - full * per_fragment).max(MIN_PACKET_BYTES);
    let full_bytes =
        full.checked_mul((IP_HEADER_BYTES + per_fragment).max(MIN_PACKET_BYTES) + FRAME_BYTES)?;
    full_bytes.checked_add(last + FRAME_BYTES)
}

/// Returns the minimum time in ns of a UDP datagram over IPv4 from one host to another over two Ethernet links with a switch
/// between them, which forwards a frame when it has received all of it. The hosts, the switch and a delay add to it.
///
/// Frames overlap on the two links, but for one of the longest: `(wire bytes of all frames + wire bytes of the longest) x 8 /
/// rate`, rounded down. `rate_bit_per_s` is the rate of both links on the wire. `None` if the rate is 0 or the MTU cannot carry a
/// fragment.
#[must_use]
pub fn store_and_forward_ns(rate_bit_per_s: u64, mtu: u32, payload: u64) -> Option<u64> {
    let all = wire_bytes(mtu, payload)?;
    // The first frame is the longest, unless it is the only one.
    let first = (u64::from(mtu) - IP_HEADER_BYTES) / 8 * 8;
    let longest = all.min((IP_HEADER_BYTES + first).max(MIN_PACKET_BYTES) + FRAME_BYTES);
    let bits = u128::from(all + longest) * 8;
    u64::try_from((bits * 1_000_000_000).checked_div(u128::from(rate_bit_per_s))?).ok()
}

/// Returns a time in ns that no middleware beats with a sample of `payload` bytes over the links of [`store_and_forward_ns`],
/// whatever the number of datagrams, segments or fragments that it cuts the sample into.
///
/// Every frame has at least an IP header, and as many frames are cut as the MTU needs. More and shorter frames overlap better
/// on the two links, but have more headers: the number with the shortest time counts. It is below that of one datagram. Only a
/// middleware that compresses samples beats it.
#[must_use]
pub fn least_crossing_ns(rate_bit_per_s: u64, mtu: u32, payload: u64) -> Option<u64> {
    let room = u64::from(mtu).checked_sub(IP_HEADER_BYTES).filter(|room| *room > 0)?;
    let overhead = FRAME_BYTES + IP_HEADER_BYTES;
    let frames = payload.div_ceil(room).max(1);
    // n frames and the longest of them have `payload + payload / n` bytes and n + 1 headers: least at n = sqrt(payload / header).
    let is_past_least = frames.checked_mul(frames)?.checked_mul(overhead)? >= payload;
    let beside = if is_past_least {
        overhead.checked_mul(frames)?.checked_add(payload / frames)?
    } else {
        payload.checked_mul(4 * overhead)?.isqrt()
    };
    let padded = (MIN_PACKET_BYTES + FRAME_BYTES).checked_mul(frames + 1)?;
    let bytes = payload.checked_add(overhead)?.checked_add(beside)?.max(padded);
    let bits = u128::from(bytes) * 8;
    u64::try_from((bits * 1_000_000_000).checked_div(u128::from(rate_bit_per_s))?).ok()
}

/// Returns the highest rate of payload in bit/s that any middleware reaches on an Ethernet link with IPv4: that of full frames
/// without other headers. `rate_bit_per_s` is the rate on the wire. Only a middleware that compresses samples exceeds it.
#[must_use]
pub fn full_frames_ceiling(rate_bit_per_s: f64, mtu: u32) -> f64 {
    let mtu = f64::from(mtu);
    #[allow(clippy::cast_precision_loss)]
    let (header, frame) = (IP_HEADER_BYTES as f64, FRAME_BYTES as f64);
    rate_bit_per_s * (mtu - header).max(0.0) / (mtu + frame)
}

/// Returns the highest rate of payload in bit/s that UDP over IPv4 reaches on an Ethernet link without VLAN tags.
///
/// `rate_bit_per_s` is the rate on the wire, `payload` the bytes of each datagram. A middleware adds headers of its own to the
/// payload, so it stays below this ceiling. `None` if the MTU cannot carry a fragment.
#[must_use]
pub fn goodput_ceiling(rate_bit_per_s: f64, mtu: u32, payload: u64) -> Option<f64> {
    #[allow(clippy::cast_precision_loss)]
    wire_bytes(mtu, payload).map(|wire| rate_bit_per_s * payload as f64 / wire as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wire_bytes_are_those_computed_by_hand() {
        for (mtu, payload, wire) in [
            // The smallest packet has 46 bytes: 20 + 8 + 18.
            (1500, 0, 84),
            (1500, 18, 84),
            (1500, 19, 85),
            (1500, 1472, 1538),
            // 1480 bytes in the first fragment, 1 in the second, which is padded.
            (1500, 1473, 1538 + 84),
            (1500, 1480 + 1472, 2 * 1538),
            // 63,008 bytes: 42 fragments of 1480, and 848.
            (1500, 63_000, 42 * 1538 + 848 + 58),
            (9000, 8972, 9038),
            // 1481 bytes after the header: a fragment that is not the last one carries 1480 of them.
            (1501, 1473, 1539),
            (1501, 1474, 1538 + 84),
            (1501, 1480 + 1473, 1538 + 1539),
            (28, 8, 2 * 84),
        ] {
            assert_eq!(wire_bytes(mtu, payload), Some(wire), "{mtu} {payload}");
        }
        assert_eq!((wire_bytes(27, 100), wire_bytes(0, 1), wire_bytes(1500, u64::MAX)), (None, None, None));
    }

    #[test]
    fn times_over_two_links_are_those_computed_by_hand() {
        for (mbit, payload, ns) in [
            (100, 18, 2 * 6_720),
            (100, 1_472, 2 * 123_040),
            (100, 1_473, 2 * 123_040 + 6_720),
            (1_000, 63_000, (42 * 1_538 + 906 + 1_538) * 8),
            (10, 64, 2 * 130 * 800),
        ] {
            let found = store_and_forward_ns(mbit * 1_000_000, 1_500, payload);
            assert_eq!(found, Some(ns), "{mbit} {payload}");
        }
        assert_eq!((store_and_forward_ns(0, 1_500, 1), store_and_forward_ns(1, 27, 1)), (None, None));
    }

    #[test]
    fn ceilings_at_100_mbit_are_those_computed_by_hand() {
        for (payload, mbit) in [(1472, 95.71), (63_000, 96.18), (18, 21.43)] {
            let ceiling = goodput_ceiling(100e6, 1500, payload).unwrap() / 1e6;
            assert!((ceiling - mbit).abs() < 0.005, "{payload}: {ceiling}");
        }
        let jumbo = goodput_ceiling(1e9, 9000, 8972).unwrap() / 1e6;
        assert!((jumbo - 992.70).abs() < 0.005, "{jumbo}");
        assert_eq!(goodput_ceiling(100e6, 20, 64), None);
    }

    #[test]
    fn least_times_of_any_middleware_are_those_computed_by_hand() {
        for (payload, bytes) in [
            // two frames of the least length on the two links; 1472 bytes in 5.04 frames; 43 frames of an MTU
            (0, 2 * 84),
            (1_472, 1_472 + 58 + 584),
            (63_000, 63_000 + 44 * 58 + 63_000 / 43),
        ] {
            assert_eq!(least_crossing_ns(100_000_000, 1_500, payload), Some(bytes * 80), "{payload}");
        }
        assert_eq!((least_crossing_ns(0, 1_500, 1), least_crossing_ns(1, 20, 1)), (None, None));
    }

    proptest! {
        /// The bound is at most the time of one datagram, and of any other cut of the sample into frames.
        #[test]
        fn no_cut_into_frames_beats_the_least_time(
            mtu in 1_280..9_001_u32,
            payload in 0..2_000_000_u64,
            rate in 1_000_000..100_000_000_000_u64,
            cuts in prop::collection::vec(0_u64..2_000_000, 0..400),
        ) {
            let least = least_crossing_ns(rate, mtu, payload).unwrap();
            prop_assert!(least <= store_and_forward_ns(rate, mtu, payload).unwrap());
            let mut cuts: Vec<u64> = cuts.into_iter().map(|cut| cut.min(payload)).chain([0, payload]).collect();
            cuts.sort_unstable();
            let room = u64::from(mtu) - 20;
            let (mut all, mut longest) = (0, 0);
            for mut part in cuts.windows(2).map(|pair| pair[1] - pair[0]) {
                while part > 0 {
                    let frame = (part.min(room) + 58).max(84);
                    (all, longest) = (all + frame, frame.max(longest));
                    part -= part.min(room);
                }
            }
            let time = u128::from((all + longest).max(168)) * 8_000_000_000 / u128::from(rate);
            prop_assert!(u128::from(least) <= time, "{least} {time}");
        }

        #[test]
        fn ceiling_of_full_frames_is_above_that_of_udp(mtu in 28..65_536_u32, payload in 0..10_000_000_u64) {
            prop_assert!(goodput_ceiling(1.0, mtu, payload).unwrap() <= full_frames_ceiling(1.0, mtu) + 1e-12);
        }

        #[test]
        fn wire_bytes_are_those_of_fragments_cut_one_by_one(mtu in 28..10_000_u32, payload in 0..200_000_u64) {
            let (mut left, mut wire) = (payload + 8, 0);
            let room = u64::from(mtu) - 20;
            while left > room {
                wire += (20 + room / 8 * 8).max(46) + 38;
                left -= room / 8 * 8;
            }
            wire += (20 + left).max(46) + 38;
            prop_assert_eq!(wire_bytes(mtu, payload), Some(wire));
        }

        #[test]
        fn ceiling_is_below_the_rate(mtu in 28..65_536_u32, payload in 0..10_000_000_u64) {
            let share = goodput_ceiling(1.0, mtu, payload).unwrap();
            prop_assert!((0.0..1.0).contains(&share));
        }
    }
}
