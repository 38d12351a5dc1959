//! Progress of an experiment on stderr: lines, and on a terminal a bar with the remaining time or the values so far.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use experiment::{Cell, Design, Plan};
use indicatif::{ProgressBar, ProgressStyle};
use report::{Live, LiveProgress, escaped};
use results::{Block, BlockAllocation, Failure, MaxRate, MaxRateRun, Run, RunState};
use runner::{Observer, Progress};

use super::output::{is_live, is_quiet, note, stderr_size};

/// Progress display.
pub struct ProgressDisplay {
    design: Design,
    is_terminal: bool,
    /// Values so far; `None` if they are not shown.
    live: Option<Live>,
    /// Progress bar; present on a terminal once the first run has started. Drawn only between runs, to leave them
    /// undisturbed.
    bar: Option<ProgressBar>,
}

impl ProgressDisplay {
    /// Creates the display for stderr.
    pub fn new(plan: &Plan) -> Self {
        let is_terminal = io::stderr().is_terminal() && !is_quiet();
        if is_live() && !is_terminal {
            note("note: `--live` needs a terminal on stderr; each run prints a line instead");
        }
        let live = (is_live() && is_terminal).then(|| Live::new(plan));
        Self { design: plan.design.clone(), is_terminal, live, bar: None }
    }

    /// Takes what a result already contains, before it is resumed.
    pub fn resume<'r>(&mut self, runs: impl Iterator<Item = (&'r Run, &'r Cell)>, blocks: &[Block]) {
        let Some(live) = &mut self.live else { return };
        runs.for_each(|(run, cell)| live.run_finished(run, cell));
        blocks.iter().filter(|block| block.complete).for_each(|block| live.block_finished(block));
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(escaped(text)),
            None => note(text),
        }
    }

    fn show(&mut self, progress: &Progress, message: &str) {
        let message = escaped(message).into_owned();
        let position = u64::from(progress.finished);
        match &self.bar {
            Some(bar) => {
                bar.set_position(position);
                bar.set_message(message);
            }
            None if self.is_terminal => {
                let template = match self.live {
                    Some(_) => "{msg}\n[{bar:24}] {pos}/{len} runs",
                    None => "[{bar:24}] {pos}/{len} runs, {msg}",
                };
                let style = ProgressStyle::with_template(template)
                    .expect("the template is valid")
                    .progress_chars("=> ");
                let bar = ProgressBar::new(u64::from(progress.total)).with_message(message);
                let bar = bar.with_position(position).with_style(style);
                bar.tick();
                self.bar = Some(bar);
            }
            None => {}
        }
    }
}

impl Observer for ProgressDisplay {
    fn run_started(&mut self, progress: &Progress, cell: &Cell) {
        let left = rough(progress.left);
        let message = match &self.live {
            None => format!("{left} left: {}", cell.id),
            Some(live) => {
                let (width, height) = stderr_size();
                // The bar has a line of its own, and the cursor another one.
                live.text(LiveProgress {
                    cell: &cell.id,
                    left: &left,
                    lines: height.saturating_sub(2),
                    width,
                })
            }
        };
        self.show(progress, &message);
    }

    fn trial_finished(&mut self, run: &Run, _: &Cell, at_most: Duration) {
        self.line(&report::trial_line(run, at_most));
    }

    fn run_finished(&mut self, progress: &Progress, run: &Run, cell: &Cell) {
        let (done, total) = (progress.finished as usize, progress.total as usize);
        if let Some(live) = &mut self.live {
            live.run_finished(run, cell);
        }
        if self.live.is_none() || run.state != RunState::Valid {
            self.line(&report::run_line(run, &cell.factors, &self.design, done, total));
        }
        if let Some(failure) = run.failure.as_ref().or(run.exit_failure.as_ref()) {
            self.explain(failure);
        }
    }

    fn maximum_measured(&mut self, maximum: &MaxRate, run: &MaxRateRun, done: usize, total: usize) {
        self.line(&report::maximum_line(maximum, run, done, total));
        if let Some(failure) = &run.failure {
            self.explain(failure);
        }
        if maximum.failure().is_some() {
            let cells = maximum.cells.join(", ");
            self.line(&format!("note: 100 % is unknown, so these cells are not measured: {cells}"));
        }
    }

    fn allocated(&mut self, allocation: &BlockAllocation) {
        self.line(&format!("note: {}", report::allocation_words(allocation)));
    }

    fn block_finished(&mut self, block: &Block) {
        if let Some(live) = &mut self.live {
            live.block_finished(block);
        }
    }

    fn repeating(&mut self, block: &Block) {
        self.line(&format!(
            "note: block {} was noisy and is repeated: {}",
            block.number,
            block.reasons.join("; ")
        ));
    }

    fn given_up(&mut self, _: &Progress, driver: &str, failure: &Failure) {
        self.line(&format!(
            "note: driver `{driver}` was given up: its first runs all failed in phase `{}`",
            failure.phase
        ));
    }
}

impl ProgressDisplay {
    /// Prints the agent's last log lines and the hint of a failure.
    fn explain(&self, failure: &Failure) {
        for words in &failure.last_log_lines {
            self.line(&format!("  | {words}"));
        }
        if let Some(hint) = &failure.hint {
            self.line(&format!("hint: {hint}"));
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Formats a time with at most two units.
fn rough(time: Duration) -> String {
    match time.as_secs() {
        0..=59 => format!("{} s", time.as_secs().max(1)),
        seconds @ 60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_times_are_rounded() {
        let texts = [0, 59, 60, 3599, 3600, 7265].map(|seconds| rough(Duration::from_secs(seconds)));
        assert_eq!(texts, ["1 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "2 h 1 min"]);
    }
}
