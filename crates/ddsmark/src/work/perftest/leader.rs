//! Leader, publisher 0: measures with the runner, with its guests as hosts, and prints the rows of a publisher.

use std::{
    collections::BTreeMap,
    env, fs,
    path::PathBuf,
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use control::AgentReport;
use experiment::{Cell, HostSpec, Limits, PinChoice};
use hosts::{Patience, StewardSite};
use peers::{
    PeerRole,
    lobby::Peer,
    streams::{DEFAULT_SILENCE, PeerStream, Session, SessionEnd, SessionEvent, SessionOptions},
};
use perftest::{Banner, Mode, Role, Step, banner};
use results::{Directory, Run, RunState, WarningKind};
use runner::{EndpointProgress, ExperimentOutcome, ExperimentRunner, Observer, Progress, inspect};
use site::{LocalSite, Site};

use super::{
    Process,
    experiment::{Text, Topology, complete, text},
    invalid,
    meeting::{self, Offered},
    note_event, outcome,
    printer::Printer,
    rows,
};
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus},
        output::note,
    },
    work::{
        drivers::Drivers,
        hosts::{ConnectedHost, Hosts},
        measurement::header,
        preparation::{Prepared, seed},
    },
};

/// Meets the guests, measures, and tells them how the test ended.
pub fn execute(process: &Process) -> Result<ExitStatus, CliError> {
    let printer = Mutex::new(Printer::new(&process.settings)?);
    let mut postbox = meeting::open(process)?;
    let mut guests = meeting::meet_guests(process, &mut postbox)?;
    guests.sort_by_key(|guest| (guest.address.role, guest.address.id));
    note(&perftest::progress(&process.settings, Step::Announcement));
    let watch = Arc::new(GuestWatch::default());
    let of_session = Arc::clone(&watch);
    let observer = Box::new(move |event| of_session.observe(event));
    let options = SessionOptions { observer, ..SessionOptions::default() };
    let (session, streams) = Session::start(postbox, guests, options)
        .map_err(|error| CliError::new(ExitStatus::Failed, &error, "start both sides again"))?;
    let measured = measure(process, streams, &printer, &watch);
    // The rows end before the session does: they are printed whatever it says.
    let mut printer = printer.into_inner().unwrap_or_else(PoisonError::into_inner);
    printer.invalid.extend(invalid(&measured));
    let printed = printer.finish(process);
    let _ = session.end(outcome(&measured));
    // The loss of a guest explains more than what it caused.
    match (&measured, watch.lost()) {
        (Ok(ExitStatus::Done | ExitStatus::Invalid | ExitStatus::Interrupted), _) | (_, None) => {}
        (_, Some(end)) => {
            let hint = end.hint().unwrap_or_else(|| "see the messages of the other side".to_owned());
            return Err(CliError::new(ExitStatus::Failed, &end, hint));
        }
    }
    let status = measured?;
    printed?;
    Ok(status)
}

/// Measures with the guests of these streams.
fn measure(
    process: &Process,
    streams: Vec<PeerStream>,
    printer: &Mutex<Printer>,
    watch: &GuestWatch,
) -> Result<ExitStatus, CliError> {
    let parts: Vec<Offered> =
        streams.iter().map(|stream| Offered::of(&stream.peer)).collect::<Result<_, _>>()?;
    let subscriber = parts.iter().find(|part| part.own.receive.is_some());
    check_alike(&streams, &parts)?;
    let Some(subscriber) = subscriber.map(|part| &part.own) else {
        return Err(CliError::new(ExitStatus::Failed, "there is no subscriber", "start one with `-sub`"));
    };
    let peers = streams.iter().map(|stream| &stream.peer);
    let publishers = 1 + peers.clone().filter(|peer| peer.address.role == PeerRole::Publisher).count();
    let subscribers = peers.filter(|peer| peer.address.role == PeerRole::Subscriber).count();
    let topology = Topology { publishers, subscribers };
    let echoes_in_listener = process.description().has("echo_in_listener");
    let Text { source, file, notes, exact } = text(
        &process.settings,
        &process.transport(),
        echoes_in_listener,
        subscriber,
        topology,
        process.qos.as_ref(),
    )?;
    for note_of in notes {
        note(&format!("note: {note_of}"));
    }
    let mut priorities = vec![(own_name(), process.own_part().priorities)];
    priorities.extend(
        streams.iter().zip(&parts).map(|(stream, part)| (host_name(&stream.peer), part.own.priorities)),
    );
    let mut list = vec![this_host(process)];
    for (stream, part) in streams.into_iter().zip(&parts) {
        list.push(connect(process, stream, part)?);
    }
    // Publishers first, then subscribers: as the endpoints of the topology.
    let (publishers, subscribers): (Vec<_>, Vec<_>) =
        list.into_iter().partition(|host| host.name.starts_with(PeerRole::Publisher.name()));
    let hosts = Hosts::of(publishers.into_iter().chain(subscribers).collect());
    let (pin, mut planned_hosts) = hosts.planned(&PinChoice::None, true)?;
    for host in &mut planned_hosts {
        let own = priorities.iter().find(|(name, _)| *name == host.name);
        host.priorities = own.and_then(|(_, priorities)| *priorities);
    }
    let prepared = Prepared {
        name: "perftest".to_owned(),
        source,
        file,
        drivers: process.drivers.clone(),
        installed: Vec::new(),
        files: BTreeMap::new(),
        pin,
        hosts,
        planned_hosts,
    };
    let _until_end = watch.until_end();
    let mut plan = prepared.plan(seed())?;
    complete(&mut plan, &process.settings, exact);
    plan.design.payload.clone_from(&process.payload);
    plan.design.progress =
        process.settings.local.output.intervals || parts.iter().any(|part| part.own.intervals);
    let rows = LeaderRows {
        process,
        printer,
        size: AtomicU64::new(0),
        is_latency: process.settings.shared.mode == Mode::Latency,
    };
    rows.print_banner();
    note(&perftest::progress(&process.settings, Step::Run));
    let (path, is_kept) = result_directory(process);
    let directory = Directory::create(&path, plan.runs())?;
    let sites = prepared.hosts.sites();
    let header = header(plan, &prepared.hosts)?;
    let on_progress = |all: &[EndpointProgress<'_>]| rows.progressed(all);
    let session = ExperimentRunner {
        header,
        sites: &sites,
        directory: &directory,
        stop: &process.stop,
        on_progress: Some(&on_progress),
    };
    let mut observer = &rows;
    let ExperimentOutcome { document, error } = session.execute(&mut observer);
    if is_kept {
        note(&format!("the result is in `{}`", path.display()));
    } else {
        drop(directory);
        // A directory for temporary files is cleaned by the system, too.
        let _ = fs::remove_dir_all(&path);
    }
    if let Some(error) = error {
        return Err(error.into());
    }
    Ok(ExitStatus::from_document(&document))
}

/// Checks that all subscribers receive alike: the readers of a run do.
fn check_alike(streams: &[PeerStream], parts: &[Offered]) -> Result<(), CliError> {
    let mut subscribers = streams.iter().zip(parts).filter(|(_, part)| part.own.receive.is_some());
    let Some((first, of_first)) = subscribers.next() else { return Ok(()) };
    let options = |part: &Offered| (part.own.receive, part.own.receive_queue);
    match subscribers.find(|(_, part)| options(part) != options(of_first)) {
        None => Ok(()),
        Some((other, _)) => {
            let error = format!("{} and {} receive in different ways", first.peer, other.peer);
            let hint = "give all subscribers the same `-useReadThread`, `-waitsetDelayUsec`, `-waitsetEventCount` and \
                        `-receiveQueueSize`";
            Err(CliError::new(ExitStatus::Failed, error, hint))
        }
    }
}

/// Watch over the guests: a guest that ends before the measurement does is the cause of its failure.
#[derive(Default)]
struct GuestWatch {
    is_over: AtomicBool,
    lost: Mutex<Option<SessionEnd>>,
}

impl GuestWatch {
    fn observe(&self, event: SessionEvent) {
        match event {
            SessionEvent::Ended(end) if !self.is_over.load(Ordering::Acquire) => {
                self.lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
            }
            other => note_event(&other),
        }
    }

    fn lost(&self) -> Option<SessionEnd> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns a guard. When it is dropped, the measurement is over.
    const fn until_end(&self) -> UntilEnd<'_> {
        UntilEnd(&self.is_over)
    }
}

struct UntilEnd<'a>(&'a AtomicBool);

impl Drop for UntilEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Returns the directory of the result, and whether the user asked for it.
fn result_directory(process: &Process) -> (PathBuf, bool) {
    match &process.settings.local.result {
        Some(path) => (PathBuf::from(path), true),
        None => (env::temp_dir().join(format!("ddsmark-perftest-{}", process::id())), false),
    }
}

fn this_host(process: &Process) -> ConnectedHost {
    let site: LocalSite = process.site.clone();
    ConnectedHost {
        name: own_name(),
        at: HostSpec::Local,
        interface: Some(process.interface.clone()),
        site: Box::new(site),
        facts: process.facts.clone(),
        drivers: process.drivers.clone(),
        copied: None,
    }
}

/// Connects to a guest.
fn connect(process: &Process, stream: PeerStream, part: &Offered) -> Result<ConnectedHost, CliError> {
    let PeerStream { peer, input, output } = stream;
    let name = host_name(&peer);
    // The session notices a lost guest first, and names it.
    let patience = Patience { silence: 2 * DEFAULT_SILENCE, ..Patience::default() };
    let site = StewardSite::connect(name.clone(), input, output, patience)?;
    let facts = site.facts()?;
    let mut drivers = Drivers { names: process.drivers.names.clone(), ..Drivers::default() };
    let file = process.driver_file();
    let inspected = inspect(&site, &file, &Limits::default(), &process.stop)?;
    drivers.add(file, inspected);
    let interface = Some(part.own.interface.clone());
    Ok(ConnectedHost {
        at: HostSpec::Peer(name.clone()),
        name,
        interface,
        site: Box::new(site),
        facts,
        drivers,
        copied: None,
    })
}

/// Returns the name of the leader as a host.
fn own_name() -> String {
    format!("{}-0", PeerRole::Publisher.name())
}

fn host_name(peer: &Peer) -> String {
    format!("{}-{}", peer.address.role.name(), peer.address.id)
}

/// Rows of the leader.
struct LeaderRows<'a> {
    process: &'a Process,
    printer: &'a Mutex<Printer>,
    /// Serialized size of the samples of the run.
    size: AtomicU64,
    is_latency: bool,
}

impl LeaderRows<'_> {
    fn printer(&self) -> MutexGuard<'_, Printer> {
        self.printer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print_banner(&self) {
        let middleware = self.process.middleware();
        let effective = &self.printer().effective;
        let text = banner(
            &self.process.settings,
            &Banner { version: env!("CARGO_PKG_VERSION"), middleware: &middleware, effective },
        );
        note(text.trim_end());
    }

    fn progressed(&self, all: &[EndpointProgress<'_>]) {
        let size = self.size.load(Ordering::Relaxed);
        let rows = all.iter().filter_map(|of| rows::latency_interval(size, &of.progress));
        let mut printer = self.printer();
        rows.for_each(|row| printer.latency_interval(&row));
    }

    /// Appends the round trips of the pinger to the file for them.
    fn keep_latencies(&self, reports: &[&AgentReport]) {
        let size = self.size.load(Ordering::Relaxed);
        let returns =
            reports.iter().filter_map(|report| report.pinger.as_ref()).flat_map(|pinger| &pinger.returns);
        for echoes in returns {
            let stamps = echoes.stamps.as_slice().iter().filter(|stamp| stamp.second_ns > 0);
            let rtts_ns: Vec<u64> =
                stamps.map(|stamp| stamp.second_ns.saturating_sub(stamp.first_ns)).collect();
            let kept = rtts_ns.len() as u64;
            self.printer().latencies(size, rtts_ns.into_iter());
            if kept < echoes.returned {
                let text = format!(
                    "{size} bytes: the file of `-latencyFile` has the first {kept} of {} latencies: an agent keeps that many",
                    echoes.returned
                );
                note(&format!("warning: {text}"));
            }
        }
    }

    fn finished(&self, run: &Run) {
        let size = self.size.load(Ordering::Relaxed);
        if let Some(failure) = &run.failure {
            let host =
                failure.endpoint.as_deref().map(|endpoint| format!("{endpoint}: ")).unwrap_or_default();
            let hint = failure.hint.as_deref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            note(&format!("error: {size} bytes: {host}{}{hint}", failure.error));
            self.printer().invalid.push(format!("{size} bytes: {}", failure.error));
            return;
        }
        let own = run.endpoints.iter().find(|endpoint| endpoint.host == own_name());
        let usage = own
            .and_then(|own| run.processes.iter().find(|process| process.number == own.process))
            .map(|process| &process.usage);
        let latency = run.latency.get("rtt");
        let row = rows::latency(size, latency, usage, self.process.facts.host.cpus);
        let mut printer = self.printer();
        if let Some(own) = own.filter(|_| printer.effective.is_empty()) {
            printer.effective = rows::effective(&own.effective_qos, &own.settings, &self.process.settings);
            let lines: Vec<String> =
                printer.effective.iter().map(|value| format!("\t{}: {}", value.name, value.value)).collect();
            note(&format!("Effective Settings:\n{}", lines.join("\n")));
        }
        printer.latency_summary(&row);
        let is_shown =
            |kind| matches!(kind, WarningKind::Foreign | WarningKind::Order | WarningKind::BufferDrops);
        for warning in run.warnings.iter().filter(|warning| is_shown(warning.kind)) {
            note(&format!("warning: {size} bytes: {}", warning.text));
        }
        if run.state == RunState::Invalid {
            let texts: Vec<&str> = run.warnings.iter().map(|warning| warning.text.as_str()).collect();
            let text = format!("{size} bytes: {}", texts.join("; "));
            note(&format!("warning: not valid: {text}"));
            printer.invalid.push(text);
        }
    }
}

impl Observer for &LeaderRows<'_> {
    fn run_started(&mut self, _progress: &Progress, cell: &Cell) {
        let shared = &self.process.settings.shared;
        let raw = self.process.settings.local.raw_transport;
        let payload = cell.factors.size_bytes;
        let size = shared.sizes.iter().find(|size| shared.payload_bytes(**size, raw) == payload);
        self.size.store(size.copied().unwrap_or(payload), Ordering::Relaxed);
        if self.is_latency || self.process.settings.role == Role::Publisher {
            let size = self.size.load(Ordering::Relaxed);
            self.printer().begin_latency(size);
        }
    }

    fn reported(&mut self, reports: &[&AgentReport], run: &Run) {
        if run.failure.is_none() && self.process.settings.local.output.latency_file.is_some() {
            self.keep_latencies(reports);
        }
    }

    fn run_finished(&mut self, _progress: &Progress, run: &Run, _cell: &Cell) {
        self.finished(run);
    }
}
