//! Paths with `--store`, and an index that cannot be used.

use crate::support::{Dir, json, session};

const ENTRY: &str = r#"{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"user","content":"hi"}}"#;
const KEY: &str = "sessions/--w-app--/s.jsonl";

/// Two agent directories, `one` and `two`, with a session each, and a file in neither.
fn two_stores() -> Dir {
    let dir = Dir::new();
    for (store, id) in [("one", "s-0001"), ("two", "s-0002")] {
        dir.write(&format!("{store}/{KEY}"), session(&[ENTRY]).replace("s-0001", id));
    }
    dir.write("outside/o.jsonl", session(&[ENTRY]).replace("s-0001", "s-0003"));
    dir
}

fn id(dir: &Dir, args: &str) -> String {
    let out = dir.run(&format!("resume {args} --json")).quiet();
    json(&out).field("id").unwrap().as_text().unwrap().into_owned()
}

#[test]
fn a_path_is_a_path_with_every_store() {
    let dir = two_stores();
    let root = dir.path().display();
    for store in ["", "--store one", "--store two", "--store ~/one"] {
        for (place, want) in [("one", "s-0001"), ("two", "s-0002")] {
            for path in [
                format!("{root}/{place}/{KEY}"),
                format!("./{place}/{KEY}"),
                format!("{place}/{KEY}"),
                format!("~/{place}/{KEY}"),
                format!("./outside/../{place}/{KEY}"),
            ] {
                assert_eq!(id(&dir, &format!("{path} {store}")), want, "{path} {store}");
            }
        }
        assert_eq!(id(&dir, &format!("./outside/o.jsonl {store}")), "s-0003");
        assert_eq!(id(&dir, &format!("outside/o.jsonl {store}")), "s-0003");
        let missing = dir.run(&format!("show ./outside/none.jsonl {store}"));
        missing.failed(1, "error: there is no session ./outside/none.jsonl\n");
    }
    // A key goes before a file of the same name.
    dir.write(KEY, session(&[ENTRY]).replace("s-0001", "s-0004"));
    assert_eq!(id(&dir, &format!("{KEY} --store one")), "s-0001");
    assert_eq!(id(&dir, &format!("./{KEY} --store one")), "s-0004");
    assert_eq!(id(&dir, "s-0002 --store two"), "s-0002");
}

#[test]
fn what_is_written_to_a_path_is_written_there() {
    let dir = two_stores();
    let root = dir.path().display();
    for command in [
        format!("append {root}/two/{KEY} --store one --text said."),
        format!("label ~/two/{KEY} aaaaaaaa here --store one"),
        format!("rename ./two/{KEY} named --store one"),
        format!("archive {root}/two/{KEY} aaaaaaaa --undo --store one"),
        format!("verify {root}/two/{KEY} --store one"),
        format!("stats {root}/two/{KEY} --store one"),
        format!("tree {root}/two/{KEY} --store one"),
        format!("context {root}/two/{KEY} --store one"),
        format!("artifacts {root}/two/{KEY} --store one"),
        format!("doctor {root}/two/{KEY} --store one"),
        format!("resume {root}/two/{KEY} --store one"),
    ] {
        let run = dir.run(&command);
        assert_eq!(run.code, Some(0), "{command}: {}", run.err);
    }
    assert_eq!(dir.read(&format!("one/{KEY}")), session(&[ENTRY]));
    assert_eq!(dir.read(&format!("two/{KEY}")).lines().count(), 6);
    let made = dir.run(&format!(
        "append {root}/one/sessions/--w-app--/new.jsonl --create --store one --text x"
    ));
    assert_eq!(made.code, Some(0), "{}", made.err);
    let trashed = dir.run(&format!("rm {root}/two/{KEY} --store one")).quiet();
    assert!(trashed.starts_with(&format!("{root}/two/trash/")), "{trashed}");
    let back = dir.run(&format!("restore {} --store one", trashed.trim())).quiet();
    assert_eq!(back, format!("{root}/two/{KEY}\n"));
}

#[cfg(feature = "indexed")]
mod index {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    fn url(dir: &Dir) -> String {
        format!("indexed://{}/one", dir.path().display())
    }

    fn lists(run: crate::support::Run, told: &str) {
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(run.out.starts_with("s-0001"), "{}", run.out);
        assert_eq!(run.err.matches("is not used").count(), 1, "{}", run.err);
        assert!(run.err.starts_with("warning: ") && run.err.contains(told), "{}", run.err);
    }

    fn reads(run: crate::support::Run, told: &str) {
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(run.out.contains("session  s-0001"), "{}", run.out);
        assert!(run.err.starts_with("warning: ") && run.err.contains(told), "{}", run.err);
    }

    fn set_modes(dir: &Dir, directory: u32, file: u32) {
        for (path, ..) in dir.snapshot() {
            if path == dir.path() {
                continue;
            }
            let mode = if path.is_dir() { directory } else { file };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_listed_and_read() {
        for has_index in [false, true] {
            let dir = two_stores();
            if has_index {
                dir.run(&format!("index build --store {}", url(&dir)));
            }
            set_modes(&dir, 0o500, 0o400);
            let list = dir.run_restricted(&format!("list --all --store {}", url(&dir)));
            let show = dir.run_restricted(&format!("show s-0001 --store {}", url(&dir)));
            let plain = dir.run_restricted("list --all --store one");
            set_modes(&dir, 0o700, 0o600);
            lists(list, "/one/.~index.db is not used, and slower ways are taken: ");
            reads(show, "/one/.~index.db is not used, and slower ways are taken: ");
            assert!(plain.quiet().starts_with("s-0001"));
        }
    }

    #[test]
    fn a_full_disk_is_listed_and_read() {
        let dir = two_stores();
        let root = dir.path().join("one");
        let copy = dir.path().join("copy");
        fs::rename(&root, &copy).unwrap();
        fs::create_dir(&root).unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", root.to_str().unwrap()];
        if !rustix::process::geteuid().is_root() {
            // Who may not mount has no disk of his own to fill; the limits of files stand for it.
            fs::remove_dir(&root).unwrap();
            fs::rename(&copy, &root).unwrap();
            let list = dir.run_with_room(0, "list --store", &url(&dir));
            assert_eq!(list.code, Some(0), "{}", list.err);
            return;
        }
        assert!(Command::new("mount").args(mount).status().unwrap().success());
        let told = std::panic::catch_unwind(|| {
            let copied =
                Command::new("cp").arg("-r").arg(copy.join("sessions")).arg(&root).status();
            assert!(copied.unwrap().success());
            // It is filled to the last byte.
            let _ = fs::write(root.join("ballast"), vec![0; 1 << 20]);
            lists(dir.run(&format!("list --all --store {}", url(&dir))), "no space is left");
            reads(dir.run(&format!("show s-0001 --store {}", url(&dir))), "no space is left");
        });
        assert!(Command::new("umount").arg(&root).status().unwrap().success());
        told.unwrap();
    }

    /// Marks a database that nobody has open as one of version 99.
    fn make_newer(dir: &Dir, name: &str) {
        /// Where the header of a database has it.
        const USER_VERSION: usize = 60;
        let path = dir.path().join(name);
        assert!(!path.with_file_name(format!("{name}-wal")).exists());
        let mut bytes = fs::read(&path).unwrap();
        bytes[USER_VERSION..USER_VERSION + 4].copy_from_slice(&99_u32.to_be_bytes());
        fs::write(&path, bytes).unwrap();
    }

    #[test]
    fn an_index_of_a_newer_version_is_left_alone() {
        let dir = two_stores();
        dir.run(&format!("index build --store {}", url(&dir)));
        dir.run("search hi --all --store one").quiet();
        for name in ["one/.~index.db", "one/.~search.db"] {
            make_newer(&dir, name);
        }
        let names = || -> Vec<String> {
            let names = fs::read_dir(dir.path().join("one")).unwrap();
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        };
        let told = "is of version 99, newer than 5, the newest known here; it is left alone: update this program to use it";
        lists(dir.run(&format!("list --all --store {}", url(&dir))), told);
        lists(dir.run("list --all --store one"), told);
        reads(dir.run(&format!("show s-0001 --store {}", url(&dir))), told);
        let found = dir.run("search hi --all --store one");
        assert_eq!(found.code, Some(0), "{}", found.err);
        assert!(found.err.contains("is of version 99, newer than 2"), "{}", found.err);
        assert!(found.out.contains("hi"), "{}", found.out);
        let index = dir.run(&format!("index build --store {}", url(&dir)));
        assert_eq!(index.code, Some(1));
        assert!(index.err.contains(told), "{}", index.err);
        assert!(!names().iter().any(|name| name.contains("damaged")), "{:?}", names());
    }

    #[test]
    fn an_index_that_is_set_aside_is_told_of() {
        let damage = |dir: &Dir| {
            dir.write("one/.~index.db", "x".repeat(8192));
        };
        let dir = two_stores();
        for command in [
            format!("list --all --store {}", url(&dir)),
            format!("show s-0001 --store {}", url(&dir)),
            format!("append s-0001 --text x --store {}", url(&dir)),
            "list --all --store one".to_owned(),
            "show s-0001 --store one".to_owned(),
            "restore --store one".to_owned(),
            "resume --store one".to_owned(),
        ] {
            damage(&dir);
            let run = dir.run(&command);
            let told = "/one/.~index.db could not be used (file is not a database); it is kept as ";
            assert_eq!(run.err.matches(told).count(), 1, "{command}: {}", run.err);
        }
    }
}
