//! This host: its cores, properties, environment and noise.

pub(crate) mod cores;
pub(crate) mod counters;
pub(crate) mod environment;
mod ethtool;
pub(crate) mod keep_awake;
pub(crate) mod lab_limits;
pub(crate) mod limits;
pub(crate) mod loopback;
pub(crate) mod noise;
pub(crate) mod presence;
pub(crate) mod properties;
pub(crate) mod reference;
pub(crate) mod variables;
