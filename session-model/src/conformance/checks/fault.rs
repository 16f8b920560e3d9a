//! Failures below the backend: what stays, and what a writer does afterwards.

use std::error::Error;

use bytes::Bytes;

use super::super::check::{Need, table};
use super::super::cx::{Cx, Store};
use super::super::failure::{Failure, Result};
use super::super::harness::FaultPoint;
use super::super::support::{
    Writer, exclusive, holds, key, put, put_when, refused, same, shared, when,
};
use crate::storage::{
    Durability, Payload, Precondition, Result as StorageResult, StorageError, StorageErrorKind,
};

table! {
    failed_append_leaves_no_bytes needs Need::Fault(FaultPoint::Append),
    half_written_append_is_cut_back needs Need::Fault(FaultPoint::AppendHalfway),
    half_written_append_of_a_shared_writer_is_cut_back needs Need::Fault(FaultPoint::AppendHalfway),
    failed_append_closes_the_writer needs Need::Fault(FaultPoint::Append),
    failed_writer_holds_its_claim_until_dropped needs Need::Fault(FaultPoint::Append),
    failed_writer_gives_up_its_claim_when_closed needs Need::Fault(FaultPoint::Append),
    failed_sync_closes_the_writer needs Need::Fault(FaultPoint::Sync),
    failed_put_changes_nothing needs Need::Fault(FaultPoint::Put),
    failed_put_creates_nothing needs Need::Fault(FaultPoint::Put),
    failed_replace_leaves_the_writer_open needs Need::Fault(FaultPoint::Replace),
}

async fn failed_append_leaves_no_bytes(cx: &Cx) -> Result {
    append_fails(cx, FaultPoint::Append, exclusive(&cx.open().await?, "a").await?).await
}

async fn half_written_append_is_cut_back(cx: &Cx) -> Result {
    append_fails(cx, FaultPoint::AppendHalfway, exclusive(&cx.open().await?, "a").await?).await
}

async fn half_written_append_of_a_shared_writer_is_cut_back(cx: &Cx) -> Result {
    append_fails(cx, FaultPoint::AppendHalfway, shared(&cx.open().await?, "a").await?).await
}

async fn append_fails(cx: &Cx, point: FaultPoint, mut writer: Writer) -> Result {
    let store = cx.open().await?;
    writer.append(Bytes::from("one\n")).await?;
    let before = store.head(&key("a")?).await?;
    cx.fail_next(point).await?;
    failed(writer.append(Bytes::from("lost\n")).await)?;
    same("the size", store.head(&key("a")?).await?.size, before.size)?;
    holds(&store, &[("a", "one\n")]).await?;
    drop(writer);
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "one\n")]).await?;
    let mut writer = exclusive(&store, "a").await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 4)?;
    holds(&store, &[("a", "one\ntwo\n")]).await
}

async fn failed_append_closes_the_writer(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.fail_next(FaultPoint::Append).await?;
    let error = failed(writer.append(Bytes::from("lost\n")).await)?;
    closed(writer, &error).await?;
    holds(&store, &[("a", "one\n")]).await
}

async fn failed_writer_holds_its_claim_until_dropped(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.fail_next(FaultPoint::Append).await?;
    failed(writer.append(Bytes::from("lost\n")).await)?;
    refused(put_when(&store, "a", "bad", Precondition::None).await?, StorageErrorKind::Busy, "a")?;
    drop(writer);
    put(&store, "a", "free").await?;
    Ok(())
}

async fn failed_writer_gives_up_its_claim_when_closed(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.fail_next(FaultPoint::Append).await?;
    failed(writer.append(Bytes::from("lost\n")).await)?;
    same("whether close succeeds", writer.close().await.is_ok(), false)?;
    put(&store, "a", "free").await?;
    Ok(())
}

async fn failed_sync_closes_the_writer(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.fail_next(FaultPoint::Sync).await?;
    let level =
        if cx.gives(Durability::Durable) { Durability::Durable } else { Durability::Accepted };
    let error = failed(writer.sync(level).await)?;
    closed(writer, &error).await
}

async fn failed_put_changes_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let before = put(&store, "d/a", "one").await?;
    cx.fail_next(FaultPoint::Put).await?;
    failed(put_when(&store, "d/a", "lost", Precondition::None).await?)?;
    same("head", store.head(&key("d/a")?).await?, before)?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("d/a", "one")]).await?;
    put(&store, "d/a", "two").await?;
    holds(&store, &[("d/a", "two")]).await
}

async fn failed_put_creates_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    cx.fail_next(FaultPoint::Put).await?;
    failed(put_when(&store, "d/a", "lost", Precondition::None).await?)?;
    holds(&store, &[]).await?;
    put(&store, "d", "nothing is in the way").await?;
    holds(&store, &[("d", "nothing is in the way")]).await
}

async fn failed_replace_leaves_the_writer_open(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.fail_next(FaultPoint::Replace).await?;
    failed(writer.replace(Payload::from("lost"), when(Precondition::None)).await)?;
    same("the error", writer.error().is_none(), true)?;
    holds(&store, &[("a", "one\n")]).await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 4)?;
    writer.replace(Payload::from("new\n"), when(Precondition::None)).await?;
    same("the offset", writer.append(Bytes::from("end\n")).await?, 4)?;
    writer.close().await?;
    holds(&store, &[("a", "new\nend\n")]).await
}

async fn started(store: &Store) -> Result<Writer> {
    let mut writer = exclusive(store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    Ok(writer)
}

/// Expects an error of those that come from below a backend.
#[track_caller]
fn failed<T>(outcome: StorageResult<T>) -> Result<StorageError> {
    match outcome {
        Err(error @ StorageError::Failed { .. }) => Ok(error),
        Err(error) => Err(Failure::new(format!("got {:?}: {error}, want a failure", error.kind()))),
        Ok(_) => Err(Failure::new("the call succeeded although its failure was arranged")),
    }
}

/// Checks that a writer tells its error, refuses every call, and closes with that error.
async fn closed(mut writer: Writer, error: &StorageError) -> Result {
    let told = writer.error().map(StorageError::kind);
    same("the error the writer tells", told, Some(error.kind()))?;
    for _ in 0..2 {
        let body = Payload::from("bad");
        let outcomes = [
            writer.append(Bytes::from("bad")).await.map(|_| ()),
            writer.truncate(0).await,
            writer.replace(body, when(Precondition::None)).await.map(|_| ()),
            writer.adopt().await.map(|_| ()),
            writer.sync(Durability::Accepted).await,
        ];
        for outcome in outcomes {
            let refusal = refused(outcome, StorageErrorKind::Closed, "a")?;
            let cause = refusal.source().map(ToString::to_string);
            same("the source of the refusal", cause, Some(error.to_string()))?;
        }
    }
    let last = refused(writer.close().await, error.kind(), "a")?;
    same("the error of close", last.to_string(), error.to_string())
}
