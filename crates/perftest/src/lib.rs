//! The command line of RTI Perftest, for any driver: options, `perftest.ini`, rules, help, and rows of output. Pure: no file
//! is read and no text is printed here.
//!
//! ```text
//! let line = CommandLine::parse(&arguments, compat)?;           // -help: help(line.generation(), line.given_role(), ...)
//! let file = line.config_file();                                // the caller reads it
//! let (settings, warnings) = line.settings(file, &defaults)?;   // typed, with all rules applied
//! let warnings = settings.adapt(&abilities_of_the_driver)?;
//! publisher.offer()  ->  subscriber.adopt(&offer)               // or the options on which they disagree
//! banner(...), Rows::new(&settings)                             // text of the output
//! ```
#![forbid(unsafe_code)]

mod agreement;
mod command_line;
mod driver;
mod entry;
mod error;
mod generation;
mod help;
mod ini;
mod output;
mod reference;
mod settings;
mod table;
mod value;
mod warning;
mod wording;

pub use agreement::{
    Disagreement, Offer, OfferError, OfferedValue, SIZES, is_of_each_publisher, is_of_publishers,
};
pub use command_line::{COMPAT_VARIABLE, CommandLine, ConfigFile, driver_of_program};
pub use error::{Cause, PerftestError, Source};
pub use generation::Generation;
pub use help::{help, usage};
pub use ini::IniFile;
pub use output::{
    Banner, EffectiveValue, Json, JsonContext, LatencyInterval, LatencyRow, PERCENTS, Percentiles, Row, Rows,
    Step, ThroughputInterval, ThroughputRow, banner, progress,
};
pub use reference::reference;
pub use settings::{
    Batch, Defaults, GivenOption, History, Local, Mode, Nic, Output, OutputFormat, Pacing, PayloadFile,
    QosFile, Receive, SCAN_SIZES, Settings, Shared, Transport,
};
pub use table::{
    Edition, Honouring, IniKey, Kind, Limit, Match, Need, OPTIONS, OTHER_OPTIONS, OptionRow, OtherOption,
    Part, Range, Role, Roles, SECTIONS, Section, find, resolve, similar,
};
pub use value::{OptionValue, Peer, Priority, Rate, WaitMethod};
pub use warning::Warning;
