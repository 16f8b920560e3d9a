//! Random sequences of operations, compared step by step with a map.

mod oracle;
mod step;

use std::sync::Arc;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use self::oracle::{Answer, Object, Oracle, Prediction};
use self::step::{Call, HANDLES, Step, WRITERS, steps};
use super::cx::{Store, block_on};
use super::failure::{Failure, Result};
use super::harness::{Harness, Subject};
use super::support::{Writer, ensure, listed, same};
use crate::storage::{
    AppendOptions, CopyOptions, Durability, ListOptions, ObjectMeta, Payload, PutOptions,
    RenameOptions, Result as StorageResult, SessionStorageExt, StorageErrorKind, StorageKey,
};

/// A run of random operations against the backend and a map at once.
///
/// After every step the answer, the whole listing, every content, every version and what open
/// writers know are compared. The same values make the same run. When a run fails, the failure
/// names the seed and the shortest sequence of steps found that fails too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomRun {
    /// What the steps are drawn from.
    pub seed: u64,
    /// How many sequences are tried.
    pub cases: u32,
    /// How many steps a sequence has at most.
    pub steps: usize,
    /// The keys in play: few, so that steps meet, and some below others, so that they clash.
    ///
    /// For a backend that treats some keys in ways of their own.
    pub keys: &'static [&'static str],
}

impl Default for RandomRun {
    /// The run that is among the [`checks`](super::checks): seed 1, 100 cases of up to 40 steps.
    fn default() -> Self {
        let keys = &["a", "b", "a/x", "a/y", "a-", "a.d/z", "d/e", "d/e/f"];
        Self { seed: 1, cases: 100, steps: 40, keys }
    }
}

impl RandomRun {
    /// Makes the run, on a fresh subject for each case.
    ///
    /// # Errors
    ///
    /// A [`Failure`] that tells the seed, the steps, and what differed after the last of them.
    pub fn run(&self, harness: &Arc<dyn Harness>) -> Result<(), Failure> {
        run(*self, harness.as_ref())
    }
}

pub(super) fn run(run: RandomRun, harness: &dyn Harness) -> Result {
    let config = Config { cases: run.cases, failure_persistence: None, ..Config::default() };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&run.seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let keys = run.keys.iter().map(|key| Ok(StorageKey::new(*key)?)).collect::<Result<Vec<_>>>()?;
    let outcome = TestRunner::new_with_rng(config, rng).run(&steps(run.steps, &keys), |steps| {
        let compared = block_on(harness, async { Case::new(harness).await?.all(&steps).await });
        compared.flatten().map_err(|failure| TestCaseError::fail(failure.to_string()))
    });
    match outcome {
        Ok(()) => Ok(()),
        Err(TestError::Abort(reason)) => Err(Failure::new(format!("seed {}: {reason}", run.seed))),
        Err(TestError::Fail(reason, steps)) => {
            let steps: String = steps
                .iter()
                .map(|(handle, step)| format!("\n  through handle {handle}: {step:?}"))
                .collect();
            Err(Failure::new(format!("seed {}: {reason}{steps}", run.seed)))
        }
    }
}

/// One sequence under way.
struct Case {
    subject: Box<dyn Subject>,
    stores: Vec<Store>,
    writers: [Option<Writer>; WRITERS],
    oracle: Oracle,
}

impl Case {
    async fn new(harness: &dyn Harness) -> Result<Self> {
        let oracle = Oracle::new(harness.abilities().levels);
        let (stores, writers) = (Vec::new(), Default::default());
        let mut case = Self { subject: harness.subject()?, stores, writers, oracle };
        case.reopen().await?;
        Ok(case)
    }

    async fn reopen(&mut self) -> Result {
        self.writers = Default::default();
        self.stores.clear();
        for _ in 0..HANDLES {
            self.stores.push(self.subject.open().await?);
        }
        Ok(())
    }

    async fn all(&mut self, steps: &[(usize, Step)]) -> Result {
        for (number, (handle, step)) in steps.iter().enumerate() {
            let during = |failure: Failure| failure.during(format!("step {}", number + 1));
            let got = if let Step::Reopen = step {
                self.reopen().await?;
                Ok(Answer::Nothing)
            } else {
                self.make(*handle, step).await
            };
            agrees(got, self.oracle.step(step)).map_err(during)?;
            self.compare().await.map_err(during)?;
        }
        Ok(())
    }

    /// Makes a step on the backend.
    async fn make(&mut self, handle: usize, step: &Step) -> StorageResult<Answer> {
        let store = &self.stores[handle];
        match step {
            Step::Put { key, body, condition, level } => {
                let precondition = self.oracle.precondition(key, *condition);
                let options = PutOptions::when(precondition).durability(*level);
                store.put(key, Payload::from(body.bytes()), options).await.map(object)
            }
            Step::Open { writer, key, exclusive, condition } => {
                let precondition = self.oracle.precondition(key, *condition);
                let options =
                    AppendOptions { exclusive: *exclusive, ..AppendOptions::exclusive("random") };
                self.writers[*writer] = None;
                let opened = store.open_append(key, options.when(precondition)).await?;
                let len = opened.len();
                self.writers[*writer] = Some(opened);
                Ok(Answer::Number(len))
            }
            Step::On { writer, call } => self.call(*writer, call).await,
            Step::Copy { from, to, overwrite } => {
                let options = CopyOptions { overwrite: *overwrite };
                store.copy(from, to, options).await.map(object)
            }
            Step::Rename { from, to, overwrite } => {
                let options = RenameOptions { overwrite: *overwrite };
                store.rename(from, to, options).await.map(object)
            }
            Step::Remove { key } => store.remove(key).await.map(|()| Answer::Nothing),
            Step::RemoveAll { prefix } => store.remove_all(prefix).await.map(Answer::Number),
            Step::Head { key } => store.head(key).await.map(object),
            Step::Read { key, ranges } => {
                store.read(key, ranges).await.map(|(meta, parts)| Answer::Parts(meta.size, parts))
            }
            Step::Peek { keys, head, tail } => {
                let mut peeks = Vec::new();
                for peek in store.peek(keys, *head, *tail).await {
                    peeks.push(match peek {
                        Ok(peek) => Some((peek.meta.size, peek.head, peek.tail)),
                        Err(error) if error.kind() == StorageErrorKind::NotFound => None,
                        Err(error) => return Err(error),
                    });
                }
                Ok(Answer::Peeks(peeks))
            }
            Step::List { prefix, options } => {
                let (listed, errors) = store.list_all(prefix.as_ref(), options.clone()).await;
                match errors.into_iter().next() {
                    Some(error) => Err(error),
                    None => Ok(Answer::Listing(
                        listed.into_iter().map(|meta| (meta.key, meta.size)).collect(),
                    )),
                }
            }
            Step::Drain { level } => store.drain(*level).await.map(|()| Answer::Nothing),
            Step::Reopen => Ok(Answer::Nothing),
        }
    }

    async fn call(&mut self, number: usize, call: &Call) -> StorageResult<Answer> {
        let Some(writer) = &mut self.writers[number] else { return Ok(Answer::Nothing) };
        match call {
            Call::Append(body) => writer.append(body.bytes()).await.map(Answer::Number),
            Call::Truncate(len) => writer.truncate(*len).await.map(|()| Answer::Nothing),
            Call::Replace(body, condition) => {
                let precondition = self.oracle.writer_precondition(number, *condition);
                let options = PutOptions::when(precondition).durability(Durability::Accepted);
                writer.replace(Payload::from(body.bytes()), options).await.map(object)
            }
            Call::Adopt => writer.adopt().await.map(object),
            Call::Sync(level) => writer.sync(*level).await.map(|()| Answer::Nothing),
            Call::Close | Call::Drop => match (self.writers[number].take(), call) {
                (Some(writer), Call::Close) => writer.close().await.map(object),
                _ => Ok(Answer::Nothing),
            },
        }
    }

    /// Compares all that can be seen with what the map holds.
    async fn compare(&mut self) -> Result {
        let [first, others @ ..] = self.stores.as_slice() else { return Ok(()) };
        let metas = listed(first, None, ListOptions::default()).await?;
        for other in others {
            let theirs = listed(other, None, ListOptions::default()).await?;
            same("the listing through another handle", theirs, metas.clone())?;
        }
        let keys: Vec<_> = metas.iter().map(|meta| &meta.key).collect();
        same("the keys listed", keys, self.oracle.objects.keys().collect::<Vec<_>>())?;
        for (meta, object) in metas.iter().zip(self.oracle.objects.values_mut()) {
            let (read, body) = first.read_all(&meta.key).await?;
            same("what read and list know", &read, meta)?;
            same("the size", meta.size, body.len() as u64)?;
            same(&format!("the content of {}", meta.key), &body[..], &object.body[..])?;
            object.is_in_state(meta)?;
        }
        for (number, writers) in self.writers.iter().zip(&self.oracle.writers).enumerate() {
            let (Some(writer), Some(want)) = writers else {
                let (got, want) = (writers.0.is_some(), writers.1.is_some());
                same(&format!("whether writer {number} is open"), got, want)?;
                continue;
            };
            same(&format!("the length writer {number} knows"), writer.len(), want.len)?;
            let error = writer.error().map(|error| error.kind());
            same(&format!("the error of writer {number}"), error, want.closed)?;
        }
        Ok(())
    }
}

impl Object {
    /// Checks that a state has a version of its own, and only one.
    fn is_in_state(&mut self, meta: &ObjectMeta) -> Result {
        if self.is_new_state {
            let before = self.versions.contains(&meta.version);
            ensure(&format!("version {} of {} came before", meta.version, meta.key), !before)?;
            self.versions.push(meta.version.clone());
            self.is_new_state = false;
        }
        let what = format!("the version of {}, which did not change", meta.key);
        same(&what, Some(&meta.version), self.versions.last())
    }
}

fn object(meta: ObjectMeta) -> Answer {
    Answer::Object(meta.key, meta.size)
}

fn agrees(got: StorageResult<Answer>, want: Prediction) -> Result {
    match (got, want) {
        (Ok(got), Ok(want)) => same("the answer", got, want),
        (Err(error), Err(kinds)) if kinds.contains(&error.kind()) => Ok(()),
        (Err(error), want) => {
            Err(Failure::new(format!("got {:?} ({error}), want {want:?}", error.kind())))
        }
        (Ok(got), Err(kinds)) => Err(Failure::new(format!("got {got:?}, want one of {kinds:?}"))),
    }
}
