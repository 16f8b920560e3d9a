//! Replays what an existing session store did, recorded case by case, and compares.
//!
//! The cases lie in `tests/golden-cases`, or in the directory that the environment variable
//! `SESSION_GOLDEN_DIR` names. Where the recording is not what it should be, our own right answers
//! lie in `tests/golden-cases`, each with its reason; `docs/compatibility.md` tells them all.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod calls;
mod case;
mod compare;
mod dirs;
mod findings;
mod listing;
mod open;
mod ops;
mod resuming;
mod state;
mod value;
mod vectors;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use case::Case;
use world::{Backend, own_cases};

/// Cases of the prompt history, which `session-store-indexed` replays in its own tests.
const ELSEWHERE: &[&str] = &["history-reopen", "history-vectors"];

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let own = own_cases();
    let folder = std::env::var_os("SESSION_GOLDEN_DIR").map_or(own.clone(), PathBuf::from);
    let names = names_of_cases(&folder).unwrap_or_else(|error| {
        panic!("the cases in {} cannot be read: {error}", folder.display())
    });
    let mut trials = Vec::new();
    for name in &names {
        for backend in Backend::ALL {
            let (name, folder, own) = (name.clone(), folder.join(name), own.join(name));
            trials.push(Trial::test(format!("{}::{name}", backend.name()), move || {
                replay(&name, folder, own, backend).map_err(|error| Failed::from(error.to_string()))
            }));
        }
    }
    trials.push(Trial::test("own cases are documented", move || {
        own_cases_are_documented(&own).map_err(|error| Failed::from(error.to_string()))
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The cases of a folder that are to be replayed here.
fn names_of_cases(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.join("case.json").is_file() {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.retain(|name| !ELSEWHERE.contains(&name.as_str()));
    names.sort();
    Ok(names)
}

/// Each case with right answers of ours is named in `docs/compatibility.md`.
fn own_cases_are_documented(own: &Path) -> Result<(), Failure> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compatibility.md");
    let page = std::fs::read_to_string(page)?;
    let mut missing = names_of_cases(own)?;
    missing.retain(|name| case::has_own_answers(&own.join(name)));
    missing.retain(|name| !page.contains(&format!("`{name}`")));
    match &missing[..] {
        [] => Ok(()),
        missing => {
            Err(format!("docs/compatibility.md says nothing of {}", missing.join(", ")).into())
        }
    }
}

fn replay(name: &str, folder: PathBuf, own: PathBuf, backend: Backend) -> Result<(), Failure> {
    let case = Case::read(name, folder, own)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let kind = case.flag("kind")?.and_then(|kind| kind.as_text()).unwrap_or_default();
        match kind.as_str() {
            "open" => open::replay(&case, backend).await,
            "ops" => ops::replay(&case, backend).await,
            "vectors" => vectors::replay(&case, backend).await,
            "dir" => dirs::replay(&case, backend).await,
            other => Err(format!("nothing replays cases of kind {other}").into()),
        }
    })?;
    match &case.unused()?[..] {
        [] => Ok(()),
        unused => Err(format!("nothing asked for our own {}", unused.join(", ")).into()),
    }
}
