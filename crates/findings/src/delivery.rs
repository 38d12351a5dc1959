//! Loss, if not all compared sides guarantee delivery.

use experiment::{Workload, distinct};
use results::{CellResult, Finding, FindingKind};

use crate::{
    curves::{Point, Side, curve, run_lost_pct},
    format::{finding, list, runs, three, values},
};

/// Throughput of one side by size, and whether the middleware guarantees delivery.
struct Delivery<'s, 'd> {
    side: &'s Side<'d>,
    guaranteed: bool,
    /// Loss, in percent of the samples sent.
    lost: Vec<Point<'d>>,
}

pub(crate) fn findings(sides: &[Side<'_>]) -> Option<Finding> {
    let measured: Vec<Delivery<'_, '_>> = sides
        .iter()
        .map(|side| {
            let cells: Vec<&CellResult> = side.of_workload(Workload::Throughput).collect();
            let reliable = |cell: &&CellResult| cell.factors.is_reliable(0);
            let guaranteed = cells.iter().all(reliable);
            Delivery { side, guaranteed, lost: curve(cells.into_iter(), run_lost_pct) }
        })
        .filter(|delivery| !delivery.lost.is_empty())
        .collect();
    let (guaranteed, open): (Vec<_>, Vec<_>) = measured.iter().partition(|delivery| delivery.guaranteed);
    if measured.len() < 2 || open.is_empty() {
        return None;
    }
    // A driver whose configurations are all on one side is named once.
    let names = |of: &[&Delivery<'_, '_>], others: &[&Delivery<'_, '_>]| {
        let name = |delivery: &&Delivery<'_, '_>| {
            let is_driver = |other: &&&Delivery<'_, '_>| other.side.driver == delivery.side.driver;
            let once =
                of.iter().filter(is_driver).count() > 1 && !others.iter().any(|other| is_driver(&other));
            format!("`{}`", if once { &delivery.side.driver } else { &delivery.side.name })
        };
        let names = distinct(of.iter().map(name));
        let verb = if names.len() == 1 { "does" } else { "do" };
        (list(&names), verb)
    };
    let (without, do_not) = names(&open, &guaranteed);
    let against = match &names(&guaranteed, &open) {
        (_, _) if guaranteed.is_empty() => String::new(),
        (with, does) => format!(", {with} {does}"),
    };
    let subject = format!("{without} {do_not} not guarantee delivery{against}");
    let cells = || open.iter().flat_map(|delivery| &delivery.lost).map(|point| point.cell);

    let lossy: Vec<(&Delivery<'_, '_>, &Point<'_>)> = open
        .iter()
        .filter_map(|delivery| {
            let worst = delivery.lost.iter().max_by(|a, b| a.spread.median.total_cmp(&b.spread.median))?;
            delivery.lost.iter().any(|point| point.spread.max > 0.0).then_some((*delivery, worst))
        })
        .collect();
    if lossy.is_empty() {
        let runs: usize = open.iter().flat_map(|delivery| &delivery.lost).map(|point| point.spread.n).sum();
        let more = format!("Even so no sample was lost in any of the {runs} best effort runs.");
        let text = (format!("{subject}."), more);
        let numbers = [("runs", runs as f64), ("lost_pct", 0.0)];
        return Some(finding(FindingKind::NoLossWithoutGuarantee, text, cells(), numbers));
    }
    let losses: Vec<String> = lossy
        .iter()
        .map(|(delivery, worst)| {
            let with_loss = delivery.lost.iter().filter(|point| point.spread.max > 0.0).count();
            let batched = if worst.cell.factors.batch_bytes > 0 { " batched" } else { "" };
            format!(
                "`{}` lost samples in {with_loss} of {} cells, most at {} bytes{batched}: {} % of those sent ({})",
                delivery.side.name,
                delivery.lost.len(),
                worst.size(),
                values(worst.spread.min, worst.spread.max),
                runs([&worst.spread].into_iter())
            )
        })
        .collect();
    let text = format!(
        "{subject}, so their rates are not comparable: best effort may reach a rate by losing samples."
    );
    let text = (text, format!("{}.", losses.join("; ")));
    let numbers = lossy
        .iter()
        .flat_map(|(delivery, worst)| three(&format!("{}_lost", delivery.side.name), "pct", &worst.spread));
    Some(finding(FindingKind::LossWithoutGuarantee, text, cells(), numbers))
}
