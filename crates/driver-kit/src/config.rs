//! Configurations from the host, read from C once, checked with the driver's description, and converted to Rust
//! types.
use std::collections::HashSet;

use driver_abi::{
    self as abi,
    description::{ReceiveMode, TypeKind},
    policies::Qos,
};

use crate::{
    c_data::{array, read, required, strings_of, text_of},
    description::{Described, Features, Transport},
    error::{Error, Result},
    sink::{Lease, Sink},
};

/// Configuration of a participant. `transport` and the names of `options` exist in the description.
#[derive(Clone, Debug)]
pub struct ParticipantConfig<'a> {
    /// DDS domain, from 0 to 232; 1 to 100 unless the user requests another.
    pub domain: u32,
    /// Run name of letters, digits and `-`; unique on this host during the run.
    pub run_name: &'a str,
    /// Transport of the description; the first one if the host gives none.
    pub transport: &'static str,
    /// Network interface to use exclusively.
    pub interface: Option<&'a str>,
    /// Hosts for discovery.
    pub peers: Vec<&'a str>,
    /// Option names and values, each name at most once.
    pub options: Vec<(&'a str, &'a str)>,
    /// Whether to send data by multicast; requires that feature.
    pub multicast: bool,
    /// Whether to keep the vendor's defaults for everything that is not set here.
    pub vendor_defaults: bool,
    /// Size of the socket send buffers in bytes; `None` for the driver's default.
    pub send_buffer_bytes: Option<u64>,
    /// Size of the socket receive buffers in bytes; `None` for the driver's default.
    pub receive_buffer_bytes: Option<u64>,
}

impl<'a> ParticipantConfig<'a> {
    /// Returns the value of an option, if given.
    pub fn option(&self, name: &str) -> Option<&'a str> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// Configuration of a writer. Type, policies, size and features are supported according to the description.
#[derive(Clone, Debug)]
pub struct WriterConfig<'a> {
    /// Type kind.
    pub type_kind: TypeKind,
    /// Topic name.
    pub topic: &'a str,
    /// Requested QoS.
    pub qos: Qos,
    /// Maximum payload size in bytes, from 1 to the limit of the transport.
    pub max_payload_bytes: u64,
    /// Batch size in bytes; `None` to send every sample when it is written.
    pub batch_bytes: Option<u64>,
    /// Whether to publish from a thread of the middleware.
    pub async_write: bool,
    /// Whether samples will be written through loans.
    pub loans: bool,
}

/// Receive mode of a reader.
#[derive(Debug)]
pub enum Receive {
    /// `receive` with a timeout.
    Waitset,
    /// `receive` without a timeout.
    Polling,
    /// A thread of the driver calls the sink.
    Listener(Sink),
}

/// Configuration of a reader, checked like [`WriterConfig`].
#[derive(Debug)]
pub struct ReaderConfig<'a> {
    /// Type kind.
    pub type_kind: TypeKind,
    /// Topic name.
    pub topic: &'a str,
    /// Requested QoS.
    pub qos: Qos,
    /// Maximum payload size in bytes, from 1 to the limit of the transport.
    pub max_payload_bytes: u64,
    /// Receive mode.
    pub receive: Receive,
    /// Whether the writer, of the same driver, was opened with `batch_bytes`.
    pub batched: bool,
    /// Content filter in the SQL subset of DDS.
    pub content_filter: Option<&'a str>,
}

/// Reads and checks the configuration of a participant.
///
/// # Safety
/// `config` is valid according to the contract, for `'a`.
pub(crate) unsafe fn participant<'a>(
    config: *const abi::ParticipantConfig,
    of: &'static Described,
) -> Result<(ParticipantConfig<'a>, &'static Transport)> {
    // SAFETY: the caller guarantees it.
    let raw = unsafe { read(config, "config") }?;
    if raw.domain > 232 {
        return Err(Error::bad_argument(format!("domain {} is out of range", raw.domain))
            .hint("use a domain from 0 to 232"));
    }
    // SAFETY: the caller guarantees it.
    let run_name = unsafe { required(raw.run_name, "run_name") }?;
    if run_name.is_empty() || !run_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(
            Error::bad_argument(format!("invalid run name `{run_name}`")).hint("use letters, digits and `-`")
        );
    }
    // SAFETY: the caller guarantees it.
    let transport = transport(unsafe { text_of(raw.transport, "transport") }?, of)?;
    // SAFETY: the caller guarantees it.
    let interface = unsafe { text_of(raw.interface, "interface") }?;
    // SAFETY: the caller guarantees it.
    let peers = unsafe { strings_of(raw.peers, raw.peer_count, "peers") }?;
    // SAFETY: the caller guarantees it.
    let options = unsafe { options(&raw) }?;
    check_options(&options, of)?;
    if raw.multicast != 0 && !of.features.any(Features::MULTICAST) {
        return Err(lacks(of, "multicast").hint("set `multicast` to false"));
    }
    let given = |bytes: u64| (bytes > 0).then_some(bytes);
    let config = ParticipantConfig {
        domain: raw.domain,
        run_name,
        transport: transport.name,
        interface,
        peers,
        options,
        multicast: raw.multicast != 0,
        vendor_defaults: raw.vendor_defaults != 0,
        send_buffer_bytes: given(raw.send_buffer_bytes),
        receive_buffer_bytes: given(raw.receive_buffer_bytes),
    };
    Ok((config, transport))
}

fn transport(name: Option<&str>, of: &'static Described) -> Result<&'static Transport> {
    let all = &of.words.transports;
    let Some(name) = name else { return Ok(&all[0]) };
    all.iter().find(|transport| transport.name == name).ok_or_else(|| {
        Error::bad_argument(format!("driver `{}` has no transport `{name}`", of.words.name))
            .hint(available(all.iter().map(|transport| transport.name)))
    })
}

/// Reads the options of a participant.
///
/// # Safety
/// The options of `raw` are valid according to the contract, for `'a`.
unsafe fn options<'a>(raw: &abi::ParticipantConfig) -> Result<Vec<(&'a str, &'a str)>> {
    // SAFETY: the caller guarantees it.
    let options = unsafe { array(raw.options, raw.option_count, "options") }?;
    options
        .iter()
        .map(|option| {
            // SAFETY: the caller guarantees it.
            let name = unsafe { required(option.name, "the name of an option") }?;
            // SAFETY: the caller guarantees it.
            let value = unsafe { required(option.value, "the value of an option") }?;
            Ok((name, value))
        })
        .collect()
}

fn check_options(options: &[(&str, &str)], of: &Described) -> Result<()> {
    let mut seen = HashSet::new();
    for (name, _) in options {
        if !of.words.options.iter().any(|known| known.name == *name) {
            let error = Error::bad_argument(format!("driver `{}` has no option `{name}`", of.words.name));
            return Err(error.hint(available(of.words.options.iter().map(|option| option.name))));
        }
        if !seen.insert(*name) {
            return Err(Error::bad_argument(format!("option `{name}` is given twice")).hint("give it once"));
        }
    }
    Ok(())
}

fn check_type(kind: u32, of: &Described) -> Result<TypeKind> {
    let kind = TypeKind::from_number(kind).ok_or_else(|| unknown("type kind", kind))?;
    if !of.words.type_kinds.contains(&kind) {
        return Err(lacks(of, &format!("the type `{}`", kind.name()))
            .hint(available(of.words.type_kinds.iter().map(|kind| kind.name()))));
    }
    Ok(kind)
}

/// Creates the error of a request that the driver does not support.
fn lacks(of: &Described, what: &str) -> Error {
    Error::unsupported(format!("driver `{}` does not support {what}", of.words.name))
}

/// Returns the hint about a name that is not one of these.
fn available(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<_> = names.collect();
    format!("available: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

fn check_size(bytes: u64, transport: &Transport) -> Result<()> {
    if bytes == 0 {
        return Err(Error::bad_argument("`max_payload_bytes` is 0").hint("set it to at least 1"));
    }
    if bytes > transport.max_payload_bytes {
        return Err(Error::too_large(format!(
            "samples of {bytes} bytes exceed the maximum of transport `{}`",
            transport.name
        ))
        .hint(format!("use samples of at most {} bytes", transport.max_payload_bytes)));
    }
    Ok(())
}

/// Creates the error for a number that the contract does not define.
fn unknown(what: &str, number: u32) -> Error {
    Error::bad_argument(format!("unknown value {number} of the {what}")).hint("use a constant of driver.h")
}

/// Reads and checks a QoS.
///
/// # Safety
/// Same as for [`writer`].
unsafe fn qos(raw: *const abi::Qos, of: &Described) -> Result<Qos> {
    if raw.is_null() {
        return Ok(Qos::default());
    }
    // SAFETY: the caller guarantees it.
    let raw = unsafe { read(raw, "qos") }?;
    let unknown = raw.present >> abi::POLICY_COUNT << abi::POLICY_COUNT;
    if unknown != 0 {
        return Err(Error::unsupported(format!("unknown policy in `present`: {unknown:#x}"))
            .hint("build the driver with the driver-kit of this ddsmark"));
    }
    // SAFETY: the caller guarantees it.
    let (qos, invalid) = unsafe { Qos::from_raw(&raw) };
    if let Some(invalid) = invalid {
        return Err(Error::bad_argument(invalid).hint("use the values of the driver.h of this driver"));
    }
    of.words.policies.check(&qos)?;
    Ok(qos)
}

/// Reads and checks the configuration of a writer.
///
/// # Safety
/// `config` is valid according to the contract, for `'a`.
pub(crate) unsafe fn writer<'a>(
    config: *const abi::WriterConfig,
    of: &Described,
    transport: &Transport,
) -> Result<WriterConfig<'a>> {
    // SAFETY: the caller guarantees it.
    let raw = unsafe { read(config, "config") }?;
    let type_kind = check_type(raw.type_kind, of)?;
    check_size(raw.max_payload_bytes, transport)?;
    let batching = Features::NATIVE_BATCHING.and(Features::APPLICATION_BATCHING);
    for (requested, feature, what, hint) in [
        (raw.batch_bytes > 0, batching, "batching", "remove `batch_bytes` and `batch_samples`"),
        (raw.async_write != 0, Features::ASYNC_WRITE, "asynchronous writing", "write synchronously"),
        (raw.loans != 0, Features::WRITER_LOANS, "loans of a writer", "write without loans"),
    ] {
        if requested && !of.features.any(feature) {
            return Err(lacks(of, what).hint(hint));
        }
    }
    Ok(WriterConfig {
        type_kind,
        // SAFETY: the caller guarantees it.
        topic: unsafe { required(raw.topic, "topic") }?,
        // SAFETY: the caller guarantees it.
        qos: unsafe { qos(raw.qos, of) }?,
        max_payload_bytes: raw.max_payload_bytes,
        batch_bytes: (raw.batch_bytes > 0).then_some(raw.batch_bytes),
        async_write: raw.async_write != 0,
        loans: raw.loans != 0,
    })
}

/// Reads and checks the configuration of a reader.
///
/// # Safety
/// `config` is valid according to the contract, for `'a`; its sink may be called until the lease has ended.
pub(crate) unsafe fn reader<'a>(
    config: *const abi::ReaderConfig,
    of: &Described,
    transport: &Transport,
) -> Result<(ReaderConfig<'a>, Option<Lease>)> {
    // SAFETY: the caller guarantees it.
    let raw = unsafe { read(config, "config") }?;
    let type_kind = check_type(raw.type_kind, of)?;
    check_size(raw.max_payload_bytes, transport)?;
    let mode = ReceiveMode::from_number(raw.receive_mode)
        .ok_or_else(|| unknown("receive mode", raw.receive_mode))?;
    if !of.words.receive_modes.contains(&mode) {
        return Err(lacks(of, &format!("the receive mode `{}`", mode.name()))
            .hint(available(of.words.receive_modes.iter().map(|mode| mode.name()))));
    }
    // SAFETY: the caller guarantees it.
    let content_filter = unsafe { text_of(raw.content_filter, "content_filter") }?;
    if content_filter.is_some() && !of.features.any(Features::CONTENT_FILTER) {
        return Err(lacks(of, "content filters").hint("remove `content_filter`"));
    }
    // SAFETY: the caller guarantees it.
    let topic = unsafe { required(raw.topic, "topic") }?;
    // SAFETY: the caller guarantees it.
    let qos = unsafe { qos(raw.qos, of) }?;
    let (receive, lease) = match (mode, raw.sink) {
        (ReceiveMode::Waitset, None) => (Receive::Waitset, None),
        (ReceiveMode::Polling, None) => (Receive::Polling, None),
        (ReceiveMode::Listener, Some(sink)) => {
            // SAFETY: the caller guarantees it.
            let (sink, lease) = unsafe { Sink::new(sink, raw.sink_context) };
            (Receive::Listener(sink), Some(lease))
        }
        (ReceiveMode::Listener, None) => {
            return Err(Error::bad_argument("the receive mode `listener` requires a `sink`")
                .hint("set it in the configuration of the reader"));
        }
        (_, Some(_)) => {
            return Err(Error::bad_argument("a `sink` requires the receive mode `listener`")
                .hint("pass the sink to reader_receive() instead"));
        }
    };
    let batched = raw.batched != 0;
    let max_payload_bytes = raw.max_payload_bytes;
    Ok((ReaderConfig { type_kind, topic, qos, max_payload_bytes, receive, batched, content_filter }, lease))
}
