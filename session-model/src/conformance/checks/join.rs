//! `put_joined`: new bytes and a part of another object.

use std::ops::Range;

use super::super::check::table;
use super::super::cx::{Cx, Store};
use super::super::failure::Result;
use super::super::support::{
    differ, exclusive, holds, key, put, put_when, refused, same, when,
};
use crate::storage::{
    ObjectMeta, Precondition, Result as StorageResult, SessionStorageExt, StorageErrorKind,
};

table! {
    joined_object_holds_the_bytes_and_the_part,
    joined_object_is_one_of_its_own,
    joined_parts_may_be_empty,
    join_onto_its_source,
    join_without_the_part_changes_nothing,
    join_respects_the_precondition,
    join_respects_claims,
    join_survives_reopening,
}

async fn join(
    store: &Store,
    (head, source, part): (&'static str, &str, Range<u64>),
    to: &str,
    precondition: Precondition,
) -> Result<StorageResult<ObjectMeta>> {
    let (to, source) = (key(to)?, key(source)?);
    Ok(store.put_joined(&to, head.into(), &source, part, when(precondition)).await)
}

async fn joined_object_holds_the_bytes_and_the_part(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let source = put(&store, "a", "0123456789").await?;
    let made = join(&store, ("head", "a", 3..8), "d/b", Precondition::Absent).await??;
    same("the key and size", (made.key.as_str(), made.size), ("d/b", 9))?;
    same("head of the new object", store.head(&made.key).await?, made)?;
    same("head of the source", store.head(&source.key).await?, source)?;
    holds(&store, &[("a", "0123456789"), ("d/b", "head34567")]).await?;
    let long = "x".repeat(300_000);
    put(&store, "a", long.clone()).await?;
    join(&store, ("head", "a", 1..300_000), "d/b", Precondition::None).await??;
    let want = format!("head{}", &long[1..]);
    holds(&store, &[("a", &long), ("d/b", &want)]).await
}

async fn joined_object_is_one_of_its_own(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    join(&store, ("+", "a", 0..3), "b", Precondition::None).await??;
    store.append_once(&key("b")?, "+".into()).await?;
    put(&store, "a", "two").await?;
    holds(&store, &[("a", "two"), ("b", "+one+")]).await
}

async fn joined_parts_may_be_empty(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    join(&store, ("", "a", 0..3), "b", Precondition::None).await??;
    join(&store, ("head", "a", 3..3), "c", Precondition::None).await??;
    join(&store, ("", "a", 1..1), "d", Precondition::None).await??;
    holds(&store, &[("a", "one"), ("b", "one"), ("c", "head"), ("d", "")]).await
}

async fn join_onto_its_source(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let before = put(&store, "a", "old head, rest").await?;
    let length = Precondition::Length(before.size);
    let after = join(&store, ("new", "a", 8..14), "a", length).await??;
    differ("the version before and after", before.version, after.version)?;
    holds(&store, &[("a", "new, rest")]).await
}

async fn join_without_the_part_changes_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    put(&store, "b", "two").await?;
    let no_source = join(&store, ("x", "none", 0..1), "b", Precondition::None).await?;
    refused(no_source, StorageErrorKind::NotFound, "none")?;
    for part in [0..4, 3..4, 7..9] {
        let short = join(&store, ("x", "a", part), "d/c", Precondition::None).await?;
        refused(short, StorageErrorKind::Conflict, "a")?;
    }
    put(&store, "d", "no directory is in the way").await?;
    holds(&store, &[("a", "one"), ("b", "two"), ("d", "no directory is in the way")]).await
}

async fn join_respects_the_precondition(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    let target = put(&store, "b", "two").await?;
    let there = join(&store, ("x", "a", 0..3), "b", Precondition::Absent).await?;
    refused(there, StorageErrorKind::AlreadyExists, "b")?;
    let longer = join(&store, ("x", "a", 0..3), "b", Precondition::Length(9)).await?;
    refused(longer, StorageErrorKind::Conflict, "b")?;
    holds(&store, &[("a", "one"), ("b", "two")]).await?;
    let stale = Precondition::Version(target.version.clone());
    join(&store, ("x", "a", 0..3), "b", Precondition::Version(target.version)).await??;
    refused(put_when(&store, "b", "bad", stale).await?, StorageErrorKind::Conflict, "b")?;
    holds(&store, &[("a", "one"), ("b", "xone")]).await
}

async fn join_respects_claims(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    let mut writer = exclusive(&store, "b").await?;
    writer.append("held".into()).await?;
    let held = join(&store, ("x", "a", 0..3), "b", Precondition::None).await?;
    refused(held, StorageErrorKind::Busy, "b")?;
    join(&store, ("x", "b", 1..4), "c", Precondition::None).await??;
    holds(&store, &[("a", "one"), ("b", "held"), ("c", "xeld")]).await
}

async fn join_survives_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    join(&store, ("+", "a", 1..3), "d/b", Precondition::Absent).await??;
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "one"), ("d/b", "+ne")]).await
}
