//! The whole loop: a screen, a selector, and a session that is moved.

use std::io;

use async_trait::async_trait;
use session_model::SessionDocument;
use session_model::tree_view::TreeViewOptions;
use tokio::sync::Notify;

use super::{SummaryChoice, TreeAction, TreeSelector};
use crate::SessionManager;
use crate::error::with_sources;
use crate::navigation::{
    BranchSummarizer, BranchSummaryRequest, HostError, NavigateOptions, NavigateOutcome,
    Navigation, SessionHooks, Summarized, SummarySource,
};
use crate::tui::{Screen, ScreenEvent, Theme};

/// How [`select_in_tree`] goes about it.
#[derive(Default)]
#[non_exhaustive]
pub struct TreeSelectorOptions<'a> {
    /// Who sums up a branch that is left; default: nobody, and own words are the summary.
    pub summarizer: Option<&'a dyn BranchSummarizer>,
    /// Who is told of a move and may object; default: nobody.
    pub hooks: Option<&'a dyn SessionHooks>,
    /// Whether a move without a summary leaves a mark in the file, so that it outlasts this
    /// process; default: no.
    pub durable: bool,
    /// What is seen first: filter, words that are searched for, archived branches; default: as
    /// [`TreeViewOptions`] says.
    pub view: TreeViewOptions,
    /// The entry that is gone to first, by its id; default: the leaf.
    pub at: Option<String>,
    /// What stands above the tree; default: the session's title.
    pub title: Option<String>,
    /// What is told first in the foot line; default: the keys.
    pub notice: Option<String>,
    /// The colours; default: what the environment allows.
    pub theme: Option<Theme>,
}

impl std::fmt::Debug for TreeSelectorOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeSelectorOptions")
            .field("summarizer", &self.summarizer.is_some())
            .field("hooks", &self.hooks.is_some())
            .field("durable", &self.durable)
            .field("view", &self.view)
            .field("at", &self.at)
            .field("title", &self.title)
            .field("notice", &self.notice)
            .field("theme", &self.theme)
            .finish()
    }
}

impl<'a> TreeSelectorOptions<'a> {
    /// These options with somebody who sums up a branch that is left.
    pub fn summarizer(self, summarizer: &'a dyn BranchSummarizer) -> Self {
        Self { summarizer: Some(summarizer), ..self }
    }

    /// These options with somebody who is told of a move and may object.
    pub fn hooks(self, hooks: &'a dyn SessionHooks) -> Self {
        Self { hooks: Some(hooks), ..self }
    }

    /// These options, marking a move in the file.
    pub fn durable(self) -> Self {
        Self { durable: true, ..self }
    }
}

/// How somebody left [`select_in_tree`].
#[derive(Debug)]
pub enum TreeOutcome {
    /// The session was moved.
    Moved(Box<Navigation>),
    /// It was not; labels may have been changed.
    Closed,
    /// The program is to end: this signal came, or (with `None`) the terminal is gone.
    End(Option<i32>),
}

/// Lets somebody choose a place in a session's tree, and goes there.
///
/// Labels and archived branches are written as they are changed. What fails is told on the screen,
/// and the tree is there again.
///
/// # Errors
///
/// The terminal cannot be drawn on.
///
/// # Cancel safety
///
/// Not cancel safe while the session is being written to.
pub async fn select_in_tree(
    screen: &mut Screen,
    session: &mut SessionManager,
    options: TreeSelectorOptions<'_>,
) -> io::Result<TreeOutcome> {
    let title = options.title.clone().or_else(|| session.session_name()).unwrap_or_default();
    let mut selector = TreeSelector::new(session.tree()).title(&title);
    selector.look(session.tree(), &options.view);
    if let Some(at) = options.at.as_deref().and_then(|id| session.tree().find(id)) {
        selector.go_to(session.tree(), at);
    }
    if let Some(theme) = options.theme {
        selector = selector.theme(theme);
    }
    if options.summarizer.is_some() {
        selector = selector.with_summarizer();
    }
    if let Some(notice) = &options.notice {
        selector.tell(notice);
    }
    loop {
        draw(screen, &mut selector, session)?;
        let event = match screen.next().await {
            ScreenEvent::Terminal(event) => event,
            ScreenEvent::End(signal) => return Ok(TreeOutcome::End(signal)),
        };
        let mut next = Some(event);
        // Keys that wait already are taken together, so that a held key never lags.
        while let Some(event) = next {
            match selector.handle_event(&event, session.tree()) {
                TreeAction::Nothing | TreeAction::Abort => {}
                TreeAction::Close => return Ok(TreeOutcome::Closed),
                TreeAction::Navigate { target, summary } => {
                    match navigate(screen, &mut selector, session, &options, target, summary)
                        .await?
                    {
                        Some(outcome) => return Ok(outcome),
                        None => selector.resume(),
                    }
                }
                TreeAction::Label { target, label } => {
                    let done = session.append_label_change(&target, label.as_deref()).await;
                    took(&mut selector, session, done.map(|_| "the label is kept"));
                }
                TreeAction::Archive { target, archived } => {
                    let done = session.append_archive(&target, archived).await;
                    let text = match archived {
                        true => "the branch is archived; alt+h shows it",
                        false => "the branch is back",
                    };
                    took(&mut selector, session, done.map(|_| text));
                }
            }
            next = screen.ready();
        }
    }
}

fn draw(
    screen: &mut Screen,
    selector: &mut TreeSelector,
    session: &SessionManager,
) -> io::Result<()> {
    screen.draw(|frame| selector.render(session.tree(), frame.area(), frame.buffer_mut()))
}

/// Tells what came of a change.
fn took(selector: &mut TreeSelector, session: &SessionManager, done: crate::Result<&str>) {
    selector.refresh(session.tree());
    match done {
        Ok(text) => selector.tell(text),
        Err(error) => selector.complain(&with_sources(&error)),
    }
}

/// Goes to an entry; `None` if nothing has moved.
async fn navigate(
    screen: &mut Screen,
    selector: &mut TreeSelector,
    session: &mut SessionManager,
    options: &TreeSelectorOptions<'_>,
    target: String,
    choice: SummaryChoice,
) -> io::Result<Option<TreeOutcome>> {
    let off = Notify::new();
    let by = options.summarizer.map(|by| Abortable { by, off: &off });
    let mut how =
        NavigateOptions { durable: options.durable, hooks: options.hooks, ..Default::default() };
    how.summary = match (choice, &by) {
        (SummaryChoice::None, _) | (SummaryChoice::Written { .. }, None) => SummarySource::None,
        (SummaryChoice::Given(text), _) => SummarySource::Given(text),
        (SummaryChoice::Written { instructions }, Some(by)) => {
            selector.wait("The branch is being summed up …");
            draw(screen, selector, session)?;
            SummarySource::Written { by, instructions }
        }
    };
    let done = match how.summary {
        SummarySource::Written { .. } => {
            // Drawn while the session is lent out.
            let seen = session.snapshot();
            let moving = session.navigate_tree(&target, how);
            match watched(screen, selector, &seen, moving, &off).await? {
                Ok(done) => done,
                Err(signal) => return Ok(Some(TreeOutcome::End(signal))),
            }
        }
        _ => session.navigate_tree(&target, how).await,
    };
    selector.refresh(session.tree());
    match done {
        Ok(NavigateOutcome::Done(done)) => return Ok(Some(TreeOutcome::Moved(done))),
        Ok(NavigateOutcome::Cancelled) => {
            selector.complain("the move was refused; nothing has moved")
        }
        Ok(NavigateOutcome::Aborted) => selector.tell("called off; nothing has moved"),
        Err(error) => selector.complain(&with_sources(&error)),
    }
    Ok(None)
}

/// Waits for a move whose summary can be called off; an error is the signal to end the program.
async fn watched(
    screen: &mut Screen,
    selector: &mut TreeSelector,
    seen: &SessionDocument,
    moving: impl Future<Output = Moved>,
    off: &Notify,
) -> io::Result<Result<Moved, Option<i32>>> {
    tokio::pin!(moving);
    loop {
        let event = tokio::select! {
            biased;
            done = &mut moving => return Ok(Ok(done)),
            event = screen.next() => event,
        };
        match event {
            ScreenEvent::Terminal(event) => {
                if selector.handle_event(&event, seen.tree()) == TreeAction::Abort {
                    off.notify_one();
                }
                screen.draw(|frame| {
                    selector.render(seen.tree(), frame.area(), frame.buffer_mut());
                })?;
            }
            ScreenEvent::End(signal) => {
                // The session is left whole: the summary is called off, and that is waited for.
                off.notify_one();
                return match moving.await {
                    Ok(NavigateOutcome::Aborted) => Ok(Err(signal)),
                    done => Ok(Ok(done)),
                };
            }
        }
    }
}

type Moved = crate::Result<NavigateOutcome>;

/// A summariser that can be called off.
struct Abortable<'a> {
    by: &'a dyn BranchSummarizer,
    off: &'a Notify,
}

#[async_trait]
impl BranchSummarizer for Abortable<'_> {
    async fn summarize(&self, request: BranchSummaryRequest<'_>) -> Result<Summarized, HostError> {
        tokio::select! {
            biased;
            () = self.off.notified() => Ok(Summarized::Aborted),
            done = self.by.summarize(request) => done,
        }
    }
}
