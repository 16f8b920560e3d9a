//! The ways on which a session leaves the program.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::shipped::sessionctl;

pub const FORMATS: [&str; 6] = ["md", "html", "json", "text", "claude", "codex"];

/// An agent's directory with sessions to hand on.
pub struct Agent {
    dir: TempDir,
}

impl Agent {
    pub fn new() -> Self {
        let agent = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(agent.folder()).unwrap();
        agent
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("agent")
    }

    /// Where its sessions are.
    pub fn folder(&self) -> PathBuf {
        self.root().join("sessions/--work-shop--")
    }

    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// What the command prints on both streams; it must succeed.
    fn run(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new(sessionctl());
        command.args(args).env("SESSION_AGENT_DIR", self.root()).env("HOME", self.dir.path());
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "sessionctl {}: {told}", args.join(" "));
        [output.stdout, output.stderr].concat()
    }

    /// Exports to standard output.
    pub fn printed(&self, session: &Path, format: &str, scope: &[&str]) -> Vec<u8> {
        let session = session.to_str().unwrap();
        self.run(&[&["export", session, "--format", format, "-o", "-"], scope].concat())
    }

    /// The JSON document of all branches.
    pub fn exported_json(&self, session: &Path) -> Vec<u8> {
        let file = self.dir.path().join("exported.json");
        let (session, to) = (session.to_str().unwrap(), file.to_str().unwrap());
        self.run(&["export", session, "--format", "json", "--all", "--force", "-o", to]);
        fs::read(&file).unwrap()
    }

    /// Exports to a file that is named, and tells of it as JSON.
    pub fn written(&self, session: &Path, format: &str) -> Vec<u8> {
        let (session, file) = (session.to_str().unwrap(), self.dir.path().join("exported"));
        let told = self.run(&[
            "export",
            session,
            "--format",
            format,
            "--json",
            "--force",
            "-o",
            file.to_str().unwrap(),
        ]);
        [fs::read(&file).unwrap(), told].concat()
    }

    /// Packs sessions, and returns the archive with names and contents of what is unpacked from it.
    pub fn packed(&self, sessions: &[PathBuf]) -> Vec<u8> {
        let bundle = self.dir.path().join("packed.bundle");
        let mut args =
            vec!["pack", "--redact", "--json", "--force", "-o", bundle.to_str().unwrap()];
        args.extend(sessions.iter().map(|session| session.to_str().unwrap()));
        let mut all = self.run(&args);
        let archive = fs::read(&bundle).unwrap();
        flate2::read::GzDecoder::new(&*archive).read_to_end(&mut all).unwrap();
        let into = tempfile::tempdir().unwrap();
        let told = self.run(&[
            "unpack",
            bundle.to_str().unwrap(),
            "--json",
            "--into",
            into.path().to_str().unwrap(),
        ]);
        all.extend(told);
        below(into.path(), &mut all);
        all
    }
}

/// Names and contents of all files of a folder.
pub fn below(folder: &Path, all: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.extend(format!("\n{}\n", path.display()).as_bytes());
        if path.is_dir() {
            below(&path, all);
        } else {
            all.extend(fs::read(&path).unwrap());
        }
    }
}
