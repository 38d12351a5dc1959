//! Guest: serves its agent to the leader, and prints the rows of a subscriber.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use control::{Progress, Reply, Request};
use host::SiteError;
use perftest::{Banner, Role, Settings, Step, ThroughputInterval, banner};
use remote_hosts::{GuestObserver, GuestSite, GuestTerms, StewardEnd, framing::MAX_FRAME_BYTES, serve};
use rendezvous::streams::{Session, SessionEnd, SessionOptions};

use super::{
    NOT_VALID, Process, in_options, invalid,
    meeting::{self, Offered},
    missed_rates::MissedRate,
    note_event, outcome,
    printer::Printer,
    rates::PublisherRate,
    rows::{self, Lengths},
};
use crate::cli::{
    cli_error::{CliError, ExitStatus, Result},
    output::note,
};

/// Maximum time from the end of the stream of the leader to its goodbye, or to the end of its silence.
const END_LIMIT: Duration = Duration::from_secs(12);
/// Interval in which a wait looks for a stop request.
const LOOK: Duration = Duration::from_millis(100);

/// Meets the leader, and serves it until it ends the test.
pub fn execute(mut process: Process) -> Result<ExitStatus> {
    let mut channel = meeting::open(&process)?;
    let leader = meeting::meet_leader(&process, &mut channel)?;
    let adopted = adopt(&mut process, &leader);
    let printer = adopted.and_then(|()| Printer::new(&process.settings));
    let observer = Box::new(|event| note_event(&event));
    let options = SessionOptions { observer, ..SessionOptions::default() };
    let (session, mut streams) = Session::start(channel, vec![leader], options)
        .map_err(|error| CliError::failed(&error, "start both sides again"))?;
    let printer = match printer {
        Ok(printer) => printer,
        Err(error) => {
            let ended = Err(error);
            let _ = session.end(outcome(&ended, &[]));
            return ended;
        }
    };
    let stream = streams.pop().expect("a stream to the leader");
    let seen = Arc::new(AgentObserver {
        settings: process.settings.clone(),
        middleware: process.middleware(),
        cpus: process.facts.host.cpus,
        rate: process.samples.as_ref().map(|own| own.rate.clone()),
        state: Mutex::new(State {
            printer,
            lengths: Lengths::default(),
            sent: None,
            before: Progress::default(),
            runs: 0,
            rejected: None,
        }),
    });
    let rate = process.samples.iter().map(|own| &own.rate);
    for text in rate.flat_map(|rate| rate.notes(&process.settings.local.pacing)) {
        note(&format!("note: {text}"));
    }
    note(&perftest::progress(&process.settings, Step::Run));
    let terms = GuestTerms {
        domain: process.settings.local.domain,
        transport: process.test_transport(),
        interface: process.interface.clone(),
        priorities: process.settings.local.priorities,
    };
    let observer: Arc<dyn GuestObserver> = seen.clone();
    let site = GuestSite::new(process.site.clone(), process.driver_file(), terms, observer);
    let stop = process.stop.clone();
    // If this process ends first, its stream stays open until the leader knows why.
    let output = stream
        .output
        .try_clone()
        .map_err(|error| CliError::failed(format!("cannot keep a pipe: {error}"), "check `ulimit -n`"))?;
    let served = serve(Ok(site), (stream.input, stream.output), MAX_FRAME_BYTES, move || stop.requested());
    let follows_leader = matches!(served, StewardEnd::Bye | StewardEnd::Lost(_)) && !process.stop.requested();
    let kept = (!follows_leader).then_some(output);
    let end = if follows_leader { goodbye(&process, &session) } else { session.end_of_peer() };
    let ended = conclude(&process, &seen, &served, end.as_ref());
    let said = session.end(outcome(&ended, &seen.state().printer.invalid));
    drop(kept);
    match (ended, said) {
        (Ok(ExitStatus::Done), Some(end)) if !end.is_success() => Err(of_end(&end)),
        (ended, _) => ended,
    }
}

/// Adopts the settings of the leader.
fn adopt(process: &mut Process, leader: &rendezvous::lobby::Peer) -> Result<()> {
    let offered = Offered::of(leader)?;
    let wrong = |error: String| CliError::failed(error, "use the same version of ddsmark on all hosts");
    let Some(offer) = offered.settings else { return Err(wrong(format!("{leader} offers no settings"))) };
    offer.check().map_err(|error| wrong(format!("{leader}: {error}")))?;
    match process.settings.adopt(&offer) {
        Ok(warnings) => warnings.iter().for_each(|warning| note(&format!("warning: {warning}"))),
        Err(found) => {
            let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
            let hint = found.first().map(perftest::Disagreement::hint).unwrap_or_default();
            return Err(CliError::usage(texts.join("; "), hint));
        }
    }
    process.adapt()?;
    process.adapt_to(&leader.announcement.driver, offered.own.packs)
}

/// Returns how the leader ended, which follows the end of its stream.
fn goodbye(process: &Process, session: &Session) -> Option<SessionEnd> {
    let deadline = Instant::now() + END_LIMIT;
    loop {
        let end = session.wait_for_end_of_peer(LOOK);
        if end.is_some() || process.stop.requested() || Instant::now() >= deadline {
            return end;
        }
    }
}

/// Ends the output, and returns how the test ended.
fn conclude(
    process: &Process,
    seen: &AgentObserver,
    served: &StewardEnd,
    end: Option<&SessionEnd>,
) -> Result<ExitStatus> {
    let mut state = seen.state();
    let ended = test_status(process, &mut state, served, end);
    state.printer.invalid.extend(invalid(&ended));
    let printed = state.printer.finish(process);
    let status = ended?;
    printed?;
    Ok(status)
}

fn test_status(
    process: &Process,
    state: &mut State,
    served: &StewardEnd,
    end: Option<&SessionEnd>,
) -> Result<ExitStatus> {
    if process.stop.requested() {
        return Ok(ExitStatus::Interrupted);
    }
    if let Some(rejected) = state.rejected.take() {
        return Err(rejected);
    }
    if let Some(end) = end.filter(|end| !end.is_success()) {
        return Err(of_end(end));
    }
    // The reasons of this process come first.
    if let Some(SessionEnd::Goodbye { peer, outcome }) = end
        && let Some(reasons) = outcome.text.strip_prefix(NOT_VALID)
        && state.printer.invalid.is_empty()
    {
        state.printer.invalid.push(format!("{peer} says so{reasons}"));
    }
    if !matches!(served, StewardEnd::Bye) && state.runs == 0 {
        return Err(CliError::failed(served, "start both sides again"));
    }
    let sizes = process.settings.shared.sizes.len();
    if process.settings.role == Role::Subscriber && state.runs < sizes {
        let error = format!("the publisher ended after {} of {sizes} sizes", state.runs);
        return Err(CliError::failed(error, "see the messages of the publisher"));
    }
    for fault in &state.printer.invalid {
        note(&format!("warning: not valid: {fault}"));
    }
    Ok(if state.printer.invalid.is_empty() { ExitStatus::Done } else { ExitStatus::Invalid })
}

fn of_end(end: &SessionEnd) -> CliError {
    let hint = end.hint().unwrap_or_else(|| "see the messages of the other side".to_owned());
    CliError::failed(end, hint)
}

/// Observer of the agent of a guest: prints its rows.
struct AgentObserver {
    settings: Settings,
    middleware: String,
    cpus: u32,
    /// Rate, of a publisher.
    rate: Option<PublisherRate>,
    state: Mutex<State>,
}

struct State {
    printer: Printer,
    /// Lengths of the samples of the run.
    lengths: Lengths,
    /// Samples that were sent to this process, as far as the leader knows.
    sent: Option<u64>,
    before: Progress,
    /// Number of reported runs.
    runs: usize,
    rejected: Option<CliError>,
}

impl AgentObserver {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_subscriber(&self) -> bool {
        self.settings.role == Role::Subscriber
    }
}

impl GuestObserver for AgentObserver {
    fn requested(&self, request: &Request) {
        let mut state = self.state();
        match request {
            Request::Configure(configure) => {
                // The first stream of a subscriber is that of publisher 0.
                let payload = configure.streams().next().map_or(0, |stream| stream.size_bytes);
                let shared = &self.settings.shared;
                let raw = self.settings.local.raw_transport;
                let is_size = |size: &&u64| shared.payload_bytes(**size, raw) == payload;
                let size = shared.sizes.iter().find(is_size).copied().unwrap_or(payload);
                state.lengths = Lengths { size, around: size.saturating_sub(payload) };
                if configure.streams().any(|stream| stream.size_bytes != payload) {
                    let text = "the publishers have different sizes: the rows have that of publisher 0, and Mbps of all samples";
                    note(&format!("note: {size} bytes: {text}"));
                }
                (state.sent, state.before) = (None, Progress::default());
            }
            Request::Measure { .. } if self.is_subscriber() => {
                let size = state.lengths.size;
                state.printer.begin::<ThroughputInterval>(size);
            }
            Request::Drain(drain) => state.sent = Some(drain.sent).filter(|sent| *sent != u64::MAX),
            _ => {}
        }
    }

    fn replied(&self, reply: &Reply) {
        let mut state = self.state();
        match reply {
            Reply::Configured(configured) if state.printer.effective.is_empty() => {
                state.printer.effective =
                    rows::effective(&configured.effective_qos, &configured.settings, &self.settings);
                let text = banner(
                    &self.settings,
                    &Banner {
                        version: env!("CARGO_PKG_VERSION"),
                        middleware: &self.middleware,
                        effective: &rows::of_banner(&state.printer.effective),
                    },
                );
                note(text.trim_end());
            }
            Reply::Progress(progress) if self.is_subscriber() => {
                if let Some(row) =
                    rows::throughput_interval(state.lengths, &state.before, progress, self.cpus)
                {
                    state.printer.row(&row);
                }
                state.before = *progress;
            }
            Reply::Report(report) => {
                state.runs += 1;
                let Lengths { size, .. } = state.lengths;
                let missed = self.rate.as_ref().and_then(|rate| MissedRate::of(rate, size, report));
                if let Some(missed) = missed {
                    note(&format!("warning: {size} bytes: {missed}"));
                }
                if self.is_subscriber() {
                    let row = rows::throughput(state.lengths, report, state.sent, self.cpus);
                    state.printer.row(&row);
                    state.printer.invalid.extend(rows::faults(report));
                    let foreign = rows::foreign(report);
                    if foreign > 0 {
                        let text = "samples arrived that are not of this test, and were not counted as data";
                        note(&format!("warning: {size} bytes: {foreign} {text}"));
                    }
                }
            }
            Reply::Failed { error, hint, .. } => {
                let hint = hint.clone().unwrap_or_else(|| "see the log of the publisher".to_owned());
                let failed = in_options(&self.settings, CliError::failed(error, hint));
                state.rejected.get_or_insert(failed);
            }
            _ => {}
        }
    }

    fn rejected(&self, error: &SiteError) {
        let error = CliError::failed(error, error.hint().unwrap_or_default());
        self.state().rejected.get_or_insert(error);
    }
}
