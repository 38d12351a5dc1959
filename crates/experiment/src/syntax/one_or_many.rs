//! Values of an experiment file with their positions, and factors that are one value or a list.

use std::{fmt, marker::PhantomData, ops::Range};

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, IntoDeserializer as _},
};
use toml::Spanned;

/// Position in an experiment file: a byte range of its text. Empty for a value that is not from a file.
pub type Span = Range<usize>;

/// Value with its position in the file. Equality and order ignore the position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Located<T>(Spanned<T>);

impl<T: Default> Default for Located<T> {
    fn default() -> Self {
        Self::nowhere(T::default())
    }
}

impl<T> Located<T> {
    /// Creates a value that is not from a file.
    pub fn nowhere(value: T) -> Self {
        Self(Spanned::new(0..0, value))
    }

    /// Creates a value at a position.
    pub fn at(span: Span, value: T) -> Self {
        Self(Spanned::new(span, value))
    }

    /// Returns the value.
    pub fn get(&self) -> &T {
        self.0.get_ref()
    }

    /// Returns the position.
    pub fn span(&self) -> Span {
        self.0.span()
    }

    /// Converts the value.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Located<U> {
        let span = self.span();
        Located(Spanned::new(span, of(self.0.into_inner())))
    }
}

/// Schema of the value. A derived one would have a name of its own for each type.
#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for Located<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// One value or a list of values.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOrMany<T>(pub Vec<Located<T>>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> OneOrMany<T> {
    /// Returns whether there is no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Creates a list of values that are not from a file.
    pub fn unwritten(values: impl IntoIterator<Item = T>) -> Self {
        Self(values.into_iter().map(Located::nowhere).collect())
    }

    /// Converts the values.
    pub fn map<U>(self, of: impl Fn(T) -> U) -> OneOrMany<U> {
        OneOrMany(self.0.into_iter().map(|value| value.map(&of)).collect())
    }

    /// Returns the position of the list, from its first to its last value.
    pub fn span(&self) -> Span {
        self.0.first().map_or(0, |first| first.span().start)..self.0.last().map_or(0, |last| last.span().end)
    }

    /// Returns the values without their positions.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(Located::get)
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            many => serializer.collect_seq(many),
        }
    }
}

/// One value or a list, before a single value has its position.
enum Shape<T> {
    One(T),
    List(Vec<Located<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = Spanned::<Shape<T>>::deserialize(deserializer)?;
        let span = shape.span();
        Ok(Self(match shape.into_inner() {
            Shape::One(value) => vec![Located(Spanned::new(span, value))],
            Shape::List(values) => values,
        }))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shape<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = Shape<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or a list of values")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Shape<T>, E> {
                T::deserialize(text.into_deserializer()).map(Shape::One)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Shape<T>, E> {
                T::deserialize(number.into_deserializer()).map(Shape::One)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Shape<T>, E> {
                T::deserialize(number.into_deserializer()).map(Shape::One)
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Shape<T>, E> {
                T::deserialize(value.into_deserializer()).map(Shape::One)
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Shape<T>, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(Shape::List)
            }
        }
        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}_or_list", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}
