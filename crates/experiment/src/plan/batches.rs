//! Batch settings of the factors `batch_bytes` and `batch_samples`, and the component that packs them.

use crate::{
    factors::{Batching, FactorValues, batch::BatchSamples},
    syntax::{
        one_or_many::{Located, Span},
        units::Size,
    },
};

/// Batch setting, independent of the sample size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// Maximum payload in bytes; 0 disables batching.
    Bytes(u64),
    /// Number of samples.
    Samples(u64),
    /// The samples that are due, up to a maximum payload in bytes.
    Turbo(u64),
}

impl Batch {
    /// Returns the batch settings of the two factors with their positions. Equal settings, such as 0 bytes and 1
    /// sample, are returned once.
    pub(crate) fn all(axes: &FactorValues) -> Vec<(Self, Span)> {
        let of_bytes = |size: &Located<Size>| (Self::Bytes(size.get().0), size.span());
        let of_samples = |samples: &Located<BatchSamples>| match *samples.get() {
            BatchSamples::Fixed(1) => (Self::Bytes(0), samples.span()),
            BatchSamples::Fixed(number) => (Self::Samples(number), samples.span()),
            BatchSamples::Turbo(Size(ceiling)) => (Self::Turbo(ceiling), samples.span()),
        };
        let mut all: Vec<(Self, Span)> = Vec::new();
        let (bytes, samples) = (axes.all::<Size>("batch_bytes"), axes.all::<BatchSamples>("batch_samples"));
        for (batch, at) in bytes.0.iter().map(of_bytes).chain(samples.0.iter().map(of_samples)) {
            if all.iter().all(|(known, _)| *known != batch) {
                all.push((batch, at));
            }
        }
        all
    }

    pub(crate) fn is_unbatched(self) -> bool {
        self == Self::Bytes(0)
    }

    /// Returns the maximum payload of a batch in bytes, for samples of this size.
    pub(crate) const fn ceiling(self, size_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) | Self::Turbo(bytes) => bytes,
            Self::Samples(samples) => samples.saturating_mul(size_bytes),
        }
    }

    /// Returns the component that packs this batch, given the one that packs fixed batches for the driver.
    pub(crate) const fn by(self, driver: Batching) -> Batching {
        match (self, driver) {
            (Self::Bytes(0), _) => Batching::None,
            (Self::Turbo(_), Batching::Native) => Batching::TurboNative,
            (Self::Turbo(_), Batching::Application) => Batching::TurboApplication,
            _ => driver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_samples_grows_with_their_size() {
        assert_eq!(Batch::Samples(4).ceiling(200), 800);
        assert_eq!((Batch::Bytes(8192).ceiling(200), Batch::Turbo(9).ceiling(200)), (8192, 9));
        assert_eq!(Batch::Turbo(9).by(Batching::Native), Batching::TurboNative);
        assert_eq!(Batch::Samples(2).by(Batching::Application), Batching::Application);
        assert_eq!(Batch::Bytes(0).by(Batching::Native), Batching::None);
    }
}
