//! `cargo xtask screenshots`: the screens of the README, as text and as pictures.
//!
//! Each scene runs `sessionctl` in a terminal of its own, presses keys, and takes what is on the
//! screen: the text goes into the README below a mark, the picture into `docs/images`.

mod cells;
mod font;
mod picture;
mod scenes;
mod terminal;

use std::{fs, path::Path, process::Command};

use crate::{
    Error, Metadata, Report, Result, packages,
    process::{cargo, output, run as run_command},
};
use font::Fonts;
use scenes::{SCENES, Scene};
use terminal::Terminal;

/// Where the text of each screen goes.
const README: &str = "README.md";

/// Where the pictures go.
const IMAGES: &str = "docs/images";

/// Draws every scene.
pub fn run(metadata: &Metadata, report: &mut Report) {
    let root = &metadata.workspace_root;
    let ready = report.try_step("tools for screenshots", || {
        packages::install_program("tmux", "tmux")?;
        Fonts::find_or_install()
    });
    let Some(fonts) = ready else { return };
    let built = report.try_step("sessionctl", || {
        let mut build = cargo();
        run_command(build.args(["build", "--package", "session-context", "--bin", "sessionctl"]))?;
        let mut metadata = Command::new(env!("CARGO"));
        metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
        let answer = output(&mut metadata)?;
        let answer: serde_json::Value = serde_json::from_slice(&answer)
            .map_err(|source| Error::Answer { command: "cargo metadata".to_owned(), source })?;
        let target = answer["target_directory"].as_str().unwrap_or("target");
        Ok(Path::new(target).join("debug"))
    });
    let Some(programs) = built else { return };
    for scene in &SCENES {
        report.step(scene.name, || draw(scene, root, &programs, &fonts));
    }
}

fn draw(scene: &Scene, root: &Path, programs: &Path, fonts: &Fonts) -> Result<()> {
    let terminal = Terminal::open(programs, scene.width, scene.height)?;
    scene.prepare(root, terminal.dir())?;
    terminal.type_line(scene.command)?;
    let mut styled = String::new();
    for step in scene.steps {
        terminal.press(step.keys)?;
        styled = terminal.until(step.shows)?;
    }
    let screen = cells::parse(&styled, scene.width, scene.height);
    let images = root.join(IMAGES);
    fs::create_dir_all(&images).map_err(|source| Error::Write { path: images.clone(), source })?;
    picture::write(&screen, fonts, &images.join(format!("{}.png", scene.name)))?;
    put_text(&root.join(README), scene.name, &screen.text())
}

/// Puts a text into the block below its mark.
fn put_text(path: &Path, name: &str, text: &str) -> Result<()> {
    let read = |source| Error::Read { path: path.to_owned(), source };
    let old = fs::read_to_string(path).map_err(read)?;
    let mark = format!("<!-- screen: {name} -->\n\n```text\n");
    let gone = || Error::NoPlace { path: path.to_owned(), mark: mark.trim().to_owned() };
    let (before, rest) = old.split_once(&mark).ok_or_else(gone)?;
    let (_, behind) = rest.split_once("```\n").ok_or_else(gone)?;
    let new = format!("{before}{mark}{text}```\n{behind}");
    fs::write(path, new).map_err(|source| Error::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_below_its_mark_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("README.md");
        let page = |text: &str| {
            format!("one\n```text\nx\n```\n<!-- screen: tree -->\n\n```text\n{text}```\nend\n")
        };
        fs::write(&path, page("old\nlines\n")).unwrap();
        put_text(&path, "tree", "new\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), page("new\n"));
        let error = put_text(&path, "other", "new\n").unwrap_err().to_string();
        assert!(error.contains("<!-- screen: other -->"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), page("new\n"));
    }
}
