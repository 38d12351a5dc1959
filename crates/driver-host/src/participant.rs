//! Participants, and the opening of writers and readers.

use std::{
    ffi::{CString, c_char, c_void},
    fmt, ptr,
    sync::{Arc, atomic::AtomicPtr},
};

use driver_abi::{self as abi, description::ReceiveMode};

use crate::{
    config::{ParticipantConfig, ReaderConfig, Sample, Settings, WriterConfig},
    error::DriverError,
    participant_handle::ParticipantInner,
    reader::{Listening, ListeningReader, Reader, listen},
    table::{Table, c_string, call, opened, visit},
    writer::Writer,
};

/// Participant, closed after it and all its writers and readers were dropped.
pub struct Participant {
    inner: Arc<ParticipantInner>,
    not_sync: std::marker::PhantomData<std::cell::Cell<()>>,
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Participant")
    }
}

impl Participant {
    pub(crate) fn open(table: Table, config: &ParticipantConfig) -> Result<Self, DriverError> {
        let run_name = c_string(&config.run_name)?;
        let transport = config.transport.as_deref().map(c_string).transpose()?;
        let interface = config.interface.as_deref().map(c_string).transpose()?;
        let peers = config.peers.iter().map(|peer| c_string(peer)).collect::<Result<Vec<_>, _>>()?;
        let peers: Vec<*const c_char> = peers.iter().map(|peer| peer.as_ptr()).collect::<Vec<_>>();
        let options = config
            .options
            .iter()
            .map(|(name, value)| Ok((c_string(name)?, c_string(value)?)))
            .collect::<Result<Vec<_>, DriverError>>()?;
        let options: Vec<abi::DriverOption> = options
            .iter()
            .map(|(name, value)| abi::DriverOption { name: name.as_ptr(), value: value.as_ptr() })
            .collect();
        let or_null = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let raw = abi::ParticipantConfig {
            struct_size: size_of::<abi::ParticipantConfig>() as u32,
            domain: config.domain,
            run_name: run_name.as_ptr(),
            transport: or_null(&transport),
            interface: or_null(&interface),
            peers: peers.as_ptr(),
            options: options.as_ptr(),
            peer_count: peers.len() as u32,
            option_count: options.len() as u32,
            multicast: config.multicast.into(),
            vendor_defaults: config.vendor_defaults.into(),
            send_buffer_bytes: config.send_buffer_bytes,
            receive_buffer_bytes: config.receive_buffer_bytes,
            send_queue_bytes: config.send_queue_bytes,
            participant_count: config.participant_count,
            reserved: 0,
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the configuration and everything that it points to are valid for the call.
        unsafe { call!(table, participant_open(&raw const raw, &raw mut handle)) }?;
        let handle = opened("participant_open", handle)?;
        Ok(Self { inner: Arc::new(ParticipantInner { table, handle }), not_sync: std::marker::PhantomData })
    }

    /// Returns the effective settings.
    pub fn settings(&self) -> Result<Settings, DriverError> {
        let mut settings = Settings::new();
        let context = ptr::from_mut(&mut settings).cast();
        // SAFETY: the handle is open; the visitor is called during the call only.
        unsafe { call!(self.inner.table, participant_settings(self.inner.handle.as_ptr(), visit, context)) }?;
        Ok(settings)
    }

    /// Opens a writer.
    pub fn writer(&self, config: &WriterConfig) -> Result<Writer, DriverError> {
        let topic = c_string(&config.topic)?;
        let qos = config.qos.to_raw();
        let raw = abi::WriterConfig {
            struct_size: size_of::<abi::WriterConfig>() as u32,
            type_kind: config.type_kind.number(),
            topic: topic.as_ptr(),
            qos: qos.get(),
            max_payload_bytes: config.max_payload_bytes,
            batch_bytes: config.batch_bytes,
            async_write: config.async_write.into(),
            loans: config.loans.into(),
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the participant is open; the configuration is valid for the call.
        unsafe {
            call!(self.inner.table, writer_open(self.inner.handle.as_ptr(), &raw const raw, &raw mut handle))
        }?;
        let handle = opened("writer_open", handle)?;
        Ok(Writer::new(&self.inner, handle))
    }

    /// Opens a reader in waitset or polling mode.
    pub fn reader(&self, config: &ReaderConfig) -> Result<Reader, DriverError> {
        let mode = if config.polling { ReceiveMode::Polling } else { ReceiveMode::Waitset };
        self.open_reader(config, mode, None)
    }

    /// Opens a reader in listener mode. The driver calls `sink` with `state` for each sample, from its own thread.
    pub fn listening_reader<S: Send + 'static>(
        &self,
        config: &ReaderConfig,
        state: S,
        sink: fn(&mut S, Sample<'_>),
    ) -> Result<ListeningReader<S>, DriverError> {
        let state = Box::into_raw(Box::new(Listening {
            state,
            sink,
            intact: self.inner.table.reader_sample_intact,
            reader: AtomicPtr::new(ptr::null_mut()),
        }));
        let context = (listen::<S> as abi::Sink, state.cast::<c_void>());
        match self.open_reader(config, ReceiveMode::Listener, Some(context)) {
            Ok(reader) => Ok(ListeningReader::new(reader, state)),
            Err(error) => {
                // SAFETY: allocated above; a driver whose open failed does not call the sink again.
                drop(unsafe { Box::from_raw(state) });
                Err(error)
            }
        }
    }

    fn open_reader(
        &self,
        config: &ReaderConfig,
        mode: ReceiveMode,
        sink: Option<(abi::Sink, *mut c_void)>,
    ) -> Result<Reader, DriverError> {
        let topic = c_string(&config.topic)?;
        let filter = config.content_filter.as_deref().map(c_string).transpose()?;
        let qos = config.qos.to_raw();
        let raw = abi::ReaderConfig {
            struct_size: size_of::<abi::ReaderConfig>() as u32,
            type_kind: config.type_kind.number(),
            topic: topic.as_ptr(),
            qos: qos.get(),
            max_payload_bytes: config.max_payload_bytes,
            receive_mode: mode.number(),
            batched: config.batched.into(),
            sink: sink.map(|(sink, _)| sink),
            sink_context: sink.map_or(ptr::null_mut(), |(_, context)| context),
            content_filter: filter.as_ref().map_or(ptr::null(), |filter| filter.as_ptr()),
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the participant is open; the configuration is valid for the call; the context of a sink outlives
        // the reader, see `ListeningReader`.
        unsafe {
            call!(self.inner.table, reader_open(self.inner.handle.as_ptr(), &raw const raw, &raw mut handle))
        }?;
        let handle = opened("reader_open", handle)?;
        Ok(Reader::new(&self.inner, handle))
    }

    /// Closes the participant.
    ///
    /// # Errors
    /// Returns an error if a writer or reader is still open, or the driver's error.
    pub fn close(self) -> Result<(), DriverError> {
        match Arc::try_unwrap(self.inner) {
            Ok(inner) => {
                let inner = std::mem::ManuallyDrop::new(inner);
                // SAFETY: no entity is left; `ManuallyDrop` prevents a second close.
                unsafe { call!(inner.table, participant_close(inner.handle.as_ptr())) }
            }
            Err(_) => Err(DriverError::new(
                "participant_close",
                abi::BAD_ARGUMENT,
                "a writer or reader of this participant is still open",
            )),
        }
    }
}
