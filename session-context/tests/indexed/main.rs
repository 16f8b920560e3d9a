//! The command and `open_storage` with an index.
#![allow(clippy::unwrap_used)]

mod listing;
#[path = "../support/shipped.rs"]
mod shipped;

use std::path::Path;
use std::process::Command;
use std::slice;

use session_context::open_storage;
use shipped::sessionctl;

const DEMO: &str = include_str!("../../examples/data/demo.jsonl");

fn index(root: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(sessionctl())
        .arg("index")
        .args(args)
        .arg("--store")
        .arg(root)
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code().unwrap(), said)
}

#[test]
fn the_index_is_made_checked_and_described() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("sessions/b");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("demo.jsonl"), DEMO).unwrap();
    std::fs::write(folder.join("other.jsonl"), "no\n").unwrap();
    let entries = DEMO.lines().filter(|line| line.contains("\"parentId\"")).count();
    let messages = DEMO.lines().filter(|line| line.starts_with("{\"type\":\"message\"")).count();
    let bytes = DEMO.len();
    let told = format!(
        "1 session with {entries} entries, {messages} of them messages; {bytes} of {} bytes are indexed\n\
         1 file is no session; `sessionctl doctor` tells more\n",
        bytes + 3
    );
    assert_eq!(index(dir.path(), &["build"]), (0, told.clone()));
    assert_eq!(index(dir.path(), &["stats"]), (0, told));
    let same = "the index says what the files hold\n";
    assert_eq!(index(dir.path(), &["check"]), (0, same.to_owned()));
    assert_eq!(index(dir.path(), &["check", "--json"]).1.trim(), "{\"differences\":[]}");
    assert_eq!(std::fs::read(folder.join("demo.jsonl")).unwrap(), DEMO.as_bytes());
}

#[test]
fn a_url_opens_a_directory_with_its_index() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("indexed://{}", dir.path().display());
    let storage = open_storage(&url).unwrap();
    assert_eq!(storage.to_string(), format!("indexed file://{}", dir.path().display()));
    assert!(dir.path().join(".~index.db").exists());
}

fn history(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(sessionctl())
        .arg("history")
        .args(args)
        .env("SESSION_AGENT_DIR", dir.join("agent"))
        .current_dir(dir)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn prompts_are_added_and_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().canonicalize().unwrap();
    let none =
        format!("note: there is no history {}\n", dir.path().join("agent/history.db").display());
    assert_eq!(history(&here, &["recent"]), (0, String::new(), none.clone()));
    assert_eq!(history(&here, &["search", "x", "--json"]), (0, "[]\n".to_owned(), none));
    assert!(!dir.path().join("agent").exists());
    let quiet = (0, String::new(), String::new());
    assert_eq!(history(&here, &["add", "fix the login test\u{1b}[31m", "--session", "s1"]), quiet);
    assert_eq!(history(&here, &["add", "say login", "--cwd", "/elsewhere"]), quiet);

    let prompts = |args: &[&str]| {
        let (code, out, err) = history(&here, args);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let found: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
        found.iter().map(|found| found["prompt"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (fix, say) = ("fix the login test\u{1b}[31m".to_owned(), "say login".to_owned());
    let both = vec![say.clone(), fix.clone()];
    assert_eq!(prompts(&["recent", "--json"]), both);
    assert_eq!(prompts(&["search", "log", "--json"]), both);
    assert_eq!(prompts(&["search", "log", "--limit", "1", "--json"]), slice::from_ref(&say));
    assert_eq!(prompts(&["search", "log", "--cwd", ".", "--json"]), slice::from_ref(&fix));
    assert_eq!(prompts(&["search", "log", "--cwd", "/elsewhere", "--json"]), [say]);
    assert_eq!(prompts(&["search", "log", "--session", "s1", "--json"]), [fix]);
    let odd = ["don't", "src/app.ts", "c++", "foo(", "a:b", "\"open", "*", "", "%", "AND OR ("];
    for query in odd {
        assert_eq!(prompts(&["search", "--json", "--", query]), Vec::<String>::new(), "{query}");
    }

    let noted = |note: &str| (0, String::new(), format!("note: {note}\n"));
    assert_eq!(history(&here, &["search", "no", "such"]), noted("nothing found"));
    let narrow = "nothing found; without --cwd and --session all prompts are searched";
    assert_eq!(history(&here, &["search", "login", "--session", "s2"]), noted(narrow));
    assert_eq!(history(&here, &["add", " \n"]), noted("a blank prompt is not kept"));
    assert_eq!(prompts(&["search", "tes", "the", "--json"]), slice::from_ref(&both[1]));

    let (_, text, _) = history(&here, &["search", "test"]);
    assert!(text.ends_with(&format!("  {}\n  fix the login test[31m\n", here.display())), "{text}");
    let database = here.join("other.db");
    let db = database.to_str().unwrap();
    assert_eq!(history(&here, &["add", "elsewhere", "--db", db]), quiet);
    assert_eq!(prompts(&["recent", "--json", "--db", db]), ["elsewhere"]);
}

#[test]
fn entries_are_found_with_an_index_and_without() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("sessions/b");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("demo.jsonl"), DEMO).unwrap();
    let search = |args: &[&str]| {
        let output = Command::new(sessionctl())
            .args(["search", "--all", "--json", "--store"])
            .arg(dir.path())
            .args(args)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let database = dir.path().join(".~search.db");
    for query in ["delay", "\"fixed delay\"", "retry", "src/fetch.rs", "cargo -quiet", "☃", "zzz"]
    {
        let without = search(&["--no-index", "--", query]);
        assert!(!database.exists());
        assert_eq!(without["coverage"]["complete"], true);
    }
    for query in ["delay", "\"fixed delay\"", "retry", "src/fetch.rs", "cargo -quiet", "☃", "zzz"]
    {
        let hits = |found: &serde_json::Value| {
            let mut hits: Vec<_> = found["hits"].as_array().unwrap().clone();
            for hit in &mut hits {
                hit.as_object_mut().unwrap().remove("score");
            }
            hits.sort_by_key(|hit| hit["offset"].as_u64());
            hits
        };
        let (with, without) = (search(&["--", query]), search(&["--no-index", "--", query]));
        assert_eq!(hits(&with), hits(&without), "{query}");
        assert_eq!(
            (&with["total"], &with["coverage"]),
            (&without["total"], &without["coverage"]),
            "{query}"
        );
    }
    assert!(database.exists());
    std::fs::remove_dir_all(dir.path().join("sessions")).unwrap();
    let gone = search(&["delay"]);
    assert_eq!(gone["total"], 0);
    assert_eq!(gone["coverage"]["indexUnusable"], "these sessions lie in no agent directory");
}

/// Publishing from the command line to the server that `cargo xtask test` starts.
#[cfg(feature = "redis")]
mod remote {
    use super::*;

    struct Shared {
        dir: tempfile::TempDir,
        url: String,
    }

    impl Shared {
        fn new() -> Self {
            let server = std::env::var("SESSION_TEST_REDIS_URL").unwrap();
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().display();
            let url = format!("indexed://{root}?remote={server}&prefix={root}:");
            std::fs::create_dir_all(dir.path().join("sessions/b")).unwrap();
            Self { dir, url }
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.dir.path().join("sessions/b").join(name), text).unwrap();
        }

        fn run(&self, args: &[&str]) -> (i32, String) {
            let output = Command::new(sessionctl())
                .arg("remote")
                .args(args)
                .args(["--store", &self.url])
                .output()
                .unwrap();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            (output.status.code().unwrap(), said)
        }
    }

    #[test]
    fn sessions_are_pushed_shown_and_verified() {
        let shared = Shared::new();
        shared.write("demo.jsonl", DEMO);
        assert_eq!(shared.run(&["push"]), (0, "all is published\n".to_owned()));
        let same = "1 session is the same\n";
        assert_eq!(shared.run(&["verify"]), (0, same.to_owned()));
        let (code, status) = shared.run(&["status", "--json"]);
        assert_eq!(code, 0, "{status}");
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        assert_eq!(status["connected"], true);
        for (field, value) in [("rows", "0"), ("bytes", "0"), ("held", "[]"), ("blocked", "[]")] {
            assert_eq!(status[field].to_string(), value, "{field}");
        }
        assert_eq!(shared.run(&["poison", "list", "--json"]), (0, "{\"blocked\":[]}\n".to_owned()));
        let (code, said) = shared.run(&["poison", "retry", "sessions/b/demo.jsonl"]);
        assert_eq!(code, 1);
        assert!(said.contains("sessions/b/demo.jsonl is not blocked"), "{said}");
    }

    #[test]
    fn a_remote_that_is_away_is_told() {
        let mut shared = Shared::new();
        shared.write("demo.jsonl", DEMO);
        shared.url =
            format!("indexed://{}?remote=redis://127.0.0.1:1", shared.dir.path().display());
        let (code, said) = shared.run(&["status"]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("the remote does not answer"), "{said}");
        assert!(said.contains(&format!("{} bytes wait", DEMO.len())), "{said}");
        let (code, said) = shared.run(&["push", "--wait", "0"]);
        assert_eq!(code, 1);
        assert!(said.contains(&format!("{} bytes still wait", DEMO.len())), "{said}");
    }
}
