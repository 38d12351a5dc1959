//! Sentences on the costs of settings.

use results::{Conclusion, format_value};
use stats::{correlation, median};

use super::{Costs, Row, signed};
use crate::number::count;

/// Maximum number of settings that a sentence names.
const MOST_NAMED: usize = 6;

impl Costs<'_> {
    /// Returns the answer: the settings that matter, the smallest effect that would have been seen, and settings without a time.
    pub(crate) fn words(&self) -> Vec<String> {
        let compared = self.rows.iter().filter(|row| !row.is_baseline());
        // Settings that lose samples have no time; they are named at the end.
        let (compared, without_time): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
            compared.partition(|row| self.columns.iter().any(|column| row.answer(*column).is_some()));
        let matters = |row: &&&Row<'_>| self.columns.iter().any(|column| row.claim(*column).is_some());
        let mut few: Vec<&&Row<'_>> = compared.iter().filter(matters).collect();
        let size = |row: &Row<'_>| {
            let claims = self.columns.iter().filter_map(|column| row.claim(*column));
            claims.map(f64::abs).fold(0.0, f64::max)
        };
        few.sort_by(|left, right| size(right).total_cmp(&size(left)));
        let named = few.iter().take(MOST_NAMED).map(|row| {
            let claims = self
                .columns
                .iter()
                .filter_map(|column| Some(format!("{} {}", self.name(*column), signed(row.claim(*column)?))));
            format!("{} ({})", row.setting, claims.collect::<Vec<_>>().join(", "))
        });
        let named: Vec<String> = named.collect();
        let more = few.len().saturating_sub(named.len());
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let (title, settings) = (&self.title, count(compared.len(), "setting"));
        let mut words = vec![match (self.lacking_blocks(&compared), named.is_empty()) {
            (Some(needs), _) => {
                format!("{title}: too few blocks to show what {settings} cost: at least {needs} are needed.")
            }
            (None, true) => format!("{title}: none of {settings} is shown to matter."),
            (None, false) => {
                format!(
                    "{title}: {} of {settings} are shown to matter: {}{more}.",
                    few.len(),
                    named.join(", ")
                )
            }
        }];
        let seen: Vec<String> = self
            .columns
            .iter()
            .filter_map(|column| {
                let could: Vec<f64> =
                    compared.iter().filter_map(|row| row.could_have_seen(*column)).collect();
                Some(format!("{} % of the {}", format_value(median(&could)?), self.name(*column)))
            })
            .collect();
        if !seen.is_empty() {
            words.push(format!(
                "Typical smallest effect that the others would have shown (80 % power): {}.",
                seen.join(", ")
            ));
        }
        let lost = without_time.iter().flat_map(|row| row.cells.iter());
        let lost: Vec<String> = lost
            .map(|cell| {
                let setting = cell.factors.profile.as_deref().unwrap_or_default();
                format!("{setting} ({} % lost)", format_value(cell.shortfall().pct()))
            })
            .collect();
        if !lost.is_empty() {
            words.push(format!("No time, because samples did not arrive: {}.", lost.join(", ")));
        }
        words.extend(self.repeatability());
        words
    }

    /// Returns the number of blocks that claims need, if no setting has as many.
    fn lacking_blocks(&self, compared: &[&Row<'_>]) -> Option<u32> {
        let answers =
            self.columns.iter().flat_map(|column| compared.iter().filter_map(|row| row.answer(*column)));
        let needs = answers.map(|answer| match answer.conclusion {
            Conclusion::TooFew { needs } => Some(needs),
            _ => None,
        });
        needs.collect::<Option<Vec<u32>>>()?.into_iter().max()
    }

    /// Returns how well the averages of odd and of even blocks agree over the settings.
    fn repeatability(&self) -> Option<String> {
        let pairs: Vec<(f64, f64)> =
            self.rows.iter().filter_map(|row| Some((self.average(row, 1)?, self.average(row, 0)?))).collect();
        let r = correlation(&pairs)?;
        Some(format!(
            "Averages of odd and of even blocks correlate over {} with r = {r:.2}.",
            count(pairs.len(), "setting")
        ))
    }
}
