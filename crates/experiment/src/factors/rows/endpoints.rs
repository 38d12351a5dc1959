//! Factors of the endpoints: how they write, and the conditions under which they run.

use crate::{
    factors::{
        Factors, Workload, driver_options, fields,
        flow::Flow,
        profiles,
        rows::{ENV, FLAG, WAY},
        table::{Baseline, CellValue, Compared, Factor, Form, Id, ROW, Shares, listed, unlisted, value},
        value::Kind,
        variables,
    },
    syntax::spanned_error::contradiction,
};

pub(super) const ROWS: &[Factor] = &[
    Factor {
        key: "interface",
        form: Form::Key(Kind::Text),
        default: || Some("lo".to_owned().into()),
        about: "Network interfaces by name. `auto` is the one that each host has of its own: that of its entry in \
                `[[host]]`, or the one in the network that all hosts share. Default `lo`; with several hosts `auto`.",
        brief: "Network interfaces.",
        plural: Some("interfaces"),
        set: Some(|cell, value| cell.interface = value.to()),
        nesting: 1,
        value: value!(|cell| cell.interface),
        id: Id::Varied(90, |cell| vec![cell.interface.clone()]),
        compared: Compared::Text(|cell| Some(cell.interface.clone())),
        label: unlisted(20, |cell| Some(cell.interface.clone())),
        agent: "participant: `interface`",
        ..WAY
    },
    // The id has it next to the transport.
    Factor {
        key: "multicast",
        about: "Whether data is sent by multicast. Default `false`.",
        brief: "Whether data is sent by multicast.",
        plural: Some("values of multicast"),
        unsupported: |driver, description, value| {
            let missing = value.to() && !description.has("multicast");
            missing.then(|| {
                contradiction(
                    format!("driver `{driver}` does not send by multicast"),
                    "remove `multicast`, or use drivers with this feature: see `ddsmark drivers info D`",
                )
            })
        },
        set: Some(|cell, value| cell.multicast = value.to()),
        nesting: 2,
        value: value!(|cell| cell.multicast),
        compared: Compared::Text(|cell| Some(cell.multicast.to_string())),
        agent: "participant: `multicast`",
        ..FLAG
    },
    Factor {
        key: "asynchronous",
        about: "Whether a thread of the middleware sends the samples, of data and of echoes, instead of the writing thread. Not \
                every driver has one. Default `false`.",
        brief: "Whether a thread of the middleware sends the samples.",
        plural: Some("values of asynchronous"),
        unsupported: |driver, description, value| {
            let missing = value.to() && !description.has("async_write");
            missing.then(|| {
                let words = format!("driver `{driver}` has no thread that sends samples");
                let hint =
                    "remove `asynchronous`, or use drivers with the feature `async_write`: see `ddsmark drivers info D`";
                contradiction(words, hint)
            })
        },
        set: Some(|cell, value| cell.asynchronous = value.to()),
        nesting: 21,
        value: value!(|cell| cell.asynchronous),
        id: Id::Always(87, |cell| cell.asynchronous.then(|| "async".to_owned()).into_iter().collect()),
        compared: Compared::Text(|cell| Some(cell.asynchronous.to_string())),
        label: listed(60, |cell| cell.asynchronous.then(|| "asynchronous".to_owned())),
        agent: "writer: `async_write`",
        ..FLAG
    },
    Factor {
        key: "loans",
        about: "Whether a writer writes its samples in memory that the middleware lends, instead of a buffer that the \
                middleware copies. The samples have a type of fixed size, if the driver has one, and all have one content, \
                which is in the lent memory already when it is lent again. Echoes are written without loans. Not every \
                driver has loans. No effect on `discovery`. Default `false`.",
        brief: "Whether samples are written in lent memory.",
        plural: Some("values of loans"),
        unsupported: |driver, description, value| {
            let missing = value.to() && !description.has("writer_loans");
            missing.then(|| {
                let words = format!("driver `{driver}` lends no memory for samples");
                let hint = "remove `loans`, or use drivers with the feature `writer_loans`: see `ddsmark drivers info D`";
                contradiction(words, hint)
            })
        },
        set: Some(|cell, value| cell.loans = value.to()),
        applies: |cell| cell.workload != Workload::Discovery,
        nesting: 22,
        value: value!(|cell| cell.loans),
        id: Id::Always(88, |cell| cell.loans.then(|| "loans".to_owned()).into_iter().collect()),
        compared: Compared::Text(|cell| Some(cell.loans.to_string())),
        label: listed(61, |cell| cell.loans.then(|| "loans".to_owned())),
        agent: "writer: `loans`, and `type_kind` of both",
        ..FLAG
    },
    Factor {
        key: "vendor_defaults",
        about: "Whether each middleware runs as shipped: without the driver's own tuning and without queue sizes. \
                Settings that the workload needs or that this file requests still apply. Default `false`.",
        brief: "Whether the middleware runs as shipped.",
        plural: Some("values of vendor_defaults"),
        set: Some(|cell, value| cell.vendor_defaults = value.to()),
        nesting: 3,
        value: value!(|cell| cell.vendor_defaults),
        id: Id::Always(130, |cell| {
            cell.vendor_defaults.then(|| "as-shipped".to_owned()).into_iter().collect()
        }),
        compared: Compared::Text(|cell| Some(cell.vendor_defaults.to_string())),
        implies: &["qos", "effective_qos"],
        label: unlisted(70, |cell| cell.vendor_defaults.then(|| "as shipped".to_owned())),
        agent: "participant: `vendor_defaults`",
        ..FLAG
    },
    Factor {
        key: "profile",
        form: Form::Key(Kind::Text),
        about: "QoS profiles: names of `[profiles]`; `shipped`, which requests nothing; presets of ROS 2 (REP 2003, `rmw/qos_profiles.h`) \
                `ros2:sensor_data`, `ros2:default`, `ros2:services_default`, `ros2:parameters`, \
                `ros2:parameter_events`, `ros2:system_default`; or `FILE.xml#LIBRARY::PROFILE`, a profile of an XML file \
                as OMG DDS-XML 1.0 defines it, whose path is relative to the experiment file. `default` is `[qos]` \
                alone, unless a profile has that name. Default: `default`, then all of `[profiles]`.",
        brief: "Profile names.",
        plural: Some("profiles"),
        has: Some(|cell, value| {
            cell.profile.as_deref().unwrap_or(super::DEFAULT_PROFILE) == value.to::<String>()
        }),
        value: value!(|cell| cell.profile),
        id: Id::Columns(120, profiles::ids),
        compared: Compared::Text(|cell| cell.profile.clone()),
        implies: &["qos", "effective_qos"],
        label: unlisted(50, |cell| Some(format!("profile {}", cell.profile.as_ref()?))),
        agent: "as `qos`",
        ..ROW
    },
    Factor {
        key: "base",
        form: Form::Key(Kind::Text),
        default: || Some(super::DEFAULT_BASE.to_owned().into()),
        about: "Bases of the profiles: names of `[bases]`. Each profile is measured over each base: a policy that the profile does not \
                have is that of the base, or else that of `[qos]`. `default` is `[qos]` alone, unless a base has that name. Default: \
                `default`.",
        brief: "Names of bases of the profiles.",
        plural: Some("bases"),
        set: Some(|cell, value| {
            let name = value.to::<String>();
            cell.base = (name != super::DEFAULT_BASE).then_some(name);
        }),
        nesting: 23,
        value: value!(|cell| cell.base),
        id: Id::Varied(119, |cell| vec![format!("base-{}", cell.base_name())]),
        compared: Compared::Text(|cell| cell.base.clone()),
        implies: &["qos", "effective_qos"],
        label: unlisted(51, |cell| Some(format!("base {}", cell.base.as_ref()?))),
        agent: "as `qos`",
        ..ROW
    },
    Factor {
        key: ENV,
        form: Form::Table("`[factors.env]`"),
        about: "Environment variables of the agents by name, such as `LD_PRELOAD`, `LD_LIBRARY_PATH`, or those that \
                a middleware reads. `false` removes a variable, `\"\"` sets it to an empty value; all others are \
                inherited. A name must not start with `DDSMARK_`. A list makes the variable the factor `env.NAME`. \
                Only the agents get these variables, not the processes of `ddsmark drivers`.",
        brief: "Environment variables of the agents.",
        value: value!(|cell| cell.env),
        parts: Some(variables::by_name),
        id: Id::Columns(110, variables::ids),
        compared: Compared::Fields(fields::of_env),
        label: unlisted(60, |cell| Some(cell.env_text()).filter(|text| !text.is_empty())),
        agent: "the environment of its process",
        ..ROW
    },
    Factor {
        key: "options",
        form: Form::Table("`[options.DRIVER]`"),
        value: value!(|cell| cell.options),
        parts: Some(driver_options::by_name),
        id: Id::Columns(100, driver_options::ids),
        compared: Compared::Fields(fields::of_options),
        agent: "participant: `options`",
        ..ROW
    },
    Factor {
        key: "flows",
        form: Form::Table("`[[flows]]`"),
        value: value!(|cell| without_qos(&cell.flows)),
        shares: Shares { curve: true, ..ROW.shares },
        compared: Compared::Fields(fields::of_flows),
        agent: "one writer and one reader per flow",
        ..ROW
    },
    // The requested policies follow from the profile, its base, the driver, `vendor_defaults` and the size.
    Factor {
        key: "qos",
        form: Form::Table("`[qos]`"),
        value: CellValue { same: Factors::same_qos, write: Factors::write_qos },
        shares: Shares { baseline: Baseline::Always, ..ROW.shares },
        compared: Compared::Fields(fields::of_qos),
        implies: &["qos", "effective_qos"],
        agent: "writer and reader: `qos`",
        ..ROW
    },
];

/// Returns the flows without their policies, which follow from the profile.
fn without_qos(flows: &[Flow]) -> Vec<Flow> {
    flows.iter().cloned().map(|flow| Flow { qos: None, qos_of_ends: None, ..flow }).collect()
}
