//! Throughput that reaches the rate of the links between hosts.

use results::{Finding, FindingKind, LinkCeiling, format_value};

use crate::{
    FULL_LINE_PCT,
    curves::{Point, Side, goodput_mbps, range},
    format::{between, finding, runs, sizes},
};

/// Returns a cell with what its link carries, if all of its runs reach that.
fn at_line_rate(point: Point<'_>) -> Option<(Point<'_>, LinkCeiling)> {
    let link = point.cell.link_ceiling?;
    let reaches = point.spread.min >= link.goodput_mbps * FULL_LINE_PCT / 100.0;
    reaches.then_some((point, link))
}

pub(crate) fn findings(side: &Side<'_>) -> Option<Finding> {
    let points: Vec<_> = side.unbatched(goodput_mbps).into_iter().filter_map(at_line_rate).collect();
    let (_, first) = points.first()?;
    let spreads = || points.iter().map(|(point, _)| &point.spread);
    let (min, max) = range(spreads());
    let ceilings = || points.iter().map(|(_, link)| link.goodput_mbps);
    let (least, most) = (ceilings().fold(f64::INFINITY, f64::min), ceilings().fold(0.0, f64::max));
    let percent = |mbps: f64| format!("{:.0}", 100.0 * mbps / first.link_mbps);
    let text = format!(
        "`{}`: throughput reaches {} % of the {} Mbit/s link, its line rate, at {}: {} Mbit/s ({}). UDP over IPv4 carries at most \
         {} Mbit/s there.",
        side.name,
        between(&percent(min), &percent(max)),
        format_value(first.link_mbps),
        sizes(points.iter().map(|(point, _)| point.size)),
        between(&format_value(min), &format_value(max)),
        runs(spreads()),
        between(&format_value(least), &format_value(most)),
    );
    let numbers = [
        ("link_mbps", first.link_mbps),
        ("goodput_min_mbps", min),
        ("goodput_max_mbps", max),
        ("ceiling_min_mbps", least),
        ("ceiling_max_mbps", most),
    ];
    let numbers = numbers.map(|(name, number)| (name.to_owned(), number));
    Some(finding(FindingKind::LineRate, text, points.iter().map(|(point, _)| point.cell), numbers))
}
