//! Descriptions and recordings of systems to experiment files. Pure: texts and readers in, a [`System`] and notes out.
//!
//! ```text
//! table(text), irobot(..), Bag::read(..), producers(text)  ->  System  --checked()-->  --files()-->  system.toml, traces, import.txt
//! ```
//!
//! Each part of a source is mapped, or a note [`NotApplied`], or an error with its place.
#![forbid(unsafe_code)]

mod checks;
mod document;
mod error;
mod irobot;
mod names;
mod output;
mod producers;
mod qos;
mod rosbag2;
mod system;
mod table;

pub use error::{ImportError, Place, Position};
pub use irobot::{InputText, ProcessPer, irobot};
pub use names::plain_name;
pub use output::OutputFile;
pub use producers::producers;
pub use qos::{EndpointQos, TopicQos};
pub use rosbag2::{
    BagChoices, Message, Metadata, RecordedTopic, Recording, TimeSource, metadata, read_db3, read_mcap,
    rosbag2,
};
pub use system::{NotApplied, RecordedSends, Sends, System, Topic};
pub use table::table;

/// Remark of all imports from programs of ROS 2.
const NO_EXECUTORS: &str = "there are no executors of rclcpp, whose callbacks can delay each other: the middleware alone is measured";
