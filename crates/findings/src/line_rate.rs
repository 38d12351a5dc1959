//! Links between hosts: the sizes at which they limit throughput, and from which size on payload fills them.

use results::{CellResult, Finding, FindingKind, LinkCeiling, format_value};

use crate::{
    FULL_LINE_PCT, FULL_LINK_PCT,
    curves::{Point, Position, Side, goodput_mbps, position, range},
    format::{between, finding, runs, sizes, three, values},
};

/// Cell with what its link can carry.
struct Share<'d> {
    point: Point<'d>,
    link: LinkCeiling,
}

impl<'d> Share<'d> {
    /// Returns a cell with its link; `None` if no link is known.
    fn new(point: Point<'d>) -> Option<Self> {
        let link = point.cell.link_ceiling?;
        Some(Self { point, link })
    }

    /// Returns the position of the runs relative to 90 % of what the link can carry.
    fn position(&self) -> Position {
        position(&self.point.spread, self.link.goodput_mbps * FULL_LINE_PCT / 100.0)
    }

    /// Returns the position of the runs relative to 95 % of the rate of the link.
    fn position_of_payload(&self) -> Position {
        position(&self.point.spread, self.link.link_mbps * FULL_LINK_PCT / 100.0)
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
fn percents(shares: &[&Share<'_>]) -> (f64, f64) {
    ends(shares.iter().flat_map(|share| share.percents()))
}

/// Formats shares: `98 to 99 %`.
fn percent_text(shares: &[&Share<'_>]) -> String {
    let (least, most) = percents(shares);
    // Rounded down: 89.9 % is below the limit of 90 %.
    format!("{} %", between(&format!("{:.0}", least.floor()), &format!("{:.0}", most.floor())))
}

fn sizes_of(shares: &[&Share<'_>]) -> String {
    sizes(shares.iter().map(|share| share.point.size()))
}

/// Returns a finding for the unbatched curve, and for that of each batch limit.
pub(crate) fn findings(side: &Side<'_>) -> Vec<Finding> {
    let curves = side.throughput_curves(goodput_mbps).into_iter();
    curves.filter_map(|(what, curve)| of_curve(&what, curve)).collect()
}

fn of_curve(what: &str, curve: Vec<Point<'_>>) -> Option<Finding> {
    let shares: Vec<Share<'_>> = curve.into_iter().filter_map(Share::new).collect();
    if shares.iter().any(|share| share.position() == Position::Above) {
        return Some(limited(what, &shares));
    }
    (shares.len() > 1 && is_never_full(&shares)).then(|| never_full(what, &shares))
}

fn is_never_full(shares: &[Share<'_>]) -> bool {
    shares.iter().all(|share| share.position_of_payload() == Position::Below)
}

/// Returns the finding about a link that is the limit at some sizes.
fn limited(what: &str, shares: &[Share<'_>]) -> Finding {
    let at = |position: Position| -> Vec<&Share<'_>> {
        shares.iter().filter(|share| share.position() == position).collect()
    };
    let [full, free, unclear] = [Position::Above, Position::Below, Position::Between].map(at);
    let link_mbps = full[0].link.link_mbps;
    let spreads = || full.iter().map(|share| &share.point.spread);
    let (least, most) = range(spreads());
    let (least_ceiling, most_ceiling) = ends(full.iter().map(|share| share.link.goodput_mbps));
    let text = format!(
        "{what}: the {} Mbit/s link limits throughput at {}: the runs reach {} of the goodput that UDP over IPv4 carries at {}, \
         {} of {} Mbit/s ({}).",
        format_value(link_mbps),
        sizes_of(&full),
        percent_text(&full),
        if full.len() == 1 { "this size" } else { "these sizes" },
        values(least, most),
        values(least_ceiling, most_ceiling),
        runs(spreads()),
    );
    let (least_pct, most_pct) = percents(&full);
    let mut numbers = vec![
        ("link_mbps", link_mbps),
        ("goodput_min_mbps", least),
        ("goodput_max_mbps", most),
        ("ceiling_min_mbps", least_ceiling),
        ("ceiling_max_mbps", most_ceiling),
        ("share_min_pct", least_pct),
        ("share_max_pct", most_pct),
    ];
    let mut more = "Headers take the rest of the link.".to_owned();
    let above = shares.iter().rev().take_while(|share| share.position_of_payload() == Position::Above);
    match above.last() {
        _ if shares.len() == 1 => {}
        Some(first) => {
            let from = first.point.size();
            more += &format!(" From {from} bytes on, payload fills at least {FULL_LINK_PCT} % of it.");
            numbers.push(("from_size_bytes", from as f64));
        }
        None if is_never_full(shares) => {
            more += &format!(" Payload fills {FULL_LINK_PCT} % of it at none of the sizes.");
        }
        None => {}
    }
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
    finding(FindingKind::LineRate, (text, more), cells(full.into_iter()), numbers)
}

/// Returns the finding about a link that is the limit at no size, and that payload never fills.
fn never_full(what: &str, shares: &[Share<'_>]) -> Finding {
    let by_median = |left: &&Share<'_>, right: &&Share<'_>| {
        left.point.spread.median.total_cmp(&right.point.spread.median)
    };
    let best = shares.iter().max_by(by_median).unwrap_or(&shares[0]);
    let Share { point, link } = best;
    let text = format!(
        "{what}: samples fill {FULL_LINK_PCT} % of the {} Mbit/s link at none of {}: at most {} Mbit/s of payload at {} bytes ({}), \
         where UDP over IPv4 carries at most {} Mbit/s.",
        format_value(link.link_mbps),
        sizes_of(&shares.iter().collect::<Vec<_>>()),
        values(point.spread.min, point.spread.max),
        point.size(),
        runs([&point.spread].into_iter()),
        format_value(link.goodput_mbps)
    );
    let mut numbers = vec![("link_mbps".to_owned(), link.link_mbps)];
    numbers.extend(three(&format!("goodput_at_{}_bytes", point.size()), "mbps", &point.spread));
    finding(FindingKind::LinkNotFilled, text, cells(shares.iter()), numbers)
}

fn cells<'s, 'd: 's>(shares: impl Iterator<Item = &'s Share<'d>>) -> impl Iterator<Item = &'s CellResult> {
    shares.map(|share| share.point.cell)
}
