//! Bundles that are made to do harm.

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::*;

/// A bundle made by hand: files with their kind, name and content, and what links lead to.
fn forged(files: &[(EntryType, &str, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (kind, name, content) in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        let body: &[u8] = if is_link { b"" } else { content };
        if is_link {
            header.set_link_name_literal(content).unwrap();
        }
        header.set_size(body.len() as u64);
        header.set_mode(0o777);
        header.set_cksum();
        tar.append(&header, body).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// A manifest of a session and one more file.
fn listing(name: &str, content: &[u8]) -> Vec<u8> {
    let session = b"{\"type\":\"session\",\"id\":\"s\"}\n";
    let member = |name: &str, bytes: &[u8]| {
        let digest = super::super::manifest::digest(bytes);
        format!("{{\"key\":\"{name}\",\"bytes\":{},\"sha256\":\"{digest}\"}}", bytes.len())
    };
    let mut members = [(KEY, member(KEY, session)), (name, member(name, content))];
    members.sort();
    let members: Vec<_> = members.into_iter().map(|(_, member)| member).collect();
    format!(
        "{{\"format\":\"session-bundle\",\"version\":1,\"redacted\":false,\"sessions\":[{{\"key\":\"{KEY}\",\"id\":\"s\"}}],\"members\":[{}]}}\n",
        members.join(",")
    )
    .into_bytes()
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

#[test]
fn names_outside_of_sessions_are_refused() {
    for name in [
        "../evil",
        "/etc/passwd",
        "sessions/../../evil",
        "sessions/--w--/other.jsonl",
        "history.db",
        "sessions/--w--/2026-03-01T09-00-00-000Z_s1/../x",
        "blobs/short",
        "sessions",
        "sessions/--w--/2026-03-01T09-00-00-000Z_s1x/0.log",
        "blobs/../x",
        "a\\\\b",
        "",
        "blobs/0000000000000000000000000000000000000000000000000000000000000000",
    ] {
        let manifest = listing(name, b"x");
        let refused = refusal(&forged(&[(EntryType::Regular, "manifest.json", &manifest)]));
        assert!(
            refused.ends_with("which is no place of a session; it was not made by `pack`"),
            "{name}: {refused}"
        );
    }
}

#[test]
fn links_duplicates_and_what_is_not_listed_are_refused() {
    let session = b"{\"type\":\"session\",\"id\":\"s\"}\n";
    let artifact = "sessions/--w--/2026-03-01T09-00-00-000Z_s1/0.log";
    let manifest = listing(artifact, b"x");
    let digest = format!("{}\n", super::super::manifest::digest(&manifest));
    let good = [
        (EntryType::Regular, "manifest.json", &manifest[..]),
        (EntryType::Regular, KEY, &session[..]),
        (EntryType::Regular, artifact, b"x"),
        (EntryType::Regular, "manifest.sha256", digest.as_bytes()),
    ];
    // The key of the session sorts behind those of its artifacts: `/` comes after `.`.
    let mut order = good;
    order[1..3].sort_by_key(|(_, name, _)| *name);
    let good = order;
    assert_eq!(read(&forged(&good)).unwrap().members().len(), 2);

    let changed = |at: usize, file: (EntryType, &'static str, &'static [u8])| {
        let mut files = good.to_vec();
        files[at] = file;
        refusal(&forged(&files))
    };
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::Fifo,
        EntryType::Char,
    ] {
        let refused = changed(2, (kind, "x", b"/etc/passwd"));
        assert!(refused.starts_with("the bundle is damaged"), "{kind:?}: {refused}");
    }
    let twice: Vec<_> = good[..3].iter().chain(&good[1..]).copied().collect();
    let more: Vec<_> = good.iter().copied().chain([(EntryType::Regular, "x", &b"x"[..])]).collect();
    let less: Vec<_> = good[..2].iter().chain(&good[3..]).copied().collect();
    for files in [twice, more, less, good[..3].to_vec()] {
        assert!(refusal(&forged(&files)).starts_with("the bundle is damaged"));
    }
    assert!(changed(3, (EntryType::Regular, "manifest.sha256", b"0")).contains("damaged"));
    assert_eq!(refusal(b"PK\x03\x04"), "this is no bundle of sessions");
    assert_eq!(
        refusal(&forged(&[(EntryType::Regular, "x", b"{}")])),
        "this is no bundle of sessions"
    );
    let newer = br#"{"format":"session-bundle","version":2}"#;
    let newer = refusal(&forged(&[(EntryType::Regular, "manifest.json", newer)]));
    assert_eq!(newer, "this bundle is of version 2; this program reads up to 1");
}

#[tokio::test]
async fn bombs_are_refused_before_they_are_read() {
    let storage = Arc::new(MemoryStorage::new());
    let header = "{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w\"}\n";
    put(&storage, KEY, format!("{header}{}", " ".repeat(24 << 20))).await;
    let bytes = gathered(&storage).await.to_bytes().unwrap();
    assert!(bytes.len() < 64 << 10);
    let limits = BundleLimits::default().max_bytes(1 << 20);
    let refused = Bundle::from_bytes(&bytes, &limits).unwrap_err();
    assert!(matches!(refused, BundleError::TooLarge { limit: 1_048_576 }), "{refused}");
    let deep = [&b"{\"format\":"[..], &[b'['; 1 << 20]].concat();
    let refused = refusal(&forged(&[(EntryType::Regular, "manifest.json", &deep)]));
    assert!(refused.starts_with("the bundle is damaged: "), "{refused}");
    let manifest = vec![b' '; 80 << 20];
    let refused = refusal(&forged(&[(EntryType::Regular, "manifest.json", &manifest)]));
    assert_eq!(refused, "this is no bundle of sessions");
}

#[test]
fn a_file_that_is_a_folder_too_is_refused() {
    let folder = KEY.strip_suffix(".jsonl").unwrap();
    let session =
        |name: &str| BundledSession { key: key(name), id: "s".into(), title: None, cwd: None };
    let other = format!("{KEY}.jsonl");
    for (files, twice) in [
        ([KEY, &format!("{folder}/a"), &format!("{folder}/a/b/c")], format!("{folder}/a")),
        ([KEY, &format!("{KEY}/a"), &other], KEY.to_owned()),
    ] {
        let mut bundle = Bundle::default();
        bundle.sessions.push(session(KEY));
        bundle.sessions.extend((files[2] == other).then(|| session(&other)));
        let files = files.map(|name| (key(name), Bytes::from_static(b"{}\n")));
        bundle.members.extend(files);
        assert_eq!(
            refusal(&bundle.to_bytes().unwrap()),
            format!("the bundle is damaged: {twice} is a file and a folder; get it again")
        );
    }
}

#[test]
fn a_session_twice_and_too_many_files_are_refused() {
    let session = format!("{{\"key\":\"{KEY}\",\"id\":\"s\"}}");
    let file = b"{\"type\":\"session\",\"id\":\"s\"}\n";
    let digest = super::super::manifest::digest(file);
    let member = format!("{{\"key\":\"{KEY}\",\"bytes\":{},\"sha256\":\"{digest}\"}}", file.len());
    let packed = |sessions: &[&str], members: &[&str]| {
        let manifest = format!(
            "{{\"format\":\"session-bundle\",\"version\":1,\"redacted\":false,\"sessions\":[{}],\"members\":[{}]}}\n",
            sessions.join(","),
            members.join(",")
        );
        let digest = format!("{}\n", super::super::manifest::digest(manifest.as_bytes()));
        forged(&[
            (EntryType::Regular, "manifest.json", manifest.as_bytes()),
            (EntryType::Regular, KEY, file),
            (EntryType::Regular, "manifest.sha256", digest.as_bytes()),
        ])
    };
    assert!(read(&packed(&[&session], &[&member])).is_ok());
    let damaged = "the bundle is damaged: its files are not in order; get it again";
    assert_eq!(refusal(&packed(&[&session, &session], &[&member])), damaged);
    assert_eq!(refusal(&packed(&[&session], &[&member, &member])), damaged);
    let few = BundleLimits { max_members: 2, ..BundleLimits::default() };
    for (sessions, members) in [(1, 3), (3, 1)] {
        let bytes = packed(&vec![&*session; sessions], &vec![&*member; members]);
        let refused = Bundle::from_bytes(&bytes, &few).unwrap_err();
        assert!(matches!(refused, BundleError::TooManyFiles { limit: 2 }), "{refused}");
    }
}

#[test]
fn names_that_only_some_systems_mind_are_names() {
    let folder = KEY.strip_suffix(".jsonl").unwrap();
    let mut bundle = Bundle::default();
    let session = BundledSession { key: key(KEY), id: "s".into(), title: None, cwd: None };
    bundle.sessions.push(session);
    bundle.members.insert(key(KEY), Bytes::from_static(b"{}\n"));
    for name in
        ["a.log", "A.log", "C:x", "con", "NUL.log", "x.", " y ", "é", "e\u{301}", "%2e%2e", "a:b"]
    {
        bundle.members.insert(key(&format!("{folder}/{name}")), name.to_owned().into());
    }
    assert_eq!(read(&bundle.to_bytes().unwrap()).unwrap(), bundle);
}

#[test]
fn a_name_that_never_ends_is_refused() {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    let mut header = Header::new_gnu();
    let name = vec![b'a'; 80 << 20];
    header.set_path("././@LongLink").unwrap();
    header.set_entry_type(EntryType::GNULongName);
    header.set_size(name.len() as u64);
    header.set_cksum();
    tar.append(&header, &name[..]).unwrap();
    let bytes = tar.into_inner().unwrap().finish().unwrap();
    let refused = read(&bytes).unwrap_err();
    assert!(matches!(refused, BundleError::TooLarge { .. }), "{refused}");
}
