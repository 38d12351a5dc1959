//! Cells with different drivers for writer and reader, `WRITER+READER`.

use std::collections::BTreeMap;

use driver_abi::{
    description::{DriverDescription, OptionInfo, PolicySupport, TransportInfo},
    policies::Policy,
};

use crate::{
    factors::Factors,
    syntax::{
        driver_name::{AND, drivers_of_ends, is_driver_path, is_pair},
        spanned_error::{PlanError, contradiction},
    },
};

/// Features that a pair has if either driver declares them.
const OF_EITHER: &[&str] = &["locators", "one_process", "simulated"];
/// Features that depend on the writer's driver only, and on the reader's driver only.
const OF_WRITER: &[&str] = &["native_batching"];
const OF_READER: &[&str] = &["echo_in_listener"];
/// Features that a pair never has, because each driver implements them in its own format.
const OF_NONE: &[&str] = &["application_batching"];

/// Policies that only writers have, and that only readers have, by DDS 1.4 section 2.2.3. LIFESPAN is not included,
/// because some readers need it too.
const POLICIES_OF_WRITER: &[Policy] = &[
    Policy::DurabilityService,
    Policy::OwnershipStrength,
    Policy::TransportPriority,
    Policy::WriterDataLifecycle,
];
const POLICIES_OF_READER: &[Policy] = &[Policy::TimeBasedFilter, Policy::ReaderDataLifecycle];

/// Prefixes of the options of a pair for one endpoint only: the writer (pinger), and the reader (echo).
const OPTIONS_OF_ENDS: [&str; 2] = ["writer_", "reader_"];

/// Transports with shared memory, whose layout depends on the version of the middleware.
const OF_ONE_VERSION: &[&str] = &["shm", "data_sharing", "builtin"];

/// Checks that the middleware of a driver is installed on this host; of a pair, that of both drivers.
///
/// # Errors
/// Returns an error with the first driver whose middleware is not installed.
pub fn check_installed(
    driver: &str,
    descriptions: &BTreeMap<String, DriverDescription>,
) -> Result<(), PlanError> {
    let ends = drivers_of_ends(driver).into_iter();
    let mut missing = ends.filter(|end| descriptions.get(*end).is_some_and(|end| !end.is_installed()));
    missing.next().map_or(Ok(()), |end| Err(not_installed(end)))
}

/// Returns the error of a driver whose middleware is not installed on this host.
fn not_installed(driver: &str) -> PlanError {
    let info = format!("see `ddsmark drivers info {driver}`");
    let hint = if is_driver_path(driver) {
        info
    } else {
        format!(
            "install it with `ddsmark drivers install {driver}`, and `--accept-licence` if required; {info}"
        )
    };
    contradiction(format!("the middleware of driver `{driver}` is not installed"), hint)
}

/// Returns an error if the driver is a pair that cannot be measured.
pub(crate) fn check_pair(driver: &str, description: &DriverDescription) -> Option<PlanError> {
    if !is_pair(driver) {
        return None;
    }
    let contradiction = |words: String, hint| Some(contradiction(words, hint));
    let [writer, reader] = drivers_of_ends(driver);
    if writer == reader {
        return contradiction(format!("`{driver}` names one driver twice"), "name it once");
    }
    if description.has("locators") {
        let words = format!(
            "`{driver}` cannot be paired: a driver without discovery needs the same driver as its peer"
        );
        return contradiction(words, "pair two implementations of DDS, or name each driver alone");
    }
    if description.transports.is_empty() {
        let words = format!("`{driver}` cannot be paired: the drivers have no common transport");
        return contradiction(words, "see the transports with `ddsmark drivers info D`");
    }
    None
}

/// Describes a writer of one driver with a reader of another: the capabilities that both have. Options that
/// both have apply to both; the options of each driver are also available for its endpoint only.
#[must_use]
pub fn describe_pair(writer: &DriverDescription, reader: &DriverDescription) -> DriverDescription {
    let both = |of: fn(&DriverDescription) -> &str| words(of(writer), of(reader));
    let build =
        |description: &DriverDescription| description.build.clone().unwrap_or_else(|| "not known".to_owned());
    let known_build = writer.build.is_some() || reader.build.is_some();
    DriverDescription {
        name: format!("{}{AND}{}", writer.name, reader.name),
        driver_version: both(|end| &end.driver_version),
        middleware: both(|end| &end.middleware),
        middleware_version: both(|end| &end.middleware_version),
        version_source: both(|end| &end.version_source),
        build: known_build.then(|| words(&build(writer), &build(reader))),
        licence: both(|end| &end.licence),
        transports: transports(writer, reader),
        options: options(writer, reader),
        receive_modes: common(&writer.receive_modes, &reader.receive_modes),
        type_kinds: common(&writer.type_kinds, &reader.type_kinds),
        features: features(writer, reader),
        policies: policies(writer, reader),
        kept_threads: either(&writer.kept_threads, &reader.kept_threads),
        variables: either(&writer.variables, &reader.variables),
    }
}

/// Returns the common text of both endpoints, or both texts.
fn words(writer: &str, reader: &str) -> String {
    if writer == reader { writer.to_owned() } else { format!("{writer} (writer), {reader} (reader)") }
}

fn common<T: Clone + PartialEq>(one: &[T], other: &[T]) -> Vec<T> {
    one.iter().filter(|value| other.contains(value)).cloned().collect()
}

fn either<T: Clone + PartialEq>(one: &[T], other: &[T]) -> Vec<T> {
    let more = other.iter().filter(|value| !one.contains(value));
    one.iter().chain(more).cloned().collect()
}

/// Returns the compatible transports that both have, in the writer's order, each with the smaller maximum payload.
fn transports(writer: &DriverDescription, reader: &DriverDescription) -> Vec<TransportInfo> {
    let of_one_version =
        writer.middleware == reader.middleware && writer.middleware_version == reader.middleware_version;
    let same = |transport: &TransportInfo| {
        if !of_one_version && OF_ONE_VERSION.contains(&transport.name.as_str()) {
            return None;
        }
        let other = reader.transport(Some(&transport.name))?;
        let smaller = if other.max_payload_bytes < transport.max_payload_bytes { other } else { transport };
        Some(smaller.clone())
    };
    writer.transports.iter().filter_map(same).collect()
}

/// Returns the options that both have, then those of each endpoint with its prefix.
fn options(writer: &DriverDescription, reader: &DriverDescription) -> Vec<OptionInfo> {
    let same = |option: &&OptionInfo| reader.options.iter().any(|other| other.name == option.name);
    let of_ends = OPTIONS_OF_ENDS.into_iter().zip([writer, reader]).flat_map(|(prefix, end)| {
        let under = move |option: &OptionInfo| OptionInfo {
            name: format!("{prefix}{}", option.name),
            ..option.clone()
        };
        end.options.iter().map(under)
    });
    writer.options.iter().filter(same).cloned().chain(of_ends).collect()
}

impl Factors {
    /// Returns the options of the writer (pinger) or of the reader (echo). Options for this endpoint only override
    /// those for both.
    #[must_use]
    pub fn options_of_end(&self, writes: bool) -> BTreeMap<String, String> {
        if !is_pair(&self.driver) {
            return self.options.clone();
        }
        let [of_writer, of_reader] = OPTIONS_OF_ENDS;
        let (own, other) = if writes { (of_writer, of_reader) } else { (of_reader, of_writer) };
        let for_both =
            self.options.iter().filter(|(name, _)| !name.starts_with(own) && !name.starts_with(other));
        let for_it = self.options.iter().filter_map(|(name, value)| Some((name.strip_prefix(own)?, value)));
        let for_both = for_both.map(|(name, value)| (name.as_str(), value));
        for_both.chain(for_it).map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }
}

fn features(writer: &DriverDescription, reader: &DriverDescription) -> Vec<String> {
    let mut all: Vec<&String> = writer.features.iter().chain(&reader.features).collect();
    all.sort();
    all.dedup();
    let holds = |feature: &str| {
        let (of_writer, of_reader) = (writer.has(feature), reader.has(feature));
        match feature {
            feature if OF_EITHER.contains(&feature) => true,
            feature if OF_WRITER.contains(&feature) => of_writer,
            feature if OF_READER.contains(&feature) => of_reader,
            feature if OF_NONE.contains(&feature) => false,
            _ => of_writer && of_reader,
        }
    };
    all.into_iter().filter(|feature| holds(feature)).cloned().collect()
}

/// Returns the support of each policy: of the endpoint that has it, or of each endpoint, with the note of the weaker one.
fn policies(writer: &DriverDescription, reader: &DriverDescription) -> BTreeMap<Policy, PolicySupport> {
    let of = |policy: Policy| {
        let [of_writer, of_reader] = [writer, reader].map(|end| end.policies.get(&policy));
        if POLICIES_OF_WRITER.contains(&policy) {
            return of_writer.cloned();
        }
        if POLICIES_OF_READER.contains(&policy) {
            return of_reader.cloned();
        }
        let (of_writer, of_reader) = of_writer.zip(of_reader)?;
        let (at_writer, at_reader) = (of_writer.of_writers(), of_reader.of_readers());
        let weaker = if at_reader < at_writer { of_reader } else { of_writer };
        Some(PolicySupport::of_ends(at_writer, at_reader, weaker.note.clone()))
    };
    Policy::ALL.iter().filter_map(|policy| Some((*policy, of(*policy)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver_abi::description::{ReceiveMode, Support};

    fn description(
        name: &str,
        version: &str,
        features: &[&str],
        transports: &[(&str, u64)],
    ) -> DriverDescription {
        DriverDescription {
            name: name.to_owned(),
            driver_version: "1".to_owned(),
            middleware: format!("Example {name}"),
            middleware_version: version.to_owned(),
            version_source: "library".to_owned(),
            licence: "MIT".to_owned(),
            transports: transports
                .iter()
                .map(|&(name, max_payload_bytes)| TransportInfo {
                    name: name.to_owned(),
                    max_payload_bytes,
                    note: None,
                })
                .collect(),
            receive_modes: vec![ReceiveMode::Waitset, ReceiveMode::Listener],
            type_kinds: vec!["octets".to_owned()],
            features: features.iter().map(|&feature| feature.to_owned()).collect(),
            kept_threads: vec!["keeper".to_owned(), name.to_owned()],
            variables: vec![name.to_uppercase()],
            ..DriverDescription::default()
        }
    }

    #[test]
    fn pair_has_the_common_capabilities() {
        let writer = description("a", "1.0", &["native_batching", "multicast"], &[("shm", 9), ("udp4", 100)]);
        let mut reader =
            description("b", "2.0", &["application_batching", "echo_in_listener"], &[("udp4", 60)]);
        reader.receive_modes = vec![ReceiveMode::Listener];
        // Another driver would read the samples that one driver packs as a single one.
        assert!(!describe_pair(&reader, &writer).has("application_batching"));
        let pair = describe_pair(&writer, &reader);
        assert_eq!(pair.features, ["echo_in_listener", "native_batching"]);
        assert_eq!(pair.transports.len(), 1);
        assert_eq!((pair.transports[0].name.as_str(), pair.transports[0].max_payload_bytes), ("udp4", 60));
        assert_eq!(pair.receive_modes, [ReceiveMode::Listener]);
        assert_eq!(pair.middleware_version, "1.0 (writer), 2.0 (reader)");
        assert_eq!((pair.licence.as_str(), &pair.build), ("MIT", &None));
        assert_eq!(pair.kept_threads, ["keeper", "a", "b"], "each in the process of its end");
        assert_eq!(pair.variables, ["A", "B"]);
        let more = DriverDescription { variables: vec!["DDS_*".to_owned(), "A".to_owned()], ..pair };
        let read = ["A", "DDS_", "DDS_URI", "AB", "_", "MY_DDS_URI"].map(|name| more.reads_variable(name));
        assert_eq!(read, [true, true, true, false, false, false]);
        assert_eq!(check_pair("a+b", &describe_pair(&writer, &reader)), None);
    }

    #[test]
    fn a_pair_has_options_for_both_ends_and_for_each() {
        let with = |name: &str, options: &[&str]| DriverDescription {
            options: options
                .iter()
                .map(|&name| OptionInfo { name: name.to_owned(), default_value: None, help: String::new() })
                .collect(),
            ..description(name, "1", &[], &[("udp4", 1)])
        };
        let pair = describe_pair(&with("a", &["size", "depth"]), &with("b", &["delay", "size"]));
        let names: Vec<_> = pair.options.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(names, ["size", "writer_size", "writer_depth", "reader_delay", "reader_size"]);
    }

    #[test]
    fn memory_is_shared_by_ends_of_one_version() {
        let all = [("shm", 9), ("udp4", 100), ("data_sharing", 9)];
        let names = |writer: &DriverDescription, reader: &DriverDescription| -> Vec<String> {
            let pair = describe_pair(writer, reader);
            pair.transports.into_iter().map(|transport| transport.name).collect()
        };
        let one = description("a", "2.14.5", &[], &all);
        assert_eq!(names(&one, &one.clone()), ["shm", "udp4", "data_sharing"]);
        let other_version = description("a", "3.2.2", &[], &all);
        let other_middleware = description("b", "2.14.5", &[], &all);
        for other in [&other_version, &other_middleware] {
            assert_eq!(names(&one, other), ["udp4"]);
            assert_eq!(names(other, &one), ["udp4"]);
        }
        let [shm, newer] = ["1", "2"].map(|version| description("a", version, &[], &[("shm", 9)]));
        let words = check_pair("a@1+a@2", &describe_pair(&shm, &newer)).expect("no way").to_string();
        assert!(words.contains("no common transport"), "{words}");
    }

    #[test]
    fn a_driver_without_its_middleware_is_named_of_a_pair_too() {
        let all: BTreeMap<String, DriverDescription> = [("a", "1"), ("b", "not installed")]
            .map(|(name, version)| (name.to_owned(), description(name, version, &[], &[("udp4", 1)])))
            .into();
        assert_eq!(check_installed("a", &all), Ok(()));
        for driver in ["b", "a+b", "b+a"] {
            let error = check_installed(driver, &all).expect_err("it is not there");
            assert_eq!(error.to_string(), "the middleware of driver `b` is not installed");
            assert!(
                error.hint().starts_with("install it with `ddsmark drivers install b`"),
                "{}",
                error.hint()
            );
        }
    }

    #[test]
    fn pair_supports_a_policy_like_its_weaker_endpoint() {
        let mut ends = [description("a", "1", &[], &[]), description("b", "1", &[], &[])];
        let states = [Support::Enforced, Support::Ignored];
        for (end, support) in ends.iter_mut().zip(states) {
            end.policies.insert(Policy::Deadline, PolicySupport::of_both(support, None));
        }
        for policy in [Policy::Lifespan, Policy::TimeBasedFilter, Policy::TransportPriority] {
            ends[0].policies.insert(policy, PolicySupport::of_both(Support::Enforced, None));
        }
        for (writer, reader) in [(0, 1), (1, 0)] {
            let pair = describe_pair(&ends[writer], &ends[reader]);
            assert_eq!(pair.support(Policy::Deadline), Support::Ignored);
            assert_eq!(pair.support(Policy::Lifespan), Support::Unsupported);
            let of = |end| if end == 0 { Support::Enforced } else { Support::Unsupported };
            assert_eq!(pair.support(Policy::TransportPriority), of(writer));
            assert_eq!(pair.support(Policy::TimeBasedFilter), of(reader));
        }
    }

    #[test]
    fn duplicate_socket_and_empty_transport_names_are_rejected() {
        let dds = description("a", "1", &[], &[("udp4", 1)]);
        let bare = description("b", "1", &["locators"], &[("udp4", 1)]);
        let other = description("c", "1", &[], &[("shm", 1)]);
        let words = |driver, writer, reader| {
            check_pair(driver, &describe_pair(writer, reader)).expect("rejected").to_string()
        };
        assert!(words("a+b", &dds, &bare).contains("without discovery"));
        assert!(words("b+a", &bare, &dds).contains("without discovery"));
        assert!(words("a+c", &dds, &other).contains("no common transport"));
        assert!(words("a+a", &dds, &dds).contains("twice"));
        assert_eq!(check_pair("b", &bare), None, "alone");
    }
}
