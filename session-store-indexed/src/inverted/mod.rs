//! Which texts have which terms, as full-text indexes keep it in a database.
//!
//! The terms of a *segment* of texts lie in their order in blocks, each with the texts that have it.
//! A table of blocks has the columns `block` (its key), `segment`, `term` (the first of the block)
//! and `data`, and an index on segment and term.

mod block;
mod error;
mod postings;
mod reading;
mod terms;
mod writing;

pub(crate) use error::ReadError;
pub(crate) use postings::{Postings, read_postings};
pub(crate) use reading::{SegmentReader, Wanted, each_posting};
pub(crate) use terms::Inverted;
pub(crate) use writing::SegmentWriter;
