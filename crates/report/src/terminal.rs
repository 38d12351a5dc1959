//! Formatting of a result for a terminal or a text file.

use std::fmt::Write as _;

use experiment::{Batching, Workload};
use results::{CellResult, ResultDocument, Run, RunState, State, WarningKind};

use crate::{
    costs, discovery, echoes, endpoints, groups, headroom, hosts, late_join,
    layout::{Grid, columns, wrap},
    legend::legend,
    links, maximum,
    number::{count, date},
    paced, published, ring, search, settings, system,
    tables::{self, LOSSY, SAME_AS_UNBATCHED},
    verdicts,
};

/// Maximum number of printed warnings per kind; the others are counted.
const WARNINGS_OF_A_KIND: usize = 3;

/// Formats a result: for each driver the effective settings and the tables; then the legend and the warnings. `width`: number of
/// columns at which text is wrapped; `None`: 120.
#[must_use]
pub fn terminal(document: &ResultDocument, width: Option<u16>) -> String {
    Page { text: String::new(), width: columns(width) }.write(document)
}

struct Page {
    text: String,
    width: usize,
}

/// Returns the batching of a cell: whether it is turbo, and its ceiling in bytes.
const fn way(cell: &CellResult) -> (bool, u64) {
    (cell.factors.batching.is_turbo(), cell.factors.batch_bytes)
}

impl Page {
    fn write(mut self, document: &ResultDocument) -> String {
        self.head(document);
        for cells in &document.curves() {
            self.group(document, cells);
        }
        if document.cells.is_empty() {
            self.line("No cell was planned.");
        } else {
            self.line("\nHow to read this");
            legend(document).iter().for_each(|paragraph| self.wrapped(paragraph));
        }
        self.costs(document);
        self.text.push_str(&verdicts::section(&document.verdicts, self.width));
        self.findings(document);
        self.failures(document);
        self.warnings(document);
        self.text
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Writes a table below its title.
    fn table(&mut self, title: &str, grid: &Grid) {
        let _ = write!(self.text, "\n{title}\n{}", grid.render());
    }

    fn wrapped(&mut self, text: &str) {
        self.text.push_str(&wrap(text, self.width, 2));
    }

    fn head(&mut self, document: &ResultDocument) {
        let planned = document.planned_runs();
        let made: usize = document.cells.iter().map(|cell| cell.runs.len()).sum();
        let valid: usize = document.cells.iter().map(|cell| cell.valid_runs().count()).sum();
        let state = match document.state {
            State::Complete => "complete",
            State::Interrupted => "INTERRUPTED",
        };
        let tool = &document.tool;
        self.line(&format!(
            "{} {}: {}, {state}: {made} of {planned} runs made, {valid} valid",
            tool.name, tool.version, document.experiment.name
        ));
        let host = document.host();
        let cpu = host.cpu.as_deref().unwrap_or("unknown processor");
        let virtualization =
            host.virtualization.as_deref().map_or_else(String::new, |kind| format!(" ({kind})"));
        self.wrapped(&format!(
            "on {}{virtualization}, {}, {cpu}, kernel {}, {}",
            host.name,
            count(host.cpus as usize, "processor"),
            host.kernel,
            date(host.started_unix_ns)
        ));
        if document.hosts.len() > 1 {
            let facts = hosts::facts(document).into_iter().chain(hosts::differences(document));
            facts.for_each(|fact| self.wrapped(&fact.to_string()));
        }
        self.wrapped(&settings::conditions(&document.experiment, &settings::runs(document)));
        if let Some(fact) = settings::oversubscription(document) {
            self.wrapped(&fact.to_string());
        }
        for note in &document.experiment.notes {
            self.wrapped(&format!("note: {note}"));
        }
    }

    fn group(&mut self, document: &ResultDocument, cells: &[&CellResult]) {
        let title = groups::title(document, cells);
        let _ = writeln!(self.text, "\n{title}\n{}", "=".repeat(title.chars().count().min(self.width)));
        for line in groups::settings(document, cells) {
            self.wrapped(&line);
        }

        let factors = &cells[0].factors;
        let throughput: Vec<&CellResult> = of_workload(cells, Workload::Throughput);
        let unbatched: Vec<&CellResult> =
            throughput.iter().copied().filter(|cell| cell.factors.batch_bytes == 0).collect();
        if !unbatched.is_empty() {
            let rows: Vec<_> = unbatched.iter().map(|cell| (*cell, false)).collect();
            self.throughput("Throughput, unbatched", "", &rows, 0);
        }
        let mut ways: Vec<(bool, u64)> = throughput.iter().map(|cell| way(cell)).collect();
        ways.sort_unstable();
        ways.dedup();
        for way in ways.into_iter().filter(|(_, ceiling)| *ceiling > 0) {
            self.batched(way, &throughput, &unbatched);
        }
        if !throughput.is_empty() {
            // Hosts with an interface of their own have the name in the runs only.
            let mut runs = throughput.iter().flat_map(|cell| cell.valid_runs());
            let interface = runs.find_map(|run| Some(run.wire.as_ref()?.interface.as_str()));
            let title = format!(
                "Write calls, with the flush of a full batch; traffic received on {} by all programs, per sample",
                interface.unwrap_or(&factors.interface)
            );
            self.table(&title, &tables::writing(&throughput));
        }
        let latency = of_workload(cells, Workload::Latency);
        if !latency.is_empty() {
            self.latency(&latency, &settings::interference(document.experiment.design.duet));
        }
        let paced = of_workload(cells, Workload::Paced);
        if !paced.is_empty() {
            self.paced(document, &paced);
        }
        let discoveries = of_workload(cells, Workload::Discovery);
        if !discoveries.is_empty() {
            let title = format!("Discovery; traffic on {} by all programs", factors.interface);
            self.table(&title, &discovery::table(&discoveries));
        }
        self.endpoints(cells);
        let (systems, searches): (Vec<&CellResult>, Vec<&CellResult>) =
            of_workload(cells, Workload::Search).into_iter().partition(|cell| !cell.factors.flows.is_empty());
        if !searches.is_empty() {
            self.table("Highest sustained rate", &search::table(&searches));
        }
        if !systems.is_empty() {
            self.table("Headroom of the system", &headroom::grid(&systems));
            for sentence in headroom::sentences(&systems) {
                self.wrapped(&sentence);
            }
        }
        self.text.push_str(&links::section(cells, self.width));
    }

    /// Writes a table of throughput. `detail` follows its title, and begins with a colon, or is empty.
    fn throughput(&mut self, title: &str, detail: &str, rows: &[(&CellResult, bool)], batch_bytes: u64) {
        self.table(&format!("{title}{detail}"), &tables::throughput(rows));
        let cells: Vec<&CellResult> = rows.iter().map(|(cell, _)| *cell).collect();
        self.text.push_str(&published::beside(title, &cells, batch_bytes));
    }

    fn batched(&mut self, of: (bool, u64), throughput: &[&CellResult], unbatched: &[&CellResult]) {
        let (turbo, ceiling) = of;
        let batched: Vec<&CellResult> = throughput.iter().copied().filter(|cell| way(cell) == of).collect();
        let who = packed_by(batched[0].factors.batching);
        let mut rows: Vec<(&CellResult, bool)> = batched.iter().map(|cell| (*cell, false)).collect();
        // above half of the ceiling, a batch holds one sample
        let measured = |size| batched.iter().any(|cell| cell.factors.size_bytes == size);
        let alone = unbatched.iter().filter(|cell| {
            ceiling / cell.factors.size_bytes.max(1) <= 1 && !measured(cell.factors.size_bytes)
        });
        rows.extend(alone.map(|cell| (*cell, true)));
        let order = |size: u64| unbatched.iter().position(|cell| cell.factors.size_bytes == size);
        rows.sort_by_key(|(cell, _)| order(cell.factors.size_bytes));
        self.throughput(
            if turbo { "Throughput, turbo" } else { "Throughput, batched" },
            &format!(": up to {ceiling} bytes per flush, packed by {who}"),
            &rows,
            ceiling,
        );
        if rows.iter().any(|(_, same)| *same) {
            self.wrapped(&format!(
                "{SAME_AS_UNBATCHED} above half of {ceiling} bytes a batch holds one sample: the row is that of the unbatched cell"
            ));
        }
    }

    fn endpoints(&mut self, cells: &[&CellResult]) {
        let several = endpoints::with_several(cells);
        if !several.is_empty() {
            self.table("Readers and writers: delivered rate of each", &endpoints::endpoints(&several));
            self.wrapped(endpoints::LEGEND);
        }
        let late = late_join::with_late(cells);
        if !late.is_empty() {
            let title = "Late join: what the last reader got, and what its joining cost the others";
            self.table(title, &late_join::late(&late));
            self.text.push('\n');
            self.text.push_str(&late_join::others(&late).render());
            self.wrapped(late_join::LEGEND);
        }
    }

    fn latency(&mut self, cells: &[&CellResult], interference: &str) {
        // The cells of a group have one topology, and one number of samples in flight.
        let in_flight = match cells[0].factors.in_flight {
            None => "one sample in flight".to_owned(),
            Some(several) => format!("{several} samples in flight, which wait for each other"),
        };
        let title = format!("Latency: RTT, the full round trip, {in_flight}{interference}");
        self.table(&title, &tables::latency(cells));
        self.text.push_str(&published::beside("Latency", cells, 0));
        if cells.iter().any(|cell| cell.shortfall().pct() > results::MAX_LATENCY_LOSS_PCT) {
            self.wrapped(&format!(
                "{LOSSY} over {} % of the pings were lost: the values are those of the returned ones, and no verdict on \
                 latency uses them",
                results::MAX_LATENCY_LOSS_PCT
            ));
        }
        if let Some(nodes) = ring::nodes(cells[0]) {
            let per = if cells[0].factors.is_pipelined() { "sample and hop" } else { "hop" };
            self.table(&format!("Ring of {nodes} nodes: time per {per}{interference}"), &ring::table(cells));
            return;
        }
        let title = format!(
            "Latency by direction: one-way times (one host, one clock) and RTT, lost pings, CPU{interference}"
        );
        self.table(&title, &tables::directions(cells));
        let several: Vec<&CellResult> =
            cells.iter().copied().filter(|cell| !echoes::endpoints(cell).is_empty()).collect();
        if !several.is_empty() {
            let title = format!(
                "Echoes of each reader, and the last echo of each ping: RTT, medians over the runs{interference}"
            );
            self.table(&title, &echoes::round_trips(&several));
        }
    }

    fn paced(&mut self, document: &ResultDocument, cells: &[&CellResult]) {
        let systems: Vec<&CellResult> =
            cells.iter().copied().filter(|cell| system::is_system(cell)).collect();
        if !systems.is_empty() {
            self.table("Topics: deadlines, and the samples that missed them", &system::grid(&systems));
            for (outcome, _) in system::outcomes(&systems) {
                self.wrapped(&outcome);
            }
        }
        self.table("Load: planned, accepted and delivered samples", &paced::rates(cells));
        if let Some(batched) = cells.iter().find(|cell| cell.factors.batch_bytes > 0) {
            self.wrapped(&format!("Batches are packed by {}.", packed_by(batched.factors.batching)));
        }
        for line in maximum::lines(&document.max_rates, cells) {
            self.wrapped(&line);
        }
        let title = "Latency under load: one-way times of samples with planned send times";
        self.table(title, &paced::times(cells));
        self.table("Under load: CPU, batches, groups, and round trips of echo probes", &paced::costs(cells));
    }

    fn findings(&mut self, document: &ResultDocument) {
        if !document.findings.is_empty() {
            self.line("\nFindings: descriptions of these runs. No claim is made about other runs.");
        }
        for finding in &document.findings {
            self.wrapped(&finding.text);
        }
    }

    fn costs(&mut self, document: &ResultDocument) {
        for costs in costs::costs(document) {
            let _ = writeln!(
                self.text,
                "\nCost of each setting: {}; changes from the baseline, largest first",
                costs.title
            );
            costs.words(costs::TablePlace::Below).iter().for_each(|words| self.wrapped(words));
            self.text.push('\n');
            self.text.push_str(&costs.table().render());
            self.wrapped(costs::LEGEND);
            for (title, table) in costs.beside_published() {
                self.table(&title, &table);
                self.wrapped(costs::BESIDE_PUBLISHED);
            }
            if let Some((words, table)) = costs.over_bases() {
                self.text.push('\n');
                self.wrapped(&words);
                self.text.push('\n');
                self.text.push_str(&table.render());
            }
        }
    }

    fn failures(&mut self, document: &ResultDocument) {
        let all = document.cells.iter().flat_map(|cell| &cell.runs);
        let bad: Vec<&Run> = all.filter(|run| run.state != RunState::Valid).collect();
        if !bad.is_empty() {
            self.line("\nRuns without values");
        }
        let why = |run: &Run| why_bad(document, run);
        // runs of the same cell with the same reason are combined
        for same in bad.chunk_by(|left, right| left.cell == right.cell && why(left) == why(right)) {
            let numbers: Vec<String> = same.iter().map(|run| run.number.to_string()).collect();
            let plural = if numbers.len() == 1 { "" } else { "s" };
            self.wrapped(&format!(
                "run{plural} {} of {}: {}",
                numbers.join(", "),
                same[0].cell,
                why(same[0])
            ));
            let Some(failure) = &same[0].failure else { continue };
            if let Some(hint) = &failure.hint {
                self.text.push_str(&wrap(&format!("hint: {hint}"), self.width, 4));
            }
            for words in &failure.last_log_lines {
                self.line(format!("    | {words}").trim_end());
            }
        }
    }

    fn warnings(&mut self, document: &ResultDocument) {
        let of_cells = document.cells.iter().flat_map(|cell| {
            cell.warnings.iter().map(move |warning| (warning.kind, format!("{}: {warning}", cell.id)))
        });
        let of_all = document.warnings.iter().map(|warning| (warning.kind, warning.to_string()));
        let mut all: Vec<(WarningKind, String)> = of_all.chain(of_cells).collect();
        // these are listed run by run
        all.retain(|(kind, _)| !matches!(kind, WarningKind::RunsFailed | WarningKind::RunsInvalid));
        if all.is_empty() {
            return;
        }
        all.sort_by_key(|(kind, _)| *kind);
        self.line("\nWarnings");
        for same in all.chunk_by(|left, right| left.0 == right.0) {
            for (_, text) in same.iter().take(WARNINGS_OF_A_KIND) {
                self.wrapped(text);
            }
            if same.len() > WARNINGS_OF_A_KIND {
                let more = count(same.len() - WARNINGS_OF_A_KIND, "more warning");
                self.wrapped(&format!("... and {more} of this kind: `--json` has all"));
            }
        }
    }
}

/// Returns who batches samples.
const fn packed_by(batching: Batching) -> &'static str {
    match batching {
        Batching::Native | Batching::TurboNative => "the middleware",
        Batching::Application | Batching::TurboApplication => "the driver, not by the middleware",
        Batching::None => "no layer",
    }
}

fn why_bad(document: &ResultDocument, run: &Run) -> String {
    if let Some(failure) = &run.failure {
        let whose = hosts::of_endpoint(document, run);
        return format!("failed in phase `{}`{whose}: {}", failure.phase, failure.error);
    }
    let what = match run.state {
        RunState::Failed => "failed",
        _ => "left out, because its values contradict each other",
    };
    let why: Vec<&str> = run.warnings.iter().map(|warning| warning.text.as_str()).collect();
    format!("{what}: {}", if why.is_empty() { "no reason recorded".to_owned() } else { why.join("; ") })
}

fn of_workload<'c>(cells: &[&'c CellResult], workload: Workload) -> Vec<&'c CellResult> {
    cells.iter().copied().filter(|cell| cell.factors.workload == workload).collect()
}
