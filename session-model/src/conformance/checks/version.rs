//! Versions: a token of its own for every state, and none without a change.

use std::collections::HashSet;

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::Result;
use super::super::support::{content, differ, ensure, exclusive, key, put, put_when, refused, same, shared, when};
use crate::storage::{
    CopyOptions, ListOptions, Payload, Precondition, RenameOptions, SessionStorageExt,
    StorageErrorKind, Version,
};

table! {
    every_put_makes_a_new_one,
    a_put_of_the_same_bytes_makes_a_new_one,
    every_append_makes_a_new_one,
    truncating_and_appending_the_same_size_makes_a_new_one,
    every_replace_makes_a_new_one,
    overwriting_copy_and_rename_make_a_new_one,
    reading_makes_none,
    failed_calls_make_none,
    reopening_makes_none,
    all_handles_know_the_same,
}

/// Collects versions and finds one that came before.
#[derive(Default)]
struct Seen(HashSet<Version>);

impl Seen {
    #[track_caller]
    fn is_new(&mut self, version: Version) -> Result {
        ensure(&format!("version {version} came before"), self.0.insert(version))
    }
}

async fn every_put_makes_a_new_one(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut seen = Seen::default();
    for round in 0..200_u8 {
        seen.is_new(put(&store, "a", vec![round; 10]).await?.version)?;
    }
    Ok(())
}

async fn a_put_of_the_same_bytes_makes_a_new_one(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut seen = Seen::default();
    for _ in 0..200 {
        let meta = put(&store, "a", "the same").await?;
        same("the version head tells", store.head(&meta.key).await?.version, meta.version.clone())?;
        seen.is_new(meta.version)?;
    }
    Ok(())
}

async fn every_append_makes_a_new_one(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut seen = Seen::default();
    let mut writer = exclusive(&store, "a").await?;
    seen.is_new(store.head(&key("a")?).await?.version)?;
    for _ in 0..100 {
        writer.append(Bytes::from("x")).await?;
        seen.is_new(store.head(&key("a")?).await?.version)?;
    }
    writer.close().await?;
    let mut writer = shared(&store, "a").await?;
    for _ in 0..100 {
        writer.append(Bytes::from("y")).await?;
        seen.is_new(store.head(&key("a")?).await?.version)?;
    }
    Ok(())
}

async fn truncating_and_appending_the_same_size_makes_a_new_one(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut seen = Seen::default();
    let mut writer = exclusive(&store, "a").await?;
    for round in 0..100_u8 {
        writer.append(vec![round; 10].into()).await?;
        seen.is_new(store.head(&key("a")?).await?.version)?;
        writer.truncate(0).await?;
        seen.is_new(store.head(&key("a")?).await?.version)?;
    }
    Ok(())
}

async fn every_replace_makes_a_new_one(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut seen = Seen::default();
    let mut writer = exclusive(&store, "a").await?;
    for round in 0..100_u8 {
        let body = Payload::from(vec![round / 2; 10]);
        let meta = writer.replace(body, when(Precondition::None)).await?;
        same("the version head tells", store.head(&meta.key).await?.version, meta.version.clone())?;
        seen.is_new(meta.version)?;
    }
    Ok(())
}

async fn overwriting_copy_and_rename_make_a_new_one(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut seen = Seen::default();
    let (a, b) = (key("a")?, key("b")?);
    for round in 0..50_u8 {
        put(&store, "a", vec![round; 10]).await?;
        seen.is_new(store.copy(&a, &b, CopyOptions::overwriting()).await?.version)?;
        seen.is_new(put(&store, "b", vec![round; 10]).await?.version)?;
        seen.is_new(store.rename(&a, &b, RenameOptions::overwriting()).await?.version)?;
    }
    Ok(())
}

async fn reading_makes_none(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let before = put(&store, "a", "one").await?;
    content(&store, "a").await?;
    store.peek(std::slice::from_ref(&before.key), 1, 1).await;
    store.list_all(None, ListOptions::default()).await;
    store.copy(&before.key, &key("b")?, CopyOptions::default()).await?;
    drop(exclusive(&store, "a").await?);
    drop(shared(&store, "a").await?);
    store.drain(crate::storage::Durability::Accepted).await?;
    same("head", store.head(&key("a")?).await?, before)
}

async fn failed_calls_make_none(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "b", "two").await?;
    let before = put(&store, "a", "one").await?;
    let (a, b) = (key("a")?, key("b")?);
    let outcome = put_when(&store, "a", "bad", Precondition::Length(9)).await?;
    refused(outcome, StorageErrorKind::Conflict, "a")?;
    let outcome = store.copy(&b, &a, CopyOptions::default()).await;
    refused(outcome, StorageErrorKind::AlreadyExists, "a")?;
    let mut writer = exclusive(&store, "a").await?;
    refused(writer.truncate(9).await, StorageErrorKind::Invalid, "a")?;
    refused(store.remove(&a).await, StorageErrorKind::Busy, "a")?;
    refused(store.rename(&a, &b, RenameOptions::overwriting()).await, StorageErrorKind::Busy, "a")?;
    drop(writer);
    same("head", store.head(&a).await?, before)
}

async fn reopening_makes_none(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let put = put(&store, "a", "one").await?;
    let appended = store.append_once(&key("b")?, Bytes::from("two")).await?;
    let store = cx.reopen(store).await?;
    same("head after a put", store.head(&put.key).await?, put.clone())?;
    same("head after an append", store.head(&appended.key).await?, appended)?;
    let meta = put_when(&store, "a", "three", Precondition::Version(put.version.clone())).await??;
    differ("the versions before and after", put.version, meta.version)
}

async fn all_handles_know_the_same(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let other = cx.open().await?;
    let put = put(&store, "a", "one").await?;
    same("head", other.head(&put.key).await?, put.clone())?;
    let meta = put_when(&other, "a", "two", Precondition::Version(put.version.clone())).await??;
    let stale = put_when(&store, "a", "bad", Precondition::Version(put.version)).await?;
    refused(stale, StorageErrorKind::Conflict, "a")?;
    same("head", store.head(&meta.key).await?, meta)
}
