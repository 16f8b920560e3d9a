//! `sessionctl remote poison`

use session_model::json::{ObjectBuilder, RawJson};
use session_model::storage::StorageKey;
use session_model::time::to_iso;
use session_store_indexed::Blocked;

use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, look};

/// Decide about what the remote refuses
///
/// What is refused for its own sake, or was gone on with by another host, is not published until
/// somebody decides. It holds up nothing else.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote poison list --json --store \"$STORE\"
  sessionctl remote poison retry sessions/work/2026.jsonl --store \"$STORE\"")]
pub(super) struct Poison {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List what is not published, and why
    List,
    /// Publish it again
    Retry {
        /// Keys, as the list shows them
        #[arg(required = true)]
        keys: Vec<StorageKey>,
    },
    /// Leave it out: a session until it is retried; sessions that name an object go without it
    Skip {
        /// Keys, as the list shows them
        #[arg(required = true)]
        keys: Vec<StorageKey>,
    },
}

impl Poison {
    pub(super) fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let local = replica.local();
        let (keys, decide): (_, fn(&_, &_) -> _) = match self.what {
            What::List => {
                let blocked = local.blocked()?;
                if !context.json {
                    return print(&blocked, &mut context.out);
                }
                let rows: Vec<_> = blocked.iter().map(json).collect();
                let document = ObjectBuilder::new().raw("blocked", &RawJson::array(&rows)).build();
                return Ok(context.out.json(document.as_str())?.end()?);
            }
            What::Retry { keys } => (keys, session_store_indexed::storage::IndexedStorage::retry),
            What::Skip { keys } => (keys, session_store_indexed::storage::IndexedStorage::skip),
        };
        for key in keys {
            if !decide(local, &key)? {
                let list = "`sessionctl remote poison list` shows what is";
                return Err(Failure::Refused(format!("{key} is not blocked; {list}")));
            }
        }
        Ok(())
    }
}

pub(super) fn print(blocked: &[Blocked], out: &mut Output) -> Result<(), Failure> {
    for Blocked { key, kind, since_ms, reason, .. } in blocked {
        out.text(look::BAD, &format!("  {key}: {}", kind.as_str()))?;
        out.text(look::PLAIN, &format!(" since {}: {reason}", to_iso(*since_ms)))?.end()?;
    }
    Ok(())
}

pub(super) fn json(blocked: &Blocked) -> RawJson {
    ObjectBuilder::new()
        .string("key", blocked.key.as_str())
        .string("kind", blocked.kind.as_str())
        .string("since", &to_iso(blocked.since_ms))
        .string("reason", &blocked.reason)
        .build()
}
