//! Calls of the site of a steward.

use std::path::Path;

use host::{DomainClaim, Guard, Site, SiteError};
use serde::Serialize;
use serde_json::{Value, to_value};

use crate::protocol::{Call, Claim};

/// Executes a call. Returns its answer, and an effect that lasts until it is released.
///
/// # Errors
/// Returns the error of the site, or an error if the answer cannot be sent.
pub(super) fn execute(site: &dyn Site, call: Call) -> Result<(Value, Option<Guard>), SiteError> {
    let mut effect = None;
    let answer = match call {
        // The thread of the agent answers this one.
        Call::Launch { .. } => Ok(Value::Null),
        Call::Facts => json(&site.facts()?),
        Call::Environment(inputs) => json(&site.environment(&inputs)?),
        Call::MissingFile { value } => json(&site.missing_file(&value)?),
        Call::Probe { cores, rule } => json(&site.probe(&cores, &rule)?),
        Call::Counters { cores } => json(&site.counters(&cores)?),
        Call::Reference { sender_cores, receiver_cores, length_ns } => {
            json(&site.reference(&sender_cores, &receiver_cores, length_ns))
        }
        Call::KeepAwake => {
            effect = Some(site.keep_awake()?);
            Ok(Value::Null)
        }
        Call::ClaimDomain { number } => json(&match site.claim_domain(number)? {
            DomainClaim::Reserved(hold) => {
                effect = Some(hold);
                Claim::Reserved
            }
            DomainClaim::InUse => Claim::InUse,
            DomainClaim::Unsupported => Claim::Unsupported,
        }),
        Call::Announce { directory } => {
            let (running, hold) = site.announce(Path::new(&directory))?;
            effect = hold;
            json(&running)
        }
        Call::Announced => json(&site.announced()?),
        Call::Clean { name } => {
            site.clean(&name);
            Ok(Value::Null)
        }
        Call::Sweep => {
            site.sweep();
            Ok(Value::Null)
        }
        Call::ClockResponder(responder) => {
            let (address, running) = site.clock_responder(&responder)?;
            effect = Some(running);
            json(&address)
        }
        Call::ClockExchange(client) => json(&site.clock_exchange(&client)?),
        Call::ClockReading => json(&site.clock_reading()?),
    };
    Ok((answer?, effect))
}

fn json(answer: &impl Serialize) -> Result<Value, SiteError> {
    to_value(answer).map_err(|error| SiteError::no_understanding("this", error))
}
