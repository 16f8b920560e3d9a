//! `copy` and `rename`.

use std::sync::{Arc, Barrier};

use super::super::check::table;
use super::super::cx::{Cx, Store};
use super::super::failure::Result;
use super::super::support::{
    content, differ, holds, join, key, put, put_when, refused, same,
};
use crate::storage::{
    CopyOptions, ObjectMeta, Precondition, RenameOptions, Result as StorageResult,
    SessionStorageExt, StorageErrorKind,
};

table! {
    copy_makes_an_object_of_its_own,
    copy_keeps_an_existing_target_unless_told,
    copy_overwrites_when_told,
    copy_without_a_source_is_not_found,
    copy_onto_itself_keeps_the_content,
    copy_survives_reopening,
    rename_moves_the_object,
    rename_keeps_an_existing_target_unless_told,
    rename_overwrites_when_told,
    rename_without_a_source_is_not_found,
    rename_onto_itself_keeps_the_content,
    rename_survives_reopening,
    rename_across_directories_frees_the_old_ones,
    renamed_object_is_at_one_key_at_every_moment,
    racing_renames_of_one_object_one_wins,
    racing_renames_onto_one_key_one_wins,
    overwritten_target_is_there_at_every_moment,
}

async fn copy(store: &Store, from: &str, to: &str, overwrite: bool) -> Result<StorageResult<ObjectMeta>> {
    let options = if overwrite { CopyOptions::overwriting() } else { CopyOptions::default() };
    Ok(store.copy(&key(from)?, &key(to)?, options).await)
}

async fn rename(store: &Store, from: &str, to: &str, overwrite: bool) -> Result<StorageResult<ObjectMeta>> {
    let options = if overwrite { RenameOptions::overwriting() } else { RenameOptions::default() };
    Ok(store.rename(&key(from)?, &key(to)?, options).await)
}

async fn copy_makes_an_object_of_its_own(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let source = put(&store, "a", "one").await?;
    let copied = copy(&store, "a", "d/b", false).await??;
    same("the key and size", (copied.key.as_str(), copied.size), ("d/b", 3))?;
    same("head of the copy", store.head(&copied.key).await?, copied)?;
    same("head of the source", store.head(&source.key).await?, source)?;
    store.append_once(&key("d/b")?, "+".into()).await?;
    put(&store, "a", "two").await?;
    holds(&store, &[("a", "two"), ("d/b", "one+")]).await
}

async fn copy_keeps_an_existing_target_unless_told(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    let target = put(&store, "b", "two").await?;
    refused(copy(&store, "a", "b", false).await?, StorageErrorKind::AlreadyExists, "b")?;
    same("head of the target", store.head(&target.key).await?, target)?;
    holds(&store, &[("a", "one"), ("b", "two")]).await
}

async fn copy_overwrites_when_told(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    let target = put(&store, "b", "a longer body").await?;
    let copied = copy(&store, "a", "b", true).await??;
    differ("the version before and after", &target.version, &copied.version)?;
    let stale = put_when(&store, "b", "bad", Precondition::Version(target.version)).await?;
    refused(stale, StorageErrorKind::Conflict, "b")?;
    holds(&store, &[("a", "one"), ("b", "one")]).await
}

async fn copy_without_a_source_is_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "b", "two").await?;
    refused(copy(&store, "a", "d/new", false).await?, StorageErrorKind::NotFound, "a")?;
    refused(copy(&store, "a", "b", true).await?, StorageErrorKind::NotFound, "a")?;
    refused(copy(&store, "a", "a", true).await?, StorageErrorKind::NotFound, "a")?;
    put(&store, "d", "no directory is in the way").await?;
    holds(&store, &[("b", "two"), ("d", "no directory is in the way")]).await
}

async fn copy_onto_itself_keeps_the_content(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    refused(copy(&store, "a", "a", false).await?, StorageErrorKind::AlreadyExists, "a")?;
    let meta = copy(&store, "a", "a", true).await??;
    same("head", store.head(&meta.key).await?, meta)?;
    holds(&store, &[("a", "one")]).await
}

async fn copy_survives_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    copy(&store, "a", "d/b", false).await??;
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "one"), ("d/b", "one")]).await
}

async fn rename_moves_the_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    let moved = rename(&store, "a", "b", false).await??;
    same("the key and size", (moved.key.as_str(), moved.size), ("b", 3))?;
    same("head", store.head(&moved.key).await?, moved)?;
    refused(store.head(&key("a")?).await, StorageErrorKind::NotFound, "a")?;
    put_when(&store, "a", "new", Precondition::Absent).await??;
    holds(&store, &[("a", "new"), ("b", "one")]).await
}

async fn rename_keeps_an_existing_target_unless_told(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let source = put(&store, "a", "one").await?;
    let target = put(&store, "b", "two").await?;
    refused(rename(&store, "a", "b", false).await?, StorageErrorKind::AlreadyExists, "b")?;
    same("head of the source", store.head(&source.key).await?, source)?;
    same("head of the target", store.head(&target.key).await?, target)?;
    holds(&store, &[("a", "one"), ("b", "two")]).await
}

async fn rename_overwrites_when_told(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    let target = put(&store, "b", "a longer body").await?;
    let moved = rename(&store, "a", "b", true).await??;
    differ("the version before and after", &target.version, &moved.version)?;
    let stale = put_when(&store, "b", "bad", Precondition::Version(target.version)).await?;
    refused(stale, StorageErrorKind::Conflict, "b")?;
    holds(&store, &[("b", "one")]).await
}

async fn rename_without_a_source_is_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "b", "two").await?;
    refused(rename(&store, "a", "d/new", false).await?, StorageErrorKind::NotFound, "a")?;
    refused(rename(&store, "a", "b", true).await?, StorageErrorKind::NotFound, "a")?;
    refused(rename(&store, "a", "a", true).await?, StorageErrorKind::NotFound, "a")?;
    put(&store, "d", "no directory is in the way").await?;
    holds(&store, &[("b", "two"), ("d", "no directory is in the way")]).await
}

async fn rename_onto_itself_keeps_the_content(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    refused(rename(&store, "a", "a", false).await?, StorageErrorKind::AlreadyExists, "a")?;
    let meta = rename(&store, "a", "a", true).await??;
    same("head", store.head(&meta.key).await?, meta)?;
    holds(&store, &[("a", "one")]).await
}

async fn rename_survives_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    rename(&store, "a", "d/e/b", false).await??;
    let store = cx.reopen(store).await?;
    holds(&store, &[("d/e/b", "one")]).await
}

async fn rename_across_directories_frees_the_old_ones(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "d/e/a", "one").await?;
    rename(&store, "d/e/a", "f/a", false).await??;
    put(&store, "d", "no directory is in the way").await?;
    rename(&store, "f/a", "g", false).await??;
    rename(&store, "g", "f", false).await??;
    holds(&store, &[("d", "no directory is in the way"), ("f", "one")]).await
}

async fn renamed_object_is_at_one_key_at_every_moment(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for round in 0..50 {
        let (from, to) = (format!("from/{round}"), format!("to/{round}"));
        put(&store, &from, "one").await?;
        let (moving, source, target) = (store.clone(), from.clone(), to.clone());
        let mover = cx.on_thread(async move { Ok(rename(&moving, &source, &target, false).await??) });
        while mover.is_running() && store.exists(&key(&from)?).await? {}
        let target = key(&to)?;
        same("whether it is where it went", store.exists(&target).await?, true)?;
        same("where it went", mover.await?, store.head(&target).await?)?;
        same("whether it left", store.exists(&key(&from)?).await?, false)?;
    }
    Ok(())
}

async fn racing_renames_of_one_object_one_wins(cx: &Cx) -> Result {
    let handles = [cx.open().await?, cx.open().await?, cx.open().await?];
    let [store, ..] = &handles;
    for round in 0..30 {
        put(store, "a", format!("{round}")).await?;
        let start = Arc::new(Barrier::new(handles.len()));
        let renames = handles.iter().enumerate().map(|(i, handle)| {
            let (handle, start) = (handle.clone(), Arc::clone(&start));
            cx.on_thread(async move {
                start.wait();
                rename(&handle, "a", &format!("to/{i}"), true).await
            })
        });
        let mut won = Vec::new();
        for (i, outcome) in join(renames).await.into_iter().enumerate() {
            match outcome? {
                Ok(_) => won.push(format!("to/{i}")),
                lost => drop(refused(lost, StorageErrorKind::NotFound, "a")?),
            }
        }
        same("how many won", won.len(), 1)?;
        for name in won {
            same("what the winner moved", content(store, &name).await?, format!("{round}"))?;
            store.remove(&key(&name)?).await?;
        }
        holds(store, &[]).await?;
    }
    Ok(())
}

async fn racing_renames_onto_one_key_one_wins(cx: &Cx) -> Result {
    let handles = [cx.open().await?, cx.open().await?, cx.open().await?];
    let [store, ..] = &handles;
    for round in 0..30 {
        let target = format!("to/{round}");
        let start = Arc::new(Barrier::new(handles.len()));
        for i in 0..handles.len() {
            put(store, &format!("from/{i}"), format!("{i}")).await?;
        }
        let renames = handles.iter().enumerate().map(|(i, handle)| {
            let (handle, start, target) = (handle.clone(), Arc::clone(&start), target.clone());
            cx.on_thread(async move {
                start.wait();
                rename(&handle, &format!("from/{i}"), &target, false).await
            })
        });
        let mut won = Vec::new();
        for (i, outcome) in join(renames).await.into_iter().enumerate() {
            let source = format!("from/{i}");
            match outcome? {
                Ok(_) => won.push(format!("{i}")),
                lost => {
                    refused(lost, StorageErrorKind::AlreadyExists, &target)?;
                    same("what a loser kept", content(store, &source).await?, format!("{i}"))?;
                }
            }
        }
        same("who won", vec![content(store, &target).await?], won)?;
    }
    Ok(())
}

async fn overwritten_target_is_there_at_every_moment(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    put(&store, "b", "one").await?;
    let moving = store.clone();
    let mover = cx.on_thread(async move {
        for _ in 0..100 {
            rename(&moving, "a", "b", true).await??;
            copy(&moving, "b", "a", false).await??;
            copy(&moving, "a", "b", true).await??;
        }
        Ok(())
    });
    while mover.is_running() {
        same("what is at the target", content(&store, "b").await?, "one")?;
    }
    mover.await
}
