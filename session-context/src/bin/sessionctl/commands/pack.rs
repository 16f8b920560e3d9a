//! `sessionctl pack`

use std::path::{Path, PathBuf};

use session_context::bundle::{Bundle, BundleLimits, BundleSource};
use session_context::redact::RedactionReport;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::layout::SESSIONS_DIR;

use crate::Context;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::findings::report;
use crate::new_file::{Inputs, STDOUT, write_file};
use crate::output::{Output, count, say};
#[cfg(feature = "encrypt")]
use crate::passphrase::PassphraseArgs;

/// A mebibyte.
pub(super) const MIB: u64 = 1024 * 1024;

/// How much a bundle may hold unless told otherwise, in MiB.
pub(super) const MAX_SIZE_MIB: u64 = 2_048;

/// Put sessions into one file, with their blobs, artifacts and child sessions
///
/// `unpack` puts them into an agent directory on any machine. The same sessions give the same
/// file. Everything is packed to the byte, secrets too: keep the file to yourself, or use --redact.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sessionctl pack 0195d3c4 -o session.tar.gz
  sessionctl pack 0195d3c4 0195d3ff -o two.tar.gz --json
  sessionctl pack session.jsonl -o for-others.tar.gz --redact")]
pub(crate) struct Pack {
    /// The sessions
    #[arg(required = true)]
    sessions: Vec<String>,
    /// The file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace FILE if it is there and a regular file, or a link to one
    #[arg(long)]
    force: bool,
    /// Refuse to pack more than so many MiB; `unpack` takes the same option
    #[arg(long, value_name = "MIB", default_value_t = MAX_SIZE_MIB,
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    max_size: u64,
    /// Hide secrets; what is unpacked is no longer the same session then
    #[arg(long)]
    redact: bool,
    /// Encrypt the file with a passphrase, in the format of age
    #[cfg(feature = "encrypt")]
    #[arg(long)]
    encrypt: bool,
    #[cfg(feature = "encrypt")]
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

impl Pack {
    pub(crate) async fn run(self, context: &mut Context) -> Result<(), Failure> {
        let to_stdout = self.output == Path::new(STDOUT);
        if to_stdout && context.json {
            let text = "--json tells about the file; with -o - the bundle itself is printed";
            return Err(Failure::Usage(format!("{text}: leave one of them out")));
        }
        let (mut sources, mut inputs) = (Vec::new(), Inputs::default());
        for session in &self.sessions {
            let target = context.store.existing(session).await?;
            let bucket = bucket_of(session).filter(|_| context.store.url().is_none());
            let (storage, key, blobs) = (target.storage, target.key, target.blobs);
            inputs.add(&*storage, &key, &blobs)?;
            sources.push(BundleSource { storage, key, blobs, bucket });
        }
        let bar = Bar::new();
        let limits = BundleLimits::default().max_bytes(self.max_size * MIB);
        let mut bundle = Bundle::gather(&sources, &limits, |done, all| bar.tell(done, all)).await?;
        bar.pause();
        report(bundle.left_out());
        for missing in bundle.missing_blobs() {
            say("warning", &format!("{missing} is missing or damaged, and not in the bundle"));
        }
        let mut hidden = None;
        if self.redact {
            let (redacted, report) = bundle.redacted(|done, all| bar.tell(done, all))?;
            bar.pause();
            report.to_string().lines().for_each(|line| say("hidden", line));
            (bundle, hidden) = (redacted, Some(report));
        } else {
            let text =
                "sessions are packed to the byte, with all secrets in them (--redact hides them)";
            say("note", text);
        }
        // Without its secrets it may be larger.
        bundle.ensure_within(&limits)?;
        let bytes = self.sealed(bundle.to_bytes()?)?;
        if to_stdout {
            return Ok(context.out.bytes(&bytes)?);
        }
        write_file(&self.output, &bytes, self.force, &inputs)?;
        let packed = Packed { path: &self.output, bytes: bytes.len(), bundle: &bundle, hidden };
        if context.json {
            context.out.json(packed.json().as_str())?.end()?;
            return Ok(());
        }
        packed.print(&mut context.out)
    }
}

#[cfg(feature = "encrypt")]
impl Pack {
    /// Encrypts a bundle if that was asked for.
    fn sealed(&self, bundle: Vec<u8>) -> Result<Vec<u8>, Failure> {
        if !self.encrypt {
            return Ok(bundle);
        }
        Ok(session_context::bundle::encrypt(&bundle, &self.passphrase.get_new()?)?)
    }
}

#[cfg(not(feature = "encrypt"))]
impl Pack {
    /// This build encrypts nothing.
    fn sealed(&self, bundle: Vec<u8>) -> Result<Vec<u8>, Failure> {
        Ok(bundle)
    }
}

/// The folder of its project that a session file lies in, if it lies in an agent directory.
fn bucket_of(session: &str) -> Option<String> {
    let path = Path::new(session).canonicalize().ok()?;
    let bucket = path.parent()?;
    let is_bucket = bucket.parent()?.file_name()? == SESSIONS_DIR;
    bucket.file_name().filter(|_| is_bucket)?.to_str().map(str::to_owned)
}

struct Packed<'a> {
    path: &'a Path,
    bytes: usize,
    bundle: &'a Bundle,
    hidden: Option<RedactionReport>,
}

impl Packed<'_> {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        for session in self.bundle.sessions() {
            out.line(&format!("packed {}", session.key))?;
        }
        let sessions = count(self.bundle.sessions().len(), "session", "sessions");
        let files = count(self.bundle.members().len(), "file", "files");
        let path = self.path.display();
        out.line(&format!("wrote {path}: {sessions}, {files}, {} bytes", self.bytes))?;
        out.line(&format!("digest {}", self.bundle.digest()))?;
        Ok(())
    }

    fn json(&self) -> RawJson {
        let number = |n: usize| to_raw_json(&n).unwrap_or_default();
        let hidden = self.hidden.as_ref().map(RedactionReport::to_json);
        ObjectBuilder::new()
            .string("file", &self.path.to_string_lossy())
            .raw("bytes", &number(self.bytes))
            .string("digest", &self.bundle.digest())
            .raw("sessions", &keys(self.bundle))
            .raw("files", &number(self.bundle.members().len()))
            .raw("redacted", &hidden.unwrap_or_default())
            .build()
    }
}

/// The keys of the sessions in a bundle.
fn keys(bundle: &Bundle) -> RawJson {
    let keys: Vec<_> =
        bundle.sessions().iter().map(|session| RawJson::string(session.key.as_str())).collect();
    RawJson::array(&keys)
}
