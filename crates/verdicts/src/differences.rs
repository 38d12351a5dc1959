//! Differences between two cells and between their results: every field by its name.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use experiment::{FACTORS, Pin, qos_fields, similar};
use results::{CellResult, Difference, HostRecord, ResultDocument};

/// Name of all settings of a host that tuning changes.
pub(crate) const HOST_SETTINGS: &str = "host-settings";
/// Groups of the environment, and fields of its group `host`, that are settings. The others are the computer and its
/// software.
const SETTING_GROUPS: [&str; 5] = ["cgroup", "interface", "limit", "mitigation", "sysctl"];
const SETTINGS_OF_HOST: [&str; 10] = [
    "boot_command_line",
    "clock_source",
    "cpus",
    "frequency_driver",
    "governor",
    "idle_driver",
    "isolated_cpus",
    "numa_nodes",
    "smt",
    "transparent_hugepages",
];

/// Values by field name.
pub(crate) type Fields = BTreeMap<String, String>;

/// Returns the fields of two cells that are compared. If either requests QoS for the writer or reader alone, both
/// have the QoS of writer and reader separately.
pub(crate) fn fields_of_both(sides: [(&ResultDocument, &CellResult); 2]) -> [Fields; 2] {
    let by_ends = sides.iter().any(|(_, cell)| cell.factors.has_qos_of_ends());
    sides.map(|(document, cell)| cell_fields(document, cell, by_ends))
}

/// Returns all fields of a cell: the requested values, the driver, and the effective values.
pub(crate) fn cell_fields(document: &ResultDocument, cell: &CellResult, by_ends: bool) -> Fields {
    let factors = &cell.factors;
    let mut fields = factors.fields(by_ends);
    for (end, qos) in &cell.effective_qos {
        fields.extend(qos_fields(qos, &format!("effective_qos.{end}")));
    }
    let process = cell.settings.get("process").and_then(|process| process.get("scheduling"));
    fields.extend(process.map(|policies| ("process.scheduling".to_owned(), policies.clone())));
    if let Some(driver) = document.drivers.get(&factors.driver) {
        fields.insert("driver.version".to_owned(), driver.driver_version.clone());
        fields.insert("driver.middleware".to_owned(), driver.middleware.clone());
        fields.insert("driver.middleware_version".to_owned(), driver.middleware_version.clone());
        fields.extend(driver.build.clone().map(|build| ("driver.build".to_owned(), build)));
    }
    fields
}

/// Returns the fields of the program and the design of a result.
fn result_fields(document: &ResultDocument) -> Fields {
    let design = &document.experiment.design;
    let pin = match &design.pin {
        Pin::None => "none".to_owned(),
        Pin::Cores(writer, reader) => format!("{writer:?} {reader:?}"),
    };
    let named = [
        ("tool.version", Some(document.tool.version.clone())),
        ("design.warm_up_ns", Some(design.warm_up_ns.to_string())),
        ("design.warm_up_samples", design.warm_up_samples.map(|samples| samples.to_string())),
        ("design.measure_ns", Some(design.measure_ns.to_string())),
        ("design.samples", design.samples.map(|samples| samples.to_string())),
        ("design.check_every", Some(design.check_every.to_string())),
        ("design.probe_every", design.probe_every.map(|every| every.to_string())),
        ("design.pin", Some(pin)),
        ("design.keep_awake", Some(design.keep_awake.to_string())),
        ("design.duet", Some(design.duet.to_string())),
        ("design.spin", Some(design.spin.to_string())),
        ("design.payload", design.payload.as_ref().map(|file| file.sha256.clone())),
        ("design.write_instance", design.write_instance.map(|key| key.to_string())),
        ("design.echo_receive", design.echo_receive.map(|mode| mode.to_string())),
        ("design.await_echo", design.await_echo.then(|| "true".to_owned())),
    ];
    let mut fields: Fields =
        named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let waits = design.hosts.iter().filter_map(|host| Some((&host.name, host.spin?)));
    fields.extend(waits.map(|(name, spin)| (format!("design.hosts.{name}.spin"), spin.to_string())));
    let of_size = design.probe_every_of_size.iter();
    fields.extend(of_size.map(|(size, every)| (format!("design.probe_every.{size}"), every.to_string())));
    for (number, reader) in design.readers.iter().enumerate() {
        let group = reader.receive_group.map(|group| format!(" in {group}")).unwrap_or_default();
        let filter = reader.content_filter.map(|filter| format!(" of {filter}")).unwrap_or_default();
        fields.insert(format!("design.reader.{}", number + 1), format!("{}{group}{filter}", reader.receive));
    }
    for (number, writer) in design.writers.iter().enumerate() {
        let size = writer.size_bytes.map(|bytes| format!("{bytes} bytes, ")).unwrap_or_default();
        let samples = writer.samples.map(|samples| format!(" or {samples} samples")).unwrap_or_default();
        let text = format!("{size}{} ns{samples}", writer.measure_ns);
        fields.insert(format!("design.writer.{}", number + 1), text);
    }
    for host in &design.hosts {
        let interface = host.interface.as_deref().unwrap_or("no interface");
        // Links of a lab are factors.
        let at = host.at.without_link();
        fields.insert(format!("design.host.{}", host.name), format!("{at} {interface}"));
    }
    fields
}

/// Returns the fields of the environment of a result; with several hosts, each ends with `@` and the name of its host.
pub(crate) fn environment(document: &ResultDocument) -> Fields {
    let of_host = |host: &HostRecord| {
        let of = if document.hosts.len() > 1 { format!("@{}", host.name) } else { String::new() };
        let named = host
            .environment
            .flat()
            .map(|(path, value)| (format!("env.{}{of}", path.replacen('/', ".", 1)), value.to_owned()));
        named.collect::<Vec<_>>()
    };
    result_fields(document).into_iter().chain(document.hosts.iter().flat_map(of_host)).collect()
}

/// Returns the fields that differ, in order.
pub(crate) fn unequal(baseline: &Fields, treatment: &Fields) -> Vec<Difference> {
    unequal_names(baseline, treatment)
        .map(|name| Difference {
            field: name.to_owned(),
            baseline: baseline.get(name).cloned(),
            treatment: treatment.get(name).cloned(),
            named: false,
        })
        .collect()
}

/// Returns the names of the fields that differ, in order.
pub(crate) fn unequal_names<'f>(
    baseline: &'f Fields,
    treatment: &'f Fields,
) -> impl Iterator<Item = &'f str> {
    // Both are sorted.
    let (mut befores, mut afters) = (baseline.iter().peekable(), treatment.iter().peekable());
    let unequal = std::iter::from_fn(move || {
        loop {
            let order = match (befores.peek(), afters.peek()) {
                (Some((before, _)), Some((after, _))) => before.cmp(after),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let (before, after) = match order {
                Ordering::Less => (befores.next(), None),
                Ordering::Greater => (None, afters.next()),
                Ordering::Equal => (befores.next(), afters.next()),
            };
            // Most values are the same.
            if before.is_none() || before != after {
                return before.or(after).map(|(name, _)| name.as_str());
            }
        }
    });
    unequal.filter(|name| !is_same(name, baseline, treatment))
}

/// Returns whether both sides have the same value of a field. A library is the same if its content is, wherever its file lies.
fn is_same(name: &str, baseline: &Fields, treatment: &Fields) -> bool {
    let [before, after] = [baseline, treatment].map(|fields| fields.get(name));
    let (Some(before), Some(after)) = (before, after) else { return false };
    if before == after {
        return true;
    }
    // path and hash
    let content = |value: &str| value.rsplit_once(' ').map(|(_, hash)| hash.to_owned());
    if name.starts_with("env.library.") {
        return content(before).is_some_and(|hash| hash.len() == 64) && content(before) == content(after);
    }
    let hash = name
        .strip_prefix("env.driver.")
        .map(|file| format!("env.driver.{}", file.replace("/file", "/sha256")));
    hash.filter(|hash| hash != name).is_some_and(|hash| {
        let known = baseline.get(&hash).filter(|hash| hash.len() == 64);
        known.is_some() && known == treatment.get(&hash)
    })
}

/// Returns whether a field is one of the named factors, or belongs to one.
pub(crate) fn is_named(field: &str, named: &[String]) -> bool {
    named.iter().any(|name| covers(name, field))
}

/// Returns whether a field is a setting of a host that tuning changes.
fn is_host_setting(field: &str) -> bool {
    let Some((group, name)) = field.strip_prefix("env.").and_then(|field| field.split_once('.')) else {
        return false;
    };
    let name = name.split('@').next().unwrap_or(name);
    SETTING_GROUPS.contains(&group) || (group == "host" && SETTINGS_OF_HOST.contains(&name))
}

/// Returns whether a name selects a field: the field itself, its group, or a factor that it follows from. For
/// fields of the environment, `env.` and the group may be omitted.
fn covers(name: &str, field: &str) -> bool {
    let is_in = |field: &str, group: &str| {
        field.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '@']))
    };
    if name == HOST_SETTINGS {
        return is_host_setting(field);
    }
    if is_in(field, name) {
        return true;
    }
    if let Some(field) = field.strip_prefix("env.") {
        let name = name.strip_prefix("env.").unwrap_or(name);
        let bare = field.split_once('.').map_or(field, |(_, bare)| bare);
        // a variable or option also selects the files that it names
        let names_file = |field: &str| {
            field.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
        };
        return is_in(field, name) || names_file(field) || names_file(bare);
    }
    let in_force = |policy: &str| {
        let rest = field.strip_prefix("effective_qos.").and_then(|rest| rest.split_once('.'));
        rest.is_some_and(|(_, rest)| is_in(rest, policy))
    };
    if let Some(row) = FACTORS.iter().find(|row| row.key == name) {
        return row.implies.iter().any(|implied| match implied.split_once('*') {
            None => is_in(field, implied),
            Some((group, policy)) => {
                let of_end = field.strip_prefix(group).and_then(|rest| rest.split_once('.'));
                of_end.is_some_and(|(_, rest)| is_in(rest, &policy[1..]))
            }
        });
    }
    name.strip_prefix("qos.").is_some_and(|name| {
        let in_force_of_end = field.strip_prefix("effective_qos.").is_some_and(|rest| is_in(rest, name));
        let of_an_end = ["qos.writer.", "qos.reader."].iter().filter_map(|end| field.strip_prefix(end));
        in_force_of_end || in_force(name) || of_an_end.into_iter().any(|field| is_in(field, name))
    })
}

/// Returns the fewest names for `--factor` that select all of these fields: factors of the table, the settings of a host, else
/// the fields themselves.
pub(crate) fn covering(differences: &[Difference]) -> Vec<String> {
    // as a group, `env` is the whole environment
    let keys = FACTORS.iter().map(|row| row.key).filter(|key| *key != "env");
    let groups: Vec<&str> = keys.chain([HOST_SETTINGS]).collect();
    let mut fields: Vec<&str> = differences.iter().map(|d| d.field.as_str()).collect();
    let mut names = Vec::new();
    while let Some(first) = fields.first() {
        let own = first.strip_prefix("env.").unwrap_or(first);
        let count = |name: &str| fields.iter().filter(|field| covers(name, field)).count();
        // of several with the same fields, the first of the table
        let name =
            groups.iter().rev().copied().filter(|name| covers(name, first)).max_by_key(|name| count(name));
        let name = name.unwrap_or(own).to_owned();
        fields.retain(|field| !covers(&name, field));
        names.push(name);
    }
    names
}

/// Returns the field or factor that is most similar to a name.
pub(crate) fn meant<'f>(name: &str, fields: &'f BTreeSet<String>) -> Option<&'f str> {
    // a field of the environment is found without its group, too
    let bare = |field: &'f String| field.strip_prefix("env.")?.split_once('.').map(|(_, bare)| bare);
    let of_environment = fields.iter().filter_map(bare);
    let all = FACTORS.iter().map(|row| row.key).chain(fields.iter().map(String::as_str));
    similar(name, all.chain(of_environment))
}

/// Returns a name that selects no field of either side.
pub(crate) fn unknown<'n>(named: &'n [String], fields: &BTreeSet<String>) -> Option<&'n String> {
    named.iter().find(|name| !fields.iter().any(|field| covers(name, field)))
}

#[cfg(test)]
mod tests {
    use super::{Fields, covers, unequal, unequal_names};

    #[test]
    fn a_library_is_what_it_contains() {
        let [one, other] = ["a", "b"].map(|hash| hash.repeat(64));
        let fields = |directory: &str, driver: &str, library: &str| {
            Fields::from([
                ("env.driver.udp/file@h1".to_owned(), format!("{directory}/libddsmark_udp.so")),
                ("env.driver.udp/sha256@h1".to_owned(), driver.to_owned()),
                ("env.library.udp/libx.so".to_owned(), format!("{directory}/lib x.so {library}")),
            ])
        };
        let differing = |before: &Fields, after: &Fields| -> Vec<String> {
            unequal(before, after).into_iter().map(|difference| difference.field).collect()
        };
        let before = fields("/here", &one, &one);
        assert!(differing(&before, &fields("/there", &one, &one)).is_empty());
        assert_eq!(differing(&before, &fields("/here", &one, &other)), ["env.library.udp/libx.so"]);
        let of_the_driver = ["env.driver.udp/file@h1", "env.driver.udp/sha256@h1"];
        assert_eq!(differing(&before, &fields("/there", &other, &one)), of_the_driver);
        // The content of a file that could not be read is unknown.
        let unread = |directory| fields(directory, "unreadable", "unreadable");
        assert_eq!(differing(&unread("/here"), &unread("/there")).len(), 2);
    }

    #[test]
    fn fields_of_one_side_only_differ_and_names_are_in_order() {
        let fields = |of: &[(&str, &str)]| -> Fields {
            of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let before = fields(&[("a", "1"), ("b", "2"), ("d", "4"), ("e", "5")]);
        let after = fields(&[("b", "3"), ("c", "1"), ("d", "4"), ("f", "6")]);
        for (before, after) in [(&before, &after), (&after, &before)] {
            let names: Vec<&str> = unequal_names(before, after).collect();
            assert_eq!(names, ["a", "b", "c", "e", "f"]);
        }
        assert_eq!(unequal_names(&before, &before).next(), None);
    }

    #[test]
    fn name_selects_a_field_its_group_and_derived_fields() {
        for (name, field) in [
            ("driver", "driver"),
            ("driver", "driver.middleware_version"),
            ("driver", "option.receive_buffer"),
            ("qos", "qos.deadline_ns"),
            ("qos.deadline_ns", "qos.deadline_ns"),
            ("qos.deadline_ns", "effective_qos.writer.deadline_ns"),
            ("profile", "effective_qos.reader.reliability"),
            ("qos.reader", "effective_qos.reader.reliability"),
            ("qos.reader.reliability", "effective_qos.reader.reliability"),
            ("qos.reliability", "qos.writer.reliability"),
            ("vendor_defaults", "qos.max_samples"),
            ("vendor_defaults", "effective_qos.writer.max_blocking_ns"),
            ("env", "env.host.kernel"),
            ("kernel", "env.host.kernel"),
            ("env.LD_PRELOAD", "env.LD_PRELOAD"),
            ("env.LD_PRELOAD", "env.variable.LD_PRELOAD"),
            ("env.LD_PRELOAD", "env.variable.LD_PRELOAD/x/slow.so"),
            ("option.profiles_file", "option.profiles_file"),
            ("option.profiles_file", "env.option.profiles_file/x/robot.xml"),
            ("env.net.core.rmem_max", "env.sysctl.net.core.rmem_max"),
            ("sysctl", "env.sysctl.net.core.rmem_max"),
            ("sysctl.net.core.rmem_max", "env.sysctl.net.core.rmem_max"),
            ("design", "design.pin"),
            ("net.core.rmem_max", "env.sysctl.net.core.rmem_max@pi1"),
            ("host-settings", "env.sysctl.net.core.rmem_max@pi1"),
            ("host-settings", "env.host.governor@pi1"),
            ("host-settings", "env.host.smt"),
            ("host-settings", "env.cgroup.cpu.max"),
            ("host-settings", "env.interface.eth0/mtu"),
        ] {
            assert!(covers(name, field), "{name}, {field}");
        }
        for (name, field) in [
            ("driver", "transport"),
            ("size", "size_bytes"),
            ("qos.deadline_ns", "effective_qos.writer.reliability"),
            ("qos.reader.reliability", "effective_qos.writer.reliability"),
            ("qos.reader.reliability", "qos.writer.reliability"),
            ("env.net.core.rmem_max", "env.sysctl.net.core.wmem_max"),
            ("sysctl", "env.host.kernel"),
            ("env.LD_PRELOAD", "env.LD_PRELOAD_64"),
            ("rmem_max", "env.sysctl.net.core.rmem_max"),
            ("transport", "driver"),
            ("vendor_defaults", "option.receive_buffer"),
            ("host-settings", "env.host.kernel"),
            ("host-settings", "env.host.name"),
            ("host-settings", "env.library.udp/libc.so.6"),
            ("host-settings", "design.pin"),
            ("host-settings", "driver.version"),
        ] {
            assert!(!covers(name, field), "{name}, {field}");
        }
    }
}
