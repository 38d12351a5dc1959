//! Flags that all commands that measure have in common, and the changes of an experiment file that they mean.

use clap::Args;
use experiment::{HostFlag, Override};

use super::{
    factor_flags::FactorFlags,
    parse::{self, DriverOption},
    result_args::OutputArgs,
};

/// Reference measurement in each block.
#[derive(Debug, Args)]
pub struct ReferenceArgs {
    /// Disable the reference, the round-trip time and rate of a bare UDP socket, before and after each block.
    ///
    /// A reference takes about 5 % of a block, 60 ms to 300 ms. `ddsmark compare` makes no claim between two
    /// results that lack it. Recorded in the result.
    #[arg(long, help_heading = "Host")]
    pub no_reference: bool,
}

/// Flags of a measurement and of its output.
#[derive(Debug, Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub factors: FactorFlags,

    /// Number of writers, each a process of its own: short for `--topology N-1`, or `N-R` with `--readers R`.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        conflicts_with = "topology",
        help_heading = "Factors"
    )]
    pub writers: Vec<String>,

    /// Number of readers, each a process of its own: short for `--topology 1-N`; several with commas.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        conflicts_with = "topology",
        help_heading = "Factors"
    )]
    pub readers: Vec<String>,

    /// QoS of writers and readers, such as `reliable,keep_last=1`, or the name of a profile.
    ///
    /// Words, and policies as `KEY=VALUE`. The words are `reliable`, `best_effort`, `strongest` (of what each driver
    /// supports), `keep_all`, `keep_last=N`, and the kinds of DURABILITY. The profile `shipped` requests nothing: each
    /// middleware has the QoS that it ships with. `docs/reference/experiment-file.md` lists the policies.
    #[arg(long, value_name = "POLICIES|PROFILE", value_parser = parse::qos, help_heading = "Factors")]
    pub qos: Vec<String>,

    /// Set an option of a driver; `ddsmark drivers info D` lists them. Given twice, both values are measured.
    #[arg(long, value_name = "D.KEY=VALUE", value_parser = parse::driver_option, help_heading = "Factors")]
    pub option: Vec<DriverOption>,

    /// Set an environment variable of the agents; `NAME=false` removes it. Given twice, both values are measured.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse::key_value, help_heading = "Factors")]
    pub env: Vec<(String, String)>,

    /// Compare all cells with those of this driver.
    ///
    /// `KEY=VALUE` names cells by other factors. Claims need more runs: as many as the plan says, unless you give a number.
    #[arg(short, long, value_name = "D|KEY=VALUE", value_delimiter = ',', help_heading = "Design")]
    pub baseline: Vec<String>,

    /// Number of runs of each cell.
    ///
    /// It is also the number of blocks. Findings need 3; claims need as many as the plan says.
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "precision", help_heading = "Design")]
    pub runs: Option<u32>,

    /// Target precision instead of a number of runs, such as `2%`: half the width of the 95 % CI.
    #[arg(long, value_name = "PERCENT", help_heading = "Design")]
    pub precision: Option<String>,

    /// Maximum duration of the experiment, such as `10min`.
    #[arg(long, value_name = "TIME", help_heading = "Design")]
    pub budget: Option<String>,

    /// Measured time of each run, 20 ms to 1 hour, such as `800ms` or `5s`. By default `800ms`.
    #[arg(long, value_name = "TIME", help_heading = "Design")]
    pub duration: Option<String>,

    /// Warm-up of each run, 0 to 10 minutes: the same traffic, not recorded. By default `200ms`.
    #[arg(long, value_name = "TIME", help_heading = "Design")]
    pub warm_up: Option<String>,

    /// Take a first look: runs of 200 ms.
    ///
    /// They have 50 ms of warm-up.
    #[arg(long, conflicts_with = "precise", help_heading = "Design")]
    pub quick: bool,

    /// Measure values to quote: runs of 5 s, with 1 s of warm-up; 10 of them where there is no baseline.
    #[arg(long, help_heading = "Design")]
    pub precise: bool,

    /// Check every byte of each Nth sample; of the other samples, only the header. By default 64.
    #[arg(long, value_name = "N", help_heading = "Design")]
    pub check_every: Option<u32>,

    /// Echo each Nth sample of a stream, and measure the round trip under load; N is at least 101.
    #[arg(long, value_name = "N", help_heading = "Design")]
    pub probe_every: Option<u32>,

    /// Seed of the run order and the payload. By default from the clock. Recorded in the result.
    #[arg(long, value_name = "N", help_heading = "Design")]
    pub seed: Option<u64>,

    /// DDS domain of all runs, 0 to 232. By default a free one of 1 to 100 for each run. Recorded in the result.
    ///
    /// Needed if something else must be in the same domain, such as a service or a recorder, or if a firewall admits the ports of one domain only. Another
    /// experiment in this domain is rejected while it lasts; participants of other programs are discovered.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=232), help_heading = "Design")]
    pub domain: Option<u32>,

    /// Time limit for writer and reader to match, 1 ms to 1 hour. By default `10s`.
    #[arg(long, value_name = "TIME", help_heading = "Design")]
    pub match_timeout: Option<String>,

    /// Time without an echo after which a ping is lost, 1 ms to 1 hour; at least 100 times the median round trip. By default
    /// `200ms` and the delay of the links of a lab. For longer paths, use twice their round trip.
    #[arg(long, value_name = "TIME", help_heading = "Design")]
    pub ping_timeout: Option<String>,

    /// Make each run at the same time as a run of its baseline, each on half of the cores, swapped in every block.
    ///
    /// Host noise then affects both runs, and their ratio shows smaller differences. Only the ratio is valid:
    /// absolute values are under duet interference, and labelled so. Needs a baseline, workload `latency`, no
    /// multicast, and 4 cores.
    #[arg(long, help_heading = "Design")]
    pub duet: bool,

    /// Override a value of the file. Can be repeated.
    ///
    /// A value of the experiment file, such as `design.check_every=1`.
    /// Dots in the key lead into tables. The value is written as in the file; quotes around a single word and
    /// brackets around a list can be omitted.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Design")]
    pub set: Vec<String>,

    /// Print the plan without measuring.
    ///
    /// Shows cells, blocks, runs, expected duration, and, with a selftest of this host, the minimum detectable effect.
    #[arg(long, conflicts_with_all = ["csv", "jsonl", "markdown"], help_heading = "Design")]
    pub dry_run: bool,

    /// CPU cores of the two endpoints of each run: `auto` (half of the available cores for each; a single core is
    /// not pinned), `none`, or the cores of writer and reader, such as `0,1` or `0-3,4-7`. Recorded in the result.
    #[arg(long, value_name = "CORES", help_heading = "Host")]
    pub pin: Option<String>,

    /// Keep the cores from idling with spinning threads of the lowest priority. Recorded in the result.
    #[arg(long, help_heading = "Host")]
    pub keep_awake: bool,

    /// Host to run endpoints on, such as `pi1=ssh:user@pi1`; `lab:N` creates N virtual ones. Can be repeated.
    ///
    /// `NAME=SPEC` names a host, and `,interface=NAME` its interface to the others, by default the one in the network that
    /// all hosts share. SPEC is `local` (this host), `ssh:[USER@]HOST[:PORT]`, `netns:NAME`, a network namespace of this
    /// host, or `slurm:NODE`, a node of the allocation that ddsmark runs in. `--host slurm` is each of its nodes, by its
    /// name. ddsmark copies itself and the drivers to hosts over ssh and to nodes. `--placement` says which endpoint runs
    /// where. Check hosts with `ddsmark hosts check`.
    ///
    /// `lab:N[,rate=100mbit][,delay=1ms][,loss=0.1%][,mtu=1500]` creates the hosts h1 to hN on this host, joined by such links,
    /// and removes them at the end. It needs root, and no other host can be used with it. `--link-rate`, `--link-delay` and
    /// `--link-loss` measure several links.
    #[arg(long, value_name = "NAME=SPEC|lab:N|slurm", value_parser = parse::hinted(HostFlag::parse), help_heading = "Host")]
    pub host: Vec<HostFlag>,

    #[command(flatten)]
    pub reference: ReferenceArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Quotes a part of a key, or a text, as a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

impl MeasureArgs {
    /// Returns the changes of the experiment file. Without a baseline, a number of runs or a precision, each cell has
    /// `runs` runs, or as many as the file says.
    pub fn overrides(&self, runs: Option<u32>) -> Vec<Override> {
        let mut all = self.factors.overrides.clone();
        all.extend(self.hosts());
        all.extend(self.topologies());
        all.extend(self.qos());
        all.extend(self.options());
        all.extend(self.variables());
        all.extend(self.baselines());
        let (effort, times) = match (self.quick, self.precise) {
            (true, _) => ("--quick", Some(("50ms", "200ms"))),
            (_, true) => ("--precise", Some(("1s", "5s"))),
            _ => ("", None),
        };
        if let Some((warm_up, measure)) = times {
            all.push(Override::flag(effort, "design.warm_up", warm_up).shown_as(effort));
            all.push(Override::flag(effort, "design.measure", measure).shown_as(effort));
        }
        if let Some(runs) = runs.filter(|_| self.is_without_number()) {
            let runs = if self.precise { 10 } else { runs };
            all.push(Override::flag(effort, "design.blocks", runs.to_string()).shown_as(effort));
        }
        let number = |n: Option<u32>| n.map(|n| n.to_string());
        for (name, key, value) in [
            ("--runs", "design.blocks", number(self.runs)),
            ("--precision", "design.precision", self.precision.clone()),
            ("--budget", "design.budget", self.budget.clone()),
            ("--duration", "design.measure", self.duration.clone()),
            ("--warm-up", "design.warm_up", self.warm_up.clone()),
            ("--check-every", "design.check_every", number(self.check_every)),
            ("--probe-every", "design.probe_every", number(self.probe_every)),
            ("--seed", "design.seed", self.seed.map(|seed| seed.to_string())),
            ("--domain", "design.domain", number(self.domain)),
            ("--match-timeout", "limits.match", self.match_timeout.clone()),
            ("--ping-timeout", "limits.ping", self.ping_timeout.clone()),
            ("--pin", "design.pin", self.pin.clone()),
        ] {
            all.extend(value.map(|value| Override::flag(name, key, value)));
        }
        for (is_set, name, key, value) in [
            (self.duet, "--duet", "design.duet", "true"),
            (self.keep_awake, "--keep-awake", "design.keep_awake", "true"),
            (self.reference.no_reference, "--no-reference", "design.reference", "false"),
        ] {
            all.extend(is_set.then(|| Override::flag(name, key, value).shown_as(name)));
        }
        all.extend(self.set.iter().map(Override::set));
        all
    }

    /// Returns the first flag that changes the plan; `None` if there is none.
    pub fn first_change(&self) -> Option<String> {
        let flag = self.overrides(None).first().map(|change| change.flag_name().to_owned());
        flag.or_else(|| self.dry_run.then(|| "--dry-run".to_owned()))
    }

    /// Returns whether neither a number of runs nor what determines it is given.
    fn is_without_number(&self) -> bool {
        let keys = ["design.blocks", "design.precision", "design.baseline"];
        let is_set = self.set.iter().any(|set| keys.iter().any(|key| set.starts_with(key)));
        self.runs.is_none() && self.precision.is_none() && self.baseline.is_empty() && !is_set
    }

    /// Returns the hosts. They replace those of the file.
    fn hosts(&self) -> Option<Override> {
        let entries: Vec<String> = self.host.iter().map(HostFlag::entry).collect();
        let shown: Vec<String> = self.host.iter().map(|host| format!("--host {host}")).collect();
        let change = || Override::flag("--host", "host", format!("[{}]", entries.join(", ")));
        (!entries.is_empty()).then(|| change().shown_as(shown.join(" ")))
    }

    /// Returns the topologies with each number of writers and each number of readers.
    fn topologies(&self) -> Option<Override> {
        if self.writers.is_empty() && self.readers.is_empty() {
            return None;
        }
        let flag = if self.writers.is_empty() { "--readers" } else { "--writers" };
        let or_one = |numbers: &[String]| match numbers {
            [] => vec!["1".to_owned()],
            numbers => numbers.to_vec(),
        };
        let (writers, readers) = (or_one(&self.writers), or_one(&self.readers));
        let pairs = writers.iter().flat_map(|writers| readers.iter().map(move |readers| (writers, readers)));
        let all: Vec<String> = pairs.map(|(writers, readers)| format!("{writers}-{readers}")).collect();
        let shown = [("--writers", &self.writers), ("--readers", &self.readers)];
        let shown = shown.into_iter().filter(|(_, numbers)| !numbers.is_empty());
        let shown: Vec<String> =
            shown.map(|(name, numbers)| format!("{name} {}", numbers.join(","))).collect();
        Some(Override::flag(flag, "factors.topology", all.join(",")).shown_as(shown.join(" ")))
    }

    fn qos(&self) -> Vec<Override> {
        let mut all = Vec::new();
        let mut profiles: Vec<&str> = Vec::new();
        for argument in &self.qos {
            if parse::is_profile(argument) {
                profiles.push(argument);
                continue;
            }
            for word in argument.split(',') {
                let word = word.trim();
                let change = |key: &str, value: &str| {
                    Override::flag("--qos", key, value).shown_as(format!("--qos {word}"))
                };
                match word.split_once('=') {
                    Some(("keep_last", depth)) => {
                        all.push(change("qos.history", "keep_last"));
                        all.push(change("qos.history_depth", depth));
                    }
                    Some((key, value)) => all.push(change(&format!("qos.{key}"), value)),
                    None => {
                        let policy = parse::policy_of(word).unwrap_or(word);
                        all.push(change(&format!("qos.{policy}"), &word.replace('-', "_")));
                    }
                }
            }
        }
        if !profiles.is_empty() {
            all.push(Override::flag("--qos", "factors.profile", profiles.join(",")));
        }
        all
    }

    /// Returns the selection of the baseline. Several values of a key select the cells with any of them.
    fn baselines(&self) -> Vec<Override> {
        let keys = self.baseline.iter().map(|entry| {
            let (key, value) = entry.split_once('=').unwrap_or(("driver", entry));
            // Results name options `option.KEY`.
            let option = ["option.", "options."].iter().find_map(|group| entry.strip_prefix(group));
            let option = option.and_then(|option| parse::driver_option(option).ok());
            let option = option.map_or_else(|| parse::driver_option(entry), Ok);
            let key = match (key.strip_prefix("env."), option) {
                (Some(name), _) => format!("env.{}", quoted(name)),
                (None, Ok(option)) => format!("options.{}.{}", quoted(&option.driver), quoted(&option.key)),
                (None, Err(_)) => key.to_owned(),
            };
            (format!("design.baseline.{key}"), value.to_owned(), entry.clone())
        });
        values_by_key("--baseline", keys)
    }

    fn options(&self) -> Vec<Override> {
        let keys = self.option.iter().map(|option| {
            let key = format!("options.{}.{}", quoted(&option.driver), quoted(&option.key));
            let shown_as = format!("{}.{}={}", option.driver, option.key, option.value);
            (key, option.value.clone(), shown_as)
        });
        values_by_key("--option", keys)
    }

    fn variables(&self) -> Vec<Override> {
        let keys = self.env.iter().map(|(name, value)| {
            let shown_as = format!("{name}={value}");
            let value = if value == "false" { value.clone() } else { quoted(value) };
            (format!("factors.env.{}", quoted(name)), value, shown_as)
        });
        values_by_key("--env", keys)
    }
}

/// Returns a value as an element of a list in TOML: whole numbers, `true`, `false` and quoted text as they are, else as text.
fn element(value: &str) -> String {
    let is_literal =
        value.parse::<i64>().is_ok() || matches!(value, "true" | "false") || value.starts_with('"');
    if is_literal { value.to_owned() } else { quoted(value) }
}

/// Returns one change for each key, with a list if it is given several times. Each is given as key, value, and what the
/// user wrote.
fn values_by_key(flag: &str, values: impl Iterator<Item = (String, String, String)>) -> Vec<Override> {
    let mut keys: Vec<(String, Vec<String>, String)> = Vec::new();
    for (key, value, shown_as) in values {
        match keys.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, values, all)) => {
                values.push(value);
                all.push_str(&format!(" {flag} {shown_as}"));
            }
            None => keys.push((key, vec![value], format!("{flag} {shown_as}"))),
        }
    }
    let text = |values: Vec<String>| match &values[..] {
        [one] => one.clone(),
        _ => format!("[{}]", values.iter().map(|value| element(value)).collect::<Vec<_>>().join(", ")),
    };
    let change = |(key, values, shown_as): (String, _, String)| {
        Override::flag(flag, key, text(values)).shown_as(shown_as)
    };
    keys.into_iter().map(change).collect()
}

#[cfg(test)]
#[path = "measure_args_tests.rs"]
mod tests;
