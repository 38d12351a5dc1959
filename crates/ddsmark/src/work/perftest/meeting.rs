//! Meeting of the processes of a test: mailbox and lobby.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _},
    process,
    time::Duration,
};

use perftest::{Nic, Role, Step, is_of_each_publisher, is_of_publishers};
use rendezvous::{
    MessageChannel, Outcome, PeerAddress, PeerRole, RendezvousError,
    lobby::{Announcement, DEFAULT_GUEST_LIMIT, DriverIdentity, LeaderRules, Peer, join, lead},
    mailbox::{
        Mailbox,
        agent::{AgentMailbox, AgentMailboxSpec},
        tcp::{TcpMailbox, control_port, leader_port},
    },
};
use serde::{Deserialize, Serialize};

use super::{OwnPart, Process, middleware, qos_file, receiving::unfit_filter};
use crate::cli::{
    cli_error::{CliError, ExitStatus, Result},
    output::note,
};

/// Maximum time to load the driver and to open the control topic.
const OPEN_LIMIT: Duration = Duration::from_secs(60);
/// Time for which a process that fails tells the others why.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// Offer in the announcement of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// Settings of the test, from a publisher.
    pub settings: Option<perftest::Offer>,
    /// Part of the process.
    pub own: OwnPart,
}

impl Offered {
    /// Reads what a peer offers.
    pub fn of(peer: &Peer) -> Result<Self> {
        serde_json::from_value(peer.announcement.offer.clone()).map_err(|error| {
            let error = format!("{peer} offers what this process cannot read: {error}");
            CliError::failed(error, "use the same version of ddsmark on all hosts")
        })
    }
}

/// Opens the mailbox of a process.
pub fn open(process: &Process) -> Result<MessageChannel> {
    let local = &process.settings.local;
    let role = role(process);
    let id = u16::try_from(local.id).map_err(|_| {
        let error = format!("`{} {}` is out of range", role.id_option(), local.id);
        CliError::usage(error, "use an id from 0 to 65535")
    })?;
    let cannot = |error: std::io::Error| {
        let error = format!("cannot get a random number: {error}");
        CliError::failed(error, "check `/dev/urandom`")
    };
    let own = PeerAddress::of_this_process(role, id).map_err(cannot)?;
    let mailbox: Box<dyn Mailbox> = if process.description().has("locators") {
        Box::new(over_tcp(process, role, id)?)
    } else {
        Box::new(over_topic(process).map_err(|error| of_mailbox(&error))?)
    };
    Ok(MessageChannel::new(mailbox, own))
}

/// Opens the control topic over the transport of the test, or if the driver connects too few processes over that, over its default.
fn over_topic(process: &Process) -> Result<AgentMailbox, RendezvousError> {
    let open = |transport: String| {
        let spec = AgentMailboxSpec {
            driver: process.driver_file(),
            domain: process.settings.local.domain,
            participant: process.control_participant(transport),
            limit: OPEN_LIMIT,
        };
        AgentMailbox::open(&process.site, &spec)
    };
    let requested = process.transport();
    let default = process.description().transports.first().map(|own| own.name.clone());
    match (open(requested.clone()), default.filter(|default| *default != requested)) {
        (Err(RendezvousError { refused: Some(error), .. }), Some(default)) => {
            note(&format!("note: the processes meet over `{default}`, not `{requested}`: {error}"));
            open(default)
        }
        (opened, _) => opened,
    }
}

fn over_tcp(process: &Process, role: PeerRole, id: u16) -> Result<TcpMailbox> {
    let local = &process.settings.local;
    let address = match &local.nic {
        Some(Nic::Address(address)) => *address,
        _ => {
            let own = process.facts.addresses.iter().find(|own| own.interface == process.interface);
            own.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |own| IpAddr::V4(own.address))
        }
    };
    if role == PeerRole::Subscriber {
        return TcpMailbox::listen(address, control_port(local.domain, id))
            .map_err(|error| of_mailbox(&error));
    }
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for peer in &local.peers {
        let port = control_port(local.domain, peer.number.and_then(|id| u16::try_from(id).ok()).unwrap_or(0));
        let found = (peer.address.as_str(), port).to_socket_addrs().map_err(|error| {
            let error = format!("`-peer {}`: {error}", peer.address);
            CliError::usage(error, "name the address of a subscriber's host")
        })?;
        addresses.extend(found.take(1));
    }
    let mut mailbox = TcpMailbox::connect(&addresses).map_err(|error| of_mailbox(&error))?;
    if id == 0 {
        let port = leader_port(local.domain);
        addresses.iter_mut().for_each(|address| address.set_port(port));
        addresses.dedup();
        let found = mailbox.find_leaders(SocketAddr::new(address, port), &addresses);
        found.map_err(|error| of_mailbox(&error))?;
    }
    Ok(mailbox)
}

fn of_mailbox(error: &RendezvousError) -> CliError {
    CliError::failed(error, error.hint().unwrap_or("check the driver with `ddsmark drivers check`"))
}

const fn role(process: &Process) -> PeerRole {
    match process.settings.role {
        Role::Publisher => PeerRole::Publisher,
        Role::Subscriber => PeerRole::Subscriber,
    }
}

/// Returns the announcement of a process.
pub fn announcement(process: &Process) -> Result<Announcement> {
    let settings = &process.settings;
    let is_publisher = settings.role == Role::Publisher;
    let offered = Offered { settings: is_publisher.then(|| settings.offer()), own: process.own_part() };
    let offer = serde_json::to_value(offered)
        .map_err(|error| CliError::failed(format!("cannot announce this process: {error}"), "report this"))?;
    let text = |given: &perftest::GivenOption| (given.option.to_owned(), given.value.clone());
    Ok(Announcement {
        host: process.facts.host.name.clone(),
        pid: process::id(),
        driver: DriverIdentity { name: settings.driver.clone(), version: process.middleware() },
        ddsmark: env!("CARGO_PKG_VERSION").to_owned(),
        generation: settings.generation.to_string(),
        options: settings.given.iter().map(text).collect(),
        publishers: (!is_publisher).then_some(settings.local.partners),
        subscribers: is_publisher.then_some(settings.local.partners),
        offer,
    })
}

/// Meets the guests as the leader.
pub fn meet_guests(process: &Process, channel: &mut MessageChannel) -> Result<Vec<Peer>> {
    let own = announcement(process)?;
    // Processes that have met over a topic have interoperated. Whether their drivers can be paired is known with the description
    // of both.
    let has_discovery = !process.description().has("locators");
    let interoperate = |one: &DriverIdentity, other: &DriverIdentity| {
        has_discovery || middleware(&one.version) == middleware(&other.version)
    };
    let compare = |_: &Peer, guest: &Peer| compare(process, guest);
    let rules = LeaderRules { interoperate: &interoperate, compare: &compare };
    note(&perftest::progress(&process.settings, Step::Discover));
    let stop = || process.stop.requested();
    lead(channel, &own, &rules, DEFAULT_GUEST_LIMIT, &stop).map_err(|error| missed(channel, &error))
}

/// Meets the leader as a guest.
pub fn meet_leader(process: &Process, channel: &mut MessageChannel) -> Result<Peer> {
    let own = announcement(process)?;
    note(&perftest::progress(&process.settings, Step::Discover));
    let stop = || process.stop.requested();
    join(channel, &own, DEFAULT_GUEST_LIMIT, &stop).map_err(|error| missed(channel, &error))
}

/// Compares the options of a guest with those of this leader.
fn compare(process: &Process, guest: &Peer) -> Result<(), Outcome> {
    let settings = &process.settings;
    let offer = settings.offer();
    let ours = offer.values.iter().map(|value| (value.option.as_str(), value.value.as_str()));
    for (option, ours) in ours {
        let is_own = match guest.address.role {
            PeerRole::Publisher => is_of_each_publisher(option),
            PeerRole::Subscriber => is_of_publishers(option),
        };
        if is_own {
            continue;
        }
        let theirs = guest.announcement.options.iter().rev().find(|(name, _)| name == option);
        if let Some((_, theirs)) = theirs.filter(|(_, theirs)| theirs != ours && theirs != "-1") {
            let text = format!("`-{option}` is {ours} at publisher 0 and {theirs} at {guest}");
            let hint = format!("remove `-{option}` from one side, or make both the same");
            return Err(Outcome::failure(text, Some(hint)));
        }
    }
    let read_files = |own: &OwnPart| {
        let option = qos_file::option(settings.generation);
        [(option, own.qos.clone()), ("loadDataFromFile", own.payload.clone())]
    };
    let files_differ = |own: &OwnPart| {
        let (ours, theirs) = (read_files(&process.own_part()), read_files(own));
        let mut pairs = ours.into_iter().zip(theirs);
        let (ours, theirs) = pairs.find(|(ours, theirs)| theirs.1.is_some() && ours != theirs)?;
        let [ours_text, theirs_text] =
            [ours.1, theirs.1].map(|file| file.unwrap_or_else(|| "none".to_owned()));
        let option = ours.0;
        let text = format!("`-{option}` is {ours_text} at publisher 0 and {theirs_text} at {guest}");
        let hint = format!("give publisher 0 this file: its `-{option}` is for all processes");
        Some(Outcome::failure(text, Some(hint)))
    };
    let own: Result<Offered, _> = serde_json::from_value::<Offered>(guest.announcement.offer.clone());
    match own {
        Ok(Offered { own, .. }) if own.transport != process.transport() => {
            let text = format!(
                "`-transport` is {} at publisher 0 and {} at {guest}",
                process.transport(),
                own.transport
            );
            Err(Outcome::failure(text, Some("use the same transport on both sides".to_owned())))
        }
        Ok(Offered { own, .. }) => {
            let unfit =
                own.filter.and_then(|filter| unfit_filter(settings, filter, settings.local.partners == 1));
            let unfit =
                unfit.map(|(text, hint)| Outcome::failure(format!("{guest}: {text}"), Some(hint.to_owned())));
            unfit.or_else(|| files_differ(&own)).map_or(Ok(()), Err)
        }
        Err(error) => Err(Outcome::failure(format!("{guest} offers what cannot be read: {error}"), None)),
    }
}

/// Tells the others why this process ends, and returns the error.
fn missed(channel: &mut MessageChannel, error: &RendezvousError) -> CliError {
    // The first error is the one to report.
    let _ = channel.close(CLOSE_LIMIT);
    let status = if error.is_stopped { ExitStatus::Interrupted } else { ExitStatus::Failed };
    CliError::new(status, error, error.hint().unwrap_or("start both sides again"))
}
