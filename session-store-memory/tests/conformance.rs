//! Runs the conformance suite on the memory backend.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use libtest_mimic::{Arguments, Trial};
use session_model::conformance::{
    self, Abilities, FaultPoint, Harness, HookResult, RandomRun, Subject, Tampering, Task,
};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey};
use session_store_memory::{MemoryStorage, Operation, When};

fn main() -> ExitCode {
    let harness: Arc<dyn Harness> = Arc::new(Memory);
    let trials = conformance::checks().map(|check| {
        let harness = Arc::clone(&harness);
        Trial::test(format!("memory::{}", check.name()), move || Ok(check.run(&harness)?))
    });
    let more = (2..=5).map(|seed| {
        let harness = Arc::clone(&harness);
        let run = RandomRun { seed, steps: 80, ..RandomRun::default() };
        Trial::test(format!("memory::random::seed_{seed}"), move || Ok(run.run(&harness)?))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.chain(more).collect()).exit_code()
}

struct Memory;

impl Harness for Memory {
    fn abilities(&self) -> Abilities {
        Abilities::default().tampering().faults([
            FaultPoint::Append,
            FaultPoint::AppendHalfway,
            FaultPoint::Sync,
            FaultPoint::Put,
            FaultPoint::Replace,
        ])
    }

    fn subject(&self) -> HookResult<Box<dyn Subject>> {
        Ok(Box::new(Instance(MemoryStorage::new())))
    }

    fn block_on(&self, task: Task<'_>) {
        pollster::block_on(task);
    }
}

struct Instance(MemoryStorage);

#[async_trait]
impl Subject for Instance {
    async fn open(&self) -> HookResult<Arc<dyn SessionStorage>> {
        Ok(Arc::new(self.0.clone()))
    }

    async fn tamper(&self, key: &StorageKey, how: Tampering) -> HookResult<()> {
        let body = match how {
            Tampering::Replace(body) => Some(body),
            Tampering::Append(tail) => Some([self.0.read_all(key).await?.1, tail].concat().into()),
            Tampering::Remove => None,
            other => return Err(format!("{other:?} is not known here").into()),
        };
        Ok(self.0.faults().overwrite(key, body)?)
    }

    async fn fail_next(&self, point: FaultPoint) -> HookResult<()> {
        let (operation, when) = match point {
            FaultPoint::Append => (Operation::Append, When::Before),
            FaultPoint::AppendHalfway => (Operation::Append, When::Partway(3)),
            FaultPoint::Sync => (Operation::Sync, When::Before),
            FaultPoint::Put => (Operation::Put, When::Before),
            FaultPoint::Replace => (Operation::Replace, When::Before),
            other => return Err(format!("{other:?} is not known here").into()),
        };
        self.0.faults().fail_nth(operation, 0, when, StorageErrorKind::Full);
        Ok(())
    }
}
