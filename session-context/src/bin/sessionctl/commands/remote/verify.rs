//! `sessionctl remote verify`

use indicatif::{ProgressBar, ProgressDrawTarget};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_store_indexed::publish::{Verified, verify};

use crate::Context;
use crate::failure::Failure;
use crate::output::count;

/// Read all sessions back from the remote, and compare them with this host's
///
/// Exit code 3 if one differs, or if bytes of it are lost there; `push --repair` brings those back. One
/// that is merely behind does not differ; `push` brings it up to date.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl remote verify --store \"$STORE\"
  sessionctl remote verify --json --store \"$STORE\"")]
pub(super) struct Verify {}

impl Verify {
    pub(super) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let replica = context.store.replica()?;
        let local = replica.local();
        local.compare(|_| {})?;
        let sessions = local.sessions(&Default::default())?;
        let sessions: Vec<_> = sessions.into_iter().filter(|one| one.problem.is_none()).collect();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_length(sessions.len() as u64);
        let (mut rows, mut same, mut differ) = (Vec::new(), 0, 0);
        for session in sessions {
            let key = &session.key;
            let (what, is_fine) = match verify(&**local, &**replica.remote(), key).await? {
                Verified::Same => {
                    same += 1;
                    bar.inc(1);
                    continue;
                }
                Verified::Behind { bytes } => {
                    (format!("{bytes} bytes are not published yet"), true)
                }
                Verified::Ahead { bytes } => {
                    (format!("the remote has {bytes} bytes more; `remote pull` fetches them"), true)
                }
                Verified::Differs { at } => {
                    (format!("the remote differs from byte {at} on"), false)
                }
                Verified::Damaged { here: true } => {
                    let text = "the remote has lost bytes of it; `remote push --repair` writes them \
                                anew from this host's copy";
                    (text.to_owned(), false)
                }
                Verified::Damaged { here: false } => {
                    let text = "the remote has lost bytes of it, and this host's copy does not have \
                                them all; give `remote push --repair` on a host that does";
                    (text.to_owned(), false)
                }
                _ => ("it is unknown how it stands".to_owned(), false),
            };
            differ += usize::from(!is_fine);
            rows.push((key.to_string(), what));
            bar.inc(1);
        }
        bar.finish_and_clear();
        if context.json {
            let row = |(key, what): &(String, String)| {
                ObjectBuilder::new().string("key", key).string("what", what).build()
            };
            let rows: Vec<_> = rows.iter().map(row).collect();
            let document = ObjectBuilder::new()
                .raw("same", &to_raw_json(&same).unwrap_or_default())
                .raw("others", &RawJson::array(&rows))
                .build();
            context.out.json(document.as_str())?.end()?;
        } else {
            for (key, what) in &rows {
                context.out.line(&format!("{key}: {what}"))?;
            }
            context.out.line(&format!("{} the same", count(same, "session is", "sessions are")))?;
        }
        match differ {
            0 => Ok(()),
            n => Err(Failure::ProblemsFound(count(n, "session differs", "sessions differ"))),
        }
    }
}
