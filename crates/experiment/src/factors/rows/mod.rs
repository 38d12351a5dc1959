//! Rows of the table of factors.

mod discovery;
mod endpoints;
mod flows;
mod hosts;
mod receiving;
mod traffic;

use std::sync::LazyLock;

use crate::factors::table::{Factor, ROW, Shares};

/// Key of the environment variables, which have values by name.
pub(crate) const ENV: &str = "env";

/// Keys of the factors of links, which a lab has.
pub(crate) const LINK_KEYS: [&str; 3] = ["link_rate", "link_delay", "link_loss"];

/// Name of the profile that is `[qos]` alone, unless the file defines it.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// Name of the base that is `[qos]` alone, unless the file defines it.
pub(crate) const DEFAULT_BASE: &str = "default";

/// All factors, in the order of the keys in the schema and in the reference.
pub static FACTORS: LazyLock<Vec<Factor>> = LazyLock::new(|| {
    [traffic::ROWS, flows::ROWS, discovery::ROWS, receiving::ROWS, endpoints::ROWS, hosts::ROWS].concat()
});

/// Sharing of factors that change how a sample travels: no bare socket of another cell.
const WAY: Shares = Shares { socket: false, ..ROW.shares };

/// Returns a part of an id, `NAME-VALUE`, if there is a value.
fn id_part(name: &str, value: Option<impl std::fmt::Display>) -> Vec<String> {
    value.map(|value| format!("{name}-{value}")).into_iter().collect()
}
