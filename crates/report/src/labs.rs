//! Virtual hosts and links.

use std::{fmt::Write as _, net::Ipv4Addr, time::Duration};

use experiment::{LabSpec, goodput_ceiling};

use crate::layout::Grid;

/// Bytes of the headers of IPv4 and UDP.
const UDP_HEADERS: u64 = 28;

/// Lab in a list.
#[derive(Clone, Debug)]
pub struct LabRow {
    /// Name.
    pub name: String,
    /// Number of hosts, and their links.
    pub spec: LabSpec,
    /// First and last address.
    pub addresses: (Ipv4Addr, Ipv4Addr),
    /// Process id of the owner.
    pub owner: u32,
    /// Whether the owner still runs.
    pub is_alive: bool,
    /// Time since the lab is up.
    pub age: Duration,
}

/// Returns the link of a lab.
fn link(row: &LabRow) -> String {
    let text = row.spec.link.to_string();
    if text.is_empty() { "no limits".to_owned() } else { text }
}

/// Names what makes each property of a link.
fn shaped_by(row: &LabRow) -> Vec<&'static str> {
    let link = &row.spec.link;
    let switch = match (link.rate_bit_per_s, link.delay_ns) {
        (Some(_), 1..) => Some("rate and delay by a switch of ddsmark"),
        (Some(_), 0) => Some("rate by a switch of ddsmark"),
        (None, 1..) => Some("delay by a switch of ddsmark"),
        (None, 0) => None,
    };
    let loss = (link.loss_ppm > 0).then_some("loss by nftables");
    switch.into_iter().chain(loss).collect()
}

/// Returns the table of `ddsmark lab list`.
#[must_use]
pub fn lab_list(labs: &[LabRow]) -> String {
    if labs.is_empty() {
        return "no lab is up; create one with `ddsmark lab up`\n".to_owned();
    }
    let mut grid =
        Grid::default().left(["Lab"]).right(["Hosts"]).left(["Addresses", "Link", "Owner"]).right(["Age"]);
    for lab in labs {
        let (first, last) = lab.addresses;
        let owner = if lab.is_alive { lab.owner.to_string() } else { format!("{} (ended)", lab.owner) };
        grid.row(vec![
            lab.name.clone(),
            lab.spec.hosts.to_string(),
            format!("{first} to {last}"),
            link(lab),
            owner,
            age(lab.age),
        ]);
    }
    grid.render()
}

/// Formats a time since an event: `40 s`, `12 min`, `2 h 5 min`.
fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Returns the output of `ddsmark lab up`: the hosts, each with its name and namespace, and how to use them.
#[must_use]
pub fn lab_up(lab: &LabRow, hosts: &[[&str; 2]], addresses: &[Ipv4Addr]) -> String {
    let mut text = format!("Lab `{}`: {} hosts, {}.\n\n", lab.name, hosts.len(), link(lab));
    let mut grid = Grid::default().left(["Host", "Address", "Namespace"]);
    for ([name, namespace], address) in hosts.iter().zip(addresses) {
        grid.row(vec![(*name).to_owned(), address.to_string(), (*namespace).to_owned()]);
    }
    text += &grid.render();
    text.push('\n');
    let shaped = shaped_by(lab);
    if !shaped.is_empty() {
        writeln!(text, "Links shaped by: {}.", shaped.join(", ")).expect("a string grows");
    }
    if let Some(rate) = lab.spec.link.rate_bit_per_s {
        #[allow(clippy::cast_precision_loss)]
        let rate = rate as f64;
        let mtu = lab.spec.link.mtu_bytes;
        let ceiling = |size| goodput_ceiling(rate, mtu, size).map_or(0.0, |ceiling| ceiling / 1e6);
        let largest = u64::from(mtu) - UDP_HEADERS;
        writeln!(
            text,
            "Goodput ceiling of UDP: {:.2} Mbit/s with {largest} B, {:.2} Mbit/s with 64 B.",
            ceiling(largest),
            ceiling(64)
        )
        .expect("a string grows");
    }
    let [_, namespace] = hosts[0];
    writeln!(
        text,
        "Run a program in a host: ip netns exec {namespace} PROGRAM\nRemove the lab: ddsmark lab down {}",
        lab.name
    )
    .expect("a string grows");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, spec: &str, seconds: u64) -> LabRow {
        LabRow {
            name: name.to_owned(),
            spec: spec.parse().unwrap(),
            addresses: (Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)),
            owner: 4711,
            is_alive: name != "left",
            age: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn labs_are_a_table() {
        let rows = [row("lab", "2,rate=100mbit,delay=1ms", 65), row("left", "2", 7_500)];
        insta::assert_snapshot!(lab_list(&rows));
        insta::assert_snapshot!(lab_list(&[]));
        assert_eq!(
            [119, 120, 7_199, 7_200].map(|s| age(Duration::from_secs(s))),
            ["119 s", "2 min", "119 min", "2 h 0 min"]
        );
    }

    #[test]
    fn new_lab_shows_how_to_use_it() {
        let addresses = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
        let hosts = [["h1", "lab.h1"], ["h2", "lab.h2"]];
        insta::assert_snapshot!(lab_up(&row("lab", "2,rate=100mbit,loss=0.1%", 0), &hosts, &addresses));
        // What makes rate and delay is named: it takes time of the CPU.
        for (spec, shaped) in [
            ("2,rate=1gbit", "rate by a switch of ddsmark"),
            ("2,delay=1ms", "delay by a switch of ddsmark"),
            ("2,rate=1gbit,delay=1ms", "rate and delay by a switch of ddsmark"),
        ] {
            let text = lab_up(&row("lab", spec, 0), &hosts, &addresses);
            assert!(text.contains(&format!("Links shaped by: {shaped}.\n")), "{text}");
        }
        assert!(!lab_up(&row("lab", "2", 0), &hosts, &addresses).contains("shaped by"));
    }
}
