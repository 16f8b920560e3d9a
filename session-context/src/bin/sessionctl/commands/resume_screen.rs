//! `sessionctl resume --interactive`

use std::path::{Path, PathBuf};

use session_context::SessionError;
use session_context::blobs::BlobStore;
use session_context::listing::{CwdFilter, SessionCatalog};
use session_context::navigation::Navigation;
use session_context::session_picker::SessionName;
use session_context::tui::{
    PickerOutcome, SessionPickerOptions, TreeSelectorOptions, pick_session,
};

use super::resume::here;
use super::tree_screen;
use crate::failure::{Failure, chain};
use crate::place::{canonical_dir, path_or_key};
use crate::store::tell_of_index;
use crate::target::{OWNER, Target};
use crate::{Context, screen};

/// What was chosen: a session, and where somebody went in it.
pub(super) type Choice = (Target, Option<Box<Navigation>>);

/// Shows the sessions there are on the screen; `None` if none was chosen.
pub(super) async fn choose(
    cwd: Option<&Path>,
    directories: &[PathBuf],
    all_agents: bool,
    context: &Context,
) -> Result<Option<Choice>, Failure> {
    let here = match cwd {
        Some(cwd) => canonical_dir(cwd)?,
        None => here()?,
    };
    let catalog = SessionCatalog::new(context.store.places(directories, all_agents)?);
    let mut options = SessionPickerOptions::new(catalog).here(CwdFilter::local(&here));
    #[cfg(feature = "indexed")]
    {
        options.search = options.search.with_index();
    }
    OWNER.clone_into(&mut options.owner);
    options.theme = screen::theme(context.color);
    let mut picker = options.picker();
    loop {
        let mut screen = screen::open()?;
        let outcome = pick_session(&mut screen, &mut picker, &options).await;
        drop(screen);
        tell_of_index(&options.catalog);
        match outcome.map_err(screen::failed)? {
            PickerOutcome::Chosen(session) => {
                return Ok(Some((target(&options.catalog, session)?, None)));
            }
            PickerOutcome::ChosenEntry(session, entry) => {
                let target = target(&options.catalog, session)?;
                let mut tree = TreeSelectorOptions::default().durable();
                tree.at = Some(entry);
                match tree_screen::show(target.clone(), tree, context).await {
                    Ok(Some(done)) => return Ok(Some((target, Some(done)))),
                    // Whoever goes nowhere comes back to what was found.
                    Ok(None) => {}
                    Err(Failure::Session(error)) => picker.complain(&chain(&error)),
                    Err(failure) => return Err(failure),
                }
            }
            PickerOutcome::Closed => return Ok(None),
            PickerOutcome::End(signal) => return Err(screen::ended(signal)),
        }
    }
}

/// A listed session.
fn target(catalog: &SessionCatalog, (place, key): SessionName) -> Result<Target, Failure> {
    let gone = || Failure::Missing { session: key.to_string() };
    let storage = catalog.places().get(place).ok_or_else(gone)?.storage.clone();
    let blobs = BlobStore::new(storage.clone()).map_err(SessionError::from)?;
    let name = path_or_key(&*storage, &key);
    Ok(Target::new(storage, key, &name, blobs))
}
