//! Arguments of the commands about hosts.

use clap::Subcommand;
use experiment::HostFlag;

use super::{exit_status::EXIT_STATUS, parse};

const HOSTS_EXAMPLES: &str = "\
Examples:
  ddsmark hosts check pi1=ssh:user@pi1 pi2=ssh:pi2:2222
      can these two be used?
  ddsmark hosts check pi1=ssh:pi1 --driver udp
      and does this driver load there?
  salloc -N2 ddsmark hosts check slurm
      can the nodes of this allocation be used?";

#[derive(Debug, Subcommand)]
pub enum Hosts {
    /// Check that agents can run on hosts, one line for each.
    ///
    /// Takes the same hosts as `--host` of the commands that measure. Connects to those with `ssh:` by `ssh`, as your
    /// configuration says, and without asking for anything, and to the nodes of an allocation by `srun`. Copies ddsmark, its
    /// agent and the drivers to `~/.cache/ddsmark` of the host, unless they are there already. Starts the steward, the
    /// process that runs agents there, and a driver in it. Exits with status 3 if a host cannot be used.
    #[command(before_help = HOSTS_EXAMPLES, after_long_help = EXIT_STATUS)]
    Check {
        /// Name of each host, and a way to reach it: `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, `slurm:NODE` or `local`.
        /// `slurm` is each node of the allocation.
        #[arg(value_name = "NAME=SPEC", required = true, value_parser = parse::hinted(HostFlag::parse))]
        host: Vec<HostFlag>,

        /// Driver to copy and to load there; several with commas.
        #[arg(short, long, value_name = "D", value_delimiter = ',')]
        driver: Vec<String>,
    },
}
