//! Reading a large file with several threads.
//!
//! Lines stand for themselves, so a file can be cut at any line end; only the tree is grown in one
//! piece, by the caller's thread.

use std::ops::Range;

use memchr::memchr;

use super::Kept;
use super::load::{Found, Loader};

/// What one thread gets at least.
const MIN_BYTES: usize = 8 << 20;

/// Reads the rest of the file: entries, and everything between them.
pub(super) fn read_entries(loader: &mut Loader<'_>) {
    let mut parts = cuts(loader.file, loader.at, loader.options.threads, MIN_BYTES).into_iter();
    let (file, options) = (loader.file, loader.options);
    let Some(first) = parts.next() else { return };
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .map(|part| {
                scope.spawn(move || {
                    let mut loader = Loader::new(file, 0, options);
                    (loader.at, loader.end) = (part.start, part.end);
                    loader.entries(true);
                    loader
                })
            })
            .collect();
        loader.end = first.end;
        loader.entries(true);
        for thread in threads {
            match thread.join() {
                Ok(part) => append(loader, part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
}

/// Cuts a file from `start` on into parts of about the same size that end with a line.
fn cuts(file: &[u8], start: usize, threads: usize, min_bytes: usize) -> Vec<Range<usize>> {
    let rest = file.len() - start;
    let parts = threads.min(rest / min_bytes).max(1);
    let mut cuts = Vec::with_capacity(parts);
    let mut from = start;
    for part in 1..=parts {
        let about = (start + rest / parts * part).max(from);
        let end = match part == parts {
            true => file.len(),
            false => memchr(b'\n', &file[about..]).map_or(file.len(), |lf| about + lf + 1),
        };
        if end > from {
            cuts.push(from..end);
        }
        from = end;
    }
    cuts
}

/// Adds what another thread found behind what this one has.
fn append(loader: &mut Loader<'_>, part: Loader<'_>) {
    let (lines, entries) = (loader.line, loader.found.len());
    loader.line += part.line;
    loader.lines.extend(part.lines.iter().map(|line| line + lines as u32));
    loader
        .kept
        .extend(part.kept.into_iter().map(|kept| Kept { after: entries + kept.after, ..kept }));
    loader.diagnostics.extend(part.diagnostics.into_iter().map(|mut diagnostic| {
        diagnostic.line = diagnostic.line.map(|line| line + lines);
        diagnostic
    }));
    loader.torn = part.torn;
    if let Found::List(list) = part.found {
        list.into_iter().for_each(|entry| loader.found.push(entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{LoadOptions, SessionDocument};

    #[test]
    fn parts_end_with_lines_and_are_the_whole() {
        let file = b"one\ntwo two\nthree three three\n\nfour";
        for threads in 0..9 {
            for start in [0, 4, file.len()] {
                let parts = cuts(file, start, threads, 1);
                let joined: Vec<u8> =
                    parts.iter().flat_map(|part| file[part.clone()].to_vec()).collect();
                assert_eq!(joined, &file[start..], "{threads} from {start}: {parts:?}");
                let inner = parts.iter().rev().skip(1);
                assert!(inner.clone().all(|part| file[part.end - 1] == b'\n'), "{parts:?}");
            }
        }
    }

    #[test]
    fn several_threads_read_what_one_reads() {
        let mut file = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
        let text = "x".repeat(2000);
        for n in 0..20_000 {
            match n % 1000 {
                17 => file.push_str("bad line\n\n"),
                18 => file.push_str(&format!(
                    "{{\"type\":\"to{{\"type\":\"x\",\"id\":\"f{n}\",\"parentId\":null}}\n"
                )),
                _ => file.push_str(&format!(
                    "{{\"type\":\"x\",\"id\":\"{n}\",\"parentId\":\"{}\",\"t\":\"{text}\"}}\n",
                    n - 1
                )),
            }
        }
        file.push_str("{\"torn");
        let load = |threads| {
            let options = LoadOptions { threads, ..LoadOptions::default() };
            SessionDocument::load(file.clone().into(), &options).unwrap()
        };
        let (one, four) = (load(1), load(4));
        assert!(cuts(file.as_bytes(), 0, 4, MIN_BYTES).len() == 4);
        assert_eq!(one.diagnostics, four.diagnostics);
        let shape = |loaded: &crate::document::Loaded| {
            let tree = loaded.document.tree();
            let entry = |node| (tree.entry(node).line().clone(), tree.parent_of(node));
            tree.nodes().map(entry).collect::<Vec<_>>()
        };
        assert!(shape(&one) == shape(&four));
        assert_eq!(four.document.to_payload().to_bytes(), file);
    }
}
