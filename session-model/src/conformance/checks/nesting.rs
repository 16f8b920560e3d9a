//! No object lies below another.

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::Result;
use super::super::support::{exclusive, holds, join, key, put, put_when, refused, same};
use crate::storage::{
    AppendOptions, CopyOptions, Precondition, RenameOptions, SessionStorageExt, StorageErrorKind,
};

table! {
    nothing_is_written_below_an_object,
    no_object_is_written_above_another,
    a_prefix_is_not_an_object,
    an_object_is_not_renamed_below_itself,
    a_prefix_becomes_free_with_its_last_object,
    an_object_gives_way_to_a_prefix,
    prefixes_come_and_go_under_many_threads,
}

async fn nothing_is_written_below_an_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    put(&store, "b", "two").await?;
    for below in ["a/x", "a/x/y"] {
        cannot_be_written(&store, below).await?;
    }
    holds(&store, &[("a", "one"), ("b", "two")]).await
}

async fn no_object_is_written_above_another(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "d/e/a", "one").await?;
    put(&store, "b", "two").await?;
    for above in ["d", "d/e"] {
        cannot_be_written(&store, above).await?;
    }
    holds(&store, &[("b", "two"), ("d/e/a", "one")]).await
}

/// Tries every way to make an object; `b` is there to be copied and moved.
async fn cannot_be_written(store: &super::super::cx::Store, name: &str) -> Result {
    let invalid = StorageErrorKind::Invalid;
    for condition in [Precondition::None, Precondition::Absent] {
        refused(put_when(store, name, "bad", condition.clone()).await?, invalid, name)?;
        for options in [AppendOptions::default(), AppendOptions::exclusive("x")] {
            let outcome = store.open_append(&key(name)?, options.when(condition.clone())).await;
            refused(outcome, invalid, name)?;
        }
    }
    for options in [CopyOptions::default(), CopyOptions::overwriting()] {
        refused(store.copy(&key("b")?, &key(name)?, options).await, invalid, name)?;
    }
    for options in [RenameOptions::default(), RenameOptions::overwriting()] {
        refused(store.rename(&key("b")?, &key(name)?, options).await, invalid, name)?;
    }
    Ok(())
}

async fn a_prefix_is_not_an_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "d/e/a", "one").await?;
    for prefix in ["d", "d/e"] {
        let not_found = StorageErrorKind::NotFound;
        refused(store.head(&key(prefix)?).await, not_found, prefix)?;
        refused(store.read_all(&key(prefix)?).await, not_found, prefix)?;
        refused(store.remove(&key(prefix)?).await, not_found, prefix)?;
        let copied = store.copy(&key(prefix)?, &key("x")?, CopyOptions::default()).await;
        refused(copied, not_found, prefix)?;
        let renamed = store.rename(&key(prefix)?, &key("x")?, RenameOptions::default()).await;
        refused(renamed, not_found, prefix)?;
        same("whether it exists", store.exists(&key(prefix)?).await?, false)?;
    }
    for below in ["d/e/a/x", "d/e/a/x/y"] {
        refused(store.head(&key(below)?).await, StorageErrorKind::NotFound, below)?;
        refused(store.read_all(&key(below)?).await, StorageErrorKind::NotFound, below)?;
    }
    holds(&store, &[("d/e/a", "one")]).await
}

async fn an_object_is_not_renamed_below_itself(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    put(&store, "d/b", "two").await?;
    for (from, to) in [("a", "a/x"), ("d/b", "d")] {
        for options in [RenameOptions::default(), RenameOptions::overwriting()] {
            let outcome = store.rename(&key(from)?, &key(to)?, options).await;
            refused(outcome, StorageErrorKind::Invalid, to)?;
        }
    }
    holds(&store, &[("a", "one"), ("d/b", "two")]).await
}

async fn a_prefix_becomes_free_with_its_last_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "d/e/a", "one").await?;
    put(&store, "d/b", "two").await?;
    store.remove(&key("d/e/a")?).await?;
    put(&store, "d/e", "three").await?;
    store.remove(&key("d/e")?).await?;
    store.rename(&key("d/b")?, &key("b")?, RenameOptions::default()).await?;
    drop(exclusive(&store, "d").await?);
    store.remove(&key("d")?).await?;
    drop(exclusive(&store, "d/a").await?);
    store.remove_all(&key("d")?).await?;
    store.copy(&key("b")?, &key("d")?, CopyOptions::default()).await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("b", "two"), ("d", "two")]).await
}

async fn an_object_gives_way_to_a_prefix(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    drop(exclusive(&store, "a").await?);
    store.remove(&key("a")?).await?;
    put(&store, "a/b", "two").await?;
    holds(&store, &[("a/b", "two")]).await
}

/// Threads make and remove objects below the same prefixes, so that each may find a prefix going
/// away while it writes there.
async fn prefixes_come_and_go_under_many_threads(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let threads = [store.clone(), store.clone(), cx.open().await?].into_iter().enumerate().map(
        |(i, store)| {
            cx.on_thread(async move {
                let (one, two) = (format!("d/e/{i}"), format!("d/f/{i}"));
                for _ in 0..100 {
                    put(&store, &one, "one").await?;
                    store.rename(&key(&one)?, &key(&two)?, RenameOptions::default()).await?;
                    exclusive(&store, &two).await?.close().await?;
                    store.remove(&key(&two)?).await?;
                }
                Ok(())
            })
        },
    );
    for outcome in join(threads).await {
        outcome?;
    }
    put(&store, "d", "nothing is in the way").await?;
    holds(&store, &[("d", "nothing is in the way")]).await
}
