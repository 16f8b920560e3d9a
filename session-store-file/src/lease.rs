//! The claim of an exclusive writer: a locked sidecar that says who holds it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::OFlags;
use rustix::path::Arg;
use session_model::storage::{Holder, StorageError, StorageKey};

use crate::dir;
use crate::error::{During, Fault};
use crate::lock::Locked;
use crate::names;

/// More than any record this backend writes.
const MAX_RECORD_BYTES: usize = 4096;

/// The claim to be the only writer of an object, given up on drop.
#[derive(Debug)]
pub(crate) struct Lease {
    locked: Locked,
    owner: Option<String>,
}

impl Lease {
    /// Claims the object `key` in its directory; the operation lock must be held.
    pub(crate) fn claim(
        dir: &File,
        key: &StorageKey,
        owner: Option<&str>,
    ) -> Result<Self, StorageError> {
        let operation = "claim";
        let name = names::sidecar(key.file_name());
        let locked = loop {
            let sidecar = dir::open_or_create(dir, &name).during(operation, key)?;
            let locked = match Locked::try_new(sidecar).during(operation, key)? {
                Ok(locked) => locked,
                Err(sidecar) => return Err(busy(&sidecar, key)),
            };
            // Through a storage with another root it can have been removed just before it was
            // locked, and would keep nobody off.
            if is_in_place(&locked, dir, &name).during(operation, key)? {
                break locked;
            }
        };
        // A stale record would name the wrong holder; none at all only makes a poorer message, so
        // a full disk does not keep anybody from claiming.
        locked.file().set_len(0).during(operation, key)?;
        if locked.file().write_all_at(record(owner).as_bytes(), 0).is_err() {
            locked.file().set_len(0).during(operation, key)?;
        }
        Ok(Self { locked, owner: owner.map(str::to_owned) })
    }

    /// Claims the object anew if the sidecar is no longer where others look for it; the operation
    /// lock must be held.
    pub(crate) fn renew(&mut self, dir: &File, key: &StorageKey) -> Result<(), StorageError> {
        let name = names::sidecar(key.file_name());
        if !is_in_place(&self.locked, dir, &name).during("claim", key)? {
            *self = Self::claim(dir, key, self.owner.as_deref())?;
        }
        Ok(())
    }
}

/// Returns `Busy` if somebody has claimed the object; the operation lock must be held.
pub(crate) fn ensure_free(dir: &File, key: &StorageKey) -> Result<(), StorageError> {
    let operation = "look for a writer of";
    let sidecar = names::sidecar(key.file_name());
    let Some(file) = dir::open(dir, sidecar.as_str(), OFlags::RDWR).during(operation, key)? else {
        return Ok(());
    };
    match Locked::try_new(file).during(operation, key)? {
        Ok(_) => Ok(()),
        Err(file) => Err(busy(&file, key)),
    }
}

/// Tells whether a locked sidecar is the one that others look for.
fn is_in_place(sidecar: &Locked, dir: &File, name: impl Arg) -> Result<bool, Fault> {
    Ok(dir::identify(sidecar.file())?.is_same_file(&dir::find(dir, name)?))
}

/// Removes a sidecar that nobody has locked.
///
/// Whoever claims makes sure that what was locked is still in its place, so none is taken away from
/// under a claim.
pub(crate) fn remove_unused(dir: &File, sidecar: impl Arg + Copy) -> Result<(), Fault> {
    let Some(file) = dir::open(dir, sidecar, OFlags::RDWR)? else { return Ok(()) };
    if let Ok(locked) = Locked::try_new(file)?
        && is_in_place(&locked, dir, sidecar)?
    {
        rustix::fs::unlinkat(dir, sidecar, rustix::fs::AtFlags::empty())?;
    }
    Ok(())
}

/// Removes the sidecar of an object that has just gone, unless somebody holds it.
pub(crate) fn forget(dir: &File, key: &StorageKey) {
    // What stays harms nobody, and the object is gone all the same.
    let _ = remove_unused(dir, &*names::sidecar(key.file_name()));
}

fn busy(sidecar: &File, key: &StorageKey) -> StorageError {
    let mut bytes = vec![0; MAX_RECORD_BYTES];
    // A record that cannot be read leaves the holder unnamed.
    let len = sidecar.read_at(&mut bytes, 0).unwrap_or(0);
    let holder = Box::new(parse(&String::from_utf8_lossy(&bytes[..len])));
    StorageError::Busy { key: key.clone(), holder }
}

fn record(owner: Option<&str>) -> String {
    let host = rustix::system::uname();
    let owner = owner.map(|owner| format!("owner={}\n", escape(owner))).unwrap_or_default();
    let pid = std::process::id();
    let host = escape(&host.nodename().to_string_lossy());
    let since = jiff::Timestamp::now();
    format!("{owner}pid={pid}\nhost={host}\nsince={since:.3}\n")
}

fn parse(record: &str) -> Holder {
    let mut holder = Holder::default();
    for (name, value) in record.lines().filter_map(|line| line.split_once('=')) {
        match name {
            "owner" => holder.owner = Some(unescape(value)),
            "pid" => holder.pid = value.parse().ok(),
            "host" => holder.host = Some(unescape(value)),
            "since" => holder.since = Some(unescape(value)),
            _ => {}
        }
    }
    holder
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(value: &str) -> String {
    let mut chars = value.chars();
    let mut text = String::with_capacity(value.len());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_holder_whatever_its_name_holds() {
        let owner = "a \\ b\nowner=c\r\u{1b}";
        let holder = parse(&record(Some(owner)));
        assert_eq!(holder.owner.as_deref(), Some(owner));
        assert_eq!(holder.pid, Some(std::process::id()));
        assert!(holder.host.is_some_and(|host| !host.is_empty()));
        assert!(holder.since.is_some_and(|since| since.parse::<jiff::Timestamp>().is_ok()));
    }

    #[test]
    fn nothing_is_left_of_an_earlier_record() {
        let root = tempfile::tempdir().unwrap();
        let dir = File::open(root.path()).unwrap();
        let key = StorageKey::new("a").unwrap();
        drop(Lease::claim(&dir, &key, Some(&"a very long name ".repeat(9))).unwrap());
        let _lease = Lease::claim(&dir, &key, None).unwrap();
        let record = std::fs::read_to_string(root.path().join(".~a.lock")).unwrap();
        let names: Vec<_> = record.lines().map(|line| line.split('=').next().unwrap()).collect();
        assert_eq!(names, ["pid", "host", "since"]);
    }

    #[test]
    fn a_damaged_record_names_nobody() {
        assert_eq!(parse("\0\0nonsense\npid=x\n=\n"), Holder::default());
    }
}
