//! Process that meets another one and exchanges a megabyte with it, for the end-to-end tests. Not shipped.
//!
//! ```text
//! test-peer pub|sub topic AGENT DRIVER TRANSPORT DOMAIN [INTERFACE]
//! test-peer pub|sub tcp ADDRESS DOMAIN
//! ```
//!
//! It prints `met PEER` and `exchanged BYTES`. Then it waits until its standard input or its peer ends.

use std::{
    error::Error,
    fs::File,
    io::{self, Read as _, Write as _},
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::{self, ExitCode},
    sync::mpsc::{self, Sender},
    thread,
    time::Duration,
};

use experiment::ParticipantSpec;
use host::{DriverFile, LocalSite, Site as _};
use rendezvous::{
    MessageChannel, Outcome, PeerAddress, PeerRole,
    lobby::{Announcement, DriverIdentity, LeaderRules, join, lead},
    mailbox::{
        Mailbox,
        agent::{AgentMailbox, AgentMailboxSpec},
        tcp::{TcpMailbox, control_port},
    },
    streams::{PeerStream, Session, SessionEvent, SessionOptions},
};
use serde_json::Value;

const MEGABYTE: usize = 1 << 20;
const LIMIT: Duration = Duration::from_secs(60);
const SILENCE: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (role, mailbox) = arguments.split_first().ok_or("no role")?;
    let role = if role == "pub" { PeerRole::Publisher } else { PeerRole::Subscriber };
    let mut channel = MessageChannel::new(open(role, mailbox)?, PeerAddress::of_this_process(role, 0)?);
    let own = announcement();
    let rules = LeaderRules { interoperate: &|_, _| false, compare: &|_, _| Ok(()) };
    let peers = match role {
        PeerRole::Publisher => lead(&mut channel, &own, &rules, LIMIT, &|| false)?,
        PeerRole::Subscriber => vec![join(&mut channel, &own, LIMIT, &|| false)?],
    };
    let (events, ended) = mpsc::channel();
    let of_peer = events.clone();
    let observer = Box::new(move |event| {
        if matches!(event, SessionEvent::Ended(_)) {
            // The main thread may have ended.
            let _ = of_peer.send(());
        }
    });
    let (session, streams) = Session::start(channel, peers, SessionOptions { silence: SILENCE, observer })?;
    for stream in streams {
        println!("met {}", stream.peer);
        println!("exchanged {}", exchange(stream)?);
    }
    watch_stdin(events);
    ended.recv()?;
    match session.end(Outcome::success("complete")) {
        Some(end) if !end.is_success() => {
            Err(format!("{end}; hint: {}", end.hint().unwrap_or_default()).into())
        }
        _ => Ok(()),
    }
}

fn open(role: PeerRole, arguments: &[String]) -> Result<Box<dyn Mailbox>, Box<dyn Error>> {
    match arguments {
        [kind, agent, driver, transport, domain, interface @ ..] if kind == "topic" => {
            let site = LocalSite::new(PathBuf::from(agent));
            site.sweep();
            let spec = AgentMailboxSpec {
                driver: DriverFile { name: "driver".to_owned(), path: PathBuf::from(driver) },
                domain: domain.parse()?,
                participant: ParticipantSpec {
                    transport: transport.clone(),
                    interface: interface.first().map_or("lo", String::as_str).to_owned(),
                    vendor_defaults: !interface.is_empty(),
                    ..ParticipantSpec::default()
                },
                limit: LIMIT,
            };
            let mailbox = AgentMailbox::open(&site, &spec).map_err(|error| {
                let hint = error.hint().map(|hint| format!("; hint: {hint}"));
                format!("{error}{}", hint.unwrap_or_default())
            })?;
            Ok(Box::new(mailbox))
        }
        [kind, address, domain] if kind == "tcp" => {
            let (address, port): (IpAddr, _) = (address.parse()?, control_port(domain.parse()?, 0));
            Ok(Box::new(match role {
                PeerRole::Subscriber => TcpMailbox::listen(address, port)?,
                PeerRole::Publisher => TcpMailbox::connect(&[SocketAddr::new(address, port)])?,
            }))
        }
        other => Err(format!("invalid arguments: {other:?}").into()),
    }
}

fn announcement() -> Announcement {
    Announcement {
        host: "here".to_owned(),
        pid: process::id(),
        driver: DriverIdentity { name: "driver".to_owned(), version: "1".to_owned() },
        ddsmark: "0.1.0".to_owned(),
        generation: "4.3".to_owned(),
        options: Vec::new(),
        publishers: Some(1),
        subscribers: Some(1),
        offer: Value::Null,
    }
}

fn pattern() -> impl Iterator<Item = u8> {
    (0..MEGABYTE).map(|index| (index * 31 + index / 1000) as u8)
}

/// Writes a megabyte while reading one. Returns the number of bytes read, if they are right.
fn exchange(stream: PeerStream) -> io::Result<usize> {
    let PeerStream { mut input, output, .. } = stream;
    let writing = thread::spawn(move || -> io::Result<File> {
        let mut output = output;
        output.write_all(&pattern().collect::<Vec<u8>>())?;
        Ok(output)
    });
    let mut read = vec![0; MEGABYTE];
    input.read_exact(&mut read)?;
    // The streams stay open.
    std::mem::forget((writing.join().expect("no panic")?, input));
    if read.iter().copied().eq(pattern()) { Ok(read.len()) } else { Err(io::Error::other("wrong bytes")) }
}

/// Waits for the end of standard input in a thread of its own.
fn watch_stdin(events: Sender<()>) {
    thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        // The main thread may have ended.
        let _ = events.send(());
    });
}
