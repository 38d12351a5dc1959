//! JSON document of a process.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{banner::EffectiveValue, rows::Row, values::rounded};
use crate::settings::Settings;

/// Values of a process, collected for its JSON document.
#[derive(Clone, Debug, Default)]
pub struct Json {
    sizes: Vec<SizeResult>,
}

/// Circumstances of a JSON document.
#[derive(Clone, Debug, Default)]
pub struct JsonContext<'v> {
    /// Versions of ddsmark, the driver and the middleware, by name.
    pub versions: BTreeMap<String, String>,
    /// Properties of the host, by name.
    pub host: BTreeMap<String, String>,
    /// Effective values.
    pub effective: &'v [EffectiveValue],
    /// Reasons why the test is not valid; empty if it is.
    pub invalid: &'v [String],
}

#[derive(Clone, Debug, Serialize)]
struct SizeResult {
    length: u64,
    intervals: Vec<Value>,
    summary: Option<Value>,
}

impl Json {
    /// Adds a row.
    pub fn add<R: Row>(&mut self, row: &R) {
        let (size, cpu) = row.size_and_cpu();
        let mut fields = row.fields();
        if let Some(percent) = cpu {
            fields["CPU"] = json!(rounded(percent));
        }
        let of_size = self.size(size);
        if R::IS_SUMMARY {
            of_size.summary = Some(fields);
        } else {
            of_size.intervals.push(fields);
        }
    }

    /// Returns the results of the size that is measured; a size that has its summary is complete.
    fn size(&mut self, length: u64) -> &mut SizeResult {
        let open = self.sizes.last().is_some_and(|last| last.length == length && last.summary.is_none());
        if !open {
            self.sizes.push(SizeResult { length, intervals: Vec::new(), summary: None });
        }
        let last = self.sizes.len() - 1;
        &mut self.sizes[last]
    }

    /// Returns the document. Values that the samples do not support, or that are unknown, are `null`.
    #[must_use]
    pub fn document(&self, settings: &Settings, context: &JsonContext<'_>) -> String {
        let effective = context.effective.iter().map(|value| (value.name.as_str(), value.value.as_str()));
        let document = json!({
            "perftest": self.sizes,
            "configuration": {
                "compatible_with": settings.generation,
                "role": settings.role,
                "driver": settings.driver,
                "latency": "RTT/2 in microseconds",
                "given": settings.given,
                "requested": { "test": settings.shared, "process": settings.local },
                "effective": effective.collect::<BTreeMap<_, _>>(),
            },
            "versions": context.versions,
            "host": context.host,
            "valid": context.invalid.is_empty(),
            "invalid": context.invalid,
        });
        format!("{document:#}\n")
    }
}
