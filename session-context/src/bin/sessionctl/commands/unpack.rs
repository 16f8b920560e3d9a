//! `sessionctl unpack`

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[cfg(feature = "encrypt")]
use session_context::bundle;
use session_context::bundle::{Bundle, BundleError, BundleLimits, BundledSession, Installed};
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

use crate::Context;
use crate::bar::Bar;
use crate::commands::pack::{MAX_SIZE_MIB, MIB};
use crate::failure::Failure;
use crate::output::{Output, count, say};
#[cfg(feature = "encrypt")]
use crate::passphrase::PassphraseArgs;
use crate::store::text_of;

/// Put the sessions of a file that `pack` made into an agent directory
///
/// The file is checked whole before anything is written; then all of it is, or nothing. Sessions
/// that are there already just so are skipped; if any is there with other content, nothing is
/// changed: rename or remove that one, or unpack into another directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl unpack session.tar.gz
  sessionctl unpack session.tar.gz --dry-run
  sessionctl unpack session.tar.gz --into ~/.pi/agent --json")]
pub(crate) struct Unpack {
    /// The file
    file: PathBuf,
    /// The agent directory; it is made if it is not there. Default: the one of --store
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Check the file and tell what is in it, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Refuse a file that holds more than so many MiB
    #[arg(long, value_name = "MIB", default_value_t = MAX_SIZE_MIB,
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    max_size: u64,
    #[cfg(feature = "encrypt")]
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

impl Unpack {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let limits = BundleLimits::default().max_bytes(self.max_size * MIB);
        let bytes = read(&self.file, &limits)?;
        let bundle = match Bundle::from_bytes(&bytes, &limits) {
            #[cfg(feature = "encrypt")]
            Err(BundleError::Encrypted) => {
                let opened = bundle::decrypt(&bytes, &self.passphrase.get()?)?;
                Bundle::from_bytes(&opened, &limits)?
            }
            read => read?,
        };
        if bundle.is_redacted() {
            say("note", "secrets were hidden in it when it was packed");
        }
        let mut installed = None;
        if !self.dry_run {
            let storage = match &self.into {
                Some(directory) => {
                    context.store.open_or_make(text_of(&std::path::absolute(directory)?)?)?
                }
                None => context.store.storage_or_new()?,
            };
            let bar = Bar::new();
            installed = Some(bundle.install(&storage, |done, all| bar.tell(done, all)).await?);
        }
        if context.json {
            context.out.json(json(&bundle, installed.as_ref()).as_str())?.end()?;
            return Ok(());
        }
        print(&bundle, installed.as_ref(), &mut context.out)
    }
}

/// Reads a file that is no larger than a bundle within the limits can be.
fn read(path: &Path, limits: &BundleLimits) -> Result<Vec<u8>, Failure> {
    let failed = |source| Failure::Input { what: path.display().to_string(), source };
    let (mut bytes, most) = (Vec::new(), limits.max_packed());
    let file = File::open(path).map_err(failed)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 > most {
        true => Err(BundleError::TooLarge { limit: limits.max_bytes }.into()),
        false => Ok(bytes),
    }
}

fn print(bundle: &Bundle, done: Option<&Installed>, out: &mut Output) -> Result<(), Failure> {
    let Some(done) = done else {
        for session in bundle.sessions() {
            let title = session.title.as_deref().unwrap_or("(no title)");
            out.line(&format!("{} {title}", session.key))?;
        }
        let sessions = count(bundle.sessions().len(), "session", "sessions");
        let files = count(bundle.members().len(), "file", "files");
        let size = bundle.size();
        out.line(&format!("whole: {sessions}, {files}, {size} bytes; digest {}", bundle.digest()))?;
        return Ok(());
    };
    for session in &done.new {
        out.line(&format!("unpacked {}", session.key))?;
    }
    for session in &done.equal {
        out.line(&format!("skipped {}, which is there already", session.key))?;
    }
    let artifacts = count(done.artifacts as usize, "artifact", "artifacts");
    let blobs = count(done.blobs as usize, "blob", "blobs");
    out.line(&format!("{artifacts}, {blobs}; digest {}", bundle.digest()))?;
    Ok(())
}

fn json(bundle: &Bundle, done: Option<&Installed>) -> RawJson {
    let number = |n: u64| to_raw_json(&n).unwrap_or_default();
    let keys = |sessions: &[BundledSession]| {
        let keys: Vec<_> = sessions.iter().map(|s| RawJson::string(s.key.as_str())).collect();
        RawJson::array(&keys)
    };
    let object = ObjectBuilder::new()
        .string("digest", &bundle.digest())
        .raw("redacted", &bundle.is_redacted().into())
        .raw("sessions", &keys(bundle.sessions()))
        .raw("files", &number(bundle.members().len() as u64))
        .raw("bytes", &number(bundle.size()));
    match done {
        None => object.build(),
        Some(done) => object
            .raw("unpacked", &keys(&done.new))
            .raw("skipped", &keys(&done.equal))
            .raw("artifacts", &number(done.artifacts))
            .raw("blobs", &number(done.blobs))
            .build(),
    }
}
