//! Words as the full-text index takes them.

use rusqlite::{Connection, Transaction};

/// Cuts texts into words, and asks them, by a full-text index of its own in memory, which is the
/// same kind as that of the prompts.
pub(super) struct Cutter(Connection);

impl Cutter {
    pub(super) fn new() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE VIRTUAL TABLE text USING fts5(prompt, content='');
             CREATE VIRTUAL TABLE word USING fts5vocab(text, instance);",
        )?;
        Ok(Self(connection))
    }

    /// Gives the words of some texts in their order, each with its text, as its place among them,
    /// and how many words of that text are before it.
    pub(super) fn each_word<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
        mut found: impl FnMut(&str, u32, u32),
    ) -> rusqlite::Result<()> {
        let (transaction, _) = self.with(texts)?;
        let mut words = transaction.prepare_cached("SELECT term, doc, offset FROM word")?;
        let mut rows = words.query([])?;
        while let Some(row) = rows.next()? {
            found(row.get_ref(0)?.as_str()?, row.get(1)?, row.get(2)?);
        }
        Ok(())
    }

    /// Tells of each text whether it answers a full-text expression.
    pub(super) fn answers<'a>(
        &self,
        expression: &str,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> rusqlite::Result<Vec<bool>> {
        let (transaction, count) = self.with(texts)?;
        let mut answers = vec![false; count];
        let mut found = transaction.prepare_cached("SELECT rowid FROM text WHERE text MATCH ?")?;
        let mut rows = found.query([expression])?;
        while let Some(row) = rows.next()? {
            if let Some(answer) = answers.get_mut(row.get::<_, i64>(0)? as usize) {
                *answer = true;
            }
        }
        Ok(answers)
    }

    /// Holds some texts until the transaction is dropped; answers how many.
    fn with<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> rusqlite::Result<(Transaction<'_>, usize)> {
        let transaction = self.0.unchecked_transaction()?;
        let mut insert =
            transaction.prepare_cached("INSERT INTO text (rowid, prompt) VALUES (?, ?)")?;
        let mut count = 0;
        for text in texts {
            insert.execute((count as i64, text))?;
            count += 1;
        }
        drop(insert);
        Ok((transaction, count))
    }
}
