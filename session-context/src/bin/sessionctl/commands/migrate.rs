//! `sessionctl migrate`

use session_model::document::Loaded;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::migrate::migrate;
use session_model::{CURRENT_VERSION, Entry, SessionDocument};

use crate::Context;
use crate::failure::Failure;
use crate::output::{Output, look};
use crate::target::{NumberedIds, close};

/// Bring a session of an old format up to date
///
/// Prints how many entries changed, and with --dry-run what would change in each. Opening an old
/// session for writing brings it up to date too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl migrate old.jsonl --dry-run
  sessionctl migrate old.jsonl")]
pub(crate) struct Migrate {
    /// The session
    session: String,
    /// Change nothing and print what would change
    #[arg(long)]
    dry_run: bool,
}

impl Migrate {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let target = context.store.existing(&self.session).await?;
        let Loaded { document: old, .. } = target.load().await?;
        let is_current = old.header().version() >= f64::from(CURRENT_VERSION);
        let new = if is_current || self.dry_run {
            let mut new = old.clone();
            migrate(&mut new, &mut NumberedIds::default());
            new
        } else {
            let manager = target.write().await?;
            let new = manager.document().clone();
            close(manager, Ok(new)).await?
        };
        if context.json {
            self.print_json(&old, &new, &mut context.out)
        } else {
            self.print(&old, &new, &mut context.out)
        }
    }

    fn print(
        &self,
        old: &SessionDocument,
        new: &SessionDocument,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let version = old.header().version();
        if version >= f64::from(CURRENT_VERSION) {
            out.line(&format!("version {version}: nothing to change"))?;
            return Ok(());
        }
        let mut changed = 0;
        for (old, new) in changed_entries(old, new) {
            changed += 1;
            if !self.dry_run {
                continue;
            }
            out.text(look::STRONG, &new.entry_type())?;
            for change in changes(&old.json(), &new.json(), "") {
                out.text(look::PLAIN, "  ")?.text(look::PLAIN, &change)?;
            }
            out.end()?;
        }
        let all = old.tree().len();
        let done = match self.dry_run {
            true => "would change; ids are made when it is done",
            false => "changed",
        };
        out.line(&format!(
            "version {version} → {CURRENT_VERSION}: {changed} of {all} entries {done}"
        ))?;
        Ok(())
    }

    fn print_json(
        &self,
        old: &SessionDocument,
        new: &SessionDocument,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let head = ObjectBuilder::new()
            .raw("from", &to_raw_json(&old.header().version()).unwrap_or_default())
            .raw("to", &to_raw_json(&new.header().version()).unwrap_or_default())
            .raw("dryRun", &self.dry_run.into())
            .raw("entries", &to_raw_json(&old.tree().len()).unwrap_or_default())
            .build();
        let head = head.as_str().strip_suffix('}').unwrap_or_default();
        out.json(head)?.json(",\"changed\":[")?;
        out.json_list(changed_entries(old, new).map(|(_, new)| new.json()))?.json("]}")?.end()?;
        Ok(())
    }
}

fn changed_entries<'a>(
    old: &'a SessionDocument,
    new: &'a SessionDocument,
) -> impl Iterator<Item = (&'a Entry, &'a Entry)> {
    let pairs = old.tree().entries().iter().zip(new.tree().entries());
    pairs.filter(|(old, new)| old.json() != new.json())
}

/// Returns the fields that differ, those of a message by themselves.
fn changes(old: &RawJson, new: &RawJson, within: &str) -> Vec<String> {
    let (old, new) = (old.as_object().unwrap_or_default(), new.as_object().unwrap_or_default());
    let mut found = Vec::new();
    for field in new.fields() {
        let (name, value) = (field.name(), field.value());
        match old.get(&name) {
            Some(before) if before == value => {}
            Some(before) if name == "message" => found.extend(changes(before, value, "message.")),
            Some(before) => found.push(format!("{within}{name} {before} → {value}")),
            None => found.push(format!("+{within}{name} {value}")),
        }
    }
    let gone = old.fields().iter().filter(|field| new.get(&field.name()).is_none());
    found.extend(gone.map(|field| format!("-{within}{} {}", field.name(), field.value())));
    found
}
