//! Damage that SQLite does not see.

use rusqlite::Connection;

use super::schema;
use crate::DatabaseError;
use crate::inverted::ReadError;
use crate::sqlite::Database;

/// Does `work` with the connection; an index that is malformed is emptied, so that the next update
/// makes it again.
pub(super) fn run<T>(
    database: &mut Database,
    work: impl FnOnce(&mut Connection) -> Result<T, ReadError>,
) -> Result<T, DatabaseError> {
    let done = database.run(|connection| match work(connection) {
        Ok(done) => Ok(Some(done)),
        Err(ReadError::Sqlite(error)) => Err(error),
        Err(ReadError::Malformed) => {
            tracing::warn!("the full-text index is malformed; it is made again");
            schema::empty(connection)?;
            Ok(None)
        }
    })?;
    done.ok_or_else(|| DatabaseError::Damaged {
        path: database.path().to_owned(),
        reason: "a block of the full-text index is malformed".to_owned(),
    })
}
