//! Keeps secrets out of a session's file from the first: entries come in as JSON lines and are written
//! without them.
//!
//! ```text
//! cargo run --example private_log --features export -- DIR < entries.jsonl
//! ```

use std::error::Error;
use std::io::BufRead;
use std::path::Path;

use session_context::redact::HideSecrets;
use session_context::{NewSession, SessionManager, SessionOptions, open_storage};
use session_model::json::RawJson;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let dir = std::env::args_os().nth(1).ok_or("name a directory for the session")?;
    write(Path::new(&dir), std::io::stdin().lock()).await
}

/// Appends each line that is an entry to a new session below `dir`.
async fn write(dir: &Path, entries: impl BufRead) -> Result<()> {
    let storage = open_storage(&dir.display().to_string())?;
    let options = SessionOptions::default().eager().filter(HideSecrets::new()?);
    let new = NewSession::in_cwd("/work/project");
    let mut session = SessionManager::create(storage, new, options).await?;
    for line in entries.lines() {
        session.append_entry_json(&RawJson::parse(line?)?).await?;
    }
    session.close().await?;
    Ok(())
}
