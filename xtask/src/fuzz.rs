//! `cargo xtask fuzz`: the fuzz targets, each for some time.

use std::{path::Path, process::Stdio};

use clap::Args;

use crate::{
    Report,
    process::{cargo, run as run_command},
};

const FOLDER: &str = "session-model/fuzz";
const TARGETS: [&str; 14] = [
    "breadcrumb",
    "context",
    "file",
    "import_claude",
    "import_codex",
    "line",
    "migration",
    "persisted",
    "query",
    "remote_reply",
    "remote_wire",
    "title_slot",
    "tree",
    "unpack",
];

/// What to fuzz, and how long.
#[derive(Args, Debug)]
pub struct Options {
    /// The target; all of them one after the other without
    #[arg(value_parser = TARGETS)]
    target: Option<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Installs cargo-fuzz if it is missing (minutes, once) and runs the targets.
///
/// New inputs go to `fuzz-target/corpus`, which git ignores; the committed seeds stay as they are.
pub fn run(options: &Options, report: &mut Report) {
    if !is_installed() {
        let install = ["install", "--locked", "cargo-fuzz"];
        if report.try_step("install cargo-fuzz", || run_command(cargo().args(install))).is_none() {
            return;
        }
    }
    for target in
        TARGETS.iter().filter(|name| options.target.as_deref().is_none_or(|t| t == **name))
    {
        report.step(&format!("fuzz: {target}"), || {
            let found = Path::new("fuzz-target/corpus").join(target);
            std::fs::create_dir_all(&found).map_err(crate::Error::Scratch)?;
            let mut command = std::process::Command::new("cargo");
            command.args(["+nightly", "fuzz", "run", "--fuzz-dir", FOLDER]);
            command.args(["--target-dir", "fuzz-target", target]).arg(found);
            command.arg(format!("{FOLDER}/corpus/{target}"));
            command.args(["--", &format!("-max_total_time={}", options.seconds)]);
            // Ours names the toolchain that runs us, which need not be the nightly one.
            run_command(command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN"))
        });
    }
}

fn is_installed() -> bool {
    let mut command = cargo();
    command.args(["fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_run() {
        let folder = format!("{}/../{FOLDER}/fuzz_targets", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(folder).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.map(|name| name.replace(".rs", "")).collect();
        names.sort();
        assert_eq!(names, TARGETS);
    }
}
