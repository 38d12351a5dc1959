//! Rows of the table of factors.

mod discovery;
mod endpoints;
mod flows;
mod hosts;
mod receiving;
mod traffic;

use std::sync::LazyLock;

use crate::factors::{
    table::{Factor, Form, ROW, Shares},
    value::Kind,
};

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

/// Columns of factors that change how a sample travels: no bare socket of another cell is compared with it.
const WAY: Factor = Factor { shares: Shares { socket: false, ..ROW.shares }, ..ROW };

/// Columns of such factors that are flags.
const FLAG: Factor = Factor { form: Form::Key(Kind::Flag), default: || Some(false.into()), ..WAY };

/// Returns a part of an id, `NAME-VALUE`, if there is a value.
fn id_part(name: &str, value: Option<impl std::fmt::Display>) -> Vec<String> {
    value.map(|value| format!("{name}-{value}")).into_iter().collect()
}
