//! Words of the conclusions of verdicts, with their numbers: the source of texts, tables and charts.

use stats::{Rules, format_value};

use super::{format_signed, shown_effect};
use crate::schema::{Conclusion, EffectEstimate, Pairing, ReferenceChange, Verdict};

/// Words of the conclusion of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConclusionWords {
    /// Conclusion, as in `4.31 % lower`, `equivalent within 2 %`, `inconclusive`, `too few blocks` or `no verdict`.
    pub conclusion: String,
    /// Supplement of the conclusion, as in `could have seen 3 %`, or the reason why there is none. May be empty.
    pub detail: String,
    /// Interval of the change, as in `95 % -1.20..+3.40`. Empty without one.
    pub interval: String,
    /// Number of blocks, duets or runs, as in `12 blocks`.
    pub basis: String,
}

impl ConclusionWords {
    /// Returns interval and basis in brackets.
    #[must_use]
    pub fn brackets(&self) -> String {
        match self.interval.as_str() {
            "" => format!("({})", self.basis),
            interval => format!("({interval}, {})", self.basis),
        }
    }
}

impl Verdict {
    /// Returns the words of the conclusion over all blocks.
    #[must_use]
    pub fn words(&self) -> ConclusionWords {
        match (&self.answer, &self.withheld) {
            (Some(answer), None) => self.words_of(answer),
            (_, why) => ConclusionWords {
                conclusion: "no verdict".to_owned(),
                detail: why.clone().unwrap_or_default(),
                interval: String::new(),
                basis: self.basis(0),
            },
        }
    }

    /// Returns metric and conclusion over all blocks as a clause.
    #[must_use]
    pub fn headline(&self) -> String {
        let name = self.metric_name();
        match (&self.answer, &self.withheld) {
            (_, Some(why)) => format!("{name}: no verdict: {why}"),
            (Some(answer), None) => format!("{name} {}", self.clause(answer)),
            (None, None) => format!("{name}: no verdict"),
        }
    }

    /// Returns the conclusion of one of the estimates of this verdict as a clause, without the name of the metric.
    #[must_use]
    pub fn clause(&self, answer: &EffectEstimate) -> String {
        let words = self.words_of(answer);
        let ConclusionWords { conclusion, detail, .. } = &words;
        let brackets = words.brackets();
        match &answer.conclusion {
            Conclusion::TooFew { .. } => format!("has {conclusion} for any claim: {detail}"),
            _ if detail.is_empty() => format!("{conclusion} {brackets}"),
            Conclusion::Inconclusive { .. } => format!("{conclusion}: {detail} {brackets}"),
            _ => format!("{conclusion}, {detail} {brackets}"),
        }
    }

    /// Formats a number of blocks, duets or runs of the comparison.
    #[must_use]
    pub fn basis(&self, n: usize) -> String {
        match self.pairing {
            Pairing::Blocks if n == 1 => "1 block".to_owned(),
            Pairing::Blocks => format!("{n} blocks"),
            Pairing::Duets if n == 1 => "1 duet".to_owned(),
            Pairing::Duets => format!("{n} duets"),
            Pairing::Apart => format!("{} and {} runs", self.baseline.runs, self.treatment.runs),
        }
    }

    fn words_of(&self, answer: &EffectEstimate) -> ConclusionWords {
        let basis = self.basis(answer.n as usize);
        let interval = |signed: bool, turned: bool| match (answer.low_pct, answer.high_pct) {
            (Some(low), Some(high)) => {
                let (low, high) = if turned { (-high, -low) } else { (low, high) };
                let shown = if signed { format_signed } else { format_value };
                format!("95 % {}..{}", shown(low), shown(high))
            }
            _ => String::new(),
        };
        let change = answer.change_pct.unwrap_or_default();
        // A run in which nothing arrived counts as half a sample: its change in percent depends on how many samples a run has.
        let arrived = self.arrived_pct().map(|(of, other)| {
            (
                of == 0.0 || other == 0.0,
                format!("{} % instead of {} %", format_value(of), format_value(other)),
            )
        });
        if let (Conclusion::Higher { .. } | Conclusion::Lower { .. }, Some((true, conclusion))) =
            (&answer.conclusion, &arrived)
        {
            let (detail, interval) = (String::new(), String::new());
            return ConclusionWords { conclusion: conclusion.clone(), detail, interval, basis };
        }
        let arrived = arrived.map(|(_, words)| words);
        let equivalent = |within: bool| {
            let margin = 100.0 * Rules::DEFAULT.margin;
            let equivalent = within.then(|| format!("equivalent within {margin} %"));
            arrived.iter().cloned().chain(equivalent).collect::<Vec<_>>().join(", ")
        };
        let (conclusion, detail, interval) = match &answer.conclusion {
            Conclusion::Higher { within_margin, .. } => {
                let conclusion = format!("{} % higher", format_value(change));
                (conclusion, equivalent(*within_margin), interval(false, false))
            }
            Conclusion::Lower { within_margin, .. } => {
                let conclusion = format!("{} % lower", format_value(-change));
                (conclusion, equivalent(*within_margin), interval(false, true))
            }
            Conclusion::Equivalent { margin_pct } => {
                (format!("equivalent within {margin_pct} %"), String::new(), interval(true, false))
            }
            Conclusion::Inconclusive { could_have_seen_pct } => {
                let seen = could_have_seen_pct.map(|seen| match shown_effect(seen) {
                    Some(effect) => format!("could have seen {effect}"),
                    None => "could not have seen even a difference of 10x".to_owned(),
                });
                let host = self.host_explains.then(|| self.host_words(change));
                ("inconclusive".to_owned(), host.or(seen).unwrap_or_default(), interval(true, false))
            }
            Conclusion::TooFew { needs } => {
                let (what, detail) = match self.pairing {
                    Pairing::Blocks => ("blocks", format!("{}, needs {needs}", answer.n)),
                    Pairing::Duets => ("duets", format!("{}, needs {needs}", answer.n)),
                    Pairing::Apart => ("runs", format!("{basis}, needs {needs} on each side")),
                };
                (format!("too few {what}"), detail, String::new())
            }
        };
        ConclusionWords { conclusion, detail, interval, basis }
    }

    /// Formats the change of the host that may explain a difference.
    fn host_words(&self, change: f64) -> String {
        if self.lacks_quiet_blocks() {
            let change = format_signed(change);
            return format!(
                "interruptions of the host may explain {change} %, and too few blocks were quiet"
            );
        }
        let size = |host: &&ReferenceChange| (host.treatment / host.baseline).ln().abs();
        let host = self.references.iter().max_by(|one, other| size(one).total_cmp(&size(other)));
        format!(
            "the host changed by {} %, which may explain {} %",
            format_signed(host.map_or(0.0, |host| host.change_pct)),
            format_signed(change)
        )
    }
}
