//! Finding the sessions there are, the newest first.

use std::cmp::Reverse;
use std::sync::mpsc::{Sender, channel};

use session_model::layout::SESSION_SUFFIX;
use session_model::storage::{ListOptions, SessionStorageExt};
use session_model::summary::{FileParts, HEAD_BYTES, SessionSummary, TAIL_BYTES};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::Result;
use crate::listing::{ListingOptions, ListingProgress, Scope, SessionCatalog, SessionRow};

/// How many sessions are looked at before all others: several screens full.
const FIRST: usize = 200;

/// What became of finding sessions.
#[derive(Debug)]
#[non_exhaustive]
pub enum Loaded {
    /// Those whose files were changed last; more come.
    First(Vec<SessionRow>),
    /// How far it has come.
    Progress(ListingProgress),
    /// All there are, or why they cannot be listed.
    All(Result<Vec<SessionRow>>),
}

/// A thread that lists sessions whenever it is asked to.
#[derive(Debug)]
pub struct Loader {
    asks: Sender<bool>,
    loaded: UnboundedReceiver<Loaded>,
}

impl Loader {
    /// Begins to list the sessions of these places, without those of child agents.
    pub fn start(catalog: SessionCatalog) -> Self {
        let (asks, asked) = channel();
        let (sender, loaded) = unbounded_channel();
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build()
            else {
                // Whoever listens sees that nobody is there.
                return;
            };
            runtime.block_on(load_first(&catalog, &sender));
            let mut children = false;
            loop {
                runtime.block_on(load_all(&catalog, children, &sender));
                let Ok(next) = asked.recv() else { return };
                // Lists that were asked for meanwhile are made as one.
                children = asked.try_iter().last().unwrap_or(next);
            }
        });
        Self { asks, loaded }
    }

    /// Lists all sessions again, with or without those of child agents.
    pub fn again(&self, children: bool) {
        // Whoever listens sees when the thread has ended.
        let _ = self.asks.send(children);
    }

    /// Waits for what comes next; `None` if nothing ever will.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing that came is lost.
    pub async fn next(&mut self) -> Option<Loaded> {
        self.loaded.recv().await
    }
}

async fn load_all(catalog: &SessionCatalog, children: bool, sender: &UnboundedSender<Loaded>) {
    // Nobody is left to tell if sending fails.
    let mut progress = |progress| drop(sender.send(Loaded::Progress(progress)));
    let mut options = ListingOptions::default().progress(&mut progress);
    options.children = children;
    let all = catalog.list_all(options).await;
    drop(sender.send(Loaded::All(all)));
}

/// Looks at the files that were changed last. What fails is told by the whole list, which follows.
async fn load_first(catalog: &SessionCatalog, sender: &UnboundedSender<Loaded>) {
    let mut rows = Vec::new();
    for (number, place) in catalog.places().iter().enumerate() {
        let (prefix, depth) = match &place.scope {
            Scope::Bucket(bucket) => (Some(bucket), 1),
            Scope::All(sessions) => (Some(sessions), 2),
            Scope::Root => (None, 2),
        };
        let options = ListOptions::default().suffix(SESSION_SUFFIX).max_depth(depth);
        let (mut files, _) = place.storage.list_all(prefix, options).await;
        files.retain(|meta| !meta.key.file_name().starts_with('.'));
        files.sort_by_key(|meta| Reverse(meta.modified));
        files.truncate(FIRST);
        let keys: Vec<_> = files.iter().map(|meta| meta.key.clone()).collect();
        let peeks = place.storage.peek(&keys, HEAD_BYTES, TAIL_BYTES).await;
        for (meta, peek) in files.into_iter().zip(peeks) {
            let summary = peek.ok().map(FileParts::from);
            let summary = summary.and_then(|parts| SessionSummary::from_parts(&parts).ok());
            let Some(summary) = summary else { continue };
            let key = meta.key.clone();
            let row = SessionRow::new(&*place.storage, key, Some(meta), Ok(summary));
            rows.push(SessionRow { place: number, ..row });
        }
    }
    drop(sender.send(Loaded::First(rows)));
}
