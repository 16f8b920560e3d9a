//! The file around it all: tar, compressed with gzip.

use std::cell::Cell;
use std::io::{self, Read};

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use tar::{Archive, Builder, EntryType, Header};

use super::limits::{MAX_MANIFEST, TAR_OVERHEAD};
use super::manifest::{self, Manifest, digest};
use super::{Bundle, BundleError, BundleLimits};

/// The first file.
const MANIFEST: &str = "manifest.json";

/// The last file: the digest of the first.
const DIGEST: &str = "manifest.sha256";

/// How a file begins that age encrypted.
const ENCRYPTED: &[u8] = b"age-encryption.org/v1\n";

impl Bundle {
    /// Writes the bundle; the same bundle gives the same bytes.
    ///
    /// # Errors
    ///
    /// [`BundleError::LongNames`]; [`BundleError::Damaged`] if a file is too large for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        let gzip = GzBuilder::new().write(Vec::new(), Compression::default());
        let mut tar = Builder::new(gzip);
        let manifest = manifest::write(self);
        if manifest.len() as u64 > MAX_MANIFEST {
            return Err(BundleError::LongNames { limit: MAX_MANIFEST });
        }
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
        if bytes.starts_with(ENCRYPTED) {
            return Err(BundleError::Encrypted);
        }
        if !bytes.starts_with(&[0x1f, 0x8b]) {
            return Err(BundleError::NotABundle);
        }
        let (mut packed, left) = (bytes, Cell::new(MAX_MANIFEST + 2 * TAR_OVERHEAD));
        let mut archive = Archive::new(Capped { inner: GzDecoder::new(&mut packed), left: &left });
        let read = read(&mut archive, limits, &left);
        if left.get() == 0 {
            return Err(BundleError::TooLarge { limit: limits.max_bytes });
        }
        let bundle = read?;
        // The checksum stands at the end, behind what tar reads.
        let mut rest = archive.into_inner();
        let more = io::copy(&mut rest, &mut io::sink()).map_err(BundleError::damaged)?;
        drop(rest);
        if more > TAR_OVERHEAD || left.get() == 0 || !packed.is_empty() {
            return Err(BundleError::damaged("something follows its end"));
        }
        Ok(bundle)
    }
}

/// What is unpacked, up to a number of bytes that may grow meanwhile.
struct Capped<'l, R> {
    inner: R,
    left: &'l Cell<u64>,
}

impl<R: Read> Read for Capped<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left.get()).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
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
    left: &Cell<u64>,
) -> Result<Bundle, BundleError> {
    let mut files = archive.entries().map_err(BundleError::damaged)?;
    let first = match next(&mut files, MANIFEST, MAX_MANIFEST) {
        Err(BundleError::Damaged { .. }) => return Err(BundleError::NotABundle),
        read => read?,
    };
    let Manifest { sessions, members, redacted } = manifest::read(first.clone(), limits)?;
    let size = members.iter().fold(0_u64, |sum, member| sum.saturating_add(member.bytes));
    limits.admit(size, members.len())?;
    left.set(size + TAR_OVERHEAD * (members.len() as u64 + 4));
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
