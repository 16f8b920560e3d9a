//! A session from its first entry through a list, a search, an export and a bundle.

use crate::support::{Dir, session};

const ENTRY: &str = r#"{"type":"message","id":"a0000001","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"user","content":"fix the login, PASSWORD=correct-horse-1"}}"#;
const FILE: &str = ".xcsh/agent/sessions/--w-app--/one.jsonl";

#[test]
fn a_session_goes_all_ways() {
    let dir = Dir::new();
    dir.write(FILE, session(&[ENTRY]));
    let whole = dir.read(FILE);
    let listed = dir.run("list --all").quiet();
    assert!(listed.contains("s-0001") && listed.contains("fix the login"), "{listed}");
    let found = dir.run("search --all login");
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert!(found.out.contains("a0000001") && found.out.contains("1 of 1 entry"), "{}", found.out);

    let page = dir.run(&format!("export {FILE} --format md -o -"));
    assert_eq!(page.code, Some(0), "{}", page.err);
    assert!(page.out.contains("fix the login, PASSWORD="), "{}", page.out);
    assert!(!page.out.contains("correct-horse-1"), "{}", page.out);

    let packed = dir.run(&format!("pack {FILE} -o one.tar.gz"));
    assert_eq!(packed.code, Some(0), "{}", packed.err);
    let unpacked = dir.run("unpack one.tar.gz --into new");
    assert_eq!(unpacked.code, Some(0), "{}", unpacked.err);
    assert_eq!(dir.read("new/sessions/--w-app--/one.jsonl"), whole);
    assert_eq!(dir.read(FILE), whole);
}
