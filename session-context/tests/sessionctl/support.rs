//! Running the command in a directory of its own.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use session_model::json::RawJson;
use tempfile::TempDir;

use crate::shipped::sessionctl;

/// The sessions that are shipped.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data");

/// A directory the command runs in.
pub struct Dir(TempDir);

/// What a run of the command gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Everything in a directory but times of access: names, contents, and times of change.
pub type Snapshot = Vec<(PathBuf, SystemTime, Option<Vec<u8>>)>;

impl Dir {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A directory with one of the shipped sessions, by its name without `.jsonl`.
    pub fn with_example(name: &str) -> Self {
        let dir = Self::new();
        dir.write(&format!("{name}.jsonl"), fs::read(format!("{EXAMPLES}/{name}.jsonl")).unwrap());
        dir
    }

    /// A directory with all shipped sessions.
    pub fn with_examples() -> Self {
        let dir = Self::new();
        for name in ["damaged", "demo", "version-1"] {
            let file = format!("{name}.jsonl");
            dir.write(&file, Self::with_example(name).read(&file));
        }
        dir
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file nobody else can read.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        use std::os::unix::fs::PermissionsExt;

        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The names of everything in the directory.
    pub fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn snapshot(&self) -> Snapshot {
        let mut found = vec![];
        let mut open = vec![self.path().to_owned()];
        while let Some(path) = open.pop() {
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let content = meta.is_file().then(|| fs::read(&path).unwrap());
            found.push((path, meta.modified().unwrap(), content));
        }
        found.sort();
        found
    }

    /// The command with these arguments, separated by spaces.
    pub fn command(&self, args: &str) -> Command {
        self.prepared(Command::new(sessionctl()), args)
    }

    /// Runs the command as somebody permissions count for, should the tests run as root.
    pub fn run_restricted(&self, args: &str) -> Run {
        if !rustix::process::geteuid().is_root() {
            return self.run(args);
        }
        let mut command = Command::new("setpriv");
        command.arg("--bounding-set=-dac_override,-dac_read_search");
        command.arg(sessionctl());
        run(&mut self.prepared(command, args))
    }

    /// Runs the command where no file gets larger than so many blocks of 512 bytes.
    pub fn run_with_room(&self, blocks: u32, args: &str, last: &str) -> Run {
        let mut command = Command::new("sh");
        let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(sessionctl());
        run(self.prepared(command, args).arg(last))
    }

    fn prepared(&self, mut command: Command, args: &str) -> Command {
        command.args(args.split_whitespace()).current_dir(self.path());
        command.env("HOME", self.path()).stdin(Stdio::null());
        for name in [
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "KITTY_WINDOW_ID",
            "NO_COLOR",
            "SESSION_AGENT_DIR",
            "TERM",
            "TERM_SESSION_ID",
            "TMUX_PANE",
            "WEZTERM_PANE",
            "WT_SESSION",
            "ZELLIJ_PANE_ID",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the command with these arguments, separated by spaces.
    pub fn run(&self, args: &str) -> Run {
        run(&mut self.command(args))
    }

    /// Runs the command with these arguments, and one more that may hold spaces.
    pub fn run_with(&self, args: &str, last: &str) -> Run {
        run(self.command(args).arg(last))
    }

    pub fn run_with_input(&self, args: &str, input: &str) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        match child.stdin.take().unwrap().write_all(input.as_bytes()) {
            // A command that refuses before it reads may be gone by now.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        finished(child.wait_with_output().unwrap())
    }
}

fn run(command: &mut Command) -> Run {
    finished(command.output().unwrap())
}

fn finished(output: std::process::Output) -> Run {
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// The output of a run that went well and had nothing to tell.
    #[track_caller]
    pub fn quiet(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        self.out
    }

    /// The output of a run that went well and told this.
    #[track_caller]
    pub fn telling(self, err: &str) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), err), "{}", self.out);
        self.out
    }

    /// Makes sure that a run failed like this, with nothing on standard output.
    #[track_caller]
    pub fn failed(self, code: i32, err: &str) {
        assert_eq!(self, Run { code: Some(code), out: String::new(), err: err.to_owned() });
    }
}

/// The one JSON document of an output.
#[track_caller]
pub fn json(out: &str) -> RawJson {
    let document = out.strip_suffix('\n').unwrap();
    let json = RawJson::parse(document.to_owned()).unwrap();
    assert_eq!(json.as_str(), document, "there is more than the document");
    json
}

/// A session of version 3 with these entries.
pub fn session(entries: &[&str]) -> String {
    let header = r#"{"type":"session","version":3,"id":"s-0001","timestamp":"2026-03-01T09:00:00Z","cwd":"/w/app"}"#;
    let mut file = format!("{header}\n");
    entries.iter().for_each(|entry| file.extend([*entry, "\n"]));
    file
}
