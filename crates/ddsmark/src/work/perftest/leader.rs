//! Leader, publisher 0: measures with the runner, with its guests as hosts, and prints the rows of a publisher.

use std::{
    env,
    fs::Permissions,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use experiment::{HostSpec, Limits, PinChoice, PlannedHost};
use host::{LocalSite, Site};
use perftest::{Settings, Step};
use remote_hosts::{StewardSite, Timeouts};
use rendezvous::{
    PeerRole,
    lobby::Peer,
    streams::{DEFAULT_SILENCE, PeerStream, Session, SessionEnd, SessionEvent, SessionOptions},
};
use results::Directory;
use runner::{EndpointProgress, ExperimentOutcome, ExperimentRunner, inspect};
use tempfile::TempDir;

use super::{
    OwnPart, Process,
    distances::Topology,
    experiment::TestExperiment,
    host_name, in_options, interoperation, invalid, leader_name,
    leader_rows::LeaderRows,
    meeting::{self, Offered},
    note_event, outcome,
    printer::Printer,
    publishers::{Publisher, check_sizes, publishers_of},
    rejected,
};
use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        output::note,
    },
    work::{
        drivers::Drivers,
        hosts::{ConnectedHost, Hosts},
        measurement::header,
        pages,
        preparation::seed,
    },
};

/// Meets the guests, measures, and tells them how the test ended.
pub fn execute(mut process: Process) -> Result<ExitStatus> {
    let printer = Mutex::new(Printer::new(&process.settings)?);
    let mut channel = meeting::open(&process)?;
    let mut guests = meeting::meet_guests(&process, &mut channel)?;
    guests.sort_by_key(|guest| (guest.address.role, guest.address.id));
    let packs = process.own_part().packs;
    let subscriber = guests.iter().find(|guest| guest.address.role == PeerRole::Subscriber);
    let adapted = subscriber.map_or(Ok(()), |guest| process.adapt_to(&guest.announcement.driver, packs));
    let process = &process;
    note(&perftest::progress(&process.settings, Step::Announcement));
    let watch = Arc::new(GuestWatch::default());
    let of_session = Arc::clone(&watch);
    let observer = Box::new(move |event| of_session.observe(event));
    let options = SessionOptions { observer, ..SessionOptions::default() };
    let (session, streams) = Session::start(channel, guests, options)
        .map_err(|error| CliError::failed(&error, "start both sides again"))?;
    let measured = adapted.and_then(|()| measure(process, streams, &printer, &watch));
    let measured = measured.map_err(|error| in_options(&process.settings, error));
    // The rows end before the session does: they are printed whatever it says.
    let mut printer = printer.into_inner().unwrap_or_else(PoisonError::into_inner);
    let measured = match measured {
        Ok(ExitStatus::Done) if !printer.invalid.is_empty() => Ok(ExitStatus::Invalid),
        measured => measured,
    };
    printer.invalid.extend(invalid(&measured));
    let printed = printer.finish(process);
    let result = match (&measured, printer.failure.take()) {
        (Ok(ExitStatus::Failed), Some(failure)) => failure,
        _ => outcome(&measured, &printer.invalid),
    };
    let _ = session.end(result);
    // The loss of a guest explains more than what it caused.
    match (&measured, watch.lost()) {
        (Ok(ExitStatus::Done | ExitStatus::Invalid | ExitStatus::Interrupted), _) | (_, None) => {}
        (_, Some(end)) => {
            let hint = end.hint().unwrap_or_else(|| "see the messages of the other side".to_owned());
            return Err(CliError::failed(&end, hint));
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
) -> Result<ExitStatus> {
    let parts: Vec<Offered> =
        streams.iter().map(|stream| Offered::of(&stream.peer)).collect::<Result<_, _>>()?;
    let subscribers: Vec<&OwnPart> =
        parts.iter().map(|part| &part.own).filter(|own| own.receive.is_some()).collect();
    check_alike(&streams, &parts)?;
    if subscribers.is_empty() {
        return Err(CliError::failed("there is no subscriber", "start one with `-sub`"));
    }
    let peers = streams.iter().map(|stream| &stream.peer);
    let publishers = 1 + peers.filter(|peer| peer.address.role == PeerRole::Publisher).count();
    let topology = Topology { publishers, subscribers: subscribers.len() };
    let publishers = publishers_of(process, &streams, &parts)?;
    check_sizes(&process.settings, &publishers)?;
    let mut priorities = vec![(leader_name(), process.own_part().priorities)];
    priorities.extend(
        streams.iter().zip(&parts).map(|(stream, part)| (name_of(&stream.peer), part.own.priorities)),
    );
    let mut list = vec![this_host(process)];
    for (stream, part) in streams.into_iter().zip(&parts) {
        list.push(connect(process, stream, part)?);
    }
    let drivers = interoperation::measured(process, &mut list)?;
    let driver = drivers.names.first().expect("a test has a driver");
    process.settings.check_requested(&drivers.descriptions[driver]).map_err(|error| rejected(&error))?;
    let experiment = |settings: &Settings, publishers: &[Publisher]| {
        TestExperiment::new(
            settings,
            (driver, &process.test_transport()),
            drivers.descriptions[driver].echoes_probes_in_listener(),
            publishers,
            &subscribers,
            topology,
            process.qos.as_ref(),
        )
    };
    let plan_of = |experiment: TestExperiment, hosts: &[PlannedHost], intervals| {
        experiment.plan(process, &drivers.descriptions, hosts, seed(), intervals)
    };
    // The plan of the test has the size of publisher 0: that of another is checked alone.
    for (publisher, size) in publishers.iter().filter_map(|own| Some((own, own.size?))) {
        let mut settings = process.settings.clone();
        settings.shared.sizes = vec![size];
        let alone = experiment(&settings, &vec![publisher.clone(); publishers.len()]);
        let planned = alone.and_then(|alone| plan_of(alone, &[], false));
        planned.map_err(|error| {
            let hint = error.hint().unwrap_or_default().to_owned();
            error.reworded(|text| format!("{}: {text}", publisher.name), |_| hint)
        })?;
    }
    let experiment = experiment(&process.settings, &publishers)?;
    for note_of in &experiment.notes {
        note(&format!("note: {note_of}"));
    }
    // Publishers first, then subscribers: as the endpoints of the topology.
    let (writing, reading): (Vec<_>, Vec<_>) = list.into_iter().partition(interoperation::writes);
    let hosts = Hosts::of(writing.into_iter().chain(reading).collect());
    let (_, mut planned_hosts) = hosts.planned(&PinChoice::None, true)?;
    for host in &mut planned_hosts {
        let own = priorities.iter().find(|(name, _)| *name == host.name);
        host.priorities = own.and_then(|(_, priorities)| *priorities);
    }
    let spins = |publisher: &Publisher| publisher.rate.spins;
    for (host, publisher) in planned_hosts.iter_mut().zip(&publishers) {
        host.spin = Some(spins(publisher)).filter(|spin| *spin != spins(&publishers[0]));
    }
    let _until_end = watch.until_end();
    let intervals = process.settings.local.output.intervals || parts.iter().any(|part| part.own.intervals);
    let plan = plan_of(experiment, &planned_hosts, intervals)?;
    let rows = LeaderRows::new(process, printer, &publishers);
    rows.print_banner();
    note(&perftest::progress(&process.settings, Step::Run));
    let (path, temporary) = result_directory(&process.settings)?;
    let directory = Directory::create(&path, plan.runs())?;
    let sites = hosts.sites();
    let header = header(plan, &hosts)?;
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
    drop(directory);
    match temporary {
        None => {
            pages::write_beside(&document, &path);
            note(&format!("the result is in `{}`", path.display()));
        }
        // A directory for temporary files is cleaned by the system, too.
        Some(temporary) => _ = temporary.close(),
    }
    if let Some(error) = error {
        return Err(error.into());
    }
    Ok(ExitStatus::from_document(&document))
}

/// Checks that the queues of all subscribers are alike: those of the readers of a run are.
fn check_alike(streams: &[PeerStream], parts: &[Offered]) -> Result<()> {
    let mut subscribers = streams.iter().zip(parts).filter(|(_, part)| part.own.receive.is_some());
    let Some((first, of_first)) = subscribers.next() else { return Ok(()) };
    match subscribers.find(|(_, part)| part.own.receive_queue != of_first.own.receive_queue) {
        None => Ok(()),
        Some((other, _)) => {
            let error = format!("{} and {} have different receive queues", first.peer, other.peer);
            Err(CliError::failed(error, "give all subscribers the same `-receiveQueueSize`"))
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

/// Returns the directory of the result. Without `-ddsmark-out` it is a new one, with a name that no other user can foresee,
/// and is removed when it is dropped.
pub(super) fn result_directory(settings: &Settings) -> Result<(PathBuf, Option<TempDir>)> {
    if let Some(path) = &settings.local.result {
        return Ok((PathBuf::from(path), None));
    }
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("ddsmark-perftest-").permissions(Permissions::from_mode(0o700));
    let temporary = builder.tempdir().map_err(|error| {
        let error = format!("cannot create a directory in `{}`: {error}", env::temp_dir().display());
        CliError::failed(error, "set TMPDIR to a directory with free space, or use `-ddsmark-out`")
    })?;
    Ok((temporary.path().to_owned(), Some(temporary)))
}

fn this_host(process: &Process) -> ConnectedHost {
    let site: LocalSite = process.site.clone();
    ConnectedHost {
        name: leader_name(),
        at: HostSpec::Local,
        interface: Some(process.interface.clone()),
        site: Box::new(site),
        facts: process.facts.clone(),
        drivers: process.drivers.clone(),
        copied: None,
    }
}

/// Connects to a guest. The session shows whether it lives: its stream has no heartbeats of its own.
fn connect(process: &Process, stream: PeerStream, part: &Offered) -> Result<ConnectedHost> {
    let PeerStream { peer, input, output } = stream;
    let name = name_of(&peer);
    // The session notices a lost guest before a write fails, and names it.
    let timeouts = Timeouts { silence: 2 * DEFAULT_SILENCE, ..Timeouts::default() };
    let site = StewardSite::connect(name.clone(), input, output, timeouts)?;
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

fn name_of(peer: &Peer) -> String {
    host_name(peer.address.role, peer.address.id)
}

#[cfg(test)]
mod tests {
    use perftest::{CommandLine, Defaults};

    use super::*;

    #[test]
    fn temporary_result_is_private_and_its_name_unknown_before() {
        let line = CommandLine::parse(&["-pub"], None).expect("options");
        let (settings, _) = line
            .settings(None, &Defaults { driver: "dds", raw_drivers: ["udp", "tcp", "shm"] })
            .expect("settings");
        let made = [(); 2].map(|()| result_directory(&settings).expect("a directory"));
        assert_ne!(made[0].0, made[1].0);
        for (path, temporary) in made {
            let mode = path.metadata().expect("a directory").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
            assert!(!path.ends_with(format!("ddsmark-perftest-{}", std::process::id())));
            drop(temporary);
            assert!(!path.exists());
        }
    }
}
