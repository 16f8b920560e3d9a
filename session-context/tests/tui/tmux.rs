//! A real terminal: tmux types the keys and shows the screen.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::shipped::sessionctl;

/// How long a screen may take to show what it is to show.
const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal with a shell in a directory of its own.
pub struct Tmux {
    dir: TempDir,
}

impl Tmux {
    /// A terminal of 80 columns and 24 rows.
    pub fn new() -> Self {
        let tmux = Self { dir: tempfile::tempdir().unwrap() };
        let command = sessionctl().parent().unwrap();
        let shell = tmux.path("shell.sh");
        // Nothing of the user's own: neither its prompt nor its settings.
        let path = format!("PATH='{}':\"$PATH\"", command.display());
        fs::write(&shell, format!("PS1='ready> '\n{path}\n")).unwrap();
        tmux.run(&[
            "-u",
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            "-c",
            tmux.dir.path().to_str().unwrap(),
            "-e",
            &format!("ENV={}", shell.display()),
            "-e",
            &format!("HOME={}", tmux.dir.path().display()),
            "-e",
            &format!("SESSION_AGENT_DIR={}", tmux.path("agent").display()),
            "-e",
            "LC_ALL=C.UTF-8",
            "-e",
            "NO_COLOR=1",
            "sh",
            "-i",
        ]);
        tmux.until("ready>");
        tmux
    }

    /// A path in the directory the shell is in.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Types a text.
    pub fn type_text(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
    }

    /// Presses keys by tmux's names for them.
    pub fn press(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    /// Types a command line.
    pub fn command(&self, line: &str) {
        self.type_text(line);
        self.press(&["Enter"]);
    }

    /// Gives the terminal another size.
    pub fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.run(&["resize-window", "-x", &width, "-y", &height]);
    }

    /// The process of the shell, or of what it became.
    pub fn shell(&self) -> u32 {
        self.run(&["list-panes", "-F", "#{pane_pid}"]).trim().parse().unwrap()
    }

    /// The process the shell runs.
    pub fn child(&self) -> u32 {
        let shell = self.shell();
        let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
        children.trim().parse().unwrap()
    }

    /// Ends the terminal, and waits until there is a file, which it reads.
    pub fn hang_up(&self, file: &str) -> String {
        self.run(&["kill-server"]);
        let start = Instant::now();
        loop {
            match fs::read_to_string(self.path(file)) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => assert!(start.elapsed() < PATIENCE, "it goes on without a terminal"),
            }
            std::thread::yield_now();
        }
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// The same with the escape sequences of its colours.
    pub fn colored(&self) -> String {
        self.run(&["capture-pane", "-p", "-e"])
    }

    /// Waits until the screen shows a text.
    ///
    /// What else is to be on the screen may come a moment later, as a screen is not drawn at once:
    /// wait for all of it with [`until_it`](Self::until_it).
    pub fn until(&self, text: &str) {
        self.until_it(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is as wanted, and returns it.
    pub fn until_it(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(start.elapsed() < PATIENCE, "never came: {what}\n{screen}");
        }
    }

    fn run(&self, args: &[&str]) -> String {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(self.path("tmux"))
            .args(args)
            .env_remove("TMUX")
            .output()
            .unwrap_or_else(|error| panic!("tmux, which `cargo xtask test` installs: {error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // The server is this terminal's own.
        let _ = Command::new("tmux").arg("-S").arg(self.path("tmux")).arg("kill-server").output();
    }
}
