//! Words that give each option, what they name, and the tests that show what happens in processes.

use ::experiment::{DriverDescription, Policy, PolicySupport, ReceiveMode, Support, TransportInfo};

/// Option, the options beside it, and the words that give it. `DIR` is a directory with the files of the test.
pub type Words = (&'static str, &'static str, &'static str);

/// Words for each option that is honoured. `-pub` is given unless the words have `-sub`.
pub const GIVEN: &[Words] = &[
    ("pub", "-sub", "-pub"),
    ("sub", "-pub", "-sub"),
    ("dataLen", "", "-dataLen 200"),
    ("scan", "", "-scan 32:1024"),
    ("domain", "", "-domain 5"),
    ("keyed", "", "-keyed"),
    ("instances", "-keyed", "-instances 7"),
    ("unbounded", "", "-unbounded 1000"),
    ("zeroCopy", "-batchSize 0", "-zeroCopy"),
    ("checkConsistency", "-sub", "-checkConsistency"),
    ("numPublishers", "-sub", "-numPublishers 2"),
    ("sidMultiSubTest", "-sub", "-sidMultiSubTest 3"),
    ("cft", "-sub -keyed", "-cft 0:5"),
    ("help", "", "-help"),
    ("configFile", "", "-configFile DIR/other.ini"),
    ("latencyTest", "", "-latencyTest"),
    ("latencyCount", "", "-latencyCount 300"),
    ("latencyCount", "-latencyTest", "-latencyCount 10"),
    ("numIter", "", "-numIter 20000"),
    ("executionTime", "", "-executionTime 7"),
    ("batchSize", "", "-batchSize 4000"),
    ("enableTurboMode", "", "-enableTurboMode"),
    ("enableAutoThrottle", "", "-enableAutoThrottle"),
    ("pubRate", "", "-pubRate 1000:sleep"),
    ("pubRatebps", "", "-pubRatebps 800000:spin"),
    ("sleep", "", "-sleep 2"),
    ("spin", "", "-spin 100000"),
    ("numSubscribers", "", "-numSubscribers 2"),
    ("pidMultiPubTest", "", "-pidMultiPubTest 1"),
    ("initialBurstSize", "", "-initialBurstSize 40"),
    ("writeInstance", "-keyed -instances 7", "-writeInstance 3"),
    ("loadDataFromFile", "", "-loadDataFromFile DIR/data.bin"),
    ("maximumAllocableBufferSize", "-loadDataFromFile DIR/data.bin", "-maximumAllocableBufferSize 10"),
    ("useReadThread", "-sub", "-useReadThread"),
    ("waitsetDelayUsec", "-sub -useReadThread", "-waitsetDelayUsec 700"),
    ("waitsetEventCount", "-sub -useReadThread", "-waitsetEventCount 9"),
    ("threadPriorities", "-useReadThread", "-threadPriorities h:n:0"),
    ("bestEffort", "", "-bestEffort"),
    ("durability", "", "-durability 1"),
    ("keepLast", "", "-keepLast"),
    ("keepLastDepth", "-keepLast", "-keepLastDepth 8"),
    ("asynchronous", "", "-asynchronous"),
    ("sendQueueSize", "", "-sendQueueSize 70"),
    ("receiveQueueSize", "-sub", "-receiveQueueSize 70"),
    ("sendBufferSize", "", "-sendBufferSize 100000"),
    ("receiveBufferSize", "", "-receiveBufferSize 100000"),
    ("qosprofile", "", "-qosprofile DIR/profiles.xml"),
    ("qosFile", "", "-qosFile DIR/profiles.xml"),
    ("qosLibrary", "-qosFile DIR/profiles.xml", "-qosLibrary Other"),
    ("noXmlQos", "-qosFile DIR/profiles.xml", "-noXmlQos"),
    ("nic", "", "-nic eth1"),
    ("peer", "", "-peer 10.0.0.9"),
    ("transport", "", "-transport SHMEM"),
    ("enableSharedMemory", "", "-enableSharedMemory"),
    ("enableTcpOnly", "", "-enableTcpOnly"),
    ("multicast", "", "-multicast"),
    ("nomulticast", "INI", "-nomulticast"),
    ("rawTransport", "-peer 10.0.0.9 -batchSize 0", "-rawTransport"),
    ("noPrintIntervals", "", "-noPrintIntervals"),
    ("outputFormat", "", "-outputFormat legacy"),
    ("outputFormat", "", "-outputFormat json"),
    ("noOutputHeaders", "", "-noOutputHeaders"),
    ("outputFile", "", "-outputFile DIR/rows.csv"),
    ("latencyFile", "-latencyTest", "-latencyFile DIR/latencies.csv"),
    ("cpu", "", "-cpu"),
    ("showResourceLimits", "", "-showResourceLimits"),
    ("driver", "", "-driver other"),
    ("compat", "", "-compat 5.1"),
    ("ddsmark-out", "", "-ddsmark-out DIR/result"),
    ("ddsmark-numbers", "", "-ddsmark-numbers"),
];

/// Options whose effect is in the processes of a test, and a test with real ones that shows it.
pub const IN_PROCESSES: &[(&str, &str)] = &[
    ("checkConsistency", "samples_carry_the_bytes_of_a_file"),
    ("ddsmark-out", "json_and_result_of_both_sides"),
    ("latencyFile", "latency_file_has_every_latency_of_the_row"),
    ("peer", "tutorial_with_bare_sockets"),
];

/// Options that change nothing: what they ask for is always so.
pub const ALWAYS: &[&str] = &["unbounded", "checkConsistency"];

/// QoS profiles.
pub const PROFILES: &str = r#"<dds>
  <qos_library name="PerftestQosLibrary"><qos_profile name="ThroughputQos">
    <datawriter_qos><ownership><kind>EXCLUSIVE_OWNERSHIP_QOS</kind></ownership></datawriter_qos>
    <datareader_qos><ownership><kind>EXCLUSIVE_OWNERSHIP_QOS</kind></ownership></datareader_qos>
  </qos_profile></qos_library>
  <qos_library name="Other"><qos_profile name="ThroughputQos">
    <datawriter_qos><transport_priority><value>3</value></transport_priority></datawriter_qos>
  </qos_profile></qos_library>
</dds>"#;

/// Returns a driver that has everything, or a bare socket.
pub fn description(name: &str) -> DriverDescription {
    let is_socket = name == "udp";
    let transports = if is_socket { &["udp4", "tcp4"][..] } else { &["udp4", "udp6", "shm", "tcp4"] };
    let features = match is_socket {
        true => &["locators", "application_batching"][..],
        false => &[
            "native_batching",
            "content_filter",
            "writer_loans",
            "async_write",
            "multicast",
            "echo_in_listener",
        ],
    };
    let support = if is_socket { Support::Unsupported } else { Support::Enforced };
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    DriverDescription {
        name: name.to_owned(),
        driver_version: "1".to_owned(),
        middleware: name.to_uppercase(),
        middleware_version: "1".to_owned(),
        version_source: "library".to_owned(),
        licence: "Apache-2.0".to_owned(),
        transports: transports
            .iter()
            .map(|&name| TransportInfo { name: name.to_owned(), max_payload_bytes: 65_507, note: None })
            .collect(),
        receive_modes: vec![ReceiveMode::Listener, ReceiveMode::Waitset, ReceiveMode::Polling],
        type_kinds: texts(&["octets", "keyed", "plain"]),
        features: texts(features),
        policies: Policy::ALL.iter().map(|policy| (*policy, PolicySupport::of_both(support, None))).collect(),
        ..DriverDescription::default()
    }
}
