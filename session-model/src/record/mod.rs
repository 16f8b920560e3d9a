//! Typed records over raw JSON objects.
//!
//! A record names the fields it knows once, in the order they are written. Reading one never
//! fails for an object: what the type does not know, or cannot read, waits in
//! [`Extra`] and is written back. Text is decoded: a lone surrogate reads as U+FFFD, and a number
//! or an escape is written in the spelling of `JSON.stringify`. Typed records are therefore for
//! reading and for making new entries; a line nobody changed is written back from its own bytes.

mod extra;
mod macros;
mod nullable;
mod read;
#[cfg(test)]
mod tests;
mod unknown;
mod value;
mod write;

use crate::json::ObjectView;

pub use extra::Extra;
pub(crate) use macros::{from_records, json_serde, record, string_enum, tagged, total_value};
pub use nullable::Nullable;
pub(crate) use read::FieldReader;
pub use unknown::Unknown;
pub(crate) use value::FieldValue;
pub(crate) use write::{FieldWriter, push_field};

/// What the `record!` macro gives: fields out of an object, and into one.
pub(crate) trait Record {
    /// Reads the known fields, and keeps all others except those named in `outside`.
    fn read(object: &ObjectView, outside: &'static [&'static str]) -> Self;

    /// Adds all fields, those of `extra` last, except those named in `outside`, to a text that
    /// ends in an unfinished object.
    fn push_to(&self, out: &mut String, outside: &'static [&'static str]);

    /// Tells that nothing in the record can have another [persisted form](crate::persisted).
    fn is_plain(&self) -> bool;
}
