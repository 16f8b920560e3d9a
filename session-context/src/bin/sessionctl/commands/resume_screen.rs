//! `sessionctl resume --interactive`

use std::path::Path;

use session_context::SessionError;
use session_context::blobs::BlobStore;
use session_context::listing::{CwdFilter, Place, SessionCatalog};
use session_context::tui::{PickerOutcome, SessionPickerOptions, pick_session};

use super::resume::here;
use crate::failure::Failure;
use crate::place::canonical_dir;
use crate::target::{OWNER, Target};
use crate::{Context, screen};

/// Shows the sessions there are on the screen; `None` if none was chosen.
pub(super) async fn choose(
    cwd: Option<&Path>,
    context: &Context,
) -> Result<Option<Target>, Failure> {
    let here = match cwd {
        Some(cwd) => canonical_dir(cwd)?,
        None => here()?,
    };
    let storage = context.store.storage()?;
    let catalog = SessionCatalog::new(vec![Place::agent_dir(storage.clone())?]);
    let mut options = SessionPickerOptions::new(catalog).here(CwdFilter::local(&here));
    OWNER.clone_into(&mut options.owner);
    let mut screen = screen::open()?;
    let outcome = pick_session(&mut screen, options).await;
    drop(screen);
    match outcome.map_err(Failure::Screen)? {
        PickerOutcome::Chosen((_, key)) => {
            let blobs = BlobStore::new(storage.clone()).map_err(SessionError::from)?;
            Ok(Some(Target { name: key.to_string(), storage, key, blobs }))
        }
        PickerOutcome::Closed => Ok(None),
        PickerOutcome::End(signal) => Err(screen::ended(signal)),
    }
}
