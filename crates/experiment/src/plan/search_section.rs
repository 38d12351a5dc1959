//! Table `[search]` of an experiment file.

use serde::{Deserialize, Serialize};

use crate::{
    factors::{flow::Flow, scale::Scale},
    plan::{
        design::WARM_UP_NS,
        run_overhead::run_overhead_ns,
        search::{GoalKind, ScaleRange, Search, SearchGoal},
    },
    syntax::{
        one_or_many::{Located, OneOrMany},
        spanned_error::{PlanError, SpannedError, all_distinct, contradiction},
        units::{Percent, Time},
    },
};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const MINUTE: u64 = 60 * SECOND;
/// Duration of full-length trials, if the file gives no time.
const FINAL_TRIAL_NS: u64 = 5 * SECOND;
/// Number of periods of the slowest judged flow in a full-length trial of a system, and the shortest and longest such trial, if nothing is
/// requested.
const SYSTEM_TRIAL_PERIODS: f64 = 10.0;
const SYSTEM_TRIALS_NS: (u64, u64) = (FINAL_TRIAL_NS, 30 * SECOND);
/// Shortest initial trials, unless requested.
const LEAST_INITIAL_NS: u64 = 100 * MS;
/// Relative width of the goals of one flow, and of a system, in percent.
const WIDTHS_PCT: [f64; 2] = [1.0, 5.0];
/// Range of the scale of a system.
const SCALES: [f64; 2] = [0.01, 100.0];

/// Goals and precision of a search. The values apply to every goal unless they name one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchSection {
    /// Goals, one or several: `ndr` (non-drop rate), `pdr` (partial drop rate), `slo` (samples that meet a
    /// deadline). Default `ndr` and `pdr`. With `[[flows]]` only `system`: each flow within its limit of `missed` samples.
    pub goals: Option<OneOrMany<GoalKind>>,
    /// Maximum time from the intended send time of a sample to its arrival, 1 µs to 1 hour. Goal `slo` only, which
    /// needs it.
    pub deadline: Option<Located<Time>>,
    /// Whether trials are as long as in RFC 2544: one trial of `60s` judges a rate, and none may be bad. Default
    /// `false`.
    pub strict: Option<Located<bool>>,
    /// Maximum distance of the two bounds, relative to the upper one; at least `0.01%`, and at least the ratio of
    /// each goal. Default `1%`; with `[[flows]]` `5%`.
    pub width: Option<Located<Percent>>,
    /// Maximum share of lost samples in a good trial, less than `100%`. Goal `pdr` only. Default `0.5%`.
    pub loss_ratio: Option<Located<Percent>>,
    /// Maximum share of samples that miss the deadline in a good trial, less than `100%`. Goal `slo` only. Default
    /// `0.1%`.
    pub late_ratio: Option<Located<Percent>>,
    /// Maximum share of bad trials at a sustained rate, by duration, less than `100%`. Default `50%`; with `strict`
    /// `0%`.
    pub exceed_ratio: Option<Located<Percent>>,
    /// Duration of the first, coarse trials, 20 ms to 1 hour. Default: a fifth of `final_trial`, `100ms` to `1s`.
    pub initial_trial: Option<Located<Time>>,
    /// Duration of full-length trials, 20 ms to 1 hour. Default: `measure` of `[design]`, or `5s`; with `strict` `60s`. Of a system that
    /// `ddsmark search` searches, and without `measure`, 10 periods of the slowest judged flow, `5s` to `30s`, and at most `measure`.
    pub final_trial: Option<Located<Time>>,
    /// Sum of full-length trials that is enough to judge a rate, 20 ms to 10 hours, at least `final_trial`.
    /// Default: three times `final_trial`; with `strict` once.
    pub duration_sum: Option<Located<Time>>,
    /// Maximum duration of one search, 1 s to 24 hours. A goal whose bounds are not found by then is reported with those so far.
    /// Default: five quarters of the duration that the plan estimates, 39 s with `final_trial = "1s"`; with `[[flows]]` twice of it.
    pub budget: Option<Located<Time>>,
    /// Lowest scale that may be tried, 0.001 to 1000. With `[[flows]]` only. Default 0.01.
    pub lowest_scale: Option<Located<Scale>>,
    /// Highest scale that may be tried, 0.001 to 1000. With `[[flows]]` only. Default 100.
    pub highest_scale: Option<Located<Scale>>,
}

impl Default for Search {
    fn default() -> Self {
        SearchSection::default().plan(None, WARM_UP_NS, &[]).expect("without values nothing can be wrong")
    }
}

/// Returns the judged flow with the longest period, and this period in ns.
fn slowest(flows: &[Flow]) -> Option<(&Flow, f64)> {
    let judged = flows.iter().filter(|flow| !flow.background);
    let periods = judged.filter_map(|flow| Some((flow, flow.load.mean_period_ns()?)));
    periods.max_by(|left, right| left.1.total_cmp(&right.1))
}

/// Returns the duration of full-length trials of a system if nothing is requested, in ns: some periods of its slowest flow.
pub(crate) fn usual_system_trial_ns(flows: &[Flow]) -> u64 {
    let (shortest_ns, longest_ns) = SYSTEM_TRIALS_NS;
    let periods_ns = slowest(flows).map_or(0.0, |(_, period_ns)| SYSTEM_TRIAL_PERIODS * period_ns);
    (periods_ns as u64).clamp(shortest_ns, longest_ns)
}

impl SearchSection {
    /// Validates the search and resolves its defaults. `measure_ns` is the measured time of a run, if the file gives one;
    /// `warm_up_ns` is the warm-up of each trial; `flows` are those whose scale is searched for.
    pub(crate) fn plan(
        &self,
        measure_ns: Option<u64>,
        warm_up_ns: u64,
        flows: &[Flow],
    ) -> Result<Search, SpannedError> {
        let strict = self.strict.as_ref().is_some_and(|strict| *strict.get());
        let ns = |time: &Option<Located<Time>>, default| time.as_ref().map_or(default, |time| time.get().0);
        let final_trial_ns =
            ns(&self.final_trial, if strict { MINUTE } else { measure_ns.unwrap_or(FINAL_TRIAL_NS) });
        let initial_trial_ns =
            ns(&self.initial_trial, (final_trial_ns / 5).clamp(LEAST_INITIAL_NS, SECOND).min(final_trial_ns));
        let sum_ns = final_trial_ns.saturating_mul(if strict { 1 } else { 3 });
        let duration_sum_ns = ns(&self.duration_sum, sum_ns);
        for (what, time, range, least, most) in [
            ("a final trial", &self.final_trial, "20 ms to 1 hour", 20 * MS, 60 * MINUTE),
            ("an initial trial", &self.initial_trial, "20 ms to 1 hour", 20 * MS, 60 * MINUTE),
            ("a duration sum", &self.duration_sum, "20 ms to 10 hours", 20 * MS, 600 * MINUTE),
            ("the budget of a search", &self.budget, "1 s to 24 hours", SECOND, 1440 * MINUTE),
            ("the deadline", &self.deadline, "1 µs to 1 hour", 1_000, 60 * MINUTE),
        ] {
            if let Some(time) = time.as_ref().filter(|time| !(least..=most).contains(&time.get().0)) {
                return Err(PlanError::time(what, time.get().0, range).at(time.span()));
            }
        }
        let wrong = |words: String, hint, at| contradiction(words, hint).at(at);
        let place = |time: &Option<Located<Time>>| time.as_ref().map_or(0..0, Located::span);
        if initial_trial_ns > final_trial_ns {
            let words = format!("initial trials of {} are longer than final ones", Time(initial_trial_ns));
            let hint = "decrease `initial_trial`, or increase `final_trial`";
            return Err(wrong(words, hint, place(&self.initial_trial)));
        }
        if duration_sum_ns < final_trial_ns {
            let words = format!("a duration sum of {} is shorter than a final trial", Time(duration_sum_ns));
            let hint = "increase `duration_sum`, or decrease `final_trial`";
            return Err(wrong(words, hint, place(&self.duration_sum)));
        }
        let is_system = !flows.is_empty();
        let default: &[GoalKind] =
            if is_system { &[GoalKind::System] } else { &[GoalKind::Ndr, GoalKind::Pdr] };
        let aims = self.goals.clone().unwrap_or_else(|| OneOrMany::unwritten(default.iter().copied()));
        all_distinct("goal", &aims)?;
        if let Some(aim) = aims.0.iter().find(|aim| is_system != (*aim.get() == GoalKind::System)) {
            let (words, hint) = match is_system {
                true => {
                    ("is of one flow, and each of `[[flows]]` has its own limit", "use the goal `system`")
                }
                false => ("is of `[[flows]]`", "use `ndr`, `pdr` or `slo`, or add `[[flows]]`"),
            };
            return Err(wrong(format!("the goal `{}` {words}", aim.get()), hint, aim.span()));
        }
        if aims.0.is_empty() {
            return Err(PlanError::nothing("goals").at(0..0));
        }
        let goals = aims.0.iter().map(|aim| {
            let ratio = self.loss_ratio(aim)?;
            let exceed_ratio = self.share(&self.exceed_ratio, if strict { 0.0 } else { 50.0 })?;
            let width = self.share(&self.width, WIDTHS_PCT[usize::from(is_system)])?;
            let at = || self.width.as_ref().map_or(0..0, Located::span);
            if width < 1e-4 {
                let words = "a width of less than 0.01% cannot be reached".to_owned();
                return Err(wrong(words, "give `width` more", at()));
            }
            if width < ratio {
                let words =
                    format!("the width is narrower than the share of losses that `{}` allows", aim.get());
                let hint = "choose a `width` of at least that share";
                return Err(wrong(words, hint, at()));
            }
            let deadline_ns = self.deadline.as_ref().filter(|_| *aim.get() == GoalKind::Slo);
            Ok(SearchGoal {
                aim: *aim.get(),
                deadline_ns: deadline_ns.map(|deadline| deadline.get().0),
                final_trial_ns,
                duration_sum_ns,
                initial_trial_ns,
                loss_ratio: ratio,
                exceed_ratio,
                width,
            })
        });
        let goals: Vec<SearchGoal> = goals.collect::<Result<_, SpannedError>>()?;
        self.stray(&goals)?;
        let scales = self.scales(flows, final_trial_ns)?;
        let mut search = Search { goals, budget_ns: u64::MAX, scales };
        search.budget_ns = ns(&self.budget, search.usual_budget_ns(warm_up_ns, run_overhead_ns(flows)));
        Ok(search)
    }

    /// Returns the maximum violation ratio of a goal.
    fn loss_ratio(&self, aim: &Located<GoalKind>) -> Result<f64, SpannedError> {
        match aim.get() {
            GoalKind::Ndr | GoalKind::System => Ok(0.0),
            GoalKind::Pdr => self.share(&self.loss_ratio, 0.5),
            GoalKind::Slo if self.deadline.is_none() => {
                let words = "the goal `slo` needs a deadline";
                aim.refused(words, "add for example `deadline = \"1ms\"` under `[search]`")
            }
            GoalKind::Slo => self.share(&self.late_ratio, 0.1),
        }
    }

    /// Returns the scales that may be tried; `None` without flows. The lowest one is raised until each flow that is judged
    /// has a sample in a full-length trial.
    fn scales(&self, flows: &[Flow], final_trial_ns: u64) -> Result<Option<ScaleRange>, SpannedError> {
        let written = [("lowest_scale", &self.lowest_scale), ("highest_scale", &self.highest_scale)];
        let refused = |words, hint, at: &Option<Located<Scale>>| {
            let at = at.as_ref().map_or(0..0, Located::span);
            Err(contradiction(words, hint).at(at))
        };
        if flows.is_empty() {
            return match written.iter().find(|(_, scale)| scale.is_some()) {
                Some((name, at)) => {
                    let words = format!("`{name}` has no effect without `[[flows]]`");
                    refused(words, "add `[[flows]]`, or remove this", at)
                }
                None => Ok(None),
            };
        }
        let scale = |index: usize| {
            written[index].1.as_ref().map_or_else(|| Scale::nearest(SCALES[index]), |scale| *scale.get())
        };
        let (lowest, highest) = (scale(0), scale(1));
        if lowest >= highest {
            let words = format!("the lowest scale, {lowest}, is not below the highest one, {highest}");
            let at = if self.lowest_scale.is_some() { &self.lowest_scale } else { &self.highest_scale };
            return refused(words, "decrease `lowest_scale`, or increase `highest_scale`", at);
        }
        let Some((slowest, period_ns)) = slowest(flows) else {
            return Ok(Some(ScaleRange { lowest, highest }));
        };
        let least = Scale::nearest(period_ns / final_trial_ns as f64 * 1.000_001);
        if least > Scale::ONE.min(highest) {
            let words = format!(
                "flow `{}` has a sample every {}, and a trial takes {}: it may have none",
                slowest.name,
                Time(period_ns as u64),
                Time(final_trial_ns)
            );
            let hint =
                "increase `measure` of `[design]` or `final_trial` of `[search]`, or make it background";
            let at = self.final_trial.as_ref().map_or(0..0, Located::span);
            return Err(contradiction(words, hint).at(at));
        }
        Ok(Some(ScaleRange { lowest: lowest.max(least), highest }))
    }

    fn share(&self, percent: &Option<Located<Percent>>, default: f64) -> Result<f64, SpannedError> {
        let value = percent.as_ref().map_or(default, |percent| percent.get().0);
        match percent {
            Some(percent) if value >= 100.0 => {
                let words = format!("a share of {} is out of range", percent.get());
                percent.refused(words, "choose less than 100%")
            }
            _ => Ok(value / 100.0),
        }
    }

    /// Rejects values of a goal that is not searched for.
    fn stray(&self, goals: &[SearchGoal]) -> Result<(), SpannedError> {
        let has = |aim| goals.iter().any(|goal| goal.aim == aim);
        let place = |share: &Option<Located<Percent>>| share.as_ref().map(Located::span);
        for (at, name, aim) in [
            (self.deadline.as_ref().map(Located::span), "deadline", GoalKind::Slo),
            (place(&self.late_ratio), "late_ratio", GoalKind::Slo),
            (place(&self.loss_ratio), "loss_ratio", GoalKind::Pdr),
        ] {
            if let Some(at) = at.filter(|_| !has(aim)) {
                let words = format!("`{name}` has no effect without the goal `{aim}`");
                return Err(contradiction(words, "add the goal to `goals`, or remove this").at(at));
            }
        }
        Ok(())
    }
}
