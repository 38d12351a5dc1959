//! Values that are one scalar of an experiment file: how they are read, written and described in the schema.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{self, Unexpected},
};

/// Scalar of an experiment file.
pub(crate) enum Scalar {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
}

/// Reason why a scalar is not a value.
pub(crate) enum Rejection {
    /// Value of the right type.
    Value,
    /// Value of another type.
    Type,
    /// Any other reason, as a text.
    Words(String),
}

/// Meaning of a number without quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integers {
    /// A value, as if it were text.
    Valid,
    /// A value that lacks its unit.
    WithoutUnit,
    /// No value.
    Invalid,
}

/// Reads a scalar, and converts it.
pub(crate) fn scalar<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    of: impl FnOnce(&Scalar) -> Result<T, Rejection>,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(ScalarVisitor { expected, of, value: PhantomData })
}

/// Reads a text, or a number as text.
pub(crate) fn text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    integers: Integers,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let without_unit =
        |number: &str| Rejection::Words(format!("`{number}` has no unit, expected {expected}"));
    let parsed = |text: &str| {
        parse(text).ok_or_else(|| match integers {
            Integers::WithoutUnit if text.trim().parse().is_ok_and(f64::is_finite) => without_unit(text),
            _ => Rejection::Value,
        })
    };
    scalar(deserializer, expected, |scalar| match scalar {
        Scalar::Text(text) => parsed(text),
        Scalar::Integer(number) if integers != Integers::Invalid => parsed(&number.to_string()),
        Scalar::Float(number) if integers == Integers::WithoutUnit => Err(without_unit(&number.to_string())),
        _ => Err(Rejection::Type),
    })
}

struct ScalarVisitor<T, F> {
    expected: &'static str,
    of: F,
    value: PhantomData<T>,
}

impl<T, F: FnOnce(&Scalar) -> Result<T, Rejection>> ScalarVisitor<T, F> {
    fn value<E: de::Error>(self, scalar: &Scalar) -> Result<T, E> {
        let unexpected = match scalar {
            Scalar::Text(text) => Unexpected::Str(text),
            Scalar::Integer(number) => Unexpected::Signed(*number),
            Scalar::Float(number) => Unexpected::Float(*number),
            Scalar::Flag(flag) => Unexpected::Bool(*flag),
        };
        (self.of)(scalar).map_err(|rejection| match rejection {
            Rejection::Value => E::invalid_value(unexpected, &self.expected),
            Rejection::Type => E::invalid_type(unexpected, &self.expected),
            Rejection::Words(words) => E::custom(words),
        })
    }
}

impl<T, F: FnOnce(&Scalar) -> Result<T, Rejection>> de::Visitor<'_> for ScalarVisitor<T, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        self.value(&Scalar::Text(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.value(&Scalar::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self.expected)),
        }
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.value(&Scalar::Float(number))
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<T, E> {
        self.value(&Scalar::Flag(flag))
    }
}

/// Implements deserialization with `parse`, which returns `None` for an invalid text.
macro_rules! from_text {
    ($type:ident, $integers:ident) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::syntax::scalar::{Integers, text};
                text(deserializer, Self::EXPECTED, Integers::$integers, Self::parse)
            }
        }
    };
}
pub(crate) use from_text;

/// Implements serialization as the text of `Display`.
macro_rules! to_text {
    ($($type:ident),+) => {
        $(impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })+
    };
}
pub(crate) use to_text;

/// Implements the JSON Schema under a name.
macro_rules! schema {
    ($type:ident, $name:expr, $schema:tt) => {
        #[cfg(feature = "schema")]
        impl ::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!($schema)
            }
        }
    };
}
pub(crate) use schema;

/// Implements a value that is text in files: deserialization with `parse`, serialization with `Display`, and the schema.
macro_rules! textual {
    ($type:ident, $integers:ident, $schema:tt) => {
        $crate::syntax::scalar::from_text!($type, $integers);
        $crate::syntax::scalar::to_text!($type);
        $crate::syntax::scalar::schema!($type, stringify!($type), $schema);
    };
}
pub(crate) use textual;
