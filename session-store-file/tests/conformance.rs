//! The conformance suite over directories in the system's temporary directory.
//!
//! The checks that need failures run in a process of their own each, as failures are arranged by
//! a limit that holds for a whole process.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, unreachable_pub)]

#[path = "conformance/faulty.rs"]
mod faulty;
mod support;

use std::env;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use async_trait::async_trait;
use libtest_mimic::{Arguments, Failed, Trial};
use session_model::conformance::{
    self, Abilities, Check, FaultPoint, Harness, HookResult, RandomRun, Subject, Tampering, Task,
};
use session_model::storage::{SessionStorage, StorageKey};
use session_store_file::FileStorage;
use tempfile::TempDir;

use faulty::{Faulty, Plan};

/// Names the one check that a process was started for.
const ONE_CHECK: &str = "SESSION_STORE_FILE_CHECK";
/// The seed of a longer random run, which is made if this is set.
const RANDOM_SEED: &str = "SESSION_STORE_FILE_RANDOM_SEED";

fn main() -> ExitCode {
    let harness: Arc<dyn Harness> = Arc::new(Directories);
    if let Ok(name) = env::var(ONE_CHECK) {
        return match conformance::checks().find(|check| check.name() == name) {
            Some(check) => match check.run(&harness) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    eprintln!("{failure}");
                    ExitCode::FAILURE
                }
            },
            None => panic!("there is no check {name}"),
        };
    }
    let needs_faults = |check: &Check| !check.applies_to(&harness.abilities().faults([]));
    let trials = conformance::checks().filter(|check| check.applies_to(&harness.abilities()));
    let trials = trials.map(|check| {
        let harness = Arc::clone(&harness);
        let alone = needs_faults(&check);
        Trial::test(format!("file::{}", check.name()), move || {
            if alone { run_alone(&check) } else { Ok(check.run(&harness)?) }
        })
    });
    let mut trials: Vec<_> = trials.collect();
    if let Ok(seed) = env::var(RANDOM_SEED) {
        let run = RandomRun {
            seed: seed.parse().unwrap(),
            cases: 2000,
            steps: 80,
            ..RandomRun::default()
        };
        let harness = Arc::clone(&harness);
        trials.push(Trial::test("file::random::longer_run", move || Ok(run.run(&harness)?)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs a check in a process that gets an error, not a signal, at the limit of a file's size.
fn run_alone(check: &Check) -> Result<(), Failed> {
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0""#])
        .arg(env::current_exe()?)
        .env(ONE_CHECK, check.name())
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

struct Directories;

struct Directory {
    dir: TempDir,
    plan: Arc<Plan>,
}

impl Harness for Directories {
    fn abilities(&self) -> Abilities {
        Abilities::default().local_paths().tampering().faults([
            FaultPoint::Append,
            FaultPoint::AppendHalfway,
            FaultPoint::Put,
            FaultPoint::Replace,
        ])
    }

    fn subject(&self) -> HookResult<Box<dyn Subject>> {
        Ok(Box::new(Directory { dir: tempfile::tempdir()?, plan: Arc::default() }))
    }

    fn block_on(&self, task: Task<'_>) {
        support::block_on(task);
    }
}

#[async_trait]
impl Subject for Directory {
    async fn open(&self) -> HookResult<Arc<dyn SessionStorage>> {
        let storage = FileStorage::open(self.dir.path().join("root"))?;
        Ok(Arc::new(Faulty::new(storage, &self.plan)))
    }

    async fn tamper(&self, key: &StorageKey, how: Tampering) -> HookResult<()> {
        let path = self.dir.path().join("root").join(key.as_str());
        match how {
            Tampering::Replace(body) => {
                let other = self.dir.path().join("other");
                std::fs::write(&other, body)?;
                std::fs::rename(other, path)?;
            }
            Tampering::Append(body) => {
                use std::io::Write;
                std::fs::OpenOptions::new().append(true).open(path)?.write_all(&body)?;
            }
            Tampering::Remove => std::fs::remove_file(path)?,
            other => return Err(format!("cannot do {other:?}").into()),
        }
        Ok(())
    }

    async fn fail_next(&self, point: FaultPoint) -> HookResult<()> {
        self.plan.arm(point);
        Ok(())
    }
}
