//! Sentences on the costs of settings.

use experiment::{Policy, Support, Workload};
use results::{Conclusion, MAX_LATENCY_LOSS_PCT, format_effects, format_micros, format_value};
use stats::median;

use super::{Costs, Row, signed};
use crate::number::count;

/// Maximum number of settings that a sentence names; the table has all.
const MOST_NAMED: usize = 3;
/// Ratio of a mean RTT to the median above which some round trips are of another kind.
const FAR_ABOVE: f64 = 3.0;

/// Place of the table of all settings, seen from the sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TablePlace {
    /// Before the sentences.
    Above,
    /// After the sentences.
    Below,
    /// Only in the report that `--full` prints.
    InFull,
    /// Not stated, in an answer that is short.
    Unstated,
}

impl TablePlace {
    /// Formats the first `most` of these settings, and how many more the table has.
    pub(super) fn named(self, settings: impl IntoIterator<Item = String>, most: usize) -> String {
        let mut named: Vec<String> = settings.into_iter().collect();
        let more = named.len().saturating_sub(most);
        // One more is as short as its number.
        if more > 1 {
            named.truncate(most);
            let place = match self {
                Self::Above => ", in the table above",
                Self::Below => ", in the table below",
                Self::InFull => ", in the table of `--full`",
                Self::Unstated => "",
            };
            return format!("{} and {more} more{place}", named.join(", "));
        }
        named.join(", ")
    }
}

impl Costs<'_> {
    /// Returns the answer: the settings that matter, the smallest effect that would have been seen, and settings without a time. A
    /// sentence names few settings, and says where the others are.
    pub(crate) fn words(&self, table: TablePlace) -> Vec<String> {
        let compared = self.rows.iter().filter(|row| !row.is_baseline());
        // Settings that lose samples have no time, and those of policies without effect no cost; they are named at the end.
        let (compared, without_time): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
            compared.partition(|row| self.columns.iter().any(|column| row.answer(*column).is_some()));
        let matters = |row: &&&Row<'_>| self.columns.iter().any(|column| row.claim(*column).is_some());
        let mut few: Vec<&&Row<'_>> = compared.iter().filter(matters).collect();
        let size = |row: &Row<'_>| {
            let claims = self.columns.iter().filter_map(|column| row.claim(*column));
            claims.map(f64::abs).fold(0.0, f64::max)
        };
        few.sort_by(|left, right| size(right).total_cmp(&size(left)));
        let named = few.iter().map(|row| {
            let claims = self
                .columns
                .iter()
                .filter_map(|column| Some(format!("{} {}", self.name(*column), signed(row.claim(*column)?))));
            format!("{} ({})", row.setting, claims.collect::<Vec<_>>().join(", "))
        });
        let named = table.named(named, MOST_NAMED);
        let (title, settings) = (&self.title, count(compared.len(), "setting"));
        let mut words = vec![match (self.lacking_blocks(&compared), named.is_empty()) {
            (Some(needs), _) => {
                format!("{title}: too few blocks to show what {settings} cost: at least {needs} are needed.")
            }
            (None, true) => format!("{title}: none of {settings} is shown to matter."),
            (None, false) => {
                format!("{title}: {} of {settings} are shown to matter: {named}.", few.len())
            }
        }];
        let seen: Vec<String> = self
            .columns
            .iter()
            .filter_map(|column| {
                let could: Vec<f64> =
                    compared.iter().filter_map(|row| row.could_have_seen(*column)).collect();
                let typical = median(&could)?;
                Some(format!("{} of the {}", format_effects([typical; 2]), self.name(*column)))
            })
            .collect();
        if !seen.is_empty() {
            words.push(format!(
                "Typical smallest effect that the others would have shown (80 % power): {}.",
                seen.join(", ")
            ));
        }
        let lost: Vec<String> = without_time.iter().filter_map(|row| lost_words(row)).collect();
        if !lost.is_empty() {
            let round_trips = without_time
                .iter()
                .flat_map(|row| &row.cells)
                .all(|cell| cell.factors.workload == Workload::Latency);
            let what = if round_trips { "round trips" } else { "samples" };
            words.push(format!("No time, because {what} were lost: {}.", table.named(lost, MOST_NAMED)));
        }
        let is_complete =
            |row: &&&Row<'_>| row.cells.iter().all(|cell| cell.shortfall().pct() <= MAX_LATENCY_LOSS_PCT);
        let inert: Vec<String> =
            without_time.iter().filter(is_complete).map(|row| row.setting.to_owned()).collect();
        if !inert.is_empty() {
            words.push(format!(
                "No verdict, as the reasons in the list of verdicts say: {}.",
                table.named(inert, MOST_NAMED)
            ));
        }
        words.extend(self.waits_for_room(table));
        words.extend(self.repeatability());
        words
    }

    /// Returns the number of blocks that claims need, if no setting has as many.
    pub(super) fn lacking_blocks(&self, compared: &[&Row<'_>]) -> Option<u32> {
        let answers =
            self.columns.iter().flat_map(|column| compared.iter().filter_map(|row| row.answer(*column)));
        let needs = answers.map(|answer| match answer.conclusion {
            Conclusion::TooFew { needs } => Some(needs),
            _ => None,
        });
        needs.collect::<Option<Vec<u32>>>()?.into_iter().max()
    }

    /// Returns the settings whose writers keep few samples and wait for acknowledgements in some round trips: the mean RTT is far above the
    /// median.
    fn waits_for_room(&self, table: TablePlace) -> Option<String> {
        let of_row = |row: &Row<'_>| {
            let cell = row.cells.iter().find(|cell| cell.factors.in_flight.is_none())?;
            let limit = cell.factors.writer_qos(0).max_samples.filter(|limit| *limit > 0)?;
            let driver = self.document.drivers.get(&cell.factors.driver)?;
            let [of_writers, _] = driver.support_of_ends(Policy::ResourceLimits);
            let rtts = || cell.claimed_runs().filter_map(|run| run.latency.get("rtt"));
            let mean = median(&rtts().map(|rtt| rtt.mean_ns).collect::<Vec<_>>())?;
            let p50 = median(&rtts().filter_map(|rtt| Some(rtt.p50_ns? as f64)).collect::<Vec<_>>())?;
            let waits = of_writers == Support::Enforced && mean > FAR_ABOVE * p50;
            waits.then(|| {
                let (mean, p50) = (format_micros(mean), format_micros(p50));
                format!("{} (room for {limit}: mean RTT {mean} µs, median {p50} µs)", row.setting)
            })
        };
        let waiting: Vec<String> = self.rows.iter().filter_map(of_row).collect();
        (!waiting.is_empty()).then(|| {
            format!(
                "A writer that is full waits until samples are acknowledged, which is in the mean but not in the median: {}.",
                table.named(waiting, MOST_NAMED)
            )
        })
    }
}

/// Returns all sentences, the answers of all tables first; if there are several tables, each sentence begins with the name of its own.
pub(crate) fn sentences(costs: &[Costs<'_>], table: TablePlace) -> Vec<String> {
    let of_all: Vec<Vec<String>> = costs.iter().map(|costs| costs.words(table)).collect();
    let most = of_all.iter().map(Vec::len).max().unwrap_or(0);
    let several = costs.len() > 1;
    let nth = |index: usize| {
        let named = move |(costs, words): (&Costs<'_>, &Vec<String>)| {
            let words = words.get(index)?;
            let is_named = index == 0 || !several;
            Some(if is_named { words.clone() } else { format!("{}: {words}", costs.title) })
        };
        costs.iter().zip(&of_all).filter_map(named)
    };
    (0..most).flat_map(nth).collect()
}

/// Returns a setting with the share that it lost; with several numbers in flight that lost, the range of their shares. `None` if it lost
/// nothing worth mentioning.
pub(super) fn lost_words(row: &Row<'_>) -> Option<String> {
    let lost: Vec<f64> = row
        .cells
        .iter()
        .map(|cell| cell.shortfall().pct())
        .filter(|pct| *pct > MAX_LATENCY_LOSS_PCT)
        .collect();
    let (low, high) =
        lost.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), pct| (low.min(*pct), high.max(*pct)));
    // What is not all is not shown as all.
    let share = |pct: f64| match format_value(pct) {
        text if text == "100" && pct < 100.0 => "over 99.9".to_owned(),
        text => text,
    };
    let [low, high] = [share(low), share(high)];
    let range = if low == high { high } else { format!("{low} to {high}") };
    (!lost.is_empty()).then(|| format!("{} ({range} %)", row.setting))
}
