//! Agent without a driver that violates the protocol on request.
//!
//! The "driver" is a text file with one instruction per line: `what role phase`; role and phase may be `any`.
//!
//! ```text
//! kill hang deaf exit fail refuse garbage wrong twice
//!                                        faults in place of the reply
//! protocol                               another version of the control protocol
//! qos blind queue off                     wrong effective QoS, none, that of the reader for all, multicast off
//! shm child                              leaves a shared-memory file, a child process
//! owe torn foreign                       samples outstanding, counts that contradict each other, foreign samples
//! jam                                    fails to measure at the maximum rate
//! late tardy slow                         misses the first start, every start; its first answer takes 600 ms
//! linger crash                           faults after the goodbye
//! ```

mod reports;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    os::{fd::FromRawFd as _, unix::net::UnixStream},
    path::Path,
    process, thread,
    time::Duration,
};

use control::{
    Configure, Configured, Hello, MatchedPeers, MeasureReply, MonotonicClock, PROTOCOL, Progress, Reply,
    Request, receive_line, send,
};
use experiment::{
    DriverDescription, Load, Policy, PolicySupport, Qos, ReceiveMode, Reliability, Role, Support,
    TransportInfo,
};

struct Agent {
    channel: BufReader<UnixStream>,
    /// Instructions as `(what, role, phase)`.
    script: Vec<[String; 3]>,
    configure: Option<Configure>,
    /// Number of requests to measure so far.
    measurements: u32,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, _, driver, _, control] = &arguments[..] else { panic!("{arguments:?}") };
    let control = control.parse().expect("a descriptor");
    // SAFETY: the runner passes this descriptor to be owned by the agent.
    let channel = unsafe { UnixStream::from_raw_fd(control) };
    let script = fs::read_to_string(driver).expect("a script");
    let words = |line: &str| {
        let mut words = line.split(' ').map(ToOwned::to_owned).chain(["any".to_owned(), "any".to_owned()]);
        [(); 3].map(|()| words.next().expect("three words"))
    };
    let script = script.lines().filter(|line| !line.is_empty()).map(words).collect();
    Agent { channel: BufReader::new(channel), script, configure: None, measurements: 0 }.serve();
}

impl Agent {
    fn serve(&mut self) {
        let protocol = if self.is_scripted("protocol", "hello") { PROTOCOL + 1 } else { PROTOCOL };
        let hello = Hello {
            protocol,
            pid: process::id(),
            roles: vec![Role::Writer, Role::Reader, Role::Pinger, Role::Echo, Role::Relay],
            clock: MonotonicClock { boot_id: Some("1".to_owned()), time_namespace: Some("2".to_owned()) },
            libraries: Vec::new(),
            driver: description(),
        };
        self.answer("hello", &Reply::Hello(Box::new(hello)));
        loop {
            let order: Request = match receive_line(&mut self.channel) {
                Ok(order) => order,
                Err(_) => process::exit(0),
            };
            let phase = order.phase();
            let reply = self.obey(order);
            self.answer(phase, &reply);
            if phase == "exit" {
                if self.is_scripted("linger", phase) {
                    sleep();
                }
                if self.is_scripted("crash", phase) {
                    kill_itself();
                }
                return;
            }
        }
    }

    fn obey(&mut self, order: Request) -> Reply {
        match order {
            Request::Configure(configure) => {
                let reply = self.configured(&configure);
                self.configure = Some(*configure);
                if self.is_scripted("shm", "configure") {
                    let name = &self.configure.as_ref().expect("configured").run_name;
                    File::create_new(Path::new("/dev/shm").join(format!("sem.{name}-left"))).expect("a file");
                }
                if self.is_scripted("child", "configure") {
                    let child = process::Command::new("sleep").arg("1000").spawn().expect("a child");
                    println!("child {}", child.id());
                    // The runner has to end it.
                    std::mem::forget(child);
                }
                reply
            }
            Request::Match(peers) => {
                let [mine, theirs] = self.locators();
                // Those of all flows are alike.
                let locators = |of: &[MatchedPeers]| {
                    let mut all: Vec<String> = of.iter().flat_map(|peers| peers.locators.clone()).collect();
                    all.dedup();
                    all.concat()
                };
                let all = locators(&peers.writers) + &locators(&peers.readers);
                assert!(all == theirs && all != mine, "asked to match with {all}");
                Reply::Matched { waited_ns: 1_000_000, at_ns: 0 }
            }
            Request::WarmUp { duration_ns, .. } => {
                self.pass(duration_ns);
                Reply::WarmedUp
            }
            Request::Measure { duration_ns, begin_ns, .. } => {
                self.measurements += 1;
                let is_first = self.measurements == 1;
                if let Some(begin_ns) = begin_ns {
                    println!("asked to start at {begin_ns}");
                }
                if is_first && self.is_scripted("slow", "measure") {
                    thread::sleep(Duration::from_millis(600));
                }
                if self.is_scripted("tardy", "measure") || is_first && self.is_scripted("late", "measure") {
                    return Reply::Missed { late_ns: 5_000_000 };
                }
                let configure = self.configure.as_ref().expect("configured");
                let at_maximum = configure.streams().any(|stream| stream.load == Some(Load::Max));
                if at_maximum && self.is_scripted("jam", "measure") {
                    return Reply::Failed { error: "it is jammed".to_owned(), hint: None, refused: false };
                }
                self.pass(duration_ns);
                let sent = if self.role().drives() { reports::SENT } else { 0 };
                Reply::Measured(MeasureReply { sent })
            }
            Request::Progress => Reply::Progress(Progress { elapsed_ns: 1, ..Progress::default() }),
            Request::Drain(drain) => {
                assert_eq!(drain.sent, reports::SENT);
                Reply::Drained { complete: !self.is_scripted("owe", "drain") }
            }
            Request::Report => {
                let configure = self.configure.as_ref().expect("configured");
                let scripted = |what| self.is_scripted(what, "report");
                Reply::Report(Box::new(reports::report(configure, &scripted)))
            }
            Request::Exit => Reply::Bye,
            Request::Cases | Request::Check { .. } => {
                Reply::Cases { cases: Vec::new(), probes: Vec::new(), rejection: String::new() }
            }
            Request::OpenMailbox(_) | Request::Exchange(_) => {
                Reply::Failed { error: "it has no topics".to_owned(), hint: None, refused: true }
            }
        }
    }

    fn configured(&self, configure: &Configure) -> Reply {
        let role = configure.role.name();
        let scripted = |what| self.is_scripted_for(what, "configure", role);
        let in_force = |requested: &Qos| {
            if scripted("blind") {
                return Qos::default();
            }
            match scripted("qos") {
                true => Qos { reliability: Some(Reliability::BestEffort), ..requested.clone() },
                false => requested.clone(),
            }
        };
        // That of a reader has another queue, and is reported for writers too.
        let queue = scripted("queue").then_some(Some(50));
        let qos_of_writer = |requested: &Qos| Qos {
            max_samples: queue.unwrap_or(requested.max_samples),
            ..in_force(requested)
        };
        let writers =
            configure.writers.iter().map(|writer| (writer.name.clone(), qos_of_writer(&writer.qos)));
        let readers = configure.readers.iter().map(|reader| (reader.name.clone(), in_force(&reader.qos)));
        Reply::Configured(Box::new(Configured {
            reader_locators: configure.readers.iter().map(|_| format!("<reader of {role}>")).collect(),
            writer_locators: configure.writers.iter().map(|_| format!("<writer of {role}>")).collect(),
            effective_qos: writers.chain(readers).collect(),
            settings: self.settings(configure),
            ignored: BTreeMap::new(),
            cpus: configure.cpus.clone().unwrap_or_default(),
        }))
    }

    fn settings(&self, configure: &Configure) -> BTreeMap<String, BTreeMap<String, String>> {
        let off = self.is_scripted_for("off", "configure", configure.role.name());
        let multicast = if off { "off" } else { "unknown" };
        let domain = configure.domain.to_string();
        let settings =
            BTreeMap::from([("multicast".to_owned(), multicast.to_owned()), ("domain".to_owned(), domain)]);
        BTreeMap::from([("participant".to_owned(), settings)])
    }

    /// Returns the locators of this agent and those that it must receive: readers first.
    fn locators(&self) -> [String; 2] {
        match self.role() {
            Role::Writer => ["<writer of writer>", "<reader of reader>"],
            Role::Reader => ["<reader of reader>", "<writer of writer>"],
            Role::Pinger => ["<reader of pinger><writer of pinger>", "<reader of echo><writer of echo>"],
            Role::Echo | Role::Relay => {
                ["<reader of echo><writer of echo>", "<reader of pinger><writer of pinger>"]
            }
            Role::Participant => ["", ""],
        }
        .map(ToOwned::to_owned)
    }

    fn role(&self) -> Role {
        self.configure.as_ref().expect("configured").role
    }

    fn pass(&self, duration_ns: u64) {
        if self.role().drives() {
            thread::sleep(Duration::from_nanos(duration_ns));
        }
    }

    fn is_scripted(&self, what: &str, phase: &str) -> bool {
        let role = self.configure.as_ref().map_or("any", |configure| configure.role.name());
        self.is_scripted_for(what, phase, role)
    }

    fn is_scripted_for(&self, what: &str, phase: &str, role: &str) -> bool {
        self.script.iter().any(|[scripted, whom, when]| {
            scripted == what && (whom == "any" || whom == role) && (when == "any" || when == phase)
        })
    }

    fn answer(&mut self, phase: &str, reply: &Reply) {
        let scripted = |what| self.is_scripted(what, phase);
        if scripted("kill") {
            kill_itself();
        } else if scripted("exit") {
            println!("the driver has seen\nenough");
            process::exit(3);
        } else if scripted("deaf") {
            sleep();
        } else if scripted("hang") {
            // Ends when the channel closes, as real agents do.
            let _ = self.channel.fill_buf();
            process::exit(0);
        }
        let mut channel = self.channel.get_ref();
        let sent = if scripted("garbage") {
            channel.write_all(b"\xff\0{]\n").map_err(Into::into)
        } else if scripted("wrong") {
            send(&mut channel, &Reply::WarmedUp).and_then(|()| send(&mut channel, &Reply::WarmedUp))
        } else if scripted("twice") {
            send(&mut channel, reply).and_then(|()| send(&mut channel, reply))
        } else if scripted("fail") || scripted("refuse") {
            let (error, hint) = ("it does not work".to_owned(), Some("try harder".to_owned()));
            send(&mut channel, &Reply::Failed { error, hint, refused: scripted("refuse") })
        } else {
            send(&mut channel, reply)
        };
        if sent.is_err() || scripted("fail") || scripted("refuse") {
            process::exit(1);
        }
    }
}

fn kill_itself() -> ! {
    let itself = nix::unistd::getpid();
    nix::sys::signal::kill(itself, nix::sys::signal::Signal::SIGKILL).expect("it may");
    sleep()
}

fn sleep() -> ! {
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

fn description() -> DriverDescription {
    let enforced = PolicySupport::of_both(Support::Enforced, None);
    DriverDescription {
        name: "fake".to_owned(),
        driver_version: "1".to_owned(),
        middleware: "Fake".to_owned(),
        middleware_version: "1.2.3".to_owned(),
        version_source: "library".to_owned(),
        licence: "Apache-2.0".to_owned(),
        transports: vec![TransportInfo { name: "udp4".to_owned(), max_payload_bytes: 65_000, note: None }],
        receive_modes: vec![ReceiveMode::Waitset],
        type_kinds: vec!["octets".to_owned()],
        features: vec!["locators".to_owned()],
        policies: [(Policy::Reliability, enforced)].into(),
        ..DriverDescription::default()
    }
}
