//! `sessionctl tree --interactive`

use session_context::SessionManager;
use session_context::navigation::{BranchSummarizer, Navigation};
use session_context::tui::{TreeOutcome, TreeSelectorOptions, select_in_tree};

use crate::failure::{Failure, chain};
use crate::summarizer::CommandSummarizer;
use crate::target::{Shown, Target, close, options_for_screen};
use crate::{Context, screen};

/// Shows a session's tree on the screen and prints where somebody went in it.
pub(super) async fn run(
    session: &str,
    mut options: TreeSelectorOptions<'_>,
    summarizer: Option<String>,
    context: &mut Context,
) -> Result<(), Failure> {
    if !screen::is_there() {
        return screen::open().map(|_| ());
    }
    let target = context.store.existing(session).await?;
    let summarizer = summarizer.map(CommandSummarizer);
    options.summarizer = summarizer.as_ref().map(|by| by as &dyn BranchSummarizer);
    match show(target, options, context).await? {
        Some(done) => super::navigate::report(&done, context),
        None if context.json => {
            context.out.json("null")?.end()?;
            Ok(())
        }
        None => Ok(()),
    }
}

/// Shows a session's tree on the screen; `None` if nothing was moved.
pub(super) async fn show(
    target: Target,
    mut options: TreeSelectorOptions<'_>,
    context: &Context,
) -> Result<Option<Box<Navigation>>, Failure> {
    let (mut manager, notice) = open(target, context).await?;
    (options.notice, options.theme) = (notice, screen::theme(context.color));
    let mut screen = screen::open()?;
    let outcome = select_in_tree(&mut screen, &mut manager, options).await;
    drop(screen);
    close(manager, Ok(())).await?;
    match outcome.map_err(screen::failed)? {
        TreeOutcome::Moved(done) => Ok(Some(done)),
        TreeOutcome::Closed => Ok(None),
        TreeOutcome::End(signal) => Err(screen::ended(signal)),
    }
}

/// Opens a session for writing; if that cannot be, for reading, with the reason.
async fn open(
    target: Target,
    context: &Context,
) -> Result<(SessionManager, Option<String>), Failure> {
    let loaded = target.load().await?;
    let why = if loaded.document.header().version() < 2.0 {
        format!("the file is of an old format; `sessionctl migrate {}` first", target.name)
    } else {
        match target.clone().write_with(options_for_screen()).await {
            Ok(manager) => return Ok((manager, None)),
            Err(failure) => chain(&failure),
        }
    };
    let manager = context.store.read_target(target, Shown::References).await?;
    Ok((manager, Some(format!("read only: {why}"))))
}
