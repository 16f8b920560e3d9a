//! How this crate opens SQLite databases: one set of rules for all of them.

mod connection;
mod damage;
mod database;
mod error;
mod files;
mod patience;
mod schema;

pub(crate) use database::Database;
pub use error::DatabaseError;
pub(crate) use files::{private, with_suffix};
pub(crate) use schema::Schema;

use std::sync::Arc;
use std::time::Duration;

use session_model::env::Clock;

/// What opening a database needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How long a lock held elsewhere is waited for.
    pub(crate) busy_timeout: Duration,
    /// Dates the name of a database that is moved aside.
    pub(crate) clock: Arc<dyn Clock>,
}
