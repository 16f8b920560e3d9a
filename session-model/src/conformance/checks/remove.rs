//! `remove` and `remove_all`.

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::Result;
use super::super::support::{holds, key, put, refused, same};
use crate::storage::{SessionStorageExt, StorageErrorKind};

table! {
    removed_object_is_gone,
    remove_of_nothing_is_not_found,
    remove_of_a_prefix_is_not_found,
    remove_survives_reopening,
    remove_all_removes_what_is_below,
    remove_all_stops_at_segments,
    remove_all_of_nothing_is_zero,
    remove_all_keeps_the_object_at_the_prefix,
}

async fn removed_object_is_gone(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "d/a", "one").await?;
    put(&store, "d/b", "two").await?;
    store.remove(&key("d/a")?).await?;
    refused(store.head(&key("d/a")?).await, StorageErrorKind::NotFound, "d/a")?;
    refused(store.read_all(&key("d/a")?).await, StorageErrorKind::NotFound, "d/a")?;
    holds(&store, &[("d/b", "two")]).await?;
    put(&store, "d/a", "again").await?;
    holds(&store, &[("d/a", "again"), ("d/b", "two")]).await
}

async fn remove_of_nothing_is_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    refused(store.remove(&key("a")?).await, StorageErrorKind::NotFound, "a")?;
    put(&store, "a", "one").await?;
    store.remove(&key("a")?).await?;
    refused(store.remove(&key("a")?).await, StorageErrorKind::NotFound, "a")?;
    refused(store.remove(&key("a/b")?).await, StorageErrorKind::NotFound, "a/b")?;
    Ok(())
}

async fn remove_of_a_prefix_is_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "d/e/a", "one").await?;
    for prefix in ["d", "d/e"] {
        refused(store.remove(&key(prefix)?).await, StorageErrorKind::NotFound, prefix)?;
    }
    holds(&store, &[("d/e/a", "one")]).await
}

async fn remove_survives_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for name in ["a", "b", "d/a", "d/b"] {
        put(&store, name, name).await?;
    }
    store.remove(&key("a")?).await?;
    store.remove_all(&key("d")?).await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("b", "b")]).await
}

async fn remove_all_removes_what_is_below(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for name in ["d/a", "d/e/b", "d/e/f/c", "d/.hidden", "x/d/a"] {
        put(&store, name, name).await?;
    }
    same("how many", store.remove_all(&key("d/e")?).await?, 2)?;
    holds(&store, &[("d/.hidden", "d/.hidden"), ("d/a", "d/a"), ("x/d/a", "x/d/a")]).await?;
    same("how many", store.remove_all(&key("d")?).await?, 2)?;
    put(&store, "d", "no directory is in the way").await?;
    holds(&store, &[("d", "no directory is in the way"), ("x/d/a", "x/d/a")]).await
}

async fn remove_all_stops_at_segments(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for name in ["a/b", "ab/c", "a-/c", "a.x", "aa"] {
        put(&store, name, name).await?;
    }
    same("how many", store.remove_all(&key("a")?).await?, 1)?;
    holds(&store, &[("a-/c", "a-/c"), ("a.x", "a.x"), ("aa", "aa"), ("ab/c", "ab/c")]).await
}

async fn remove_all_of_nothing_is_zero(cx: &Cx) -> Result {
    let store = cx.open().await?;
    same("how many", store.remove_all(&key("no/such")?).await?, 0)?;
    put(&store, "no/other", "one").await?;
    same("how many", store.remove_all(&key("no/such")?).await?, 0)?;
    holds(&store, &[("no/other", "one")]).await
}

async fn remove_all_keeps_the_object_at_the_prefix(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    same("how many", store.remove_all(&key("a")?).await?, 0)?;
    same("how many", store.remove_all(&key("a/b")?).await?, 0)?;
    holds(&store, &[("a", "one")]).await
}
