//! The macros that declare records, their enums, and enums of strings.

/// Declares a struct of named JSON fields, in the order they are written.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $ty:ty = $json:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $ty, )*
            /// Fields that are not known, or not of the expected type.
            pub extra: $crate::record::Extra,
        }

        impl $name {
            const NAMES: &'static [&'static str] = &[$($json),*];
        }

        // A layout counts fields in bytes.
        const _: () = assert!($name::NAMES.len() < u8::MAX as usize);

        impl $crate::record::Record for $name {
            #[allow(unused_mut, reason = "a record may have no fields")]
            fn read(
                object: &$crate::json::ObjectView,
                outside: &'static [&'static str],
            ) -> Self {
                let mut reader = $crate::record::FieldReader::new(object, Self::NAMES, outside);
                Self { $($field: reader.next(),)* extra: reader.finish() }
            }

            fn push_to(&self, out: &mut String, outside: &'static [&'static str]) {
                if self.extra.is_empty() {
                    $($crate::record::push_field(
                        out,
                        concat!(",\"", $json, "\":"),
                        &self.$field,
                    );)*
                    return;
                }
                $crate::record::FieldWriter::new(&self.extra)
                    $(.field($json, &self.$field))*
                    .finish(out, Self::NAMES, outside)
            }

            fn is_plain(&self) -> bool {
                self.extra.is_empty()
                    $(&& $crate::record::FieldValue::is_plain(&self.$field))*
            }
        }
    };
    // A record that is a JSON value by itself.
    (
        value
        $(#[$meta:meta])*
        pub struct $name:ident { $($fields:tt)* }
    ) => {
        $crate::record::record! { $(#[$meta])* pub struct $name { $($fields)* } }

        impl $name {
            /// Reads an object; `None` if the value is none.
            pub fn from_json(raw: &$crate::json::RawJson) -> Option<Self> {
                let object = raw.as_object()?;
                Some($crate::record::Record::read(&object, &[]))
            }

            /// Returns the object: declared fields in order, then the extra ones.
            pub fn to_json(&self) -> $crate::json::RawJson {
                $crate::json::RawJson::written(|out| $crate::record::FieldValue::push_to(self, out))
            }
        }

        impl $crate::record::FieldValue for $name {
            fn read(raw: &$crate::json::RawJson) -> Option<Self> {
                Self::from_json(raw)
            }

            fn push_to(&self, out: &mut String) {
                out.push('{');
                $crate::record::Record::push_to(self, out, &[]);
                out.push('}');
            }

            fn is_plain(&self) -> bool {
                $crate::record::Record::is_plain(self)
            }
        }

        $crate::record::json_serde!($name);
    };
}

/// Declares an enum of records told apart by one string field.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal {
            $( $(#[$variant_meta:meta])* $variant:ident($ty:ty) = $value:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant($ty), )*
            /// Anything else, kept whole.
            Unknown($crate::record::Unknown),
        }

        impl $name {
            const TAG: &'static str = $tag;

            fn read_tagged(
                raw: &$crate::json::RawJson,
                outside: &'static [&'static str],
            ) -> Self {
                let Some(object) = raw.as_object() else {
                    return Self::Unknown($crate::record::Unknown::of(Self::TAG, raw));
                };
                match object.text(Self::TAG).as_deref() {
                    $( Some($value) => {
                        Self::$variant($crate::record::Record::read(&object, outside))
                    } )*
                    _ => Self::Unknown($crate::record::Unknown::of(Self::TAG, raw)),
                }
            }

            fn tag(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $value, )*
                    Self::Unknown(unknown) => &unknown.tag,
                }
            }

            /// Adds the fields beside the tag; none for an unknown value.
            fn push_fields(&self, out: &mut String, outside: &'static [&'static str]) {
                match self {
                    $( Self::$variant(record) => {
                        $crate::record::Record::push_to(record, out, outside)
                    } )*
                    Self::Unknown(_) => {}
                }
            }

            fn has_plain_fields(&self) -> bool {
                match self {
                    $( Self::$variant(record) => $crate::record::Record::is_plain(record), )*
                    Self::Unknown(_) => false,
                }
            }
        }
    };
}

/// Implements `From` for the variants a record goes to.
macro_rules! from_records {
    ($name:ident { $( $variant:ident($ty:ty), )* }) => {
        $(
            impl From<$ty> for $name {
                fn from(record: $ty) -> Self {
                    Self::$variant(record)
                }
            }
        )*
    };
}

/// Declares an enum of known strings; any other string is kept.
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $value:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
            /// Any other text.
            Other(String),
        }

        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $value, )*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $( $value => Self::$variant, )*
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::record::FieldValue for $name {
            fn read(raw: &$crate::json::RawJson) -> Option<Self> {
                raw.as_text().map(|text| Self::from(&*text))
            }

            fn push_to(&self, out: &mut String) {
                $crate::json::push_string(out, self.as_str());
            }

            fn is_plain(&self) -> bool {
                true
            }
        }

        $crate::record::json_serde!($name);
    };
}

/// Makes a field type of one with a `from_json` that reads any value, a `push_json` and a
/// `has_plain_fields`.
macro_rules! total_value {
    ($name:ident) => {
        impl $crate::record::FieldValue for $name {
            fn read(raw: &$crate::json::RawJson) -> Option<Self> {
                Some(Self::from_json(raw))
            }

            fn push_to(&self, out: &mut String) {
                self.push_json(out);
            }

            fn is_plain(&self) -> bool {
                self.has_plain_fields()
            }
        }

        $crate::record::json_serde!($name);
    };
}

/// Implements serde for a field type that is always written.
macro_rules! json_serde {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::record::FieldValue::write(self).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = <$crate::json::RawJson as serde::Deserialize>::deserialize(deserializer)?;
                $crate::record::FieldValue::read(&raw).ok_or_else(|| {
                    serde::de::Error::custom(concat!("the value is no ", stringify!($name)))
                })
            }
        }
    };
}

pub(crate) use {from_records, json_serde, record, string_enum, tagged, total_value};
