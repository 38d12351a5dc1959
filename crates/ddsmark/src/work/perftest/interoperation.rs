//! Drivers of a test whose publishers and subscribers have different middleware.

use std::collections::BTreeMap;

use experiment::{DriverDescription, describe_pair};
use rendezvous::PeerRole;

use super::{Process, leader_name};
use crate::{
    cli::cli_error::{CliError, Result},
    work::{drivers::Drivers, hosts::ConnectedHost},
};

/// Returns the drivers of the plan: that of this leader, or if the subscribers have another middleware, the pair of both. The
/// hosts then have the driver of their side.
pub fn measured(process: &Process, hosts: &mut [ConnectedHost]) -> Result<Drivers> {
    let own = process.description().clone();
    let Some(reader) = reader(&own, hosts)? else { return Ok(process.drivers.clone()) };
    let pair = describe_pair(&own, &reader);
    let name = pair.name.clone();
    let descriptions = BTreeMap::from(
        [&own, &reader, &pair].map(|description| (description.name.clone(), description.clone())),
    );
    for host in hosts.iter_mut() {
        let side = if writes(host) { &own } else { &reader };
        let Drivers { files, libraries, .. } = std::mem::take(&mut host.drivers);
        host.drivers = Drivers {
            names: vec![name.clone()],
            descriptions: descriptions.clone(),
            files: files.into_values().map(|file| (side.name.clone(), file)).collect(),
            libraries: libraries.into_values().map(|libraries| (side.name.clone(), libraries)).collect(),
        };
    }
    let this = hosts.iter().find(|host| writes(host)).map(|host| host.drivers.clone());
    Ok(this.unwrap_or_default())
}

/// Returns the description of the subscribers' driver if its middleware is another.
fn reader(own: &DriverDescription, hosts: &[ConnectedHost]) -> Result<Option<DriverDescription>> {
    let mut subscribers: Option<(&ConnectedHost, &DriverDescription)> = None;
    for host in hosts {
        let Some(description) = host.drivers.descriptions.values().next() else { continue };
        let (other, expected) = match (writes(host), subscribers) {
            (true, _) => (leader_name(), own),
            (false, Some((other, expected))) => (other.name.clone(), expected),
            (false, None) => {
                subscribers = Some((host, description));
                continue;
            }
        };
        if description.middleware != expected.middleware {
            let error = format!(
                "{other} has {}, and {} has {}",
                expected.middleware, host.name, description.middleware
            );
            let hint = "set the same `-driver` on all publishers, and the same on all subscribers";
            return Err(CliError::failed(error, hint));
        }
    }
    Ok(subscribers.map(|(_, description)| description.clone()).filter(|of| of.middleware != own.middleware))
}

/// Returns whether the process of a host is a publisher.
pub fn writes(host: &ConnectedHost) -> bool {
    host.name.starts_with(PeerRole::Publisher.name())
}
