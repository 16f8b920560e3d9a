//! Writing anew what the remote has lost.

use session_model::json::RawJson;
use session_model::storage::StorageKey;
use session_store_indexed::replica::{Repair, Replica};

use crate::Context;
use crate::failure::Failure;
use crate::output::{count, say};

/// The sessions of which the remote had lost bytes.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    /// Those that are written anew.
    pub(super) begun: Vec<StorageKey>,
    /// Those of which this host does not have all that was lost.
    pub(super) not_here: Vec<StorageKey>,
}

/// Reads all sessions of this host back, and has those written anew that are damaged.
pub(super) async fn repair(replica: &Replica, context: &mut Context) -> Result<Repaired, Failure> {
    let mut repaired = Repaired::default();
    for session in replica.local().sessions(&Default::default())? {
        match replica.repair(&session.key).await? {
            Repair::Begun => {
                if !context.json {
                    context.out.line(&format!("{}: is written anew", session.key))?;
                }
                repaired.begun.push(session.key);
            }
            Repair::NotHere => {
                let text = format!("this host's copy of {} is not whole either", session.key);
                say("warning", &text);
                repaired.not_here.push(session.key);
            }
            _ => {}
        }
    }
    Ok(repaired)
}

impl Repaired {
    pub(super) fn json(keys: &[StorageKey]) -> RawJson {
        let keys: Vec<_> = keys.iter().map(|key| RawJson::string(key.as_str())).collect();
        RawJson::array(&keys)
    }

    /// Fails if something is still damaged.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.not_here.len() {
            0 => Ok(()),
            n => Err(Failure::ProblemsFound(format!(
                "{} damaged on the remote; give the command on a host with a whole copy",
                count(n, "session stays", "sessions stay")
            ))),
        }
    }
}
