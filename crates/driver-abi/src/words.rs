//! Enums of the driver contract whose values have a number there, and a name in flags and files.

/// Defines such an enum: its values with their constants and names.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $type:ident: $number:ty { $($(#[$doc:meta])* $variant:ident = $constant:ident, $name:literal;)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        #[allow(missing_docs, reason = "the names are the standard's")]
        pub enum $type { $($(#[$doc])* $variant = $crate::$constant as isize,)* }

        impl $type {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the name in flags and files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the number in the driver ABI.
            #[must_use]
            pub const fn number(self) -> $number {
                match self { $(Self::$variant => $crate::$constant),* }
            }

            /// Returns the value of a number in the driver ABI; `None` if the contract does not define it.
            #[must_use]
            pub const fn from_number(number: $number) -> Option<Self> {
                match number {
                    $($crate::$constant => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use words;
