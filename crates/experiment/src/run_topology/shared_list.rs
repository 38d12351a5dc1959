//! Lists that all endpoints of a run have in common, in one copy. Their form in JSON is that of any list.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

pub(super) fn is_empty(list: &Arc<[String]>) -> bool {
    list.is_empty()
}

pub(super) fn serialize<S: Serializer>(list: &Arc<[String]>, serializer: S) -> Result<S::Ok, S::Error> {
    list.as_ref().serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[String]>, D::Error> {
    Vec::deserialize(deserializer).map(Vec::into)
}
