//! Where sessions are looked for, for commands that span several agent directories.

use std::path::{Path, PathBuf};

use session_context::OpenStorageError;
use session_context::listing::{Place, Scope};
use session_model::layout::SESSIONS_DIR;

use crate::failure::Failure;
use crate::output::say;
use crate::store::{StoreArgs, text_of};

impl StoreArgs {
    /// These directories or, if none is named, the agent directory or those of all agents; nowhere
    /// if there is no agent directory.
    pub(crate) fn places(
        &self,
        directories: &[PathBuf],
        all_agents: bool,
    ) -> Result<Vec<Place>, Failure> {
        if !directories.is_empty() && self.url().is_some() {
            return Err(Failure::Usage("name directories or a --store, not both".to_owned()));
        }
        if !directories.is_empty() {
            return directories.iter().map(|directory| self.place_in(directory)).collect();
        }
        if all_agents {
            let storages = self.storages_of_all_agents()?;
            return storages.into_iter().map(|storage| Ok(Place::agent_dir(storage)?)).collect();
        }
        match self.storage() {
            Err(OpenStorageError::Missing { path }) if self.url().is_none() => {
                say("note", &format!("there is no agent directory {}", path.display()));
                Ok(Vec::new())
            }
            opened => Ok(vec![Place::agent_dir(opened?)?]),
        }
    }

    /// The sessions of an agent directory, or of any other.
    fn place_in(&self, directory: &Path) -> Result<Place, Failure> {
        let what = directory.display().to_string();
        let resolved = directory.canonicalize();
        let resolved = resolved.map_err(|source| Failure::Input { what: what.clone(), source })?;
        if !resolved.is_dir() {
            let show = format!("`sessionctl show {what}` prints a session");
            return Err(Failure::Refused(format!("{what} is no directory; {show}")));
        }
        let storage = self.open(text_of(&resolved)?)?;
        match resolved.join(SESSIONS_DIR).is_dir() {
            true => Ok(Place::agent_dir(storage)?),
            false => Ok(Place { storage, scope: Scope::Root }),
        }
    }
}
