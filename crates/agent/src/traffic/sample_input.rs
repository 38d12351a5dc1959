//! A reader with the recorder of its samples.

use driver_host::{DriverError, ListeningReader, Monitor, Participant, Reader, ReaderConfig, Sample};
use experiment::ReceiveMode;

/// A reader, and the recorder of its samples.
#[derive(Debug)]
pub enum SampleInput<R> {
    /// Reader called by a thread of the role, by waitset or polling.
    Asked {
        /// Reader.
        reader: Reader,
        /// Recorder of its samples.
        recorder: Box<R>,
        /// Whether the reader is polled.
        polling: bool,
    },
    /// Listener, called from a thread of the driver.
    Listening(ListeningReader<R>),
}

impl<R: Send + 'static> SampleInput<R> {
    /// Opens the reader. `on_sample`: what a listener does with each sample.
    ///
    /// # Errors
    /// Returns the driver's error.
    pub fn open(
        participant: &Participant,
        config: &ReaderConfig,
        mode: ReceiveMode,
        recorder: R,
        on_sample: fn(&mut R, Sample<'_>),
    ) -> Result<(Self, Monitor), DriverError> {
        if mode == ReceiveMode::Listener {
            let reader = participant.listening_reader(config, recorder, on_sample)?;
            let monitor = reader.monitor();
            return Ok((Self::Listening(reader), monitor));
        }
        let reader = participant.reader(config)?;
        let monitor = reader.monitor();
        let (recorder, polling) = (Box::new(recorder), mode == ReceiveMode::Polling);
        Ok((Self::Asked { reader, recorder, polling }, monitor))
    }

    /// Takes a sample, and waits up to this time for it unless the reader is polled. Returns false for a listener, which this
    /// does not wait for.
    ///
    /// # Errors
    /// Returns the driver's error.
    #[inline]
    pub fn look(
        &mut self,
        timeout_ns: u64,
        mut arrived: impl FnMut(&mut R, Sample<'_>),
    ) -> Result<bool, DriverError> {
        let Self::Asked { reader, recorder, polling } = self else { return Ok(false) };
        let timeout_ns = if *polling { 0 } else { timeout_ns };
        reader.receive(timeout_ns, 1, |sample| arrived(recorder, sample))?;
        Ok(true)
    }

    /// Closes the reader, and returns the recorder.
    ///
    /// # Errors
    /// Returns the driver's error if the close fails.
    pub fn close(self) -> Result<Box<R>, DriverError> {
        match self {
            Self::Asked { reader, recorder, .. } => reader.close().map(|()| recorder),
            Self::Listening(reader) => reader.close().map(Box::new),
        }
    }
}
