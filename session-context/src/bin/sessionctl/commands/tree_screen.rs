//! `sessionctl tree --interactive`

use session_context::SessionManager;
use session_context::navigation::BranchSummarizer;
use session_context::tui::{TreeOutcome, TreeSelectorOptions, select_in_tree};
use session_model::tree_view::TreeViewOptions;

use crate::failure::{Failure, chain};
use crate::summarizer::CommandSummarizer;
use crate::target::{Shown, close, options_for_screen};
use crate::{Context, screen};

/// Shows a session's tree on the screen and prints where somebody went in it.
pub(super) async fn run(
    session: &str,
    view: TreeViewOptions,
    summarizer: Option<String>,
    context: &mut Context,
) -> Result<(), Failure> {
    if !screen::is_there() {
        return screen::open().map(|_| ());
    }
    let (mut manager, notice) = open(session, context).await?;
    let summarizer = summarizer.map(CommandSummarizer);
    let mut options = TreeSelectorOptions::default().durable();
    options.summarizer = summarizer.as_ref().map(|by| by as &dyn BranchSummarizer);
    (options.view, options.notice) = (view, notice);
    let mut screen = screen::open()?;
    let outcome = select_in_tree(&mut screen, &mut manager, options).await;
    drop(screen);
    close(manager, Ok(())).await?;
    match outcome.map_err(Failure::Screen)? {
        TreeOutcome::Moved(done) => super::navigate::report(&done, context),
        TreeOutcome::Closed if context.json => {
            context.out.json("null")?.end()?;
            Ok(())
        }
        TreeOutcome::Closed => Ok(()),
        TreeOutcome::End(signal) => Err(screen::ended(signal)),
    }
}

/// Opens a session for writing; if that cannot be, for reading, with the reason.
async fn open(
    session: &str,
    context: &Context,
) -> Result<(SessionManager, Option<String>), Failure> {
    let target = context.store.existing(session).await?;
    let loaded = target.load().await?;
    let why = if loaded.document.header().version() < 2.0 {
        format!("the file is of an old format; `sessionctl migrate {session}` first")
    } else {
        match target.clone().write_with(options_for_screen()).await {
            Ok(manager) => return Ok((manager, None)),
            Err(failure) => chain(&failure),
        }
    };
    let manager = context.store.read_target(target, Shown::References).await?;
    Ok((manager, Some(format!("read only: {why}"))))
}
