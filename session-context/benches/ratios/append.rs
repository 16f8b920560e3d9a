//! Appending one entry of 1 KB through the manager, against the bare write.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use session_context::{NewSession, SessionManager, SessionOptions};
use session_model::message::Message;
use session_model::storage::SessionStorage;
use session_store_file::FileStorage;
use session_store_memory::MemoryStorage;

use crate::{best, row};

const APPENDS: u32 = 20_000;

pub(crate) fn run(dir: &Path) {
    let bare = per_append(best(5, || {
        let path = dir.join("bare");
        let mut file = std::fs::File::options().append(true).create(true).open(&path).unwrap();
        let line = vec![b'x'; 1024];
        (0..APPENDS).for_each(|_| file.write_all(&line).unwrap());
        std::fs::remove_file(path).unwrap();
    }));
    let memory = per_append(best(5, || append_all(Arc::new(MemoryStorage::new()))));
    let storage = FileStorage::open(dir.join("store")).unwrap();
    let file = per_append(best(5, || append_all(Arc::new(storage.clone()))));
    row("bare write(2) of 1 KB", format!("{bare:.2} µs"), "");
    row("append through the manager, memory backend", format!("{memory:.2} µs"), "");
    let over = format!("{:+.2} µs over the bare write", file - bare);
    row("append through the manager, file backend", format!("{file:.2} µs"), &over);
    println!();
}

fn per_append(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(APPENDS)
}

fn append_all(storage: Arc<dyn SessionStorage>) {
    pollster::block_on(async {
        let options = SessionOptions::default().eager();
        let new = NewSession::in_cwd("/w");
        let mut session = SessionManager::create(storage, new, options).await.unwrap();
        let text = "x".repeat(900);
        for n in 0..APPENDS {
            session.append_message(Message::user(text.as_str(), i64::from(n))).await.unwrap();
        }
    });
}
