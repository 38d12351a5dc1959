//! Throughput that reaches what the links between hosts can carry.

use results::{Finding, FindingKind, LinkCeiling, format_value};

use crate::{
    FULL_LINE_PCT,
    curves::{Point, Position, Side, goodput_mbps, position},
    format::{between, finding, runs, sizes, values},
};

/// Cell with what its link can carry.
struct Share<'d> {
    point: Point<'d>,
    link: LinkCeiling,
}

impl Share<'_> {
    /// Returns the position of the runs relative to 90 % of what the link can carry.
    fn position(&self) -> Position {
        position(&self.point.spread, self.link.goodput_mbps * FULL_LINE_PCT / 100.0)
    }

    /// Returns minimum and maximum over the runs of the share that they reach, in percent.
    fn percents(&self) -> [f64; 2] {
        let spread = &self.point.spread;
        [spread.min, spread.max].map(|mbps| 100.0 * mbps / self.link.goodput_mbps)
    }
}

/// Returns minimum and maximum of a value.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most), value| (least.min(value), most.max(value)))
}

/// Returns minimum and maximum of the share over all runs.
fn percents(shares: &[Share<'_>]) -> (f64, f64) {
    ends(shares.iter().flat_map(Share::percents))
}

/// Formats shares: `98 to 99 %`.
fn percent_text(shares: &[Share<'_>]) -> String {
    let (least, most) = percents(shares);
    // Rounded down: 89.9 % is below the limit of 90 %.
    format!("{} %", between(&format!("{:.0}", least.floor()), &format!("{:.0}", most.floor())))
}

fn sizes_of(shares: &[Share<'_>]) -> String {
    sizes(shares.iter().map(|share| share.point.size()))
}

pub(crate) fn findings(side: &Side<'_>) -> Option<Finding> {
    let (mut full, mut free, mut unclear) = (Vec::new(), Vec::new(), Vec::new());
    for point in side.unbatched(goodput_mbps) {
        let Some(link) = point.cell.link_ceiling else { continue };
        let share = Share { point, link };
        match share.position() {
            Position::Above => full.push(share),
            Position::Below => free.push(share),
            Position::Between => unclear.push(share),
        }
    }
    let link_mbps = full.first()?.link.link_mbps;
    let spreads = || full.iter().map(|share| &share.point.spread);
    let (least, most) = ends(spreads().flat_map(|spread| [spread.min, spread.max]));
    let (least_ceiling, most_ceiling) = ends(full.iter().map(|share| share.link.goodput_mbps));
    let text = format!(
        "`{}`: the {} Mbit/s link limits throughput at {}: the runs reach {} of the goodput that it carries at {}, {} of {} \
         Mbit/s ({}).",
        side.name,
        format_value(link_mbps),
        sizes_of(&full),
        percent_text(&full),
        if full.len() == 1 { "this size" } else { "these sizes" },
        values(least, most),
        values(least_ceiling, most_ceiling),
        runs(spreads()),
    );
    let mut more = "Headers take the rest of the link.".to_owned();
    if !free.is_empty() {
        more += &format!(
            " The link is not the limit at {}: the runs reach {} of what it carries there.",
            sizes_of(&free),
            percent_text(&free),
        );
    }
    if !unclear.is_empty() {
        more += &format!(
            " At {} some runs reach {FULL_LINE_PCT:.0} % of what it carries, and others do not.",
            sizes_of(&unclear),
        );
    }
    let (least_pct, most_pct) = percents(&full);
    let numbers = [
        ("link_mbps", link_mbps),
        ("goodput_min_mbps", least),
        ("goodput_max_mbps", most),
        ("ceiling_min_mbps", least_ceiling),
        ("ceiling_max_mbps", most_ceiling),
        ("share_min_pct", least_pct),
        ("share_max_pct", most_pct),
    ];
    Some(finding(FindingKind::LineRate, (text, more), full.iter().map(|share| share.point.cell), numbers))
}
