//! `sessionctl resume`

use std::env;
use std::path::PathBuf;

use session_context::blobs::BlobStore;
use session_context::env::terminal_id;
use session_context::listing::{CwdState, Place, SessionCatalog};
use session_context::{OpenStorageError, SessionError, SessionManager};
use session_model::EntryKind;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

use super::{navigate, resume_screen};
use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, look, say};
use crate::store::tell_of_index;
use crate::target::{Shown, Target};

/// Print what an agent would go on with
///
/// Without a session, that is what this terminal worked in last in the present directory, else the
/// session of this directory with the latest activity. Nothing is written.
///
/// With --interactive the sessions there are stand on a screen of their own, to search them and what
/// was said in them, to choose one, and to rename, delete and fork sessions; F1 shows all keys. They
/// are those of the agent directory, or of the directories that are named.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl resume
  sessionctl resume 019bc10e
  sessionctl resume \"Retry failed\" --json
  sessionctl resume --interactive
  sessionctl resume --interactive ~/.omp/agent ~/.pi/agent")]
pub(crate) struct Resume {
    /// The session: a path, an id or how it begins, or how its title begins; with --interactive agent
    /// directories, or any directories with sessions in them or their folders
    #[arg(value_name = "SESSION|DIRECTORIES")]
    named: Vec<String>,
    /// Choose the session on the screen
    #[arg(long, short)]
    interactive: bool,
    /// Sessions of the agent directory, ~/.xcsh/agent, ~/.omp/agent and ~/.pi/agent on the screen
    #[arg(long, requires = "interactive", conflicts_with_all = ["named", "store"])]
    all_agents: bool,
    /// The directory whose sessions are shown first on the screen; default: the present one
    #[arg(long, value_name = "DIR", requires = "interactive")]
    cwd: Option<PathBuf>,
}

impl Resume {
    pub(super) fn interactive() -> Self {
        Self { named: Vec::new(), interactive: true, all_agents: false, cwd: None }
    }

    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let (target, moved) = match &self.named[..] {
            _ if self.interactive => match self.choose(context).await? {
                Some(chosen) => chosen,
                None if context.json => {
                    context.out.json("null")?.end()?;
                    return Ok(());
                }
                None => return Ok(()),
            },
            [] => (to_continue(context).await?, None),
            [session] => (context.store.existing(session).await?, None),
            _ => return Err(Failure::Usage("name one session".to_owned())),
        };
        let manager = context.store.read_target(target, Shown::References).await?;
        let found = Found::of(&manager);
        if context.json {
            let moved = moved.as_deref().map(navigate::to_json);
            context.out.json(found.to_json(moved.as_ref()).as_str())?.end()?;
            return Ok(());
        }
        found.print(&mut context.out)?;
        if matches!(found.cwd_state, CwdState::Missing | CwdState::Unusable) {
            let text = "the session can be read all the same, and `sessionctl mv` takes it to another directory";
            say("warning", &format!("its directory is {}; {text}", found.cwd_state.as_str()));
        }
        moved.map_or(Ok(()), |moved| navigate::report(&moved, context))
    }

    async fn choose(&self, context: &Context) -> Result<Option<resume_screen::Choice>, Failure> {
        let directories: Vec<_> = self.named.iter().map(PathBuf::from).collect();
        resume_screen::choose(self.cwd.as_deref(), &directories, self.all_agents, context).await
    }
}

/// The session of this terminal, or the newest of the present directory.
async fn to_continue(context: &Context) -> Result<Target, Failure> {
    let none = || {
        let text = "there is nothing to go on with in this directory; an agent would begin anew";
        Failure::Refused(format!("{text}. `sessionctl list --all` shows all sessions"))
    };
    let storage = match context.store.storage() {
        Err(OpenStorageError::Missing { .. }) if context.store.url().is_none() => {
            return Err(none());
        }
        opened => opened?,
    };
    let catalog = SessionCatalog::new(vec![Place::agent_dir(storage)?]);
    let found = catalog.to_continue(&here()?, terminal_id().as_ref()).await;
    tell_of_index(&catalog);
    let found = found?;
    let found = found.ok_or_else(none)?;
    let blobs = BlobStore::new(found.storage.clone()).map_err(SessionError::from)?;
    let name = found.key.to_string();
    Ok(Target::new(found.storage, found.key, &name, blobs))
}

/// The present directory.
pub(super) fn here() -> Result<String, Failure> {
    let cwd = env::current_dir()
        .map_err(|source| Failure::Input { what: "the directory".into(), source })?;
    Ok(cwd.to_string_lossy().into_owned())
}

/// What an agent would load.
struct Found {
    path: String,
    id: String,
    cwd: Option<String>,
    cwd_state: CwdState,
    title: Option<String>,
    leaf: Option<String>,
    model: Option<String>,
    /// How many messages there are, of all branches.
    messages: usize,
    /// How many a model sees at the leaf.
    context_messages: usize,
}

impl Found {
    fn of(manager: &SessionManager) -> Self {
        let context = manager.build_session_context();
        let path = manager.session_file().map(|path| path.display().to_string());
        let is_message = |kind| kind == EntryKind::Message;
        Self {
            path: path.unwrap_or_else(|| manager.key().to_string()),
            id: manager.session_id(),
            cwd_state: CwdState::of(manager.cwd().as_deref()),
            cwd: manager.cwd(),
            title: manager.session_name(),
            leaf: manager.leaf_id(),
            model: context.models.default_model().map(str::to_owned),
            messages: manager.entries().iter().filter(|entry| is_message(entry.kind())).count(),
            context_messages: context.messages.len(),
        }
    }

    fn to_json(&self, moved: Option<&RawJson>) -> RawJson {
        let text = |text: &Option<String>| text.as_deref().map(RawJson::string);
        let number = |number: usize| to_raw_json(&number).unwrap_or_default();
        ObjectBuilder::new()
            .string("path", &self.path)
            .string("id", &self.id)
            .optional("cwd", text(&self.cwd).as_ref())
            .string("cwdState", self.cwd_state.as_str())
            .optional("title", text(&self.title).as_ref())
            .optional("leafId", text(&self.leaf).as_ref())
            .optional("model", text(&self.model).as_ref())
            .raw("messageCount", &number(self.messages))
            .raw("contextMessageCount", &number(self.context_messages))
            .optional("navigation", moved)
            .build()
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let messages = format!("{}, {} in context", self.messages, self.context_messages);
        for (name, value) in [
            ("path", Some(&self.path)),
            ("session", Some(&self.id)),
            ("cwd", self.cwd.as_ref()),
            ("title", self.title.as_ref()),
            ("leaf", self.leaf.as_ref()),
            ("model", self.model.as_ref()),
            ("messages", Some(&messages)),
        ] {
            if let Some(value) = value {
                out.text(look::DIM, &format!("{name:<9}"))?.line(value)?;
            }
        }
        Ok(())
    }
}
