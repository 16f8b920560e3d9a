//! The file around it all: tar, compressed with gzip.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use tar::{Archive, Builder, EntryType, Header};

use super::manifest::{self, Manifest, digest};
use super::{Bundle, BundleError, BundleLimits};

/// The first file.
const MANIFEST: &str = "manifest.json";

/// The last file: the digest of the first.
const DIGEST: &str = "manifest.sha256";

/// The longest manifest, in bytes.
const MAX_MANIFEST: u64 = 64 * 1024 * 1024;

/// What tar adds to each file at most, in bytes: headers, a long name, and padding.
const TAR_OVERHEAD: u64 = 4_096;

impl Bundle {
    /// Writes the bundle; the same bundle gives the same bytes.
    ///
    /// # Errors
    ///
    /// [`BundleError::Damaged`] if a file is too large for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        let gzip = GzBuilder::new().write(Vec::new(), Compression::default());
        let mut tar = Builder::new(gzip);
        let manifest = manifest::write(self);
        let mut write = || {
            add(&mut tar, MANIFEST, manifest.as_bytes())?;
            for (key, bytes) in &self.members {
                add(&mut tar, key.as_str(), bytes)?;
            }
            add(&mut tar, DIGEST, format!("{}\n", digest(manifest.as_bytes())).as_bytes())
        };
        write().map_err(BundleError::damaged)?;
        tar.into_inner().and_then(|gzip| gzip.finish()).map_err(BundleError::damaged)
    }

    /// Returns the digest that tells this bundle from all others, in hex.
    pub fn digest(&self) -> String {
        digest(manifest::write(self).as_bytes())
    }

    /// Reads a bundle and checks all of it.
    ///
    /// # Errors
    ///
    /// [`BundleError`]: nothing of a bundle that is not whole is given.
    pub fn from_bytes(bytes: &[u8], limits: &BundleLimits) -> Result<Self, BundleError> {
        if !bytes.starts_with(&[0x1f, 0x8b]) {
            return Err(BundleError::NotABundle);
        }
        let limit = limits.for_bundle(bytes.len());
        let overhead = TAR_OVERHEAD.saturating_mul(limits.max_members as u64 + 4);
        let all = limit.saturating_add(MAX_MANIFEST).saturating_add(overhead);
        let mut packed = bytes;
        let mut archive = Archive::new(GzDecoder::new(&mut packed).take(all));
        let bundle = read(&mut archive, limits, limit)?;
        // The checksum stands at the end, behind what tar reads.
        let mut rest = archive.into_inner();
        let left = io::copy(&mut rest.by_ref(), &mut io::sink()).map_err(BundleError::damaged)?;
        if rest.limit() == 0 {
            return Err(BundleError::TooLarge { limit });
        }
        drop(rest);
        if left > TAR_OVERHEAD || !packed.is_empty() {
            return Err(BundleError::damaged("something follows its end"));
        }
        Ok(bundle)
    }
}

fn add(tar: &mut Builder<impl io::Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    header.set_mtime(0);
    tar.append_data(&mut header, name, bytes)
}

/// Reads exactly the files the manifest lists, in its order.
fn read(
    archive: &mut Archive<impl Read>,
    limits: &BundleLimits,
    limit: u64,
) -> Result<Bundle, BundleError> {
    let mut files = archive.entries().map_err(BundleError::damaged)?;
    let first = match next(&mut files, MANIFEST, MAX_MANIFEST) {
        Err(BundleError::Damaged { .. }) => return Err(BundleError::NotABundle),
        read => read?,
    };
    let Manifest { sessions, members, redacted } = manifest::read(first.clone())?;
    let size = members.iter().try_fold(0_u64, |sum, member| sum.checked_add(member.bytes));
    if members.len() > limits.max_members || size.is_none_or(|size| size > limit) {
        return Err(BundleError::TooLarge { limit });
    }
    let mut bundle = Bundle { sessions, redacted, ..Bundle::default() };
    for member in members {
        let bytes = next(&mut files, member.key.as_str(), member.bytes)?;
        if bytes.len() as u64 != member.bytes || digest(&bytes) != member.sha256 {
            return Err(BundleError::damaged(format!("{} is not as it was packed", member.key)));
        }
        bundle.members.insert(member.key, bytes);
    }
    let last = next(&mut files, DIGEST, 65)?;
    if last != format!("{}\n", digest(&first)) {
        return Err(BundleError::damaged("its manifest is not as it was packed"));
    }
    match files.next() {
        None => Ok(bundle),
        Some(_) => Err(BundleError::damaged("it holds files that its manifest does not list")),
    }
}

/// Reads the next file, which has to be this one.
fn next(
    files: &mut tar::Entries<'_, impl Read>,
    name: &str,
    max_bytes: u64,
) -> Result<Bytes, BundleError> {
    let ended = || BundleError::damaged(format!("it ends before {name}"));
    let file = files.next().ok_or_else(ended)?.map_err(BundleError::damaged)?;
    let is_it = file.path_bytes() == name.as_bytes()
        && file.header().entry_type() == EntryType::Regular
        && file.size() <= max_bytes;
    if !is_it {
        return Err(BundleError::damaged(format!("{name} is not where its manifest says")));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).map_err(BundleError::damaged)?;
    Ok(bytes.into())
}
