//! Size of the samples from which on they fill the link between two hosts.

use results::{Finding, FindingKind, LinkCeiling, format_value};

use crate::{
    FULL_LINK_PCT,
    curves::{Point, Position, Side, goodput_mbps, position, range},
    format::{finding, runs, sizes, three, values},
};

/// Returns a finding for the unbatched curve, and for that of each batch limit.
pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let curves = side.throughput_curves(goodput_mbps);
    curves.into_iter().filter_map(|(what, curve)| of_curve(&what, curve)).collect()
}

/// Returns a point with its link; `None` if no link is known.
fn with_link(point: Point<'_>) -> Option<(Point<'_>, LinkCeiling)> {
    let link = point.cell.link_ceiling?;
    Some((point, link))
}

fn of_curve(what: &str, curve: Vec<Point<'_>>) -> Option<Finding> {
    let curve: Vec<(Point<'_>, LinkCeiling)> = curve.into_iter().filter_map(with_link).collect();
    let [(_, link), _, ..] = &curve[..] else { return None };
    let link_mbps = link.link_mbps;
    let full = |(point, link): &(Point<'_>, LinkCeiling)| {
        position(&point.spread, link.link_mbps * FULL_LINK_PCT / 100.0)
    };
    let positions: Vec<Position> = curve.iter().map(full).collect();
    let filled = positions.iter().rev().take_while(|position| **position == Position::Above).count();
    let (below, above) = curve.split_at(curve.len() - filled);
    match above {
        [] if positions.iter().all(|position| *position == Position::Below) => {
            Some(never(what, link_mbps, &curve))
        }
        [] => None,
        above => Some(from_size(what, link_mbps, below, above)),
    }
}

fn from_size(
    what: &str,
    link_mbps: f64,
    below: &[(Point<'_>, LinkCeiling)],
    above: &[(Point<'_>, LinkCeiling)],
) -> Finding {
    let spreads = || above.iter().map(|(point, _)| &point.spread);
    let (min, max) = range(spreads());
    let first = above[0].0.size();
    let rates = values(min, max);
    let link = format!("at least {FULL_LINK_PCT} % of the {} Mbit/s link", format_value(link_mbps));
    let text = match below.last() {
        Some((point, _)) => format!(
            "{what}: samples fill {link} from {first} bytes on: {rates} Mbit/s of payload, against {} Mbit/s at {} bytes ({}).",
            values(point.spread.min, point.spread.max),
            point.size(),
            runs(spreads().chain([&point.spread])),
        ),
        None => format!(
            "{what}: samples fill {link} at all sizes from {first} bytes on: {rates} Mbit/s of payload ({}).",
            runs(spreads())
        ),
    };
    let most = below.last().map_or_else(String::new, |(_, ceiling)| {
        format!(
            "UDP over IPv4 carries at most {} Mbit/s of such samples.",
            format_value(ceiling.goodput_mbps)
        )
    });
    let numbers = [
        ("link_mbps", link_mbps),
        ("from_size_bytes", first as f64),
        ("goodput_min_mbps", min),
        ("goodput_max_mbps", max),
    ];
    let cells = below.last().into_iter().chain(above).map(|(point, _)| point.cell);
    finding(FindingKind::LinkFilled, (text, most), cells, numbers)
}

fn never(what: &str, link_mbps: f64, curve: &[(Point<'_>, LinkCeiling)]) -> Finding {
    let by_median = |left: &&(Point<'_>, LinkCeiling), right: &&(Point<'_>, LinkCeiling)| {
        left.0.spread.median.total_cmp(&right.0.spread.median)
    };
    let best = curve.iter().max_by(by_median);
    let most = best.map_or_else(String::new, |(point, link)| {
        format!(
            "at most {} Mbit/s of payload at {} bytes ({}), where UDP over IPv4 carries at most {} Mbit/s",
            values(point.spread.min, point.spread.max),
            point.size(),
            runs([&point.spread].into_iter()),
            format_value(link.goodput_mbps)
        )
    });
    let text = format!(
        "{what}: samples fill {FULL_LINK_PCT} % of the {} Mbit/s link at none of {}: {most}.",
        format_value(link_mbps),
        sizes(curve.iter().map(|(point, _)| point.size())),
    );
    let mut numbers = vec![("link_mbps".to_owned(), link_mbps)];
    numbers.extend(
        best.iter().flat_map(|(point, _)| {
            three(&format!("goodput_at_{}_bytes", point.size()), "mbps", &point.spread)
        }),
    );
    finding(FindingKind::LinkNotFilled, text, curve.iter().map(|(point, _)| point.cell), numbers)
}
