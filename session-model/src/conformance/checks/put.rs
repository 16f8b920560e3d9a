//! Replacing objects whole: `put`, its preconditions and its races.

use std::sync::{Arc, Barrier};

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::{Cx, Store};
use super::super::failure::Result;
use super::super::support::{content, holds, join, key, put, put_when, refused, same, when};
use crate::storage::{ObjectMeta, Payload, Precondition, StorageError, StorageErrorKind};

table! {
    put_creates_and_replaces,
    put_survives_reopening,
    payload_of_many_chunks_is_written_in_order,
    absent_wants_no_object,
    version_wants_that_state,
    length_wants_that_size,
    failed_precondition_changes_nothing,
    failed_precondition_creates_nothing,
    racing_puts_one_wins_on_one_thread,
    racing_puts_one_wins_across_threads,
    racing_puts_one_wins_across_handles,
    racing_creations_one_wins,
    racing_plain_puts_leave_one_whole_body,
}

async fn put_creates_and_replaces(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "dir/a", "one").await?;
    holds(&store, &[("dir/a", "one")]).await?;
    put(&store, "dir/a", "a longer body").await?;
    holds(&store, &[("dir/a", "a longer body")]).await?;
    put(&store, "dir/a", "short").await?;
    put(&store, "b", "").await?;
    holds(&store, &[("b", ""), ("dir/a", "short")]).await
}

async fn put_survives_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    put(&store, "b/c", "two").await?;
    put(&store, "a", "three").await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "three"), ("b/c", "two")]).await
}

async fn payload_of_many_chunks_is_written_in_order(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let payload: Payload = (0..3000).map(|i| Bytes::from(format!("{i}\n"))).collect();
    let whole = payload.to_bytes();
    let meta = store.put(&key("a")?, payload, when(Precondition::None)).await?;
    same("the size", meta.size, whole.len() as u64)?;
    same("the content", content(&store, "a").await?, whole)
}

async fn absent_wants_no_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put_when(&store, "a", "one", Precondition::Absent).await??;
    let again = put_when(&store, "a", "two", Precondition::Absent).await?;
    refused(again, StorageErrorKind::AlreadyExists, "a")?;
    store.remove(&key("a")?).await?;
    put_when(&store, "a", "three", Precondition::Absent).await??;
    holds(&store, &[("a", "three")]).await
}

async fn version_wants_that_state(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let first = put(&store, "a", "one").await?;
    let second = put_when(&store, "a", "two", Precondition::Version(first.version.clone()));
    let second = second.await??;
    let stale = put_when(&store, "a", "bad", Precondition::Version(first.version)).await?;
    refused(stale, StorageErrorKind::Conflict, "a")?;
    let store = cx.reopen(store).await?;
    let third = put_when(&store, "a", "three", Precondition::Version(second.version.clone()));
    third.await??;
    let none = put_when(&store, "b", "bad", Precondition::Version(second.version)).await?;
    refused(none, StorageErrorKind::NotFound, "b")?;
    holds(&store, &[("a", "three")]).await
}

async fn length_wants_that_size(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "12345").await?;
    for wrong in [0, 4, 6, u64::MAX] {
        let outcome = put_when(&store, "a", "bad", Precondition::Length(wrong)).await?;
        refused(outcome, StorageErrorKind::Conflict, "a")?;
    }
    put_when(&store, "a", "", Precondition::Length(5)).await??;
    put_when(&store, "a", "new", Precondition::Length(0)).await??;
    let none = put_when(&store, "b", "bad", Precondition::Length(0)).await?;
    refused(none, StorageErrorKind::NotFound, "b")?;
    holds(&store, &[("a", "new")]).await
}

async fn failed_precondition_changes_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let stale = put(&store, "a", "one").await?.version;
    let before = put(&store, "a", "two").await?;
    for precondition in
        [Precondition::Absent, Precondition::Version(stale), Precondition::Length(99)]
    {
        let failed = put_when(&store, "a", "bad", precondition.clone()).await?;
        same(&format!("whether {precondition:?} fails"), failed.is_err(), true)?;
        same("head", store.head(&key("a")?).await?, before.clone())?;
    }
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "two")]).await
}

async fn failed_precondition_creates_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let version = put(&store, "other", "x").await?.version;
    for precondition in [Precondition::Version(version), Precondition::Length(0)] {
        let failed = put_when(&store, "new/dir/a", "bad", precondition).await?;
        refused(failed, StorageErrorKind::NotFound, "new/dir/a")?;
    }
    put(&store, "new", "no directory is in the way").await?;
    holds(&store, &[("new", "no directory is in the way"), ("other", "x")]).await
}

async fn racing_puts_one_wins_on_one_thread(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for round in 0..20 {
        let before = put(&store, "a", "start").await?.version;
        let puts = (0..4).map(|i| contender(store.clone(), i, before.clone()));
        one_won(&store, round, join(puts).await).await?;
    }
    Ok(())
}

async fn racing_puts_one_wins_across_threads(cx: &Cx) -> Result {
    let store = cx.open().await?;
    race(cx, &store, [store.clone(), store.clone(), store.clone()]).await
}

async fn racing_puts_one_wins_across_handles(cx: &Cx) -> Result {
    let store = cx.open().await?;
    race(cx, &store, [store.clone(), cx.open().await?, cx.open().await?]).await
}

async fn racing_creations_one_wins(cx: &Cx) -> Result {
    let handles = [cx.open().await?, cx.open().await?];
    for round in 0..30 {
        let name = format!("round/{round}");
        let start = Arc::new(Barrier::new(handles.len()));
        let puts = handles.iter().enumerate().map(|(i, store)| {
            let (store, name, start) = (store.clone(), name.clone(), Arc::clone(&start));
            cx.on_thread(async move {
                start.wait();
                put_when(&store, &name, format!("by {i}"), Precondition::Absent).await
            })
        });
        let mut wins = Vec::new();
        for (i, outcome) in join(puts).await.into_iter().enumerate() {
            match outcome? {
                Ok(_) => wins.push(format!("by {i}")),
                lost => drop(refused(lost, StorageErrorKind::AlreadyExists, &name)?),
            }
        }
        let [first, _] = &handles;
        same("who won", vec![content(first, &name).await?], wins)?;
    }
    Ok(())
}

async fn racing_plain_puts_leave_one_whole_body(cx: &Cx) -> Result {
    let handles = [cx.open().await?, cx.open().await?];
    let bodies: Vec<Bytes> =
        (0..2_u8).map(|i| vec![b'a' + i; 70_000 + 10_000 * usize::from(i)].into()).collect();
    for _ in 0..10 {
        let puts = handles.iter().zip(&bodies).map(|(store, body)| {
            let (store, body) = (store.clone(), body.clone());
            cx.on_thread(async move { put(&store, "a", body).await })
        });
        for outcome in join(puts).await {
            outcome?;
        }
        let [first, _] = &handles;
        let got = content(first, "a").await?;
        same("whether one body is there whole", bodies.contains(&got), true)?;
    }
    Ok(())
}

type Outcome = Result<Result<ObjectMeta, StorageError>>;

async fn contender(store: Store, i: usize, before: crate::storage::Version) -> Outcome {
    put_when(&store, "a", format!("body {i}"), Precondition::Version(before)).await
}

/// Lets handles put on the same version at the same moment, again and again.
async fn race<const N: usize>(cx: &Cx, store: &Store, handles: [Store; N]) -> Result {
    for round in 0..30 {
        let before = put(store, "a", "start").await?.version;
        let start = Arc::new(Barrier::new(N));
        let puts = handles.iter().enumerate().map(|(i, store)| {
            let (store, before, start) = (store.clone(), before.clone(), Arc::clone(&start));
            cx.on_thread(async move {
                start.wait();
                contender(store, i, before).await
            })
        });
        one_won(store, round, join(puts).await).await?;
    }
    Ok(())
}

async fn one_won(store: &Store, round: usize, outcomes: Vec<Outcome>) -> Result {
    let mut wins = Vec::new();
    for (i, outcome) in outcomes.into_iter().enumerate() {
        match outcome? {
            Ok(meta) => wins.push((Bytes::from(format!("body {i}")), meta)),
            lost => drop(refused(lost, StorageErrorKind::Conflict, "a")?),
        }
    }
    let now = (content(store, "a").await?, store.head(&key("a")?).await?);
    same(&format!("who won round {round}"), wins, vec![now])
}
