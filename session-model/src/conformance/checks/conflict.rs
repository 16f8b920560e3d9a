//! Changes by somebody who ignores the claim of an exclusive writer.

use bytes::Bytes;

use super::super::check::{Need, table};
use super::super::cx::{Cx, Store};
use super::super::failure::Result;
use super::super::harness::Tampering;
use super::super::support::{Writer, exclusive, holds, key, refused, same, shared, when};
use crate::storage::{Durability, Payload, Precondition, StorageErrorKind};

table! {
    append_to_a_replaced_object_is_a_conflict needs Need::Tampering,
    append_to_a_replaced_object_of_the_same_size_is_a_conflict needs Need::Tampering,
    append_to_a_grown_object_is_a_conflict needs Need::Tampering,
    append_to_a_removed_object_is_a_conflict needs Need::Tampering,
    sync_of_a_changed_object_is_a_conflict needs Need::Tampering,
    truncate_of_a_changed_object_is_a_conflict needs Need::Tampering,
    adopt_goes_on_with_what_is_there needs Need::Tampering,
    adopt_of_a_removed_object_is_not_found needs Need::Tampering,
    replace_after_a_conflict_restores_the_object needs Need::Tampering,
    replace_sees_the_object_as_it_is_now needs Need::Tampering,
    claim_lasts_through_a_conflict needs Need::Tampering,
    close_after_a_removal_is_not_found needs Need::Tampering,
    shared_writer_goes_on_after_a_foreign_change needs Need::Tampering,
}

const REPLACED: &str = "quite another object\n";
const SAME_SIZE: &str = "ONE\n";

async fn append_to_a_replaced_object_is_a_conflict(cx: &Cx) -> Result {
    conflict(cx, Tampering::Replace(Bytes::from(REPLACED)), &[("a", REPLACED)]).await
}

async fn append_to_a_replaced_object_of_the_same_size_is_a_conflict(cx: &Cx) -> Result {
    conflict(cx, Tampering::Replace(Bytes::from(SAME_SIZE)), &[("a", SAME_SIZE)]).await
}

async fn append_to_a_grown_object_is_a_conflict(cx: &Cx) -> Result {
    conflict(cx, Tampering::Append(Bytes::from("foreign\n")), &[("a", "one\nforeign\n")]).await
}

async fn append_to_a_removed_object_is_a_conflict(cx: &Cx) -> Result {
    conflict(cx, Tampering::Remove, &[]).await
}

/// Checks that appends fail again and again, change nothing, and leave the writer open.
async fn conflict(cx: &Cx, how: Tampering, then: &[(&str, &str)]) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.tamper("a", how).await?;
    for _ in 0..2 {
        refused(writer.append(Bytes::from("bad")).await, StorageErrorKind::Conflict, "a")?;
        same("the error", writer.error().is_none(), true)?;
        holds(&store, then).await?;
    }
    Ok(())
}

async fn sync_of_a_changed_object_is_a_conflict(cx: &Cx) -> Result {
    for level in [Durability::Durable, Durability::Published] {
        for (how, then) in [
            (Tampering::Replace(Bytes::from(SAME_SIZE)), Some(SAME_SIZE)),
            (Tampering::Append(Bytes::from("foreign\n")), Some("one\nforeign\n")),
            (Tampering::Remove, None),
        ] {
            if !cx.gives(level) {
                continue;
            }
            let store = cx.open().await?;
            let mut writer = started(&store).await?;
            cx.tamper("a", how).await?;
            for _ in 0..2 {
                refused(writer.sync(level).await, StorageErrorKind::Conflict, "a")?;
                same("the error", writer.error().is_none(), true)?;
            }
            let then: Vec<_> = then.map(|body| ("a", body)).into_iter().collect();
            holds(&store, &then).await?;
            drop(writer);
            if !then.is_empty() {
                store.remove(&key("a")?).await?;
            }
        }
    }
    Ok(())
}

async fn truncate_of_a_changed_object_is_a_conflict(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.tamper("a", Tampering::Append(Bytes::from("foreign\n"))).await?;
    refused(writer.truncate(0).await, StorageErrorKind::Conflict, "a")?;
    same("the error", writer.error().is_none(), true)?;
    holds(&store, &[("a", "one\nforeign\n")]).await
}

async fn adopt_goes_on_with_what_is_there(cx: &Cx) -> Result {
    for (how, there) in [
        (Tampering::Replace(Bytes::from(REPLACED)), REPLACED),
        (Tampering::Append(Bytes::from("foreign\n")), "one\nforeign\n"),
        (Tampering::Replace(Bytes::new()), ""),
    ] {
        let store = cx.open().await?;
        let mut writer = started(&store).await?;
        cx.tamper("a", how).await?;
        refused(writer.append(Bytes::from("bad")).await, StorageErrorKind::Conflict, "a")?;
        same("what adopt returns", writer.adopt().await?, store.head(&key("a")?).await?)?;
        same("the length", writer.len(), there.len() as u64)?;
        let offset = writer.append(Bytes::from("two\n")).await?;
        same("the offset", offset, there.len() as u64)?;
        holds(&store, &[("a", &format!("{there}two\n"))]).await?;
        writer.close().await?;
        store.remove(&key("a")?).await?;
    }
    Ok(())
}

async fn adopt_of_a_removed_object_is_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.tamper("a", Tampering::Remove).await?;
    refused(writer.adopt().await, StorageErrorKind::NotFound, "a")?;
    same("the error", writer.error().is_none(), true)?;
    writer.replace(Payload::from("one\n"), when(Precondition::Absent)).await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 4)?;
    holds(&store, &[("a", "one\ntwo\n")]).await
}

async fn replace_after_a_conflict_restores_the_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    cx.tamper("a", Tampering::Replace(Bytes::from(REPLACED))).await?;
    refused(writer.append(Bytes::from("bad")).await, StorageErrorKind::Conflict, "a")?;
    writer.replace(Payload::from("one\n"), when(Precondition::None)).await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 4)?;
    same("what close returns", writer.close().await?, store.head(&key("a")?).await?)?;
    holds(&store, &[("a", "one\ntwo\n")]).await
}

async fn replace_sees_the_object_as_it_is_now(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store).await?;
    let stale = store.head(&key("a")?).await?.version;
    cx.tamper("a", Tampering::Replace(Bytes::from(REPLACED))).await?;
    for condition in [Precondition::Length(4), Precondition::Version(stale)] {
        let outcome = writer.replace(Payload::from("bad"), when(condition)).await;
        refused(outcome, StorageErrorKind::Conflict, "a")?;
    }
    holds(&store, &[("a", REPLACED)]).await?;
    let now = store.head(&key("a")?).await?.version;
    writer.replace(Payload::from("mine\n"), when(Precondition::Version(now))).await?;
    holds(&store, &[("a", "mine\n")]).await
}

async fn claim_lasts_through_a_conflict(cx: &Cx) -> Result {
    for how in [Tampering::Replace(Bytes::from(REPLACED)), Tampering::Remove] {
        let store = cx.open().await?;
        let mut writer = started(&store).await?;
        cx.tamper("a", how).await?;
        refused(writer.append(Bytes::from("bad")).await, StorageErrorKind::Conflict, "a")?;
        for handle in [store.clone(), cx.open().await?] {
            let outcome = handle.open_append(&key("a")?, Default::default()).await;
            refused(outcome, StorageErrorKind::Busy, "a")?;
        }
        writer.replace(Payload::default(), when(Precondition::None)).await?;
        writer.close().await?;
        store.remove(&key("a")?).await?;
    }
    Ok(())
}

async fn close_after_a_removal_is_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let writer = started(&store).await?;
    cx.tamper("a", Tampering::Remove).await?;
    refused(writer.close().await, StorageErrorKind::NotFound, "a")?;
    holds(&store, &[]).await?;
    drop(exclusive(&cx.open().await?, "a").await?);
    Ok(())
}

async fn shared_writer_goes_on_after_a_foreign_change(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = shared(&store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    cx.tamper("a", Tampering::Append(Bytes::from("foreign\n"))).await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 12)?;
    cx.tamper("a", Tampering::Replace(Bytes::from(REPLACED))).await?;
    let offset = writer.append(Bytes::from("three\n")).await?;
    same("the offset", offset, REPLACED.len() as u64)?;
    holds(&store, &[("a", &format!("{REPLACED}three\n"))]).await
}

async fn started(store: &Store) -> Result<Writer> {
    let mut writer = exclusive(store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    Ok(writer)
}
