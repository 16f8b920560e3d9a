//! Writing prompts: a batch in one transaction, one prompt in a row once.

use rusqlite::{
    Connection, OptionalExtension, ToSql, Transaction, TransactionBehavior, params,
    params_from_iter,
};

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

/// How many prompts one statement writes. With each statement the full-text index is written out,
/// which takes longer than all the rest.
const AT_ONCE: [usize; 3] = [128, 8, 1];

/// Writes prompts in order, all or none, and returns the row that holds the last of them.
///
/// `last` is the row of the prompt this process wrote before. A prompt that equals that one, or
/// the newest of all processes, is there already.
pub(super) fn insert<'a>(
    connection: &mut Connection,
    prompts: impl IntoIterator<Item = &'a NewPrompt>,
    last: Option<i64>,
) -> rusqlite::Result<Option<i64>> {
    let mut prompts: Vec<&NewPrompt> = prompts.into_iter().collect();
    prompts.dedup_by(|next, before| next.prompt == before.prompt);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (mut last, mut rest) = (last, &*prompts);
    if let Some((first, others)) = rest.split_first()
        && let Some(row) = repeated(&transaction, &first.prompt, last)?
    {
        (last, rest) = (Some(row), others);
    }
    if let Some((final_one, others)) = rest.split_last() {
        let mut others = others;
        for size in AT_ONCE {
            let mut chunks = others.chunks_exact(size);
            for chunk in &mut chunks {
                insert_all(&transaction, chunk)?;
            }
            others = chunks.remainder();
        }
        last = Some(insert_one(&transaction, final_one)?);
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

fn insert_all(transaction: &Transaction<'_>, prompts: &[&NewPrompt]) -> rusqlite::Result<()> {
    let values = prompts
        .iter()
        .flat_map(|new| [&new.prompt as &dyn ToSql, &new.created_at, &new.cwd, &new.session_id]);
    transaction.prepare_cached(&statement(prompts.len()))?.execute(params_from_iter(values))?;
    Ok(())
}

fn insert_one(transaction: &Transaction<'_>, prompt: &NewPrompt) -> rusqlite::Result<i64> {
    transaction.prepare_cached(&format!("{} RETURNING id", statement(1)))?.query_row(
        params![prompt.prompt, prompt.created_at, prompt.cwd, prompt.session_id],
        |row| row.get(0),
    )
}

fn statement(rows: usize) -> String {
    // Some tools keep every text once: there the row is dated anew, as they do it.
    format!(
        "INSERT INTO history (prompt, created_at, cwd, session_id) VALUES {}
         ON CONFLICT DO UPDATE SET
             created_at = excluded.created_at,
             cwd = excluded.cwd,
             session_id = excluded.session_id",
        vec!["(?, ?, ?, ?)"; rows].join(", ")
    )
}
