//! Comparing the index with one that is made from the files.

use rusqlite::Connection;

/// A session of which the index says something else than its file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexDifference {
    /// The key of the session.
    pub key: String,
    /// What differs.
    pub what: &'static str,
}

const SESSION: &str = "key, id, cwd, parent, title, created, activity, status, problem, modified, \
    size, version, indexed, entries, messages, leaf, regular, input, output, cache_read, \
    cache_write, premium_requests, cost";

const ENTRY: &str = "s.key, e.ordinal, e.id, e.parent, e.type, e.offset, e.length";

/// Compares the index with another in the file at `fresh`; generations do not count.
pub(crate) fn differences(
    connection: &mut Connection,
    fresh: &std::path::Path,
) -> rusqlite::Result<Vec<IndexDifference>> {
    connection.execute("ATTACH ? AS fresh", [fresh.to_string_lossy()])?;
    let found = find(connection);
    connection.execute("DETACH fresh", [])?;
    found
}

fn find(connection: &Connection) -> rusqlite::Result<Vec<IndexDifference>> {
    let entries = |of: &str| {
        format!("SELECT {ENTRY} FROM {of}.entry AS e JOIN {of}.session AS s USING (session)")
    };
    let (ours, theirs) = (entries("main"), entries("fresh"));
    let queries = [
        (
            "it is not in the index",
            "SELECT key FROM fresh.session EXCEPT SELECT key FROM main.session".to_owned(),
        ),
        (
            "there is no such file",
            "SELECT key FROM main.session EXCEPT SELECT key FROM fresh.session".to_owned(),
        ),
        (
            "its row differs",
            format!(
                "SELECT key FROM (SELECT {SESSION} FROM main.session
                 EXCEPT SELECT {SESSION} FROM fresh.session)
                 WHERE key IN (SELECT key FROM fresh.session)"
            ),
        ),
        (
            "what lists show of it differs",
            // What is not kept yet is no difference.
            "SELECT key FROM main.summary AS ours JOIN fresh.summary AS theirs USING (key, version)
             WHERE ours.note IS NOT theirs.note"
                .to_owned(),
        ),
        (
            "its entries differ",
            format!(
                "SELECT DISTINCT key FROM (SELECT * FROM ({ours} EXCEPT {theirs})
                 UNION ALL SELECT * FROM ({theirs} EXCEPT {ours}))
                 WHERE key IN (SELECT key FROM fresh.session)
                 AND key IN (SELECT key FROM main.session)"
            ),
        ),
    ];
    let mut found = Vec::new();
    for (what, query) in queries {
        let mut statement = connection.prepare(&format!("{query} ORDER BY key"))?;
        let keys = statement.query_map([], |row| row.get(0))?;
        for key in keys {
            found.push(IndexDifference { key: key?, what });
        }
    }
    Ok(found)
}
