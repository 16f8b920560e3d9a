//! Whose sessions are listed.

use std::collections::HashMap;

use session_model::layout::CwdStat;

/// A directory whose sessions are wanted.
///
/// Buckets are shared by directories that look alike, so what the session's header says decides.
#[derive(Clone, Debug)]
pub struct CwdFilter {
    cwd: String,
    identity: Option<Identity>,
    /// What is known of directories met before.
    known: HashMap<String, bool>,
}

impl CwdFilter {
    /// A directory known by this name only.
    pub fn named(cwd: &str) -> Self {
        Self { cwd: trimmed(cwd).to_owned(), identity: None, known: HashMap::new() }
    }

    /// A directory of this machine, under any of its names: through links, and in any case where
    /// the file system tells none apart.
    ///
    /// Looks at the disk, here and once for every other directory the sessions name. A relative
    /// path means itself only.
    pub fn local(cwd: &str) -> Self {
        Self { identity: local_identity(cwd), ..Self::named(cwd) }
    }

    /// Tells whether a session that works in `cwd` is wanted.
    pub fn admits(&mut self, cwd: &str) -> bool {
        let cwd = trimmed(cwd);
        if cwd == self.cwd || is_same_on_windows(cwd, &self.cwd) {
            return true;
        }
        let Some(own) = &self.identity else { return false };
        match self.known.get(cwd) {
            Some(&known) => known,
            None => {
                let same = local_identity(cwd).is_some_and(|other| other == *own);
                self.known.insert(cwd.to_owned(), same);
                same
            }
        }
    }
}

/// What has become of the directory a session works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CwdState {
    /// It is a directory that can be entered and read.
    Usable,
    /// There is nothing of this name: it was moved or removed, or is of another machine.
    Missing,
    /// There is something of this name that is no directory, or that cannot be read.
    Unusable,
    /// The session names none, or one that depends on where a program happens to be.
    Unknown,
}

impl CwdState {
    /// Looks at the directory a session names.
    pub fn of(cwd: Option<&str>) -> Self {
        let Some(cwd) = cwd.map(std::path::Path::new).filter(|cwd| cwd.is_absolute()) else {
            return Self::Unknown;
        };
        match std::fs::read_dir(cwd) {
            Ok(_) => Self::Usable,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Unusable,
        }
    }

    /// Returns the state as it stands in machine-readable output: one word in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Missing => "missing",
            Self::Unusable => "unusable",
            Self::Unknown => "unknown",
        }
    }
}

/// Tells whether two paths with drive letters are the same where those are in use: in any case,
/// and with either separator.
fn is_same_on_windows(a: &str, b: &str) -> bool {
    let has_drive = |path: &str| matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let plain = |path: &str| path.replace('/', "\\").to_lowercase();
    has_drive(a) && has_drive(b) && plain(a) == plain(b)
}

fn trimmed(cwd: &str) -> &str {
    match cwd.trim_end_matches(['/', '\\']) {
        "" => cwd,
        trimmed => trimmed,
    }
}

/// What a relative path leads to depends on where this program happens to be.
fn local_identity(path: &str) -> Option<Identity> {
    std::path::Path::new(path).is_absolute().then(|| identity(path)).flatten()
}

/// What a directory of this machine is, to know it again under another name.
#[cfg(unix)]
pub(crate) fn cwd_stat(cwd: &str) -> Option<CwdStat> {
    local_identity(cwd).map(|(dev, ino)| CwdStat { dev, ino })
}

/// Only where directories have numbers they are kept.
#[cfg(not(unix))]
pub(crate) fn cwd_stat(_cwd: &str) -> Option<CwdStat> {
    None
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &str) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
type Identity = std::path::PathBuf;

#[cfg(not(unix))]
fn identity(path: &str) -> Option<Identity> {
    std::fs::canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_admits_itself_alone() {
        let mut filter = CwdFilter::named("/w/app/");
        let answers =
            ["/w/app", "/w/app/", "/w/App", "/w/app2", "/w", ""].map(|c| filter.admits(c));
        assert_eq!(answers, [true, true, false, false, false, false]);
        assert!(CwdFilter::named("/").admits("/"));
        assert!(!CwdFilter::named("/").admits(""));
    }

    #[test]
    fn paths_with_drive_letters_have_no_case() {
        let mut filter = CwdFilter::named("d:\\work\\app");
        let answers =
            ["D:\\Work\\App", "D:/Work/App/", "D:\\Work", "C:\\Work\\App", "/d:/work/app"];
        assert_eq!(answers.map(|cwd| filter.admits(cwd)), [true, true, false, false, false]);
        let mut strict = CwdFilter::named("/mnt/c/Users");
        assert!(!strict.admits("/mnt/c/users"));
    }

    #[cfg(unix)]
    #[test]
    fn the_state_of_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let name = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(name("file"), "").unwrap();
        let state = |cwd: &str| CwdState::of(Some(cwd));
        assert_eq!(state(&name("")), CwdState::Usable);
        assert_eq!(state(&name("gone")), CwdState::Missing);
        assert_eq!(state(&name("file")), CwdState::Unusable);
        assert_eq!((state("w"), state(""), CwdState::of(None)), [CwdState::Unknown; 3].into());
    }

    #[cfg(unix)]
    #[test]
    fn a_local_directory_has_many_names() {
        let dir = tempfile::tempdir().unwrap();
        let name = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::create_dir(name("real")).unwrap();
        std::fs::create_dir(name("other")).unwrap();
        std::os::unix::fs::symlink(name("real"), name("link")).unwrap();
        std::os::unix::fs::symlink(name("gone"), name("dangling")).unwrap();
        let names = ["real", "link", "other", "dangling", "gone", "link"].map(name);
        for own in ["real", "link"] {
            let mut filter = CwdFilter::local(&name(own));
            let answers = names.clone().map(|cwd| filter.admits(&cwd));
            assert_eq!(answers, [true, true, false, false, false, true], "{own}");
        }
        let here = std::env::current_dir().unwrap();
        assert!(!CwdFilter::local(here.to_str().unwrap()).admits("."));
        let mut dangling = CwdFilter::local(&name("dangling"));
        let answers = names.clone().map(|cwd| dangling.admits(&cwd));
        assert_eq!(answers, [false, false, false, true, false, false]);
    }
}
