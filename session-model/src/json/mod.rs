//! Lossless JSON: values kept as the text they were read as, taken apart only where asked.
//!
//! `serde_json::Value` loses the order of fields, the spelling of numbers, duplicate keys and lone
//! surrogates. A session file must keep them all, so this model works on [`RawJson`]: a piece of
//! valid JSON text, shared with the buffer it was read from.

mod build;
mod edit;
mod lookup;
mod pretty;
mod raw;
mod stringify;
mod strings;
mod text;
mod view;

pub use build::ObjectBuilder;
pub use edit::ObjectEdit;
pub(crate) use edit::Piece;
pub use raw::{InvalidJson, JsonKind, RawJson};
pub use stringify::{to_json_string, to_raw_json};
pub use strings::JsonString;
pub(crate) use text::{decode_string, is_json_space, trim_json_space};
pub(crate) use view::fields_of;
pub use view::{ArrayView, Field, ObjectView};
