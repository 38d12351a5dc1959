//! The table of options: its columns, and the search by name.

mod names;
mod other_options;
mod row;
mod rows;

pub use names::{Match, find, resolve, similar};
pub use other_options::{OTHER_OPTIONS, OtherOption};
pub use row::{Edition, Honouring, IniKey, Kind, Limit, Need, OptionRow, Part, Range, Role, Roles};
pub use rows::{OPTIONS, SECTIONS, Section};
