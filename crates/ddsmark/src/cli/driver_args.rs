//! Arguments of the commands about drivers.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};

use super::{exit_status::EXIT_STATUS, parse};

const SUPPORT_EXAMPLES: &str = "\
Examples:
  ddsmark drivers support
      the matrix of all installed drivers
  ddsmark drivers support example@2.14 example@3.2 --csv >support.csv
      two versions beside each other";

const INSTALL_EXAMPLES: &str = "\
Examples:
  ddsmark drivers versions
      which drivers can be built, and against which versions
  ddsmark drivers install example@2.14
      the highest version that begins with 2.14, beside those that are installed
  ddsmark drivers install example --prefix /opt/ros/jazzy
      against the middleware installed there; nothing is fetched
  ddsmark characterize --driver example@2.14,example@3.2
      two versions, compared with each other";

#[derive(Debug, Subcommand)]
pub enum Drivers {
    /// List the installed drivers, and those that can be installed.
    List,
    /// List the versions of a driver's middleware that can be fetched, the default first.
    Versions {
        /// Name of the driver. By default all drivers with sources.
        driver: Option<String>,

        /// Directory with the sources of drivers, one folder each. By default `$DDSMARK_DRIVER_SOURCES`, else the
        /// sources installed with this program, else the source tree that contains it or that it was built from.
        #[arg(long, value_name = "DIR")]
        sources: Option<PathBuf>,
    },
    /// Build a driver from its sources against a version of its middleware, and install it.
    ///
    /// The middleware is fetched from package registries and kept. Each version is a separate driver,
    /// `NAME@VERSION`. The driver is installed in the first directory of `$DDSMARK_DRIVER_PATH`, else in the
    /// directory of the other drivers if you can write to it, else in `ddsmark/drivers` of `$XDG_DATA_HOME` or
    /// `~/.local/share`. It is rejected if it does not load or reports another version.
    #[command(before_help = INSTALL_EXAMPLES, after_long_help = EXIT_STATUS)]
    Install(InstallArgs),
    /// Show the description of a driver: transports, options, and support of each policy.
    Info {
        /// Name, `NAME@VERSION`, `WRITER+READER` for what a pair supports, or path of a file.
        driver: String,
    },
    /// Check a driver against the contract, case by case.
    ///
    /// Each case runs in a separate process, over loopback: a driver that crashes, exits or hangs fails only one
    /// case. Exits with status 0 if no case failed, else with 1.
    #[command(after_long_help = EXIT_STATUS)]
    Check {
        /// Name, `NAME@VERSION`, or path of a file.
        driver: String,

        /// Transport to use. By default the first one of the driver.
        #[arg(long, value_name = "NAME")]
        transport: Option<String>,

        /// Set an option of the driver. Can be repeated.
        #[arg(long, value_name = "KEY=VALUE", value_parser = parse::key_value)]
        option: Vec<(String, String)>,

        /// Check only this case. Can be repeated.
        #[arg(long, value_name = "ID", value_delimiter = ',')]
        case: Vec<String>,

        /// Time limit of each case.
        #[arg(long, value_name = "TIME", value_parser = parse::time, default_value = "60s")]
        limit: Duration,

        /// Number of cases to execute at the same time. Most of them wait, so four at a time take about a quarter of
        /// the time, but on a busy host a case may fail because it was disturbed.
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
        jobs: u32,
    },
    /// Show what each QoS policy is in the middleware of each driver, as probes observe it.
    ///
    /// The probes are conformance cases, each in a separate process, over loopback. `enforced`: a probe observed the effect.
    /// `hint`: no effect that DDS promises. `matched only`: decides only whether writer and reader match. `ignored`: accepted
    /// without effect. `unsupported`: rejected. `needs a service`: acts only with a further process or store. `unknown`: no probe
    /// could show it. Exits with status 1 if the probes contradict what a driver declares.
    #[command(before_help = SUPPORT_EXAMPLES, after_long_help = EXIT_STATUS)]
    Support(SupportArgs),
}

#[derive(Debug, Args)]
pub struct SupportArgs {
    /// Names, `NAME@VERSION`, or paths of files. By default all installed drivers, without simulations.
    pub driver: Vec<String>,

    /// Time limit of each probe.
    #[arg(long, value_name = "TIME", value_parser = parse::time, default_value = "60s")]
    pub limit: Duration,

    /// Number of probes to execute at the same time. One that fails beside others is repeated alone.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub jobs: u32,

    /// Print JSON.
    #[arg(long)]
    pub json: bool,

    /// Print CSV: a row for each policy, a column for each driver.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Driver to build. `NAME` is the default version; `NAME@VERSION` is the highest version that starts with
    /// VERSION.
    #[arg(value_name = "NAME[@VERSION]")]
    pub driver: String,

    /// Build against the middleware in this directory, such as a ROS 2 installation, and fetch nothing. The library
    /// determines the driver's version.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,

    /// Accept the licence of the middleware, if it requires that. `ddsmark drivers versions` shows it.
    #[arg(long)]
    pub accept_licence: bool,

    /// Directory with the sources of drivers, one folder each. By default `$DDSMARK_DRIVER_SOURCES`, else the
    /// sources installed with this program, else the source tree that contains it or that it was built from.
    #[arg(long, value_name = "DIR")]
    pub sources: Option<PathBuf>,

    /// Time limit of each step: to fetch, and to build.
    #[arg(long, value_name = "TIME", value_parser = parse::time, default_value = "1h")]
    pub limit: Duration,
}
