//! Reference results of SciPy for the tests: `tests/golden/*.json`, written by `tests/golden/make.py`.

use serde_json::Value;

/// Test case: inputs and expected results.
pub struct Case(Value);

/// Returns all cases of a file.
pub fn cases(name: &str) -> Vec<Case> {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let cases = file["cases"].as_array().unwrap_or_else(|| panic!("{path}: no cases"));
    assert!(!cases.is_empty(), "{path}: no cases");
    cases.iter().cloned().map(Case).collect()
}

impl Case {
    /// Returns a number field.
    pub fn number(&self, field: &str) -> f64 {
        self.0[field].as_f64().unwrap_or_else(|| panic!("`{field}` is not a number in {}", self.0))
    }

    /// Returns a field with a list of numbers.
    pub fn list(&self, field: &str) -> Vec<f64> {
        let list =
            self.0[field].as_array().unwrap_or_else(|| panic!("`{field}` is not a list in {}", self.0));
        list.iter().map(|value| value.as_f64().expect("a number")).collect()
    }
}
