//! What an open writer does besides appending: `truncate`, `replace`, `adopt`, `sync`, `close`.

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::{Cx, Store};
use super::super::failure::Result;
use super::super::support::{
    Writer, exclusive, holds, key, put, refused, same, shared, when,
};
use crate::storage::{Payload, Precondition, StorageErrorKind};

table! {
    truncate_cuts_and_appends_go_on_there,
    truncate_to_the_present_size_changes_nothing,
    truncate_beyond_the_end_is_invalid,
    truncate_wants_an_exclusive_writer,
    truncated_object_survives_reopening,
    replace_goes_on_at_the_end_of_the_new_object,
    replace_checks_its_precondition,
    replace_of_a_shared_writer_works_like_put,
    replace_survives_reopening,
    adopt_of_an_unchanged_object_changes_nothing,
    adopt_of_a_shared_writer_catches_up,
    adopt_of_a_removed_object_is_not_found,
    refused_calls_leave_the_writer_open,
}

async fn truncate_cuts_and_appends_go_on_there(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    writer.truncate(4).await?;
    same("the length", writer.len(), 4)?;
    holds(&store, &[("a", "one\n")]).await?;
    same("the offset", writer.append(Bytes::from("x\n")).await?, 4)?;
    holds(&store, &[("a", "one\nx\n")]).await?;
    writer.truncate(0).await?;
    same("whether it is empty", writer.is_empty(), true)?;
    holds(&store, &[("a", "")]).await?;
    same("the offset", writer.append(Bytes::from("y\n")).await?, 0)?;
    same("what close returns", writer.close().await?, store.head(&key("a")?).await?)?;
    holds(&store, &[("a", "y\n")]).await
}

async fn truncate_to_the_present_size_changes_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    let before = store.head(&key("a")?).await?;
    writer.truncate(8).await?;
    same("head", store.head(&key("a")?).await?, before)?;
    same("the length", writer.len(), 8)
}

async fn truncate_beyond_the_end_is_invalid(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    for beyond in [9, u64::MAX] {
        refused(writer.truncate(beyond).await, StorageErrorKind::Invalid, "a")?;
    }
    still_open(&store, writer, "one\ntwo\n").await
}

async fn truncate_wants_an_exclusive_writer(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one\ntwo\n").await?;
    let mut writer = shared(&store, "a").await?;
    refused(writer.truncate(0).await, StorageErrorKind::Invalid, "a")?;
    still_open(&store, writer, "one\ntwo\n").await
}

async fn truncated_object_survives_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    writer.truncate(4).await?;
    writer.append(Bytes::from("new\n")).await?;
    writer.close().await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "one\nnew\n")]).await
}

async fn replace_goes_on_at_the_end_of_the_new_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    let body: Payload = ["another ", "body\n"].into_iter().collect();
    let meta = writer.replace(body, when(Precondition::None)).await?;
    same("head", store.head(&key("a")?).await?, meta.clone())?;
    same("the sizes", (meta.size, writer.len()), (13, 13))?;
    holds(&store, &[("a", "another body\n")]).await?;
    same("the offset", writer.append(Bytes::from("more\n")).await?, 13)?;
    holds(&store, &[("a", "another body\nmore\n")]).await?;
    writer.replace(Payload::default(), when(Precondition::None)).await?;
    same("the offset", writer.append(Bytes::from("last\n")).await?, 0)?;
    same("what close returns", writer.close().await?, store.head(&key("a")?).await?)?;
    holds(&store, &[("a", "last\n")]).await
}

async fn replace_checks_its_precondition(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let stale = put(&store, "a", "one\n").await?.version;
    let mut writer = started(&store, "a").await?;
    let bad = || Payload::from("bad");
    let outcome = writer.replace(bad(), when(Precondition::Absent)).await;
    refused(outcome, StorageErrorKind::AlreadyExists, "a")?;
    let outcome = writer.replace(bad(), when(Precondition::Length(3))).await;
    refused(outcome, StorageErrorKind::Conflict, "a")?;
    let outcome = writer.replace(bad(), when(Precondition::Version(stale))).await;
    refused(outcome, StorageErrorKind::Conflict, "a")?;
    holds(&store, &[("a", "one\none\ntwo\n")]).await?;
    let now = store.head(&key("a")?).await?.version;
    writer.replace(Payload::from("one\n"), when(Precondition::Version(now))).await?;
    let body = Payload::from("one\ntwo\n");
    writer.replace(body, when(Precondition::Length(4))).await?;
    still_open(&store, writer, "one\ntwo\n").await
}

async fn replace_of_a_shared_writer_works_like_put(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = shared(&store, "a").await?;
    let meta = writer.replace(Payload::from("body\n"), when(Precondition::None)).await?;
    same("head", store.head(&key("a")?).await?, meta)?;
    same("the offset", writer.append(Bytes::from("more\n")).await?, 5)?;
    let stale = writer.replace(Payload::from("bad"), when(Precondition::Length(5))).await;
    refused(stale, StorageErrorKind::Conflict, "a")?;
    still_open(&store, writer, "body\nmore\n").await
}

async fn replace_survives_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    writer.replace(Payload::from("new\n"), when(Precondition::None)).await?;
    writer.append(Bytes::from("more\n")).await?;
    writer.close().await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "new\nmore\n")]).await
}

async fn adopt_of_an_unchanged_object_changes_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    let before = store.head(&key("a")?).await?;
    same("what adopt returns", writer.adopt().await?, before.clone())?;
    same("head", store.head(&key("a")?).await?, before)?;
    still_open(&store, writer, "one\ntwo\n").await
}

async fn adopt_of_a_shared_writer_catches_up(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = shared(&store, "a").await?;
    let meta = put(&store, "a", "one\ntwo\n").await?;
    same("what adopt returns", writer.adopt().await?, meta)?;
    same("the length", writer.len(), 8)?;
    still_open(&store, writer, "one\ntwo\n").await
}

async fn adopt_of_a_removed_object_is_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = shared(&store, "a").await?;
    store.remove(&key("a")?).await?;
    refused(writer.adopt().await, StorageErrorKind::NotFound, "a")?;
    writer.replace(Payload::from("again\n"), when(Precondition::Absent)).await?;
    still_open(&store, writer, "again\n").await
}

async fn refused_calls_leave_the_writer_open(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    refused(writer.truncate(99).await, StorageErrorKind::Invalid, "a")?;
    same("the error after truncate", writer.error().is_none(), true)?;
    let outcome = writer.replace(Payload::from("bad"), when(Precondition::Absent)).await;
    refused(outcome, StorageErrorKind::AlreadyExists, "a")?;
    same("the error after replace", writer.error().is_none(), true)?;
    writer.truncate(4).await?;
    writer.replace(Payload::from("new\n"), when(Precondition::Length(4))).await?;
    writer.adopt().await?;
    still_open(&store, writer, "new\n").await
}

async fn started(store: &Store, name: &str) -> Result<Writer> {
    let mut writer = exclusive(store, name).await?;
    writer.append(Bytes::from("one\n")).await?;
    writer.append(Bytes::from("two\n")).await?;
    Ok(writer)
}

/// Checks that a writer of `a` goes on behind `before` and closes well.
async fn still_open(store: &Store, mut writer: Writer, before: &str) -> Result {
    same("the error", writer.error().is_none(), true)?;
    holds(store, &[("a", before)]).await?;
    same("the offset", writer.append(Bytes::from("end\n")).await?, before.len() as u64)?;
    same("what close returns", writer.close().await?, store.head(&key("a")?).await?)?;
    holds(store, &[("a", &format!("{before}end\n"))]).await
}
