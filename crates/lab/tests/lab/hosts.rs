//! Hosts: addresses, names, commands, multicast, several labs.

use std::{
    net::Ipv4Addr,
    process::{Command, Stdio},
    time::Duration,
};

use lab::{Lab, LabError, LabOptions};

use crate::support::{assert_gone, inside, socket, up, wait_until};

#[test]
fn hosts_exchange_datagrams_and_have_names_of_their_own() {
    let lab = up("3");
    let (name, addresses) = (lab.name().to_owned(), lab.hosts().iter().map(|host| host.address));
    assert_eq!(addresses.collect::<Vec<_>>(), [1, 2, 3].map(|number| Ipv4Addr::new(10, 77, 0, number)));
    let (first, third) = (socket(&lab, 0), socket(&lab, 2));
    first.send_to(b"ping", third.local_addr().unwrap()).unwrap();
    let mut buffer = [0; 16];
    let (length, from) = third.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..length], from), (&b"ping"[..], first.local_addr().unwrap()));
    third.send_to(b"pong", from).unwrap();
    assert_eq!(first.recv_from(&mut buffer).unwrap().1, third.local_addr().unwrap());

    // A command has the host's name, interfaces and names of the others, and no shared memory of this host.
    let of_host = tempfile::Builder::new().prefix("ddsmark-lab-test").tempfile_in("/dev/shm").unwrap();
    let script = "uname -n; ls /sys/class/net | sort; cat /etc/hosts; ls -A /dev/shm";
    let id = |host: &str| lab.command(host, "cat").unwrap().arg("/etc/machine-id").output().unwrap().stdout;
    let usual = std::fs::read("/etc/machine-id").unwrap_or_default();
    assert!(usual.is_empty() || id("h1").len() == 33 && id("h1") != id("h2") && id("h1") != usual);
    let output = lab.command("h2", "sh").unwrap().args(["-c", script]).output().unwrap();
    of_host.close().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("h2\neth0\nlo\n") && text.contains("\n10.77.0.3 h3\n"), "{text}");
    assert!(!text.contains("ddsmark-lab-test"), "{text}");
    let error = lab.command("h4", "true").unwrap_err();
    assert_eq!(error.to_string(), "host `h4` not found in the lab");
    assert_eq!(error.hint(), "available: h1, h2, h3");

    // The address of another family is usable at once, too.
    let sixth = inside(&lab, 1, || std::net::UdpSocket::bind("[fd77::2]:0").unwrap());
    inside(&lab, 0, || std::net::UdpSocket::bind("[fd77::1]:0").unwrap())
        .send_to(b"6", sixth.local_addr().unwrap())
        .unwrap();
    sixth.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(sixth.recv(&mut buffer).unwrap(), 1);

    // What runs in a host ends with the lab.
    let mut sleeper = lab.command("h1", "sleep").unwrap().arg("300").stdout(Stdio::null()).spawn().unwrap();
    assert_eq!(lab.processes(), [sleeper.id().cast_signed()]);
    lab.down().unwrap();
    wait_until("the end of a process in a host", || sleeper.try_wait().unwrap().is_some());
    assert_gone(&name);
}

#[test]
fn multicast_reaches_the_members_only() {
    let group = Ipv4Addr::new(239, 255, 0, 1);
    let mut lab = up("4");
    // By the bridge, then by the switch of our own, and by the bridge again.
    for (link, members) in [
        ("", &["h1", "h2", "h3", "h4"][..]),
        ("delay=1ms", &["h1", "h2", "h3", "h4"]),
        ("rate=100mbit", &["h1", "h3"]),
        ("", &["h1", "h3"]),
        ("", &["h4", "h1"]),
        ("rate=100mbit", &["h1", "h4"]),
    ] {
        lab.set_link(&link.parse().unwrap()).unwrap();
        lab.set_members(members.iter().copied()).unwrap();
        let readers: Vec<_> = (1..4)
            .map(|host| {
                let address = lab.hosts()[host].address;
                let socket = inside(&lab, host, || std::net::UdpSocket::bind((group, 7400)).unwrap());
                socket.join_multicast_v4(&group, &address).unwrap();
                socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
                socket
            })
            .collect();
        let writer = socket(&lab, 0);
        for number in 0..100_u8 {
            writer.send_to(&[number], (group, 7400)).unwrap();
        }
        // All have the writer's unicast after its multicast, so nothing more comes.
        for (host, reader) in (1..4).zip(readers) {
            let unicast = (lab.hosts()[host].address, 7400);
            let last = inside(&lab, host, || std::net::UdpSocket::bind(unicast).unwrap());
            last.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            writer.send_to(&[1], unicast).unwrap();
            assert_eq!(last.recv(&mut [0; 2]).unwrap(), 1);
            let is_member = members.contains(&format!("h{}", host + 1).as_str());
            let mut buffer = [0; 2];
            let received: Vec<u8> = (0..if is_member { 100 } else { 0 })
                .map(|_| {
                    assert_eq!(reader.recv(&mut buffer).unwrap(), 1);
                    buffer[0]
                })
                .collect();
            reader.set_nonblocking(true).unwrap();
            assert!(reader.recv(&mut buffer).is_err(), "{link} h{}", host + 1);
            let expected = if is_member { 0..100 } else { 0..0 };
            assert_eq!(received, expected.collect::<Vec<u8>>(), "{link}");
        }
    }
    assert!(matches!(lab.set_members(["h5"]), Err(LabError::NoHost { .. })));
}

/// Returns the interfaces, addresses and routes of this host.
fn network_of_this_host() -> String {
    let show = |what: &[&str]| {
        let output = Command::new("ip").arg("-o").args(what).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let tables = [&["addr"][..], &["route", "show", "table", "all"], &["neigh"]];
    // Remaining lifetimes of addresses change.
    let lines = tables.map(show).concat();
    lines.lines().map(|line| line.split(" valid_lft").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn lab_changes_nothing_in_the_network_of_this_host() {
    let before = network_of_this_host();
    assert!(before.contains("127.0.0.1"), "{before}");
    let lab = up("2,rate=100mbit,delay=1ms,loss=1%");
    assert_eq!(network_of_this_host(), before);
    lab.down().unwrap();
    assert_eq!(network_of_this_host(), before);
}

#[test]
fn command_of_a_host_has_no_effect_after_the_lab() {
    let lab = up("2");
    let host = lab.host("h2").unwrap().clone();
    assert_eq!(host.prefix(), ["ip", "netns", "exec", &host.namespace]);
    let [program, arguments @ ..] = host.prefix();
    let addresses = Command::new(program).args(arguments).args(["ip", "-o", "addr"]).output().unwrap();
    assert!(String::from_utf8(addresses.stdout).unwrap().contains("10.77.0.2/24"));
    assert!(host.command("true").status().unwrap().success());
    // Both ways have the same files.
    let read =
        |mut command: Command| command.args(["/etc/hosts", "/etc/machine-id"]).output().unwrap().stdout;
    let mut by_ip = Command::new("ip");
    by_ip.args(&host.prefix()[1..]).arg("cat");
    assert_eq!(read(by_ip), read(host.command("cat")));
    lab.down().unwrap();
    let error = host.command("true").status().unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENONET));
}

#[test]
fn labs_exist_beside_each_other_and_names_are_unique() {
    let named = |name: &str| LabOptions { name: Some(name.to_owned()), ..LabOptions::default() };
    let spec = "2".parse().unwrap();
    let own = format!("test-{}", std::process::id());
    let (first, second) = (up("2"), Lab::up_with(&named(&own), &spec).unwrap());
    // The same addresses, but no connection.
    assert_eq!(first.hosts()[1].address, second.hosts()[1].address);
    let (here, there) = (socket(&first, 1), socket(&second, 1));
    socket(&first, 0).send_to(b"1", here.local_addr().unwrap()).unwrap();
    assert_eq!(here.recv(&mut [0; 8]).unwrap(), 1);
    there.set_nonblocking(true).unwrap();
    assert!(there.recv(&mut [0; 8]).is_err());

    let error = Lab::up_with(&named(&own), &spec).unwrap_err();
    assert!(matches!(&error, LabError::Exists(name) if *name == own), "{error}");
    assert!(error.is_rejection() && error.hint().contains("lab down"), "{error}");
    assert!(matches!(Lab::up_with(&named("a.b"), &spec), Err(LabError::Name(_))));
    // A lab of a running process is not the command's to remove.
    assert!(matches!(lab::down(&own), Err(LabError::InUse { .. })));
    assert!(matches!(lab::down("no-such-lab"), Err(LabError::NotFound { .. })));
    drop(second);
    assert_gone(&own);

    // A namespace of that name that is not ours stays.
    let foreign = format!("{own}.h2");
    let ip = |verb| Command::new("ip").args(["netns", verb, &foreign]).status().unwrap().success();
    assert!(ip("add"));
    let result = Lab::up_with(&named(&own), &spec).map(drop);
    assert!(ip("delete"), "{result:?}");
    assert!(matches!(&result, Err(LabError::NamespaceExists(name)) if *name == foreign), "{result:?}");
    assert_gone(&own);
}
