//! Full-text search: what an entry says, which words that has, and what a query asks for.
//!
//! An index keeps the [terms](each_term) of texts; a scan asks a [`Query`] about each text. Both
//! take the text of an entry from [`texts_of`], and find the same.

mod filter;
mod fold;
mod matching;
mod place;
mod query;
mod rank;
mod snippet;
mod terms;
mod text;

pub use filter::{Tag, TextFilter, tags_of};
pub use matching::{Examined, Match};
pub use place::{EntryPlace, places};
pub use query::{Clause, Piece, Query};
pub use rank::{Corpus, Ranking};
pub use snippet::Snippet;
pub use terms::{Term, each_term};
pub use text::{EntryText, MAX_TEXT_BYTES, TextKind, texts_of, written_ms};
