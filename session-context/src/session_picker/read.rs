//! Looking into sessions: what was said last, and what they cost.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use session_model::document::{LoadOptions, SessionDocument};
use session_model::preview::Preview;
use session_model::storage::{SessionStorage, SessionStorageExt, Version};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{SessionName, name_of};
use crate::listing::{Place, SessionRow};
use crate::statistics::Statistics;

/// How many of the last messages are kept.
const MESSAGES: usize = 12;

/// How much of a message is kept, in characters.
const MESSAGE_CHARS: usize = 400;

/// Larger files are not read: it would take longer than somebody looks at them.
const MAX_BYTES: u64 = 64 << 20;

/// What a session says inside.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Detail {
    /// The version of the file that was read.
    pub version: Option<Version>,
    /// The last messages of the branch in use, the latest last.
    pub last: Vec<Preview>,
    /// What all branches cost, in US dollars; `None` if the file is too large to be read.
    pub cost: Option<f64>,
    /// Why there is nothing, if the file could not be read.
    pub error: Option<String>,
}

/// A thread that reads sessions, those that were asked for last first.
#[derive(Debug)]
pub struct Reader {
    asks: Sender<Vec<SessionRow>>,
    read: UnboundedReceiver<(SessionName, Detail)>,
}

impl Reader {
    /// Begins to wait for sessions of these places.
    pub fn start(places: Vec<Place>) -> Self {
        let (asks, asked) = channel();
        let (sender, read) = unbounded_channel();
        std::thread::spawn(move || {
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build()
            {
                runtime.block_on(serve(&places, &asked, &sender));
            }
        });
        Self { asks, read }
    }

    /// Asks for these sessions, in this order, and for no others any more.
    pub fn ask(&self, rows: Vec<SessionRow>) {
        // Without the thread there is nothing to be read.
        let _ = self.asks.send(rows);
    }

    /// Waits for a session that was read; `None` if nothing ever will be.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing that came is lost.
    pub async fn next(&mut self) -> Option<(SessionName, Detail)> {
        self.read.recv().await
    }
}

async fn serve(
    places: &[Place],
    asked: &Receiver<Vec<SessionRow>>,
    sender: &UnboundedSender<(SessionName, Detail)>,
) {
    while let Ok(first) = asked.recv() {
        let mut wanted = first.into_iter();
        loop {
            if let Some(newer) = asked.try_iter().last() {
                wanted = newer.into_iter();
            }
            let Some(row) = wanted.next() else { break };
            let Some(place) = places.get(row.place) else { continue };
            let detail = detail(&place.storage, &row).await;
            if sender.send((name_of(&row), detail)).is_err() {
                return;
            }
        }
    }
}

async fn detail(storage: &Arc<dyn SessionStorage>, row: &SessionRow) -> Detail {
    let version = row.meta.as_ref().map(|meta| meta.version.clone());
    let nothing = |error: Option<String>| Detail {
        version: version.clone(),
        last: Vec::new(),
        cost: None,
        error,
    };
    if row.meta.as_ref().is_some_and(|meta| meta.size > MAX_BYTES) {
        return nothing(None);
    }
    let bytes = match storage.read_all(&row.key).await {
        Ok((_, bytes)) => bytes,
        Err(error) => return nothing(Some(error.to_string())),
    };
    let document = match SessionDocument::load(bytes, &LoadOptions::default()) {
        Ok(loaded) => loaded.document,
        Err(error) => return nothing(Some(error.to_string())),
    };
    let mut statistics = Statistics::default();
    statistics.add(&document);
    let tree = document.tree();
    let path = tree.leaf().map(|leaf| tree.path_to(leaf)).unwrap_or_default();
    let said = path.iter().rev().map(|node| tree.entry(*node));
    let said = said.filter(|entry| entry.message().is_some());
    let mut last: Vec<_> =
        said.take(MESSAGES).map(|entry| Preview::of(entry, MESSAGE_CHARS)).collect();
    last.reverse();
    Detail { version, last, cost: Some(statistics.total.usage.cost), error: None }
}
