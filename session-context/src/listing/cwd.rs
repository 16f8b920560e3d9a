//! Whose sessions are listed.

use std::collections::HashMap;

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
    pub(super) fn admits(&mut self, cwd: &str) -> bool {
        let cwd = trimmed(cwd);
        if cwd == self.cwd {
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
