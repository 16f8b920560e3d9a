//! Exclusive writers: who is kept out, how they are told, and when the claim ends.

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::{Cx, Store};
use super::super::failure::{Failure, Result};
use super::super::support::{
    exclusive, holds, join, key, put, put_when, refused, same, shared, when,
};
use crate::storage::{
    AppendOptions, CopyOptions, Payload, Precondition, RenameOptions, SessionStorageExt,
    StorageError, StorageErrorKind,
};

table! {
    second_writer_is_busy_and_told_the_owner,
    second_handle_is_busy_and_told_the_owner,
    busy_can_be_tried_again,
    shared_writer_beside_an_exclusive_one_is_busy,
    exclusive_writer_shuts_out_shared_ones,
    put_is_busy,
    copy_onto_a_held_object_is_busy,
    copy_of_a_held_object_is_allowed,
    rename_of_or_onto_a_held_object_is_busy,
    remove_is_busy,
    remove_all_is_busy_before_anything_is_removed,
    reading_is_allowed,
    other_objects_are_free,
    drop_gives_up_the_claim,
    close_gives_up_the_claim,
    claim_lasts_through_replace_and_truncate,
    claim_of_an_unnamed_owner_counts,
    racing_claims_one_wins,
    claims_leave_nothing_behind,
}

async fn second_writer_is_busy_and_told_the_owner(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let _writer = store.open_append(&key("a")?, AppendOptions::exclusive("agent 7")).await?;
    told(&store, "agent 7").await
}

async fn second_handle_is_busy_and_told_the_owner(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let writer = store.open_append(&key("a")?, AppendOptions::exclusive("ägent 8")).await?;
    let other = cx.open().await?;
    told(&other, "ägent 8").await?;
    drop(writer);
    let _writer = other.open_append(&key("a")?, AppendOptions::exclusive("agent 9")).await?;
    told(&store, "agent 9").await
}

async fn told(store: &Store, owner: &str) -> Result {
    for options in [AppendOptions::exclusive("late"), AppendOptions::default()] {
        let error = refused(store.open_append(&key("a")?, options).await, StorageErrorKind::Busy, "a")?;
        match error {
            StorageError::Busy { holder, .. } => {
                same("the holder's name", holder.owner.as_deref(), Some(owner))?;
            }
            other => return Err(Failure::new(format!("{other} is not StorageError::Busy"))),
        }
    }
    Ok(())
}

async fn busy_can_be_tried_again(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let writer = exclusive(&store, "a").await?;
    let busy = store.open_append(&key("a")?, AppendOptions::exclusive("late")).await;
    let busy = refused(busy, StorageErrorKind::Busy, "a")?;
    same("whether it is retryable", busy.is_retryable(), true)?;
    drop(writer);
    drop(exclusive(&store, "a").await?);
    Ok(())
}

async fn shared_writer_beside_an_exclusive_one_is_busy(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let _writer = exclusive(&store, "a").await?;
    for handle in [store.clone(), cx.open().await?] {
        let outcome = handle.open_append(&key("a")?, AppendOptions::default()).await;
        refused(outcome, StorageErrorKind::Busy, "a")?;
        let outcome = handle.append_once(&key("a")?, Bytes::from("bad")).await;
        refused(outcome, StorageErrorKind::Busy, "a")?;
    }
    holds(&store, &[("a", "")]).await
}

async fn exclusive_writer_shuts_out_shared_ones(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut early = [shared(&store, "a").await?, shared(&cx.open().await?, "a").await?];
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("held\n")).await?;
    for shut_out in &mut early {
        let outcome = shut_out.append(Bytes::from("bad")).await;
        refused(outcome, StorageErrorKind::Busy, "a")?;
        let outcome = shut_out.replace(Payload::from("bad"), when(Precondition::None)).await;
        refused(outcome, StorageErrorKind::Busy, "a")?;
        same("the error", shut_out.error().is_none(), true)?;
    }
    holds(&store, &[("a", "held\n")]).await?;
    writer.close().await?;
    let [one, two] = &mut early;
    same("the offset of one", one.append(Bytes::from("one\n")).await?, 5)?;
    same("the offset of two", two.append(Bytes::from("two\n")).await?, 9)?;
    holds(&store, &[("a", "held\none\ntwo\n")]).await
}

async fn put_is_busy(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    let _writer = exclusive(&store, "a").await?;
    for handle in [store.clone(), cx.open().await?] {
        for condition in [Precondition::None, Precondition::Length(3)] {
            let outcome = put_when(&handle, "a", "bad", condition).await?;
            refused(outcome, StorageErrorKind::Busy, "a")?;
        }
    }
    holds(&store, &[("a", "one")]).await
}

async fn copy_onto_a_held_object_is_busy(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    put(&store, "b", "two").await?;
    let _writer = exclusive(&store, "a").await?;
    for handle in [store.clone(), cx.open().await?] {
        let outcome = handle.copy(&key("b")?, &key("a")?, CopyOptions::overwriting()).await;
        refused(outcome, StorageErrorKind::Busy, "a")?;
    }
    holds(&store, &[("a", "one"), ("b", "two")]).await
}

async fn copy_of_a_held_object_is_allowed(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    cx.open().await?.copy(&key("a")?, &key("b")?, CopyOptions::default()).await?;
    writer.append(Bytes::from("two\n")).await?;
    put(&store, "b", "the copy is not held").await?;
    holds(&store, &[("a", "one\ntwo\n"), ("b", "the copy is not held")]).await
}

async fn rename_of_or_onto_a_held_object_is_busy(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one").await?;
    put(&store, "b", "two").await?;
    let _writer = exclusive(&store, "a").await?;
    for handle in [store.clone(), cx.open().await?] {
        for (from, to) in [("a", "c"), ("a", "b"), ("b", "a"), ("a", "a")] {
            let options = RenameOptions::overwriting();
            let outcome = handle.rename(&key(from)?, &key(to)?, options).await;
            refused(outcome, StorageErrorKind::Busy, "a")?;
        }
    }
    holds(&store, &[("a", "one"), ("b", "two")]).await
}

async fn remove_is_busy(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let _writer = exclusive(&store, "a").await?;
    for handle in [store.clone(), cx.open().await?] {
        refused(handle.remove(&key("a")?).await, StorageErrorKind::Busy, "a")?;
    }
    holds(&store, &[("a", "")]).await
}

async fn remove_all_is_busy_before_anything_is_removed(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for name in ["d/a", "d/e/b", "d/z", "x"] {
        put(&store, name, name).await?;
    }
    let all = [("d/a", "d/a"), ("d/e/b", "d/e/b"), ("d/z", "d/z"), ("x", "x")];
    for held in ["d/a", "d/e/b", "d/z"] {
        let _writer = exclusive(&store, held).await?;
        for handle in [store.clone(), cx.open().await?] {
            refused(handle.remove_all(&key("d")?).await, StorageErrorKind::Busy, held)?;
            holds(&store, &all).await?;
        }
    }
    let _outside = exclusive(&store, "x").await?;
    same("how many were removed", store.remove_all(&key("d")?).await?, 3)?;
    holds(&store, &[("x", "x")]).await
}

async fn reading_is_allowed(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    holds(&store, &[("a", "one\n")]).await?;
    let other = cx.open().await?;
    holds(&other, &[("a", "one\n")]).await?;
    let peek = other.peek(&[key("a")?], 1, 1).await.remove(0)?;
    same("peek", (peek.head, peek.tail), (Bytes::from("o"), Bytes::from("\n")))
}

async fn other_objects_are_free(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let _writer = exclusive(&store, "d/a").await?;
    put(&store, "d/ab", "1").await?;
    put(&store, "d/b", "2").await?;
    let _another = exclusive(&store, "d/c").await?;
    store.rename(&key("d/b")?, &key("d/e")?, RenameOptions::default()).await?;
    store.remove(&key("d/ab")?).await?;
    holds(&store, &[("d/a", ""), ("d/c", ""), ("d/e", "2")]).await
}

async fn drop_gives_up_the_claim(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let other = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    drop(writer);
    let mut writer = exclusive(&other, "a").await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 4)?;
    drop(writer);
    put(&store, "a", "free").await?;
    store.remove(&key("a")?).await?;
    holds(&store, &[]).await
}

async fn close_gives_up_the_claim(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let other = cx.open().await?;
    exclusive(&store, "a").await?.close().await?;
    exclusive(&other, "a").await?.close().await?;
    drop(shared(&store, "a").await?);
    store.rename(&key("a")?, &key("b")?, RenameOptions::default()).await?;
    holds(&store, &[("b", "")]).await
}

async fn claim_lasts_through_replace_and_truncate(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let other = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    let busy = async || -> Result {
        for handle in [&store, &other] {
            let outcome = put_when(handle, "a", "bad", Precondition::None).await?;
            refused(outcome, StorageErrorKind::Busy, "a")?;
            let outcome = handle.open_append(&key("a")?, AppendOptions::exclusive("late")).await;
            refused(outcome, StorageErrorKind::Busy, "a")?;
        }
        Ok(())
    };
    writer.replace(Payload::from("new\n"), when(Precondition::None)).await?;
    busy().await?;
    writer.truncate(1).await?;
    busy().await?;
    writer.adopt().await?;
    busy().await?;
    holds(&store, &[("a", "n")]).await
}

async fn claim_of_an_unnamed_owner_counts(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let unnamed = AppendOptions { owner: None, ..AppendOptions::exclusive("") };
    let _writer = store.open_append(&key("a")?, unnamed).await?;
    let outcome = cx.open().await?.open_append(&key("a")?, AppendOptions::exclusive("late")).await;
    refused(outcome, StorageErrorKind::Busy, "a")?;
    Ok(())
}

async fn racing_claims_one_wins(cx: &Cx) -> Result {
    let handles = [cx.open().await?, cx.open().await?, cx.open().await?];
    for round in 0..30 {
        let name = format!("round/{round}");
        let start = std::sync::Arc::new(std::sync::Barrier::new(handles.len()));
        let claims = handles.iter().map(|store| {
            let (store, start, name) = (store.clone(), start.clone(), name.clone());
            cx.on_thread(async move {
                start.wait();
                Ok(store.open_append(&key(&name)?, AppendOptions::exclusive("racer")).await)
            })
        });
        let mut winners = Vec::new();
        for outcome in join(claims).await {
            match outcome? {
                Ok(writer) => winners.push(writer),
                lost => drop(refused(lost, StorageErrorKind::Busy, &name)?),
            }
        }
        same("how many won", winners.len(), 1)?;
    }
    Ok(())
}

async fn claims_leave_nothing_behind(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "d/a").await?;
    writer.append(Bytes::from("one\n")).await?;
    writer.replace(Payload::from("two\n"), when(Precondition::None)).await?;
    holds(&store, &[("d/a", "two\n")]).await?;
    drop(writer);
    let store = cx.reopen(store).await?;
    holds(&store, &[("d/a", "two\n")]).await?;
    store.remove(&key("d/a")?).await?;
    put(&store, "d", "the lock is not in the way").await?;
    holds(&store, &[("d", "the lock is not in the way")]).await
}
