//! Going on where a terminal was, and leaving traces for that.

use std::sync::Arc;

use session_model::layout::{Breadcrumb, TerminalId};
use session_model::storage::{PutOptions, SessionStorage};
use session_model::{Diagnostic, DiagnosticCode};

use super::{NewSession, SessionManager, SessionOptions};
use crate::error::Result;
use crate::listing::{SessionLocation, cwd_stat, session_to_continue};

impl SessionManager {
    /// Opens the session to go on with in a directory, or makes a new one.
    ///
    /// [`session_to_continue`] tells which; `new` says what a new one is like, and its `cwd` is the
    /// directory. With a terminal, a [breadcrumb](Self::leave_breadcrumb) is left.
    ///
    /// # Errors
    ///
    /// As [`session_to_continue`], [`open`](Self::open) and [`create`](Self::create).
    pub async fn continue_recent(
        agent_dir: Arc<dyn SessionStorage>,
        new: NewSession,
        terminal: Option<&TerminalId>,
        options: SessionOptions,
    ) -> Result<Self> {
        let cwd = new.cwd.clone();
        let mut manager = match session_to_continue(&agent_dir, &cwd, terminal).await? {
            Some(SessionLocation { storage, key }) => {
                Self::open(storage, key, &cwd, options).await?
            }
            None => Self::create(Arc::clone(&agent_dir), new, options).await?,
        };
        if let Some(terminal) = terminal {
            manager.leave_breadcrumb(&*agent_dir, terminal, &cwd).await;
        }
        Ok(manager)
    }

    /// Notes that a terminal works in this session, in the directory `cwd`.
    ///
    /// To be called when a session is opened, made or switched to. It never fails the session: what
    /// kept the note from being written is among the [`diagnostics`](Self::diagnostics).
    pub async fn leave_breadcrumb(
        &mut self,
        agent_dir: &dyn SessionStorage,
        terminal: &TerminalId,
        cwd: &str,
    ) {
        if !self.is_persistent() {
            return;
        }
        let file = match self.session_file() {
            Some(path) => path.to_str().map(str::to_owned),
            None => Some(self.key().to_string()),
        };
        let text = file.and_then(|session_file| {
            let fresh = !self.is_on_disk();
            let cwd_stat = cwd_stat(cwd);
            Breadcrumb { cwd: cwd.to_owned(), session_file, fresh, cwd_stat }.to_text()
        });
        let failure = match (text, terminal.key()) {
            (Some(text), Some(key)) => {
                let put = agent_dir.put(&key, text.into(), PutOptions::default()).await;
                put.err().map(|error| error.to_string())
            }
            _ => Some("a path in it has no room in the form of the note".to_owned()),
        };
        if let Some(failure) = failure {
            let detail = format!(
                "it was not noted that this terminal works in the session; a later start may go on \
                 with another: {failure}"
            );
            self.note(Diagnostic::new(DiagnosticCode::BreadcrumbNotWritten, detail));
        }
    }
}
