//! Which session is meant.

use std::path::Path;

use session_model::layout::SessionFileName;

use super::{CwdFilter, SessionRow};
use crate::{Result, SessionError};

/// How well a session fits what was asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Whole,
    Beginning,
}

/// Finds the session that is meant; `None` if nothing fits.
pub(super) fn choose<'a>(
    rows: &'a [SessionRow],
    wanted: &str,
    cwd: &mut CwdFilter,
) -> Result<Option<&'a SessionRow>> {
    if wanted.is_empty() {
        return Ok(None);
    }
    if let Some(row) = rows.iter().find(|row| is_at(row, wanted)) {
        return Ok(Some(row));
    }
    for fit in [by_name, by_title] {
        let fitting = rows.iter().filter_map(|row| Some((row, fit(row, wanted)?)));
        let fitting: Vec<_> = fitting.collect();
        let is_local =
            |row: &SessionRow, cwd: &mut CwdFilter| row.cwd().is_some_and(|c| cwd.admits(c));
        let local = fitting.iter().copied().filter(|(row, _)| is_local(row, cwd)).collect();
        for mut found in [local, fitting] {
            if found.iter().any(|(_, fit)| *fit == Fit::Whole) {
                found.retain(|(_, fit)| *fit == Fit::Whole);
            }
            if let Some(row) = only(&found.iter().map(|(row, _)| *row).collect::<Vec<_>>(), wanted)?
            {
                return Ok(Some(row));
            }
        }
    }
    Ok(None)
}

/// Tells whether a path, or a key of the storage, is that of the session.
fn is_at(row: &SessionRow, wanted: &str) -> bool {
    let path = || row.path.as_deref().zip(Path::new(wanted).canonicalize().ok());
    wanted.contains('/')
        && (row.key.as_str() == wanted
            || path().is_some_and(|(path, wanted)| path.canonicalize().is_ok_and(|p| p == wanted)))
}

/// The only one of these sessions; of several files of one session the fullest.
fn only<'a>(rows: &[&'a SessionRow], wanted: &str) -> Result<Option<&'a SessionRow>> {
    let Some(first) = rows.first() else { return Ok(None) };
    let is_same = |row: &&SessionRow| match (&row.summary, &first.summary) {
        (Ok(row), Ok(first)) => row.id == first.id,
        _ => false,
    };
    if rows.len() == 1 || rows.iter().all(is_same) {
        let size = |row: &SessionRow| row.summary.as_ref().map_or(0, |summary| summary.size);
        // The first of the largest is the newest of them.
        return Ok(rows.iter().rev().max_by_key(|row| size(row)).copied());
    }
    let candidates = rows.iter().map(|row| row.location()).collect();
    Err(SessionError::Ambiguous { wanted: wanted.to_owned(), candidates })
}

fn by_name(row: &SessionRow, wanted: &str) -> Option<Fit> {
    let name = SessionFileName::parse(row.key.file_name());
    let stem = name.as_ref().map(|name| name.stem);
    let suffix = stem.and_then(|stem| stem.rsplit_once('_')).map(|(_, suffix)| suffix);
    let id = row.summary.as_ref().ok().map(|summary| &*summary.id);
    let names = [id, stem, name.as_ref().map(|name| name.id), suffix];
    let fits = names.into_iter().flatten().filter_map(|name| fit(name, wanted));
    let is_id = id.is_some_and(|id| fit(id, wanted) == Some(Fit::Whole));
    if is_id { Some(Fit::Whole) } else { fits.map(|_| Fit::Beginning).next() }
}

fn by_title(row: &SessionRow, wanted: &str) -> Option<Fit> {
    fit(&row.summary.as_ref().ok()?.title.as_ref()?.text, wanted)
}

fn fit(name: &str, wanted: &str) -> Option<Fit> {
    let (name, wanted) = (name.to_lowercase(), wanted.to_lowercase());
    let rest = name.strip_prefix(&wanted)?;
    Some(if rest.is_empty() { Fit::Whole } else { Fit::Beginning })
}
