//! Every system call of `sessionctl` on the store, failing or killing, one run for each.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use session_model::Blob;

use crate::session::{
    self, BULK, FILE, HEADER, block_on, goes_on, id, look, only_private_files, says,
};
use crate::shipped::sessionctl;

/// Stands for the store's directory in the arguments of a command, as `FILE` does for its session.
pub const STORE: &str = "STORE";

/// Calls that touch files.
const CALLS: [&str; 26] = [
    "open",
    "openat",
    "read",
    "pread64",
    "write",
    "writev",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "ftruncate",
    "flock",
    "fstat",
    "newfstatat",
    "statx",
    "fchown",
    "fchmod",
    "getdents64",
];
/// Those of them that may find no room.
const WRITING: [&str; 7] =
    ["openat", "write", "writev", "pwrite64", "fsync", "fdatasync", "ftruncate"];

/// Those that change nothing on the disk: death there is as death at the next call that does.
const READING: [&str; 7] =
    ["read", "pread64", "flock", "fstat", "newfstatat", "statx", "getdents64"];

/// A command on a store.
pub struct Case<'a> {
    /// The files of the store, blobs being old.
    pub files: Vec<(String, String)>,
    pub args: &'a [&'a str],
    /// Looks at what the command left; the text says which fault struck.
    pub check: &'a dyn Fn(&Path, &Output, &str),
}

/// What a command does to one session.
struct Change<'a> {
    start: Option<&'a str>,
    /// What the new entry says, apart from its envelope.
    new: Option<&'a str>,
    /// Whether the old lines stay as they are.
    keeps_bytes: bool,
}

impl Change<'_> {
    fn sweep(&self, args: &[&str]) -> Sum {
        let files = self.start.iter().map(|start| (FILE.to_owned(), (*start).to_owned())).collect();
        sweep(&Case { files, args, check: &|store, output, what| check(store, self, output, what) })
    }
}

const IMAGE: &str = "aW1hZ2UgYnl0ZXMg";

pub fn append() -> String {
    let new = r#"{"role":"user","content":"new"}"#;
    let whole = session::whole();
    let torn = format!("{whole}{{\"type\":\"mess");
    let change = |start| Change { start, new: Some(new), keeps_bytes: true };
    let args = ["append", FILE, new];
    let starts = [&whole[..], &torn, whole.trim_end()];
    let sums = starts.map(|start| change(Some(start)).sweep(&args));
    let created = change(None).sweep(&["append", FILE, new, "--create"]);
    told(sums.into_iter().chain([created]))
}

pub fn append_image() -> String {
    let data = IMAGE.repeat(100);
    let message = format!(
        r#"{{"role":"user","content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}"#
    );
    let start = session::whole();
    let change = Change { start: Some(&start), new: Some(&data), keeps_bytes: true };
    told([change.sweep(&["append", FILE, &message])])
}

pub fn label() -> String {
    let start = session::whole();
    let change = Change { start: Some(&start), new: Some("mark"), keeps_bytes: true };
    told([change.sweep(&["label", FILE, "a", "mark"])])
}

pub fn migrate() -> String {
    let message =
        |n| format!(r#"{{"type":"message","message":{{"role":"user","content":"{n}"}}}}"#);
    let start =
        format!("{{\"type\":\"session\",\"id\":\"s\"}}\n{}\n{}{}\n", message(1), *BULK, message(2));
    let change = Change { start: Some(&start), new: None, keeps_bytes: false };
    told([change.sweep(&["migrate", FILE])])
}

pub fn gc() -> String {
    let [used, unused] = ["used", "unused"].map(Blob::new);
    let [used_name, unused_name] = [&used, &unused].map(|blob| blob.id().to_hex());
    let image = format!(
        r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"user","content":[{{"type":"image","data":"{}","mimeType":"image/png"}}]}}}}"#,
        used.id()
    );
    let session = format!("{HEADER}\n{image}\n{}", *BULK);
    let file = |name: String, text: &str| (name, text.to_owned());
    let files = vec![
        file(FILE.to_owned(), &session),
        file(format!("blobs/{used_name}"), "used"),
        file(format!("blobs/{unused_name}"), "unused"),
    ];
    let args = ["gc", "--agent-dir", STORE, "--apply"];
    let is_kept = |store: &Path, what: &str| {
        let read = |name: String| fs::read_to_string(store.join(name)).ok();
        assert_eq!(read(FILE.to_owned()).as_deref(), Some(&session[..]), "{what}");
        assert_eq!(read(format!("blobs/{used_name}")).as_deref(), Some("used"), "{what}");
        let times = fs::read_dir(store.join("trash/blobs")).into_iter().flatten();
        let mut times = times.map(|time| time.unwrap().file_name().into_string().unwrap());
        let trashed = times.find_map(|time| read(format!("trash/blobs/{time}/{unused_name}")));
        let there = read(format!("blobs/{unused_name}")).or_else(|| trashed.clone());
        assert_eq!(there.as_deref(), Some("unused"), "{what}");
        trashed.is_some()
    };
    let check = |store: &Path, output: &Output, what: &str| {
        let moved = is_kept(store, what);
        assert!(moved || !output.status.success(), "{what}: it is not in the trash");
        let again = plain(store, &args);
        assert!(again.status.success() && is_kept(store, what), "{what}: {again:?}");
        only_private_files(store, what);
    };
    told([sweep(&Case { files, args: &args, check: &check })])
}

pub fn doctor() -> String {
    const TORN: &str = r#"{"type":"mess"#;
    let whole = session::whole();
    let files = vec![(FILE.to_owned(), format!("{whole}{TORN}"))];
    let args = ["doctor", "--fix", STORE];
    let check = |store: &Path, _: &Output, what: &str| {
        let is_kept = || {
            let files = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
            let texts: Vec<_> = files.map(|path| fs::read_to_string(path).unwrap()).collect();
            assert!(texts.iter().any(|text| text.starts_with(&whole)), "{what}: {texts:?}");
            assert!(texts.iter().any(|text| text.ends_with(TORN)), "{what}: {texts:?}");
        };
        is_kept();
        let again = plain(store, &args);
        assert!(matches!(again.status.code(), Some(0 | 5)), "{what}: {again:?}");
        is_kept();
        goes_on(store, what);
    };
    told([sweep(&Case { files, args: &args, check: &check })])
}

/// How many faults struck, at how many calls.
pub type Sum = (usize, usize);

pub fn told(sums: impl IntoIterator<Item = Sum>) -> String {
    let (runs, calls) = sums.into_iter().fold((0, 0), |(runs, calls), (more_runs, more_calls)| {
        (runs + more_runs, calls + more_calls)
    });
    assert!(runs > 0);
    format!("{runs} faults at {calls} calls, nothing lost")
}

/// Strikes at every call of a command; at some of them, if sessions are large, in the short form.
fn sweep(case: &Case<'_>) -> Sum {
    let step = if BULK.is_empty() || crate::is_long() { 1 } else { 15 };
    strike(case, step, |_| true)
}

/// Kills a command at every call that changes something, in the long form; at some of them in the
/// short one.
pub fn kill(case: &Case<'_>) -> Sum {
    let step = match (crate::is_long(), BULK.is_empty()) {
        (true, _) => 1,
        (false, true) => 5,
        (false, false) => 15,
    };
    strike(case, step, |effect| crate::is_long() || effect == "signal=KILL")
}

/// Strikes at every so-manieth call, with these effects.
fn strike(case: &Case<'_>, step: usize, is_wanted: impl Fn(&str) -> bool) -> Sum {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let log = dir.path().join("log");
    let plain = strace(&store, case, &["-y", "-o", log.to_str().unwrap()]);
    assert!(matches!(plain.status.code(), Some(0 | 5)), "{plain:?}");
    let calls = calls_on(&store, &fs::read_to_string(&log).unwrap());
    let mut faults = 0;
    let mut seen = 0;
    for (call, n) in &calls {
        let mut effects = vec!["error=EIO"];
        effects.extend((!READING.contains(&call.as_str())).then_some("signal=KILL"));
        effects.extend(WRITING.contains(&call.as_str()).then_some("error=ENOSPC"));
        effects.retain(|effect| is_wanted(effect));
        seen += usize::from(!effects.is_empty());
        if seen % step != 0 {
            continue;
        }
        for effect in effects {
            let inject = format!("inject={call}:{effect}:when={n}");
            let options = ["-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject];
            let output = strace(&store, case, &options);
            let errors = String::from_utf8_lossy(&output.stderr);
            let what = format!("{:?} {inject}: {} {errors}", case.args, output.status);
            let is_known_end = matches!(output.status.code(), Some(0 | 1 | 3 | 4 | 5))
                || output.status.signal() == Some(9);
            assert!(is_known_end && !errors.contains("panicked"), "{what}");
            (case.check)(&store, &output, &what);
            faults += 1;
        }
    }
    (faults, calls.len())
}

/// The calls that name the store or a file in it, each with its number among those of its name.
fn calls_on(store: &Path, log: &str) -> Vec<(String, usize)> {
    let mut seen = HashMap::new();
    let mut found = Vec::new();
    for line in log.lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let n = seen.entry(call).and_modify(|n| *n += 1).or_insert(1);
        if CALLS.contains(&call) && rest.contains(store.to_str().unwrap()) {
            found.push((call.to_owned(), *n));
        }
    }
    assert!(found.iter().any(|(call, _)| call == "fdatasync" || call == "fsync"), "{log}");
    found
}

/// Runs the command on a fresh store.
fn strace(store: &Path, case: &Case<'_>, options: &[&str]) -> Output {
    let _ = fs::remove_dir_all(store);
    let make = |dir: &Path| fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).unwrap();
    make(store);
    for (name, content) in &case.files {
        make(store.join(name).parent().unwrap());
        session::write(store, name, content);
        if name.starts_with("blobs/") {
            let file = fs::File::options().append(true).open(store.join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(30 * 24 * 60 * 60)).unwrap();
        }
    }
    let mut command = Command::new("strace");
    command.args(options).arg(sessionctl());
    output(&mut command, store, case.args)
}

pub fn plain(store: &Path, args: &[&str]) -> Output {
    output(&mut Command::new(sessionctl()), store, args)
}

/// Runs a command that stands elsewhere, so that only its calls name the store.
fn output(command: &mut Command, store: &Path, args: &[&str]) -> Output {
    command.args(args.iter().map(|arg| match *arg {
        FILE => store.join(FILE),
        STORE => store.to_owned(),
        arg => arg.into(),
    }));
    command.current_dir("/").stdin(Stdio::null());
    command
        .output()
        .unwrap_or_else(|_| panic!("strace is missing; `cargo xtask faults` installs it"))
}

fn check(store: &Path, case: &Change<'_>, output: &Output, what: &str) {
    let out = String::from_utf8_lossy(&output.stdout);
    let start = case.start.unwrap_or_default();
    let old = start_entries(start);
    if case.keeps_bytes && case.start.is_some() {
        let now = fs::read_to_string(store.join(FILE)).unwrap();
        let whole = start.strip_suffix(r#"{"type":"mess"#);
        assert!(now.starts_with(whole.unwrap_or(start)), "{what}: {now}");
        if let Some(whole) = whole {
            let aside = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
            let mut aside = aside.filter(|path| path.to_string_lossy().contains(".torn-"));
            let kept = |path| fs::read_to_string(path).unwrap() == start[whole.len()..];
            assert!(now == start || aside.any(kept), "{what}: the torn end is gone");
        }
    }
    let session = look(store);
    let entries = session.as_ref().map(|session| session.entries()).unwrap_or_default();
    let there: Vec<_> = entries
        .iter()
        .map(|entry| {
            let (whole, missing) = block_on(session.as_ref().unwrap().resolved(entry));
            assert!(missing.is_empty(), "{what}: {missing:?}");
            says(&whole)
        })
        .collect();
    assert!(there.starts_with(&old), "{what}: {there:?}");
    let new = &there[old.len()..];
    assert!(new.len() <= usize::from(case.new.is_some()), "{what}: {there:?}");
    assert!(new.iter().all(|new| new.contains(case.new.unwrap())), "{what}: {there:?}");
    let is_told = output.status.success() || !out.is_empty();
    if is_told && case.new.is_some() {
        assert_eq!(entries.last().map(id).as_deref(), Some(out.trim()), "{what}");
    } else if is_told {
        let header = session.as_ref().unwrap().header().version();
        assert_eq!(header, f64::from(session_model::CURRENT_VERSION), "{what}");
        let file = fs::read_to_string(store.join(FILE)).unwrap();
        assert!(file.contains("\"version\":3"), "{what}: {file}");
    }
    drop(session);
    goes_on(store, what);
}

/// What the entries of a file say.
fn start_entries(file: &str) -> Vec<String> {
    let load = session_model::SessionDocument::load(file.to_owned().into(), &Default::default());
    load.map(|loaded| loaded.document.tree().entries().iter().map(says).collect())
        .unwrap_or_default()
}
