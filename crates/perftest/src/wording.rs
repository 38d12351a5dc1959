//! Messages of the measurement for users of the command line: keys of experiment files become options.

use crate::{settings::Settings, table::Kind};

/// Keys of experiment files, and the options that decide them.
const KEYS: &[(&str, &[&str])] = &[
    ("asynchronous", &["asynchronous"]),
    ("async_write", &["asynchronous"]),
    ("batch_bytes", &["batchSize", "enableTurboMode"]),
    ("batch_samples", &["batchSize", "enableTurboMode"]),
    ("content_filter", &["cft"]),
    ("domain", &["domain"]),
    ("driver", &["driver"]),
    ("durability", &["durability"]),
    ("history", &["keepLast"]),
    ("history_depth", &["keepLastDepth"]),
    ("instances", &["instances"]),
    ("interface", &["nic"]),
    ("loans", &["zeroCopy"]),
    ("max_payload_bytes", &["dataLen", "scan"]),
    ("measure", &["executionTime"]),
    ("multicast", &["multicast"]),
    ("peers", &["peer"]),
    ("probe_every", &["latencyCount"]),
    ("rate", &["pubRate", "pubRatebps", "sleep", "spin", "enableAutoThrottle"]),
    ("receive", &["useReadThread"]),
    ("receive_buffer", &["receiveBufferSize"]),
    ("receive_group", &["waitsetEventCount", "waitsetDelayUsec"]),
    ("receive_queue", &["receiveQueueSize"]),
    ("reliability", &["bestEffort"]),
    ("send_buffer", &["sendBufferSize"]),
    ("send_queue", &["sendQueueSize"]),
    ("size", &["dataLen", "scan"]),
    ("throttled", &["enableAutoThrottle"]),
    ("topology", &["numSubscribers", "numPublishers"]),
    ("transport", &["transport", "enableSharedMemory", "enableTcpOnly"]),
    ("warm_up", &["initialBurstSize"]),
    ("workload", &["latencyTest"]),
];

/// Beginnings of names that no option decides: sections of experiment files, and flags of other commands.
const FOREIGN: &[&str] = &["design.", "limits.", "options.", "env.", "--", "max_blocking", "type=", "option"];

impl Settings {
    /// Returns a message of the measurement with the options of this process instead of keys.
    #[must_use]
    pub fn in_options(&self, text: &str) -> String {
        let parts = text.split('`').enumerate();
        let parts = parts.map(|(place, part)| match self.option_of(part).filter(|_| place % 2 == 1) {
            Some(option) => option,
            None => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// Returns a next step with the options of this process instead of keys, without the alternatives that no option offers;
    /// `None` if none is left.
    #[must_use]
    pub fn hint_in_options(&self, hint: &str) -> Option<String> {
        let clauses: Vec<&str> = hint.split("; ").collect();
        let mut kept = Vec::new();
        for clause in clauses {
            let offered: Vec<&str> = clause.split(", or ").filter(|part| !is_foreign(part)).collect();
            if !offered.is_empty() {
                kept.push(self.in_options(&offered.join(", or ")));
            }
        }
        (!kept.is_empty()).then(|| kept.join("; "))
    }

    /// Returns the option for a key or for a key with its value.
    fn option_of(&self, code: &str) -> Option<String> {
        let (key, value) = match code.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim().trim_matches('"'))),
            None => (code, None),
        };
        let key = key.strip_prefix("factors.").or_else(|| key.strip_prefix("qos.")).unwrap_or(key);
        let (_, options) = KEYS.iter().find(|(known, _)| *known == key)?;
        if let Some(given) = options.iter().find_map(|option| self.given(option)) {
            return Some(given.to_string());
        }
        let row = options.iter().filter_map(|option| crate::table::find(option));
        let row = row
            .filter(|row| row.edition(self.generation).is_some())
            .min_by_key(|row| options.iter().position(|option| *option == row.name))?;
        Some(match value {
            Some(value) if row.kind != Kind::Flag => format!("-{} {value}", row.name),
            _ => format!("-{}", row.name),
        })
    }
}

/// Returns whether an alternative is one that no option offers.
fn is_foreign(alternative: &str) -> bool {
    let code = alternative.split('`').skip(1).step_by(2);
    code.into_iter().any(|code| FOREIGN.iter().any(|foreign| code.starts_with(foreign)))
        || alternative.contains("the option ")
        || alternative.contains("the options ")
}
