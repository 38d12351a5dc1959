//! Lists that several parts of a plan or a run have in common, in one copy. Their form in JSON is that of any list.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn is_empty<T>(list: &Arc<[T]>) -> bool {
    list.is_empty()
}

pub(crate) fn serialize<T: Serialize, S: Serializer>(
    list: &Arc<[T]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    list.as_ref().serialize(serializer)
}

pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Arc<[T]>, D::Error> {
    Vec::deserialize(deserializer).map(Vec::into)
}
