//! Sample counts.

use serde::{Deserialize, Serialize};

/// Defines sums and increments of the counts of a type; after the bar, its fields that are no counts. A field that is not named
/// is an error.
macro_rules! counts {
    ($type:ty: $($count:ident)* $(| $($other:ident)*)?) => {
        impl $type {
            /// Returns the sums of the counts. Other fields have their defaults.
            #[must_use]
            pub fn sum<'c>(all: impl IntoIterator<Item = &'c Self>) -> Self {
                all.into_iter().fold(Self::default(), |mut sum, part| {
                    let Self { $($count,)* $($($other: _,)*)? } = part;
                    $(sum.$count = sum.$count.saturating_add(*$count);)*
                    sum
                })
            }

            /// Returns the counts since an earlier reading; 0 for one that was reset. Other fields are those of this reading.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                let mut since = Clone::clone(self);
                $(since.$count = self.$count.saturating_sub(earlier.$count);)*
                since
            }
        }
    };
}

pub(crate) use counts;

counts! {
    DeliveryCounts:
    sent filtered delivered lost undelivered duplicate out_of_order corrupt foreign checked_in_full
}

/// Sample counts of one flow, or of the pings of a latency run. `sent = delivered + lost + undelivered`, by
/// definition of `lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeliveryCounts {
    /// Number of samples that the middleware accepted, without those that the content filter of the reader excludes. For
    /// pings, including those never accepted.
    pub sent: u64,
    /// Number of samples that the middleware accepted and that the content filter of the reader excludes.
    #[serde(default, skip_serializing_if = "crate::schema::is_zero")]
    pub filtered: u64,
    /// Number of distinct samples delivered, from the set of sequence numbers. For pings, the echoes that returned
    /// in time.
    pub delivered: u64,
    /// Number of samples never delivered, from the gaps in the sequence numbers.
    pub lost: u64,
    /// Number of samples that a reliable flow had not delivered when the drain ended. Not included in `lost`.
    pub undelivered: u64,
    /// Number of duplicates.
    pub duplicate: u64,
    /// Number of samples that arrived after a later one.
    pub out_of_order: u64,
    /// Number of samples with a wrong size, a damaged header or a damaged payload.
    pub corrupt: u64,
    /// Number of samples that do not belong to this run.
    pub foreign: u64,
    /// Number of samples of which every byte was checked. For the others only the header was checked.
    pub checked_in_full: u64,
}
