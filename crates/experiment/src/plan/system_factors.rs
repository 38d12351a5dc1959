//! Checks of the factors of all flows: `scale` and `background`.

use crate::{
    factors::{Workload, flow::FlowKind},
    plan::experiment_file::ExperimentFile,
    syntax::spanned_error::{SpannedError, contradiction},
};

/// Rejects the factors `scale` and `background` where they have no effect, or leave nothing to measure.
pub(crate) fn check(file: &ExperimentFile) -> Result<(), SpannedError> {
    let place = |key: &str| file.first_given(&[key]).map(|(at, _)| at);
    let refused =
        |key: &str, words: String, hint| Err(contradiction(words, hint).at(place(key).unwrap_or_default()));
    for key in ["scale", "background"] {
        if file.flows.is_empty() && place(key).is_some() {
            let words = format!("`{key}` has no effect without `[[flows]]`");
            return refused(key, words, "add `[[flows]]`, or remove it");
        }
    }
    if let Some(flow) = file.flows.iter().find(|flow| flow.get().trace.is_some())
        && place("scale").is_some()
    {
        let words = format!("`scale` does not apply to the trace of flow `{}`", flow.get().name.get());
        return refused("scale", words, "give the flow a `rate`, or remove `scale`");
    }
    if file.workload.values().any(|workload| *workload == Workload::Search) {
        if place("scale").is_some() {
            let words = "`scale` is what the workload `search` finds".to_owned();
            return refused("scale", words, "remove `scale`, or use `workload = \"paced\"`");
        }
        if let Some(flow) = file.flows.iter().find(|flow| flow.get().trace.is_some()) {
            let words = format!(
                "the workload `search` multiplies the rates of all flows, and flow `{}` has a trace",
                flow.get().name.get()
            );
            let hint = "give each flow a `rate`: `ddsmark import rosbag2 --rates` writes them";
            return Err(contradiction(words, hint).at(flow.get().name.span()));
        }
    }
    if file.all_values().any(|values| values.contains("background", &false.into())) {
        let is_background = |kind: Option<FlowKind>| kind == Some(FlowKind::Background);
        let background = file.flows.iter().filter(|flow| is_background(flow.get().kind)).count();
        if background == 0 {
            let words = "no flow has `kind = \"background\"`".to_owned();
            return refused("background", words, "add the kind to a flow, or remove `background`");
        }
        if background == file.flows.len() {
            let words = "all flows have `kind = \"background\"`: nothing is left without them".to_owned();
            return refused("background", words, "let one flow be without a kind");
        }
    }
    Ok(())
}
