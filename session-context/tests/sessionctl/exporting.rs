//! `export`, `pack` and `unpack`.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Dir, json, session};

const SECRET: &str = "correct-horse-1";

/// A directory with an agent directory of one session, its artifact, and its blob.
fn agent() -> Dir {
    let dir = Dir::new();
    let entry = format!(
        r#"{{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:00.000Z","message":{{"role":"user","content":"DB_PASSWORD={SECRET}"}}}}"#
    );
    dir.write("agent/sessions/--w-app--/one.jsonl", session(&[&entry]));
    dir.write("agent/sessions/--w-app--/one/0.bash.log", SECRET);
    dir
}

fn mode(dir: &Dir, name: &str) -> u32 {
    dir.path().join(name).metadata().unwrap().permissions().mode() & 0o777
}

const HIDDEN: &str = "hidden: named-secret: 1 in entry a\n";

#[test]
fn an_export_hides_secrets_and_is_private() {
    let dir = agent();
    let before = dir.snapshot().len();
    for (format, name) in
        [("md", "one.md"), ("html", "one.html"), ("json", "one.json"), ("text", "one.txt")]
    {
        let run = dir.run(&format!("--store agent export s-0001 --format {format}"));
        let out = run.telling(HIDDEN);
        assert!(out.starts_with(&format!("wrote {name}: 1 entry, ")), "{out}");
        assert!(!dir.read(name).contains(SECRET), "{format}");
        assert_eq!(mode(&dir, name), 0o600);
    }
    assert_eq!(dir.snapshot().len(), before + 4, "nothing else was written");
    let out = dir.run("--store agent export s-0001 -o page.html --json").telling(HIDDEN);
    let told = json(&out);
    assert_eq!(told.field("format").unwrap().as_text().unwrap(), "html");
    let redacted = r#"[{"kind":"named-secret","count":1,"places":["entry a"]}]"#;
    assert_eq!(told.field("redacted").unwrap().as_str(), redacted);
}

#[test]
fn secrets_are_left_in_only_if_that_is_asked_for() {
    let dir = agent();
    let said = "warning: secrets were not looked for and may be in it (--no-redact)\n";
    let out = dir.run("--store agent export s-0001 --format text --no-redact -o -").telling(said);
    assert!(out.contains(SECRET));
    assert!(out.contains("Secrets were not looked for: this may hold some."));
}

#[test]
fn an_image_comes_along_from_its_blob() {
    let dir = Dir::new();
    let png = b"\x89PNG\r\n\x1a\n0123456789";
    let blob = session_model::Blob::new(&png[..]);
    dir.write(&format!("agent/blobs/{}", blob.id().to_hex()), png);
    let entry = format!(
        r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"user","content":[{{"type":"image","mimeType":"image/png","data":"{}"}}]}}}}"#,
        blob.id()
    );
    dir.write("agent/sessions/--w-app--/one.jsonl", session(&[&entry]));
    let out = dir.run("--store agent export s-0001 --format html -o -").quiet();
    assert!(
        out.contains(
            "<img alt=\"image\" loading=\"lazy\" src=\"data:image/png;base64,iVBORw0KGgow"
        )
    );
}

#[test]
fn a_file_that_is_there_stays() {
    let dir = agent();
    dir.write("one.md", "mine");
    let run = dir.run("--store agent export s-0001");
    run.failed(1, &format!("{HIDDEN}error: one.md is there already; --force replaces it\n"));
    assert_eq!(dir.read("one.md"), "mine");
    dir.run("--store agent export s-0001 --force").telling(HIDDEN);
    assert!(dir.read("one.md").starts_with("# DB\\_PASSWORD=\\[redacted:named-secret\\]\n"));
    assert_eq!((dir.names(), mode(&dir, "one.md")), (vec!["agent".into(), "one.md".into()], 0o600));
    dir.run("--store agent export s-0001 -o - --json").failed(
        2,
        "error: --json tells about the file; with -o - the export itself is printed: leave one of them out\n",
    );
    let unknown = dir.run("--store agent export s-0001 --leaf nope -o -");
    unknown.failed(1, "error: entry nope not found; list the entries to see which there are\n");
}

const PACKED: &str =
    "note: sessions are packed to the byte, with all secrets in them (--redact hides them)\n";

#[test]
fn a_session_is_packed_and_unpacked() {
    let dir = agent();
    let out = dir.run("pack agent/sessions/--w-app--/one.jsonl -o a.tar.gz").telling(PACKED);
    assert!(
        out.starts_with(
            "packed sessions/--w-app--/one.jsonl\nwrote a.tar.gz: 1 session, 2 files, "
        ),
        "{out}"
    );
    let digest = out.lines().last().unwrap().to_owned();
    dir.run("--store agent pack s-0001 -o b.tar.gz").telling(PACKED);
    let bytes = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert_eq!(bytes("a.tar.gz"), bytes("b.tar.gz"), "the same session gives the same file");
    assert_eq!(mode(&dir, "a.tar.gz"), 0o600);
    let again = dir.run("--store agent pack s-0001 -o b.tar.gz");
    again.failed(1, &format!("{PACKED}error: b.tar.gz is there already; --force replaces it\n"));

    let out = dir.run("unpack a.tar.gz --dry-run").quiet();
    assert!(
        out.starts_with("sessions/--w-app--/one.jsonl (no title)\nwhole: 1 session, 2 files, "),
        "{out}"
    );
    assert!(!dir.names().contains(&"new".to_owned()));
    let out = dir.run("unpack a.tar.gz --into new").quiet();
    assert_eq!(
        out,
        format!("unpacked sessions/--w-app--/one.jsonl\n1 artifact, 0 blobs; {digest}\n")
    );
    for name in ["sessions/--w-app--/one.jsonl", "sessions/--w-app--/one/0.bash.log"] {
        assert_eq!(dir.read(&format!("new/{name}")), dir.read(&format!("agent/{name}")));
        assert_eq!(mode(&dir, &format!("new/{name}")), 0o600);
    }
    let told = json(&dir.run("unpack a.tar.gz --into new --json").quiet());
    assert_eq!(told.field("skipped").unwrap().as_str(), r#"["sessions/--w-app--/one.jsonl"]"#);

    dir.write("new/sessions/--w-app--/one.jsonl", session(&[]));
    dir.run("unpack a.tar.gz --into new").failed(
        1,
        "error: one file is there already with other content; nothing was changed: sessions/--w-app--/one.jsonl\n",
    );
    assert_eq!(dir.read("new/sessions/--w-app--/one.jsonl"), session(&[]));
    dir.write("cut.tar.gz", &bytes("a.tar.gz")[..200]);
    let cut = dir.run("unpack cut.tar.gz --into other");
    assert!(cut.err.starts_with("error: th"), "{}", cut.err);
    assert!(!dir.names().contains(&"other".to_owned()));
}

#[test]
fn a_redacted_bundle_tells_what_it_hid() {
    let dir = agent();
    let run = dir.run("--store agent pack s-0001 -o a.tar.gz --redact");
    run.telling("hidden: named-secret: 2 in sessions/--w-app--/one.jsonl, sessions/--w-app--/one/0.bash.log\n");
    let note = "note: secrets were hidden in it when it was packed\n";
    dir.run("unpack a.tar.gz --into new").telling(note);
    for name in ["one.jsonl", "one/0.bash.log"] {
        assert!(!dir.read(&format!("new/sessions/--w-app--/{name}")).contains(SECRET));
    }
}

#[test]
fn names_of_a_redacted_bundle_tell_no_secret() {
    let dir = agent();
    dir.write(&format!("agent/sessions/--w-app--/one/1.{SECRET}.log"), "x");
    dir.run("--store agent pack s-0001 -o a.tar.gz --redact").telling(
        "hidden: named-secret: 3 in [redacted], sessions/--w-app--/one.jsonl, sessions/--w-app--/one/0.bash.log\n",
    );
    dir.run("unpack a.tar.gz --into new")
        .telling("note: secrets were hidden in it when it was packed\n");
    let folder = dir.path().join("new/sessions/--w-app--/one");
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["0.bash.log", "1.[redacted-named-secret].log"]);
}

#[test]
fn nothing_is_unpacked_through_a_link() {
    let dir = agent();
    dir.run("--store agent pack s-0001 -o a.tar.gz").telling(PACKED);
    std::fs::create_dir(dir.path().join("outside")).unwrap();
    for link in ["new/sessions", "new/sessions/--w-app--"] {
        let path = dir.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside"), &path).unwrap();
        let run = dir.run("unpack a.tar.gz --into new");
        assert!(run.err.starts_with("error: "), "{}", run.err);
        assert_eq!(std::fs::read_dir(dir.path().join("outside")).unwrap().count(), 0);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing() {
    let dir = agent();
    let files =
        || dir.snapshot().into_iter().map(|(path, _, bytes)| (path, bytes)).collect::<Vec<_>>();
    let before = files();
    let run = dir.run("--store agent export s-0001 -o agent");
    assert!(run.err.contains("agent is a directory; name a file in it"), "{}", run.err);
    let run = dir.run("--store agent export s-0001 -o nowhere/one.md --force");
    assert!(run.err.contains("nowhere/one.md"), "{}", run.err);
    std::os::unix::fs::symlink("agent/sessions", dir.path().join("link.md")).unwrap();
    std::os::unix::fs::symlink("gone", dir.path().join("dangling.md")).unwrap();
    for name in ["link.md", "dangling.md"] {
        let run = dir.run(&format!("--store agent export s-0001 -o {name}"));
        assert!(!run.err.is_empty() && run.out.is_empty(), "{}", run.err);
        std::fs::remove_file(dir.path().join(name)).unwrap();
    }
    assert_eq!(files(), before);
}

#[cfg(feature = "encrypt")]
#[test]
fn an_encrypted_bundle_needs_its_passphrase() {
    let dir = agent();
    dir.write("good", "open sesame\n");
    dir.write("bad", "open barley\n");
    dir.run("--store agent pack s-0001 -o a.age --encrypt --passphrase-file good").telling(PACKED);
    let bytes = std::fs::read(dir.path().join("a.age")).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> scrypt "));
    let wrong = dir.run("unpack a.age --into new --passphrase-file bad");
    wrong.failed(1, "error: this passphrase does not open the bundle\n");
    assert!(!dir.names().contains(&"new".to_owned()));
    let out =
        dir.command("unpack a.age --into new").env("SESSION_PASSPHRASE", "open sesame").output();
    assert!(out.unwrap().status.success());
    let name = "sessions/--w-app--/one.jsonl";
    assert_eq!(dir.read(&format!("new/{name}")), dir.read(&format!("agent/{name}")));
}

#[test]
fn the_format_goes_with_the_name_or_is_asked_for() {
    let dir = agent();
    let name = "--store agent export s-0001 --json -o";
    for (file, format) in [("a.HTML", "html"), ("notes", "md"), ("b.txt", "text")] {
        let out = dir.run(&format!("{name} {file}")).telling(HIDDEN);
        assert_eq!(json(&out).field("format").unwrap().as_text().unwrap(), format);
    }
    let told = "error: no format goes with .pdf; choose one with --format\n";
    dir.run(&format!("{name} c.pdf")).failed(2, told);
    let out = dir.run(&format!("{name} c.pdf --format md")).telling(HIDDEN);
    assert_eq!(json(&out).field("file").unwrap().as_text().unwrap(), "c.pdf");
}
