//! Writing prompts: a batch in one transaction, one prompt in a row once.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

/// A prompt that waits to be written.
#[derive(Debug)]
pub(super) struct NewPrompt {
    pub(super) prompt: String,
    pub(super) created_at: i64,
    pub(super) cwd: Option<String>,
    pub(super) session_id: Option<String>,
}

impl NewPrompt {
    /// Returns how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let texts = [Some(&self.prompt), self.cwd.as_ref(), self.session_id.as_ref()];
        size_of::<Self>() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// Writes prompts in order, all or none, and returns the row that holds the last of them.
///
/// `last` is the row of the prompt this process wrote before. A prompt that equals that one, or
/// the newest of all processes, is there already.
pub(super) fn insert<'a>(
    connection: &mut Connection,
    prompts: impl IntoIterator<Item = &'a NewPrompt>,
    mut last: Option<i64>,
) -> rusqlite::Result<Option<i64>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for prompt in prompts {
        last = Some(match repeated(&transaction, &prompt.prompt, last)? {
            Some(row) => row,
            None => insert_one(&transaction, prompt)?,
        });
    }
    transaction.commit()?;
    Ok(last)
}

/// Returns the row of the latest prompt if that is `prompt`.
fn repeated(
    transaction: &Transaction<'_>,
    prompt: &str,
    last: Option<i64>,
) -> rusqlite::Result<Option<i64>> {
    transaction
        .prepare_cached(
            "SELECT id FROM history
             WHERE id IN (?1, (SELECT max(id) FROM history)) AND prompt = ?2
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row(params![last, prompt], |row| row.get(0))
        .optional()
}

fn insert_one(transaction: &Transaction<'_>, prompt: &NewPrompt) -> rusqlite::Result<i64> {
    // Some tools keep every text once: there the row is dated anew, as they do it.
    transaction
        .prepare_cached(
            "INSERT INTO history (prompt, created_at, cwd, session_id) VALUES (?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET
                 created_at = excluded.created_at,
                 cwd = excluded.cwd,
                 session_id = excluded.session_id
             RETURNING id",
        )?
        .query_row(
            params![prompt.prompt, prompt.created_at, prompt.cwd, prompt.session_id],
            |row| row.get(0),
        )
}
