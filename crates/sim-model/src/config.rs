//! Configuration of the simulated middleware.

use std::fmt;

use crate::{
    distribution::Mixture,
    parse,
    shape::{Shape, Stall},
    values::{Mode, OverflowPolicy, POLICIES},
};

/// Name, default and description of an option.
#[derive(Clone, Copy, Debug)]
pub struct OptionText {
    /// Name of the option.
    pub name: &'static str,
    /// Default value, as text.
    pub default: &'static str,
    /// Meaning, unit and range.
    pub help: &'static str,
}

macro_rules! options {
    ($($name:literal = $default:literal $help:literal,)*) => {
        /// All options.
        pub const OPTIONS: &[OptionText] =
            &[$(OptionText { name: $name, default: $default, help: $help }),*];
    };
}

options! {
    "latency" = "100us" "one way: TIME, constant:TIME, normal:MEAN,SD, lognormal:MEDIAN,SIGMA, gamma:MEAN,SHAPE, or a \
        mixture such as 0.99*50us+0.01*gamma:1ms,2; times up to 100s with ns, us, ms or s",
    "modes" = "1" "factors of latency and of the server's time, one drawn for each run: 0.7*1+0.3*1.5; 0.001 to 1000",
    "bandwidth" = "off" "payload that the server moves: a number with kbit, Mbit or Gbit (a second), or off",
    "service" = "0" "time that the server takes for a packet besides: a time",
    "jitter" = "0" "spread of the server's time from packet to packet: standard deviation over mean, gamma distributed; 0 to \
        3",
    "queue" = "1000" "packets in the server, the one being served included: 1 to 1000000",
    "full" = "block" "a write that finds the queue full: block (back-pressure), or drop (best effort only)",
    "loss" = "0" "probability that a transmission is lost: 0.01 or 1%; reliable writers send again",
    "fragment" = "off" "payload bytes of a datagram, 1 to 1000000, or off; a packet of several is lost with any of them",
    "retransmit" = "1ms" "what each retransmission adds to the latency: a time",
    "duplicate" = "0" "probability that a sample comes twice, best effort only",
    "reorder" = "0" "probability that a sample is held back; best effort: those behind it pass",
    "hold" = "1ms" "for how long a sample is held back: a time",
    "drift" = "0" "change of latency and of the server's time in each second, of what they were at first: 0.1, 10% or -10%; -100 to \
        100",
    "stall" = "off" "PERIOD,LENGTH: nothing moves for LENGTH at the end of each PERIOD; or off",
    "warmup" = "flat" "factor of latency and of the server's time, over time: flat, ramp:FACTOR,TIME, step:FACTOR,TIME, \
        cycle:FACTOR,PERIOD, slowdown:FACTOR,TIME",
    "qos" = "none" "what a policy adds to the latency of a writer that is asked for it: reliability:5us,deadline:1us",
    "seed" = "1" "of all random numbers, together with the name of the run: a whole number",
}

/// Configuration of the simulated middleware. Times are in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// One-way latency, before all factors.
    pub latency: Mixture,
    /// Factors of latency and server time; each run draws one.
    pub modes: Vec<Mode>,
    /// Bandwidth of the server in bit/s; `None`: unlimited.
    pub bandwidth: Option<f64>,
    /// Time of the server per packet in ns, in addition to the time for its bytes.
    pub service_ns: u64,
    /// Coefficient of variation (standard deviation over mean) of the server time; gamma distributed.
    pub jitter: f64,
    /// Maximum number of packets in the server, including the one in service.
    pub queue: usize,
    /// Behaviour of a write when the queue is full.
    pub full: OverflowPolicy,
    /// Probability that a datagram is lost, 0 to 1.
    pub loss: f64,
    /// Maximum payload of a datagram in bytes; `None`: each packet is one datagram.
    pub fragment: Option<u64>,
    /// Latency that each retransmission adds, in ns.
    pub retransmit_ns: u64,
    /// Probability that a best effort sample is delivered twice, 0 to 1.
    pub duplicate: f64,
    /// Probability that a sample is held back, 0 to 1.
    pub reorder: f64,
    /// Time for which a sample is held back, in ns.
    pub hold_ns: u64,
    /// Change of latency and server time per second, relative to their initial values.
    pub drift: f64,
    /// Periodic stalls; `None`: none.
    pub stall: Option<Stall>,
    /// Factor of latency and server time as a function of time.
    pub warmup: Shape,
    /// Latency that each policy adds in ns, in the order of [`POLICIES`].
    pub qos: [f64; POLICIES.len()],
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Invalid option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Description of the error, with the name of the option.
    pub message: String,
    /// Suggested action.
    pub hint: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; hint: {}", self.message, self.hint)
    }
}

impl std::error::Error for ConfigError {}

impl Default for Config {
    fn default() -> Self {
        Self::parse([]).expect("the defaults are valid")
    }
}

impl Config {
    /// Parses options given as name and value; the others have their defaults.
    ///
    /// # Errors
    /// Returns an error if an option does not exist, is given twice, or has an invalid value.
    pub fn parse<'t>(settings: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self, ConfigError> {
        let mut texts: Vec<Option<&str>> = vec![None; OPTIONS.len()];
        for (name, text) in settings {
            let Some(index) = OPTIONS.iter().position(|option| option.name == name) else {
                let names: Vec<_> = OPTIONS.iter().map(|option| option.name).collect();
                return Err(ConfigError {
                    message: format!("there is no option `{name}`"),
                    hint: format!("the options are {}", names.join(", ")),
                });
            };
            if texts[index].replace(text.trim()).is_some() {
                return Err(ConfigError {
                    message: format!("option `{name}` is given twice"),
                    hint: "give it once".to_owned(),
                });
            }
        }
        let of = Values(texts);
        Ok(Self {
            latency: of.value("latency", parse::mixture)?,
            modes: of.value("modes", parse::modes)?,
            bandwidth: of.value("bandwidth", parse::bandwidth)?,
            service_ns: of.value("service", parse::whole_ns)?,
            jitter: of.value("jitter", parse::jitter)?,
            queue: of.value("queue", parse::queue)?,
            full: of.value("full", parse::when_full)?,
            loss: of.value("loss", parse::probability)?,
            fragment: of.value("fragment", parse::fragment)?,
            retransmit_ns: of.value("retransmit", parse::whole_ns)?,
            duplicate: of.value("duplicate", parse::probability)?,
            reorder: of.value("reorder", parse::probability)?,
            hold_ns: of.value("hold", parse::whole_ns)?,
            drift: of.value("drift", parse::drift)?,
            stall: of.value("stall", parse::stall)?,
            warmup: of.value("warmup", parse::shape)?,
            qos: of.value("qos", parse::effects)?,
            seed: of
                .value("seed", |text| text.parse().map_err(|_| format!("`{text}` is not a whole number")))?,
        })
    }

    /// Returns the mean time of the server for a packet of `bytes` payload bytes, in ns.
    #[must_use]
    pub fn transit_ns(&self, bytes: u64) -> u64 {
        let moving = self.bandwidth.map_or(0.0, |bits| (bytes as f64 * 8e9 / bits).round());
        // The cast saturates.
        self.service_ns.saturating_add(moving as u64)
    }

    /// Returns the number of datagrams in a packet of `bytes` payload bytes.
    #[must_use]
    pub fn datagrams(&self, bytes: u64) -> u64 {
        self.fragment.map_or(1, |fragment| bytes.div_ceil(fragment).max(1))
    }

    /// Returns the probability that a transmission of `bytes` payload bytes is lost: each lost datagram loses it.
    #[must_use]
    pub fn loss_of(&self, bytes: u64) -> f64 {
        match self.datagrams(bytes) {
            1 => self.loss,
            several => 1.0 - (1.0 - self.loss).powf(several as f64),
        }
    }

    /// Returns the configuration scaled to a host on which all work takes `factor` times as long.
    #[must_use]
    pub fn slowed(mut self, factor: f64) -> Self {
        let whole = |ns: u64| (ns as f64 * factor).round() as u64;
        for mode in &mut self.modes {
            mode.factor *= factor;
        }
        self.qos = self.qos.map(|ns| ns * factor);
        (self.retransmit_ns, self.hold_ns) = (whole(self.retransmit_ns), whole(self.hold_ns));
        self
    }

    /// Returns the latency in ns that the named policies add.
    #[must_use]
    pub fn qos_ns<'p>(&self, policies: impl IntoIterator<Item = &'p str>) -> f64 {
        let cost =
            |name: &str| POLICIES.iter().position(|policy| *policy == name).map_or(0.0, |at| self.qos[at]);
        policies.into_iter().map(cost).sum()
    }

    /// Returns whether the latency does not depend on the time within a run.
    #[must_use]
    pub fn is_stationary(&self) -> bool {
        self.drift == 0.0 && self.stall.is_none() && self.warmup == Shape::Flat
    }

    /// Returns the factor of latency and server time at a time since the start of the run: drift times warm-up, at
    /// least 0.
    #[must_use]
    pub fn factor_at(&self, at_ns: u64) -> f64 {
        (1.0 + self.drift * at_ns as f64 / 1e9).max(0.0) * self.warmup.factor(at_ns)
    }
}

/// Texts of the given options, in the order of [`OPTIONS`].
struct Values<'t>(Vec<Option<&'t str>>);

impl Values<'_> {
    fn value<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, ConfigError> {
        let index = OPTIONS.iter().position(|option| option.name == name).expect("one of the table");
        let text = self.0[index].unwrap_or(OPTIONS[index].default);
        parse(text).map_err(|cause| ConfigError {
            message: format!("option `{name}` cannot be `{text}`: {cause}"),
            hint: OPTIONS[index].help.to_owned(),
        })
    }
}
