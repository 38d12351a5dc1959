//! What is simulated.

use std::fmt;

use crate::{Mixture, POLICIES, Shape, Stall, parse};

/// An option: its name, its default, and one line about it.
#[derive(Clone, Copy, Debug)]
pub struct OptionText {
    /// Its name.
    pub name: &'static str,
    /// Its default as text.
    pub default: &'static str,
    /// What it does, unit, range.
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
    "stall" = "off" "PERIOD,LENGTH: at the end of each period nothing moves for so long; or off",
    "warmup" = "flat" "factor of latency and of the server's time, over time: flat, ramp:FACTOR,TIME, step:FACTOR,TIME, \
        cycle:FACTOR,PERIOD, slowdown:FACTOR,TIME",
    "qos" = "none" "what a policy adds to the latency of a writer that is asked for it: reliability:5us,deadline:1us",
    "seed" = "1" "of all random numbers, together with the name of the run: a whole number",
}

/// What is simulated. Times are in ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Latency of one way, before all factors.
    pub latency: Mixture,
    /// Factors of latency and of the server's time, one drawn for each run.
    pub modes: Vec<Mode>,
    /// Of the server, in bit/s.
    pub bandwidth: Option<f64>,
    /// Time of the server for a packet, besides its bytes.
    pub service_ns: u64,
    /// Standard deviation of its time for packets of one size, over their mean: a gamma distribution.
    pub jitter: f64,
    /// Packets in the server at most.
    pub queue: usize,
    /// What becomes of a write that finds it full.
    pub full: WhenFull,
    /// Probability that a datagram is lost.
    pub loss: f64,
    /// Payload bytes of a datagram at most; none: a packet is one.
    pub fragment: Option<u64>,
    /// What a retransmission adds to the latency.
    pub retransmit_ns: u64,
    /// Probability that a sample comes twice.
    pub duplicate: f64,
    /// Probability that a sample is held back.
    pub reorder: f64,
    /// For how long it is held back.
    pub hold_ns: u64,
    /// Change of latency and of the server's time in a second, of what they were at first.
    pub drift: f64,
    /// Times in which nothing moves.
    pub stall: Option<Stall>,
    /// Factor of latency and of the server's time, over time.
    pub warmup: Shape,
    /// What each policy adds to the latency, in the order of [`POLICIES`].
    pub qos: [f64; POLICIES.len()],
    /// Of all random numbers.
    pub seed: u64,
}

/// One of the states that a run may be in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The share of runs.
    pub weight: f64,
    /// The factor.
    pub factor: f64,
}

/// What becomes of a write that finds the queue full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits for room.
    Block,
    /// Its sample is lost, unless the writer is reliable: that one waits.
    Drop,
}

/// An option that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong with which option.
    pub message: String,
    /// The next step.
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
    /// From options by name; what is not there has its default.
    ///
    /// # Errors
    /// An option that does not exist, is given twice, or has a value that it cannot have.
    pub fn parse<'t>(given: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self, ConfigError> {
        let mut texts: Vec<Option<&str>> = vec![None; OPTIONS.len()];
        for (name, text) in given {
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

    /// Time of the server for a packet of so many payload bytes, on average.
    #[must_use]
    pub fn transit_ns(&self, bytes: u64) -> u64 {
        let moving = self.bandwidth.map_or(0.0, |bits| (bytes as f64 * 8e9 / bits).round());
        // a float that is too large becomes the largest integer
        self.service_ns.saturating_add(moving as u64)
    }

    /// Datagrams that a packet of so many payload bytes is.
    #[must_use]
    pub fn datagrams(&self, bytes: u64) -> u64 {
        self.fragment.map_or(1, |fragment| bytes.div_ceil(fragment).max(1))
    }

    /// The probability that a transmission of so many payload bytes is lost: with any one of its datagrams.
    #[must_use]
    pub fn loss_of(&self, bytes: u64) -> f64 {
        match self.datagrams(bytes) {
            1 => self.loss,
            several => 1.0 - (1.0 - self.loss).powf(several as f64),
        }
    }

    /// The same on a host on which everything takes so many times as long.
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

    /// What the policies that are asked for, by name, add to the latency.
    #[must_use]
    pub fn qos_ns<'p>(&self, asked: impl IntoIterator<Item = &'p str>) -> f64 {
        let cost =
            |name: &str| POLICIES.iter().position(|policy| *policy == name).map_or(0.0, |at| self.qos[at]);
        asked.into_iter().map(cost).sum()
    }

    /// Whether a run is the same at all times.
    #[must_use]
    pub fn is_stationary(&self) -> bool {
        self.drift == 0.0 && self.stall.is_none() && self.warmup == Shape::Flat
    }

    /// The factor of latency and of the server's time at a time since the beginning: drift and warm-up together, never below 0.
    #[must_use]
    pub fn factor_at(&self, at_ns: u64) -> f64 {
        (1.0 + self.drift * at_ns as f64 / 1e9).max(0.0) * self.warmup.factor(at_ns)
    }
}

/// The texts that were given, in the order of [`OPTIONS`].
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
