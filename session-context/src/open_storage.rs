//! Choosing a storage by its URL.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use session_model::storage::SessionStorage;

#[cfg(feature = "indexed")]
use crate::open_indexed::{index_of, indexed, without_index};
use crate::open_remote::RemotePlace;
use crate::percent::percent_decoded;

/// Opens the storage that a URL or a path names.
///
/// | form | storage |
/// |---|---|
/// | `/path`, `path` | a directory, made with mode 0700 if it is missing |
/// | `file:///path` | the same, percent-encoded |
/// | `indexed:///path` | the same, with an [index](open_indexed_storage) beside the sessions |
/// | `indexed:///path?remote=redis://host` | the same, shared with other hosts through a Redis server |
/// | `memory:` | memory of its own |
/// | `memory://name` | the memory of this name, shared within the process |
///
/// An index that cannot be made, written or read here, or is of a newer version, is left as it is and
/// not used: the session files can be listed, read and written without it, and the storage's
/// [`diagnostics`](SessionStorage::diagnostics) say so.
///
/// What comes before the first colon is a scheme if it is made of two or more letters, digits, `+`,
/// `-` and `.`, so that `C:\path` is a path; write `./a:b` for such a name of a directory.
///
/// An `indexed:` URL takes these options, percent-encoded where they hold `&` or `%`:
///
/// - `remote`: the address of a server, `redis://…`, `rediss://…` (TLS) or `redis+unix:///socket`.
///   It is not asked here; what cannot be published yet is later.
/// - `prefix`: what its keys begin with; default: `sessions:`.
/// - `replicas`: how many replicas must have what counts as published; default: 0.
///
/// The password is taken from the address, else from `SESSION_REDIS_PASSWORD`.
///
/// ```
/// # #[cfg(feature = "memory")] {
/// let storage = session_context::open_storage("memory://example")?;
/// assert_eq!(storage.to_string(), "memory://example");
/// # }
/// # Ok::<(), session_context::OpenStorageError>(())
/// ```
///
/// # Errors
///
/// [`OpenStorageError`]. No error shows the URL, which may hold a password.
pub fn open_storage(url: &str) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
    Place::parse(url)?.open(true)
}

/// As [`open_storage`], but makes no directory.
///
/// # Errors
///
/// As [`open_storage`], and [`OpenStorageError::Missing`].
pub fn open_existing_storage(url: &str) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
    Place::parse(url)?.open(false)
}

/// Opens the directory that an `indexed:` URL or a path names, with the index in it.
///
/// The index is a database in the directory, made if it is missing. The session files are used as
/// they are, and can be used without the index at any time. No directory is made.
///
/// # Errors
///
/// As [`open_existing_storage`], and [`OpenStorageError::Invalid`] for a URL of another scheme.
#[cfg(feature = "indexed")]
pub fn open_indexed_storage(
    url: &str,
) -> Result<session_store_indexed::storage::IndexedStorage, OpenStorageError> {
    match Place::parse(url)? {
        Place::Directory(path) => indexed(path, None, false),
        Place::Indexed(path, remote) => indexed(path, remote, false),
        Place::Memory(_) => Err(invalid("only a directory has an index")),
    }
}

/// Opens the directory that an `indexed:` URL with a remote names, to compare the two.
///
/// The storage publishes as any that is opened so; what the answer asks of the remote goes over a
/// connection of its own, which needs a tokio runtime. No directory is made.
///
/// # Errors
///
/// As [`open_existing_storage`], and [`OpenStorageError::Invalid`] for a URL without a remote.
#[cfg(feature = "redis")]
pub fn open_replica(
    url: &str,
) -> Result<session_store_indexed::replica::Replica, OpenStorageError> {
    let Place::Indexed(path, Some(place)) = Place::parse(url)? else {
        return Err(invalid(
            "name a directory with a remote: indexed:///path?remote=redis://host:6379/0",
        ));
    };
    let (remote, _) = place.connect()?;
    let storage = indexed(path, Some(place), false)?;
    let owner = storage.owner().unwrap_or_default().to_owned();
    Ok(session_store_indexed::replica::Replica::new(Arc::new(storage), remote, owner))
}

/// A storage that could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenStorageError {
    /// No backend has this scheme.
    #[error(
        "there is no storage scheme {scheme:?}; this program has {}. A path with a colon is written ./a:b",
        list(known)
    )]
    UnknownScheme {
        /// The scheme.
        scheme: String,
        /// The schemes there are in this build.
        known: Vec<&'static str>,
    },
    /// The backend was left out of this build.
    #[error(
        "this program was built without storage of scheme {scheme:?}; build session-context with the feature {feature:?}"
    )]
    FeatureOff {
        /// The scheme.
        scheme: &'static str,
        /// The cargo feature that brings the backend.
        feature: &'static str,
    },
    /// A remote store was asked for, which was left out of this build.
    #[error(
        "this program was built without remote stores; build session-context with the feature {feature:?}, or leave `remote` out of the URL"
    )]
    NoRemote {
        /// The cargo feature that brings it.
        feature: &'static str,
    },
    /// The URL or path is malformed.
    #[error("invalid storage location: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no such directory.
    #[error("the storage directory {} does not exist", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The backend reported an error.
    #[error("the storage cannot be opened")]
    Backend {
        /// What it reported.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

fn list(schemes: &[&str]) -> String {
    if schemes.is_empty() { "none".to_owned() } else { schemes.join(", ") }
}

pub(crate) fn invalid(reason: &'static str) -> OpenStorageError {
    OpenStorageError::Invalid { reason }
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    Directory(PathBuf),
    Indexed(PathBuf, Option<RemotePlace>),
    Memory(Option<String>),
}

impl Place {
    fn parse(url: &str) -> Result<Self, OpenStorageError> {
        let Some((scheme, rest)) = split_scheme(url)? else { return directory(url.into()) };
        match &*scheme {
            "file" => directory(file_path(rest)?.into()),
            "indexed" => indexed_path(rest),
            "memory" => match rest.strip_prefix("//") {
                Some("") => Ok(Self::Memory(None)),
                Some(name) => Ok(Self::Memory(Some(name.to_owned()))),
                None if rest.is_empty() => Ok(Self::Memory(None)),
                None => Err(invalid("write memory: or memory://name")),
            },
            _ => Err(OpenStorageError::UnknownScheme { scheme, known: compiled_in() }),
        }
    }

    #[cfg_attr(not(feature = "file"), allow(unused_variables))]
    fn open(self, make_missing: bool) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
        match self {
            #[cfg(feature = "file")]
            Self::Directory(path) if !make_missing && matches!(path.try_exists(), Ok(false)) => {
                Err(OpenStorageError::Missing { path })
            }
            #[cfg(feature = "file")]
            Self::Directory(path) => match session_store_file::FileStorage::open(path) {
                Ok(storage) => Ok(Arc::new(storage)),
                Err(source) => Err(OpenStorageError::Backend { source: source.into() }),
            },
            #[cfg(not(feature = "file"))]
            Self::Directory(_) => Err(feature_off("file")),
            #[cfg(feature = "indexed")]
            Self::Indexed(path, remote) => {
                let files = open_directory(path.clone(), make_missing)?;
                // A connection belongs to the thread that makes it.
                let followed = remote.as_ref().map(RemotePlace::connect).transpose()?;
                match (index_of(&files, &path, remote)?, followed) {
                    (Ok(indexed), None) => Ok(Arc::new(indexed)),
                    (Ok(indexed), Some((remote, _))) => crate::open_remote::follow(indexed, remote),
                    (Err(error), followed) => {
                        without_index(files, &path, error, followed.is_some())
                    }
                }
            }
            #[cfg(not(feature = "indexed"))]
            Self::Indexed(..) => Err(feature_off("indexed")),
            #[cfg(feature = "memory")]
            Self::Memory(Some(name)) => {
                Ok(Arc::new(session_store_memory::MemoryStorage::named(&name)))
            }
            #[cfg(feature = "memory")]
            Self::Memory(None) => Ok(Arc::new(session_store_memory::MemoryStorage::new())),
            #[cfg(not(feature = "memory"))]
            Self::Memory(_) => Err(feature_off("memory")),
        }
    }
}

#[cfg(feature = "indexed")]
pub(crate) fn open_directory(
    path: PathBuf,
    make_missing: bool,
) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
    Place::Directory(path).open(make_missing)
}

/// Every scheme is brought by the cargo feature of the same name.
fn compiled_in() -> Vec<&'static str> {
    let schemes = [
        ("file", cfg!(feature = "file")),
        ("indexed", cfg!(feature = "indexed")),
        ("memory", cfg!(feature = "memory")),
    ];
    schemes.into_iter().filter(|(_, is_on)| *is_on).map(|(scheme, _)| scheme).collect()
}

#[cfg(not(all(feature = "file", feature = "indexed", feature = "memory")))]
fn feature_off(scheme: &'static str) -> OpenStorageError {
    OpenStorageError::FeatureOff { scheme, feature: scheme }
}

/// Returns the scheme in lower case and what follows its colon; `None` for a path.
fn split_scheme(url: &str) -> Result<Option<(String, &str)>, OpenStorageError> {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    match url.split_once(':') {
        Some((scheme, rest))
            if scheme.len() > 1
                && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(is_of_scheme) =>
        {
            Ok(Some((scheme.to_ascii_lowercase(), rest)))
        }
        // A mistyped URL must not become the name of a new directory.
        _ if url.contains("://") => Err(invalid("what stands before :// is no scheme")),
        _ => Ok(None),
    }
}

fn directory(path: PathBuf) -> Result<Place, OpenStorageError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.is_empty() {
        return Err(invalid("it is empty; write a path or a URL"));
    }
    if bytes.contains(&0) {
        return Err(invalid("a path holds no NUL"));
    }
    Ok(Place::Directory(path))
}

/// Reads an `indexed:` URL, given from its second colon on.
fn indexed_path(rest: &str) -> Result<Place, OpenStorageError> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let remote = RemotePlace::parse(query)?;
    match directory(file_path(path)?.into())? {
        Place::Directory(path) => Ok(Place::Indexed(path, remote)),
        place => Ok(place),
    }
}

/// Returns the path of a `file:` URL, given from its second colon on.
fn file_path(rest: &str) -> Result<String, OpenStorageError> {
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    if !path.starts_with('/') {
        return Err(invalid("a file URL names an absolute path and no host: file:///path"));
    }
    if path.contains(['?', '#']) {
        return Err(invalid("a file URL has no options; write %3F for ? and %23 for #"));
    }
    percent_decoded(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> Result<Place, String> {
        Place::parse(url).map_err(|error| error.to_string())
    }

    #[test]
    fn paths_are_directories_whatever_their_colons() {
        for path in
            ["/srv/agent", "agent", "./a:b", "../x", "C:\\agent", "c:/agent", "-x:y", "/a:b"]
        {
            assert_eq!(place(path), Ok(Place::Directory(path.into())), "{path}");
        }
    }

    #[test]
    fn file_urls_are_decoded() {
        for (url, path) in [
            ("file:///srv/a%20b%C3%BC%25", "/srv/a bü%"),
            ("FILE:///srv", "/srv"),
            ("file://localhost/srv", "/srv"),
            ("file:/srv", "/srv"),
            ("file:///", "/"),
        ] {
            assert_eq!(place(url), Ok(Place::Directory(path.into())), "{url}");
        }
    }

    #[test]
    fn memory_has_a_name_or_none() {
        assert_eq!(place("memory:"), Ok(Place::Memory(None)));
        assert_eq!(place("memory://"), Ok(Place::Memory(None)));
        assert_eq!(place("memory://a b"), Ok(Place::Memory(Some("a b".to_owned()))));
    }

    #[test]
    fn what_is_malformed_is_refused_with_what_to_write() {
        let location = |reason: &str| Err(format!("invalid storage location: {reason}"));
        let absolute = "a file URL names an absolute path and no host: file:///path";
        let hex = "% must be followed by two hex digits; write %25 for %";
        for (url, reason) in [
            ("", "it is empty; write a path or a URL"),
            ("file:///a%00b", "a path holds no NUL"),
            ("file:a", absolute),
            ("file://host/a", absolute),
            ("file://", absolute),
            ("file:///a?b", "a file URL has no options; write %3F for ? and %23 for #"),
            ("file:///a%", hex),
            ("file:///a%f", hex),
            ("file:///a%zz", hex),
            ("file:///a%+1", hex),
            ("file:///%ff", "the path is no UTF-8 once it is decoded"),
            ("memory:name", "write memory: or memory://name"),
            (" file:///a", "what stands before :// is no scheme"),
            ("://a", "what stands before :// is no scheme"),
        ] {
            assert_eq!(place(url), location(reason), "{url}");
        }
    }

    #[test]
    fn indexed_urls_are_those_of_files() {
        assert_eq!(place("indexed:///srv/a%20b"), Ok(Place::Indexed("/srv/a b".into(), None)));
        assert_eq!(place("indexed:///srv?"), Ok(Place::Indexed("/srv".into(), None)));
        let options = "an indexed URL has the options remote, prefix, replicas, max-session and max-object; \
                       write %3F for ? in a path";
        assert_eq!(place("indexed:///a?b=1"), Err(format!("invalid storage location: {options}")));
    }

    #[cfg(not(feature = "redis"))]
    #[test]
    fn a_remote_that_was_left_out_names_its_feature() {
        assert_eq!(
            place("indexed:///a?remote=redis://h/0").unwrap_err(),
            "this program was built without remote stores; build session-context with the feature \"redis\", or leave `remote` out of the URL"
        );
    }

    #[cfg(not(feature = "indexed"))]
    #[test]
    fn an_index_that_was_left_out_names_its_feature() {
        assert_eq!(
            open_storage("indexed:///a").unwrap_err().to_string(),
            "this program was built without storage of scheme \"indexed\"; build session-context with the feature \"indexed\""
        );
    }

    #[test]
    fn no_error_shows_a_password() {
        for url in [
            "indexed:///a?remote=http://user:secret@host",
            "indexed:///a?remote=rediss://user:secret@host&prefix={secret}",
            "indexed:///a?secret=secret",
            "redis://user:secret@host/0",
            "file://user:secret@host/a",
            "user:secret@host",
            " memory://secret",
            "memory:secret",
        ] {
            let error = Place::parse(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn an_unknown_scheme_names_those_there_are() {
        let error = Place::parse("S3://bucket").unwrap_err().to_string();
        let known = if compiled_in().is_empty() { "none".into() } else { compiled_in().join(", ") };
        let start = format!("there is no storage scheme \"s3\"; this program has {known}. ");
        assert!(error.starts_with(&start), "{error}");
    }

    #[cfg(feature = "memory")]
    #[test]
    fn memory_of_one_name_is_shared() {
        assert_eq!(open_storage("memory:").unwrap().to_string(), "memory:");
        assert_eq!(open_existing_storage("memory://n").unwrap().to_string(), "memory://n");
    }

    #[cfg(not(feature = "memory"))]
    #[test]
    fn memory_that_was_left_out_names_its_feature() {
        assert_eq!(
            open_storage("memory:").unwrap_err().to_string(),
            "this program was built without storage of scheme \"memory\"; build session-context with the feature \"memory\""
        );
    }

    #[cfg(feature = "file")]
    #[test]
    fn a_directory_is_made_only_where_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent");
        let url = path.to_str().unwrap();
        let missing = open_existing_storage(url).unwrap_err().to_string();
        assert_eq!(missing, format!("the storage directory {url} does not exist"));
        assert!(!path.exists());
        assert_eq!(open_storage(url).unwrap().to_string(), format!("file://{url}"));
        assert_eq!(open_existing_storage(url).unwrap().to_string(), format!("file://{url}"));
        std::fs::write(dir.path().join("file"), "").unwrap();
        let error = open_storage(dir.path().join("file").to_str().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the storage cannot be opened");
        assert!(error.source().is_some());
    }

    #[cfg(not(feature = "file"))]
    #[test]
    fn files_that_were_left_out_name_their_feature() {
        for url in ["/srv", "file:///srv"] {
            assert_eq!(
                open_existing_storage(url).unwrap_err().to_string(),
                "this program was built without storage of scheme \"file\"; build session-context with the feature \"file\""
            );
        }
    }
}
