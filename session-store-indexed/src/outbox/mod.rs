//! What is to be published, in order, beside the index.
//!
//! A row names a range of a session's file (generation, start, end), a session that is gone, or an
//! artifact. It is written in the transaction that moves the index on, so the two never part; and
//! it holds no bytes, so that with the remote away the disk grows by what was written and little
//! more. Rows that follow each other are one row. When there are many, a session's rows become one,
//! which gives up the order between sessions and never that within one.
//!
//! Beside the rows stands where bytes come from. What the remote sent is noted by length and digest
//! before it is written here, and is not sent back; what may replace or remove the remote's log is
//! noted before a program changes the file through its storage, and all else may only add to it.

mod agreed;
mod blocked;
mod origin;
mod read;
mod schema;
mod write;

pub(crate) use agreed::{Agreed, agree, agreed, all_agreed, claimed, forget, note_claim};
pub use blocked::{BlockKind, Blocked};
pub(crate) use blocked::{block, blocked, blocked_key, unblock};
pub(crate) use origin::{
    Order, Received, add_owner, drop_orders, forget_received, fulfil, is_owner, note_copy, order,
    order_below, ordered, receive, received, rename_copy,
};
pub(crate) use read::{
    Item, Row, backlog, has_pending, is_behind, is_sent, lag, last, object_digests, object_version,
    objects, rows,
};
pub(crate) use schema::{ORIGIN, SCHEMA};
pub(crate) use write::{
    Outgoing, add_gone, add_log, add_object, drop_rows, fill, finish, finish_log, forget_object,
    forget_objects_below, host, is_publishing, note_object,
};
