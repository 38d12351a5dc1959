//! Profiles of QoS files: what they build on, and what is noted.

use std::collections::BTreeMap;

use driver_abi::policies::{Durability, History, Qos, Reliability};

use crate::{
    factors::{
        endpoint_qos::End,
        profiles::{QosProfile, qos_profile},
    },
    syntax::{input_file::InputFile, spanned_error::PlanError},
};

fn read_file(file: InputFile, profile: &str) -> Result<Option<QosProfile>, PlanError> {
    let files = BTreeMap::from([("f.xml".to_owned(), file)]);
    qos_profile(&format!("f.xml#{profile}"), &files, &(0..0))
}

/// Returns the policies of writers and readers that the profile `L::P` of a file requests, and its note.
#[track_caller]
fn qos(file: InputFile) -> ([Qos; 2], String) {
    let profile =
        read_file(file, "L::P").unwrap_or_else(|error| panic!("{error}: {}", error.hint())).expect("a file");
    let ends = [End::Writer, End::Reader].map(|end| {
        let mut qos = Qos::default();
        let policies = profile.policies.of_end(end);
        policies.apply(&mut qos);
        qos.reliability = policies.reliability.and_then(|kind| kind.get().kind()).or(qos.reliability);
        qos
    });
    (ends, profile.note.expect("a note"))
}

fn in_library(text: &str) -> InputFile {
    let text = format!("<dds><qos_library name='L'>{text}</qos_library></dds>");
    InputFile::new("f.xml".to_owned(), text, "hash".to_owned())
}

#[test]
fn profile_builds_on_one_that_is_built_in_and_the_rest_is_noted() {
    let own = "<datareader_qos><protocol/></datareader_qos>";
    for base in ["BuiltinQosLibExp", "BuiltinQosLib"] {
        let base = format!("{base}::Generic.StrictReliable");
        let (ends, note) =
            qos(in_library(&format!("<qos_profile name='P' base_name='{base}'>{own}</qos_profile>")));
        for end in ends {
            let expected = Qos {
                reliability: Some(Reliability::Reliable),
                history: Some(History::KeepAll),
                ..Qos::default()
            };
            assert_eq!(end, expected);
        }
        assert_eq!(
            note,
            format!(
                "profile `f.xml#L::P` is from f.xml (SHA-256 hash); built on profiles whose values are those of public sources: \
                 {base}; unknown and left at the default: reliability/max_blocking_time of writers in `{base}`; \
                 not applied: datareader_qos/protocol, protocol of `{base}`"
            )
        );
    }
}

#[test]
fn list_goes_over_the_attribute_and_own_elements_over_both() {
    let bases = "base_name='BuiltinQosLib::Pattern.Status'><base_name>\
                 <element>BuiltinQosSnippetLib::QosPolicy.History.KeepAll</element></base_name>";
    let own = "<datareader_qos><history><kind>KEEP_LAST_HISTORY_QOS</kind></history></datareader_qos>";
    let ([writer, reader], _) = qos(in_library(&format!("<qos_profile name='P' {bases}{own}</qos_profile>")));
    assert_eq!(
        (writer.history, writer.durability),
        (Some(History::KeepAll), Some(Durability::TransientLocal))
    );
    assert_eq!((reader.history, reader.history_depth), (Some(History::KeepLast), Some(1)));
}

#[test]
fn unknown_value_is_named_until_the_file_sets_it() {
    let profile = |own: &str| {
        in_library(&format!(
            "<qos_profile name='P' base_name='BuiltinQosLib::Generic.BestEffort'>{own}</qos_profile>"
        ))
    };
    let unknown = "unknown and left at the default: history/depth of readers in `BuiltinQosLib::Generic.BestEffort`, \
                   history/depth of writers";
    let (_, note) = qos(profile(""));
    assert!(note.contains(unknown), "{note}");
    let depth = "<history><depth>7</depth></history>";
    let own = format!("<datawriter_qos>{depth}</datawriter_qos><datareader_qos>{depth}</datareader_qos>");
    let ([writer, _], note) = qos(profile(&own));
    assert_eq!((writer.reliability, writer.history_depth), (Some(Reliability::BestEffort), Some(7)));
    assert!(!note.contains("unknown"), "{note}");
    let all = "<datawriter_qos><history><kind>KEEP_ALL_HISTORY_QOS</kind></history></datawriter_qos>";
    let (_, note) = qos(profile(all));
    assert!(note.contains("history/depth of readers") && !note.contains("of writers"), "{note}");
}

#[test]
fn qos_of_an_entity_in_a_library_is_a_profile() {
    let text = "<datawriter_qos name='W'><history><depth>4</depth></history></datawriter_qos>\
                <qos_profile name='P'><datawriter_qos base_name='L::W'/></qos_profile>";
    let ([writer, reader], _) = qos(in_library(text));
    assert_eq!((writer.history_depth, reader.history_depth), (Some(4), Some(1)));
}

#[test]
fn filter_of_all_topics_comes_before_no_filter() {
    let of = |filter: &str, depth: u8| {
        format!("<datawriter_qos{filter}><history><depth>{depth}</depth></history></datawriter_qos>")
    };
    let elements =
        [of("", 2), of(" topic_filter='cam*'", 3), of(" topic_filter='*'", 4), of(" topic_filter='*'", 5)];
    let ([writer, _], note) =
        qos(in_library(&format!("<qos_profile name='P'>{}</qos_profile>", elements.concat())));
    assert_eq!(writer.history_depth, Some(4));
    assert!(note.ends_with("not applied: datawriter_qos of the topics `cam*`"), "{note}");
}

#[test]
fn variables_are_from_the_environment_or_the_file() {
    let text = "<configuration_variables><value>\
                <element><name>BASE</name><value>Event</value></element>\
                <element><name>DEPTH</name><value>4</value></element></value></configuration_variables>\
                <qos_profile name='P' base_name='BuiltinQosLib::Pattern.$(BASE)'>\
                <datawriter_qos><history><depth>$(DEPTH)</depth></history></datawriter_qos>\
                <participant_qos><participant_name><name>$(NOT_NEEDED)</name></participant_name></participant_qos>\
                </qos_profile>";
    let mut file = in_library(text);
    file.variables = BTreeMap::from([("BASE".to_owned(), "Status".to_owned())]);
    let ([writer, _], note) = qos(file);
    assert_eq!((writer.history_depth, writer.durability), (Some(4), Some(Durability::TransientLocal)));
    assert!(note.contains("(SHA-256 hash); environment variables: BASE = `Status`; "), "{note}");
    let missing = text.replace("<name>BASE</name>", "<name>OTHER</name>");
    let error = read_file(in_library(&missing), "L::P").expect_err("no value");
    assert!(error.to_string().contains("variable `BASE` has no value"), "{error}");
    assert!(error.hint().contains("set the environment variable `BASE`"), "{}", error.hint());
}

#[test]
fn profile_extends_one_of_a_file_that_is_loaded_before() {
    let named = |path: &str, text: &str| {
        let text = format!("<dds><qos_library name='{path}'>{text}</qos_library></dds>");
        InputFile::new(path.to_owned(), text, format!("hash of {path}"))
    };
    let mut file = in_library("<qos_profile name='P' base_name='a::P'/>");
    let depth = |depth: &str| {
        format!(
            "<qos_profile name='P'><datawriter_qos><history><depth>{depth}</depth></history></datawriter_qos></qos_profile>"
        )
    };
    file.before = vec![named("a", &depth("3")), named("b", &depth("4"))];
    let ([writer, _], note) = qos(file.clone());
    assert_eq!(writer.history_depth, Some(3));
    assert!(note.ends_with("is from f.xml (SHA-256 hash) and a (SHA-256 hash of a)"), "{note}");
    let error = |file: &InputFile| {
        let error = read_file(file.clone(), "L::P").expect_err("an error");
        format!("{error}: {}", error.hint())
    };
    file.before[0] = named("a", &depth("many"));
    assert!(error(&file).contains("`many` of `depth` is not a whole number, in `a`"), "{}", error(&file));
    file.before[0] = named("a", "<");
    assert!(error(&file).contains(", in `a`"), "{}", error(&file));
    file.before.clear();
    let none = error(&file);
    assert!(
        none.contains("base profile `a::P` not found") && none.contains("name the file that has it"),
        "{none}"
    );
}
