//! The files of a tool.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use memchr::memmem;

use super::{ImportLimits, Tool, convert};
use crate::SessionError;

/// How deep folders are searched.
const MAX_FOLDERS: usize = 12;

/// How much of a file [`glimpse`] reads, in bytes.
pub const GLIMPSE_BYTES: u64 = 256 << 10;

/// Why a source could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is larger than an import takes.
    #[error("{} has {bytes} bytes, and at most {most} are imported", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// What is taken at most.
        most: u64,
    },
    /// The session cannot be written.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// A file that may be a session of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The files of a tool in a place.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FoundSources {
    /// The files, by path.
    pub sources: Vec<Source>,
    /// How many files of other agents, which worked for a session, were passed over.
    pub agents: usize,
    /// What could not be looked at.
    pub unreadable: Vec<ImportError>,
}

/// Returns where a tool keeps its sessions: `$CLAUDE_CONFIG_DIR` or `~/.claude`, `$CODEX_HOME` or
/// `~/.codex`.
pub fn home_of(tool: Tool) -> PathBuf {
    let (variable, folder) = match tool {
        Tool::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
        Tool::Codex => ("CODEX_HOME", ".codex"),
    };
    match env::var_os(variable).filter(|home| !home.is_empty()) {
        Some(home) => home.into(),
        None => env::home_dir().unwrap_or_default().join(folder),
    }
}

/// Finds the sessions of a tool: a file itself, or all in a folder. Of a tool's home only the
/// folders of sessions are searched. No link in a folder is followed.
///
/// # Errors
///
/// [`ImportError::Read`] if the place itself cannot be looked at; what is in it that cannot be is
/// among the [`FoundSources`].
pub fn find_sources(tool: Tool, place: &Path) -> Result<FoundSources, ImportError> {
    let failed = |source| ImportError::Read { path: place.to_owned(), source };
    let meta = fs::metadata(place).map_err(failed)?;
    let mut found = FoundSources::default();
    if !meta.is_dir() && !meta.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    if !meta.is_dir() {
        found.sources.push(source_of(place.to_owned(), &meta));
        return Ok(found);
    }
    let homes: &[&str] = match tool {
        Tool::Claude => &["projects"],
        Tool::Codex => &["sessions", "archived_sessions"],
    };
    let homes: Vec<PathBuf> = homes.iter().map(|name| place.join(name)).collect();
    let homes: Vec<PathBuf> = homes.into_iter().filter(|path| path.is_dir()).collect();
    let mut open: Vec<(PathBuf, usize)> = match homes.is_empty() {
        true => vec![(place.to_owned(), 0)],
        false => homes.into_iter().map(|home| (home, 0)).collect(),
    };
    while let Some((folder, depth)) = open.pop() {
        if let Err(source) = look_into(tool, &folder, depth, &mut open, &mut found) {
            found.unreadable.push(ImportError::Read { path: folder, source });
        }
    }
    found.sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn look_into(
    tool: Tool,
    folder: &Path,
    depth: usize,
    open: &mut Vec<(PathBuf, usize)>,
    found: &mut FoundSources,
) -> io::Result<()> {
    for item in fs::read_dir(folder)? {
        let item = item?;
        let (path, kind) = (item.path(), item.file_type()?);
        let name = item.file_name();
        let name = name.to_string_lossy();
        if kind.is_dir() && depth < MAX_FOLDERS {
            open.push((path, depth + 1));
        } else if kind.is_file() && name.ends_with(".jsonl") {
            match tool {
                Tool::Claude if name.starts_with("agent-") && worked_for_another(&path) => {
                    found.agents += 1;
                }
                Tool::Codex if matches!(&*name, "history.jsonl" | "session_index.jsonl") => {}
                _ => match item.metadata() {
                    Ok(meta) => found.sources.push(source_of(path, &meta)),
                    Err(source) => found.unreadable.push(ImportError::Read { path, source }),
                },
            }
        }
    }
    Ok(())
}

/// Tells whether a file of Claude Code is of an agent that worked for a session, as its first record
/// says. Why one cannot be read is told when it is imported.
fn worked_for_another(path: &Path) -> bool {
    const MARK: &[u8] = b"\"isSidechain\":";
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(GLIMPSE_BYTES).read_to_end(&mut head));
    let said = memmem::find(&head, MARK).map(|at| head[at + MARK.len()..].trim_ascii_start());
    read.is_ok() && said.is_some_and(|said| said.starts_with(b"true"))
}

fn source_of(path: PathBuf, meta: &fs::Metadata) -> Source {
    Source { path, modified: meta.modified().ok(), bytes: meta.len() }
}

/// Reads a file whole, with the one path that leads to it.
pub(super) fn read(path: &Path, limits: &ImportLimits) -> Result<(PathBuf, Bytes), ImportError> {
    let failed = |source| ImportError::Read { path: path.to_owned(), source };
    let real = path.canonicalize().map_err(failed)?;
    let most = limits.source_bytes;
    let mut file = File::open(&real).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let too_large = |bytes| ImportError::TooLarge { path: path.to_owned(), bytes, most };
    if bytes > most {
        return Err(too_large(bytes));
    }
    let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default() + 1);
    file.by_ref().take(most.saturating_add(1)).read_to_end(&mut content).map_err(failed)?;
    match content.len() as u64 {
        bytes if bytes > most => Err(too_large(bytes)),
        _ => Ok((real, content.into())),
    }
}

/// What the beginning of a source tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Glimpse {
    /// The directory the session works in.
    pub cwd: Option<String>,
    /// Its title, else what a person said first.
    pub title: Option<String>,
}

/// Reads the beginning of a source, [`GLIMPSE_BYTES`] of it.
///
/// # Errors
///
/// [`ImportError::Read`].
pub fn glimpse(tool: Tool, path: &Path) -> Result<Glimpse, ImportError> {
    let failed = |source| ImportError::Read { path: path.to_owned(), source };
    let mut content = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(GLIMPSE_BYTES).read_to_end(&mut content).map_err(failed)?;
    let conversion = convert(tool, content.into(), &path.to_string_lossy(), &Default::default());
    Ok(Glimpse { title: conversion.title_or_first_words(), cwd: conversion.cwd })
}
