//! Opening a large session: time against the bare scan, and memory against the file.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::IgnoredAny;
use session_context::{SessionManager, SessionOptions};
use session_model::document::{LoadOptions, SessionDocument};
use session_model::storage::StorageKey;
use session_store_file::FileStorage;

use crate::{best, gib_per_second, mib, row};

pub(crate) fn run(file: &Path, size: u64) {
    let read = best(5, || std::fs::read(file).unwrap());
    let bytes = Bytes::from(std::fs::read(file).unwrap());
    let scan = best(5, || {
        let mut at = 0;
        for end in memchr::memchr_iter(b'\n', &bytes) {
            serde_json::from_slice::<IgnoredAny>(&bytes[at..end]).unwrap();
            at = end + 1;
        }
    });
    let index = best(5, || SessionDocument::load(bytes.clone(), &LoadOptions::default()).unwrap());
    let threaded =
        best(5, || SessionDocument::load(bytes.clone(), &SessionOptions::default().load).unwrap());
    let open = best(5, || open_read_only(file));
    let rate = |time| format!("{:.2} GiB/s", gib_per_second(size, time));
    row("bare read of the file", rate(read), "");
    row("bare JSON check of every line (serde_json)", rate(scan), "");
    let ratio = format!("{:.2} of the bare check", scan.as_secs_f64() / index.as_secs_f64());
    row("load and index, from memory, one thread", rate(index), &ratio);
    let ratio = format!("{:.2} of the bare check", scan.as_secs_f64() / threaded.as_secs_f64());
    row("load and index, from memory, all processors", rate(threaded), &ratio);
    let bare = read + scan;
    let ratio = format!("{:.2} of read and bare check", bare.as_secs_f64() / open.as_secs_f64());
    row("open and index, from the file", rate(open), &ratio);
    let document = SessionDocument::load(bytes, &LoadOptions::default()).unwrap().document;
    let write = best(5, || document.to_payload());
    row(
        "make the whole file again",
        format!("{:.1} ms", 1e3 * write.as_secs_f64()),
        "nothing copied",
    );
    let peak = peak_of_child(file);
    row(
        "peak memory of a process that opens it",
        format!("{:.0} MiB", mib(peak)),
        &format!("{:.2} of the file", peak as f64 / size as f64),
    );
    println!();
}

pub(crate) fn open_read_only(file: &Path) -> SessionManager {
    let storage = FileStorage::open(file.parent().unwrap()).unwrap();
    let key = StorageKey::new(file.file_name().unwrap().to_str().unwrap()).unwrap();
    let opening = SessionManager::open_read_only(Arc::new(storage), key, SessionOptions::default());
    pollster::block_on(opening).unwrap()
}

/// Opens the session and prints this process's peak memory in bytes.
pub(crate) fn child(path: &str) {
    let session = open_read_only(Path::new(path));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    println!("{}", kib.unwrap_or(0) * 1024);
    drop(session);
}

fn peak_of_child(file: &Path) -> u64 {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this).arg("--child").arg(file).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(0)
}
