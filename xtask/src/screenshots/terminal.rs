//! A terminal in the background: tmux types the keys and tells what is on the screen.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{Error, Result, process::output};

/// How long a screen may take to show what it is to show.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with a shell in a directory of its own.
pub(super) struct Terminal(TempDir);

impl Terminal {
    pub(super) fn open(programs: &Path, width: u16, height: u16) -> Result<Self> {
        let terminal = Self(tempfile::tempdir().map_err(Error::Scratch)?);
        let dir = terminal.dir();
        let start = dir.join("start.sh");
        let path = format!("PS1='ready> '\nPATH='{}':\"$PATH\"\n", programs.display());
        fs::write(&start, path).map_err(|source| Error::Write { path: start.clone(), source })?;
        let (width, height) = (width.to_string(), height.to_string());
        let env = |name: &str, path: &Path| format!("{name}={}", path.display());
        terminal.tmux(&[
            "-u",
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &width,
            "-y",
            &height,
            "-c",
            &dir.display().to_string(),
            "-e",
            &env("ENV", &start),
            "-e",
            &env("HOME", dir),
            "-e",
            &env("SESSION_AGENT_DIR", &dir.join("agent")),
            "-e",
            "LC_ALL=C.UTF-8",
            "-e",
            "NO_COLOR=",
            "sh",
            "-i",
        ])?;
        terminal.until("ready>")?;
        Ok(terminal)
    }

    pub(super) fn dir(&self) -> &Path {
        self.0.path()
    }

    /// Types a command line.
    pub(super) fn type_line(&self, line: &str) -> Result<()> {
        self.tmux(&["send-keys", "-l", line])?;
        self.press(&["Enter"])
    }

    /// Presses keys by tmux's names for them; a text of several letters is typed.
    pub(super) fn press(&self, keys: &[&str]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        self.tmux(&[&["send-keys"], keys].concat()).map(|_| ())
    }

    /// Waits until the screen shows a text, and returns the screen with its colours.
    pub(super) fn until(&self, wanted: &'static str) -> Result<String> {
        let start = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"])?;
            if screen.contains(wanted) {
                return self.tmux(&["capture-pane", "-p", "-e"]);
            }
            if start.elapsed() > PATIENCE {
                return Err(Error::Screen { wanted, screen });
            }
        }
    }

    fn tmux(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.dir().join("tmux")).args(args).env_remove("TMUX");
        Ok(String::from_utf8_lossy(&output(&mut command)?).into_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The server is this terminal's own, and may be gone already.
        let _ =
            Command::new("tmux").arg("-S").arg(self.dir().join("tmux")).arg("kill-server").output();
    }
}
