//! Arguments of `ddsmark lab`.

use clap::{Args, Subcommand};
use experiment::{LabSpec, LinkSpec, MAX_HOSTS, MIN_HOSTS};

use super::{exit_status::EXIT_STATUS, parse};

const UP_EXAMPLES: &str = "\
Examples:
  ddsmark lab up --hosts 4 --rate 100mbit
      four hosts with links of 100 Mbit/s
  ddsmark lab up --name far --delay 20ms --loss 0.1%
      two hosts with a round trip of 40 ms, beside other labs
  ip netns exec lab.h1 ip address
      run a program in a host
  ddsmark lab down
      remove them";

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Create virtual hosts on this host: network namespaces, joined by links.
    ///
    /// The lab stays until `ddsmark lab down`, or until its keeper, a process of ddsmark, is ended. Nothing of it is visible
    /// in the network of this host. Needs root and the packages iproute2, ethtool, and nftables for a loss.
    #[command(before_help = UP_EXAMPLES, after_long_help = EXIT_STATUS)]
    Up(LabUpArgs),
    /// Remove a lab. Processes that still run in its hosts are killed.
    Down {
        /// Name of the lab.
        #[arg(default_value = DEFAULT_NAME)]
        name: String,
    },
    /// List the labs of this host.
    List {
        /// Print JSON, with each host.
        #[arg(long)]
        json: bool,
    },
    /// Own a lab until a signal ends this process.
    #[command(hide = true)]
    Keep {
        /// Name of the lab.
        name: String,
        /// Hosts and links.
        #[arg(value_parser = parse::hinted(str::parse::<LabSpec>))]
        spec: LabSpec,
    },
}

/// Name of a lab if none is given.
const DEFAULT_NAME: &str = "lab";

#[derive(Debug, Args)]
pub struct LabUpArgs {
    /// Name of the lab. Its namespaces are `NAME.h1` and so on.
    #[arg(long, default_value = DEFAULT_NAME)]
    pub name: String,

    /// Number of hosts.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(i64::from(MIN_HOSTS)..=i64::from(MAX_HOSTS)))]
    pub hosts: u32,

    /// Rate of each direction of each link, on the wire: `kbit`, `mbit` or `gbit`. By default unlimited. No link becomes faster
    /// than the CPU: 1gbit needs most of a core.
    #[arg(long, value_parser = parse::hinted(LinkSpec::parse_rate))]
    pub rate: Option<u64>,

    /// Delay from one host to another, such as `1ms`. A round trip has twice the delay. By default none.
    #[arg(long, value_name = "TIME", value_parser = parse::hinted(LinkSpec::parse_delay))]
    pub delay: Option<u64>,

    /// Lost IP packets or fragments from one host to another, such as `0.1%`. By default none.
    #[arg(long, value_name = "PERCENT", value_parser = parse::hinted(LinkSpec::parse_loss))]
    pub loss: Option<u32>,

    /// MTU of the links in bytes, 1280 to 9000. By default 1500.
    #[arg(long, value_name = "BYTES", value_parser = parse::hinted(LinkSpec::parse_mtu))]
    pub mtu: Option<u32>,

    /// Print the lab as JSON.
    #[arg(long)]
    pub json: bool,
}

impl LabUpArgs {
    /// Returns the hosts and links.
    pub fn spec(&self) -> LabSpec {
        let none = LinkSpec::default();
        let link = LinkSpec {
            rate_bit_per_s: self.rate,
            delay_ns: self.delay.unwrap_or(none.delay_ns),
            loss_ppm: self.loss.unwrap_or(none.loss_ppm),
            mtu_bytes: self.mtu.unwrap_or(none.mtu_bytes),
        };
        LabSpec { hosts: self.hosts, link }
    }
}
