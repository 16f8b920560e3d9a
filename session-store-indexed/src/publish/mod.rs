//! Publishing sessions to a remote, in order, in the background.
//!
//! A [`Publisher`] takes what the outbox names, reads it from the files and sends it. What it does
//! can be cut off anywhere and done again: the remote knows what it has, and answers so.
//!
//! Before the first unit of a session the publisher claims it and compares what the remote has
//! with the file. The file goes on where the remote ends, or replaces what is there, if nobody
//! else has written since the two were the same; what another host added is never overwritten.
//!
//! A host publishes what it wrote or was told to publish. What came from the remote is not sent
//! back, and a file that was not written through this storage is only ever added to the remote.

mod claims;
mod compare;
mod connect;
mod driver;
mod error;
mod live;
mod object;
mod options;
mod orders;
mod prepare;
mod publisher;
mod removal;
mod rewrite;
mod send;
mod shared;
mod source;
mod status;
mod verify;
mod wait;

pub use error::PublishError;
pub use options::PublishOptions;
pub use publisher::{Progress, Publisher};
pub use status::{Connection, Held, PublishStatus, SessionLag};
pub use verify::{Verified, verify};

pub(crate) use driver::Driver;
pub(crate) use shared::{Opened, Shared, Writing};
pub(crate) use wait::What;
