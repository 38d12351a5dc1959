//! Factors of all flows of a system.

use crate::factors::{
    Workload,
    rows::WAY,
    scale::Scale,
    table::{Column, Compared, Factor, Form, Id, ROW, Shares, listed, value},
    value::Kind,
};

pub(super) const ROWS: &[Factor] = &[
    Factor {
        key: "scale",
        form: Form::Key(Kind::Scale),
        range: "0.001 to 1000",
        default: || Some(Scale::ONE.into()),
        about: "Factor of the rates of all `[[flows]]`, 0.001 to 1000: the load of a whole system. Deadlines stay. Rejected with \
                flows that have a `trace`, and with the workload `search`, which finds the highest one. Default 1.",
        brief: "Factors of the rates of all flows.",
        plural: Some("scales"),
        set: Some(|cell, value| cell.scale = Some(value.to()).filter(|scale| *scale != Scale::ONE)),
        applies: |cell| cell.workload == Workload::Paced,
        nesting: 15,
        value: value!(|cell| cell.scale),
        id: Id::Always(51, |cell| super::id_part("scale", cell.scale)),
        shares: Shares { curve: true, ..ROW.shares },
        compared: Compared::Text(|cell| cell.scale.map(|scale| scale.to_string())),
        implies: &["flow"],
        column: Some(Column {
            heading: "Scale",
            text: |cell| cell.scale.unwrap_or(Scale::ONE).to_string(),
            placed: false,
        }),
        agent: "the intended send times of each flow",
        ..ROW
    },
    Factor {
        key: "background",
        form: Form::Key(Kind::Flag),
        default: || Some(true.into()),
        about: "Whether the `[[flows]]` of `kind = \"background\"` are written. `[true, false]` shows what they cost the others. \
                Default `true`.",
        brief: "Whether background flows are written.",
        plural: Some("values of background"),
        set: Some(|cell, value| cell.no_background = !value.to::<bool>()),
        applies: |cell| matches!(cell.workload, Workload::Paced | Workload::Search),
        nesting: 16,
        value: value!(|cell| cell.no_background),
        id: Id::Always(52, |cell| {
            cell.no_background.then(|| "no-background".to_owned()).into_iter().collect()
        }),
        compared: Compared::Text(|cell| Some((!cell.no_background).to_string())),
        implies: &["flow"],
        label: listed(6, |cell| cell.no_background.then(|| "without background flows".to_owned())),
        agent: "the writers and readers of these flows",
        ..WAY
    },
];
