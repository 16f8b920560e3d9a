//! Writers that share an object: with each other, and with those who replace and move it.

use std::sync::{Arc, Barrier};

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::{Cx, OnThread, Store};
use super::super::failure::Result;
use super::super::support::{
    Writer, content, ensure, holds, join, key, put, put_when, refused, same, shared,
};
use crate::storage::{
    AppendOptions, Precondition, SessionStorageExt, StorageErrorKind, StorageKey,
};

table! {
    writers_side_by_side_take_turns,
    writer_goes_on_in_a_replaced_object,
    writer_creates_a_removed_object_again,
    writer_stays_with_its_key_after_a_rename,
    chunks_of_two_writers_never_interleave,
    chunks_of_two_handles_never_interleave,
    racing_opens_that_want_no_object_one_wins,
    appends_across_renames_are_never_lost,
    appends_across_guarded_rewrites_are_never_lost,
}

async fn writers_side_by_side_take_turns(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut one = shared(&store, "a").await?;
    let mut two = shared(&cx.open().await?, "a").await?;
    same("the first offset", one.append(Bytes::from("one\n")).await?, 0)?;
    same("the second offset", two.append(Bytes::from("two\n")).await?, 4)?;
    same("the third offset", one.append(Bytes::from("three\n")).await?, 8)?;
    same("the length as each knows it", (one.len(), two.len()), (14, 8))?;
    same("what the first closes with", one.close().await?.size, 14)?;
    same("what the second closes with", two.close().await?.size, 14)?;
    holds(&store, &[("a", "one\ntwo\nthree\n")]).await
}

async fn chunks_of_two_writers_never_interleave(cx: &Cx) -> Result {
    let store = cx.open().await?;
    interleave(cx, &store, [store.clone(), store.clone(), store.clone()]).await
}

async fn chunks_of_two_handles_never_interleave(cx: &Cx) -> Result {
    let store = cx.open().await?;
    interleave(cx, &store, [store.clone(), cx.open().await?, cx.open().await?]).await
}

/// Lets several writers append chunks of many sizes at once, and looks for each where it began.
async fn interleave<const N: usize>(cx: &Cx, store: &Store, handles: [Store; N]) -> Result {
    let threads = handles.into_iter().enumerate().map(|(writer, store)| {
        cx.on_thread(async move {
            let mut appended = Vec::new();
            let mut open = shared(&store, "a").await?;
            for round in 0..100 {
                let chunk = chunk_of(writer, round);
                appended.push((open.append(chunk.clone()).await?, chunk));
            }
            open.close().await?;
            Ok(appended)
        })
    });
    let mut chunks = Vec::new();
    for appended in join(threads).await {
        let appended = appended?;
        ensure("a writer's chunks are out of order", appended.is_sorted_by_key(|chunk| chunk.0))?;
        chunks.extend(appended);
    }
    chunks.sort_by_key(|(offset, _)| *offset);
    let got = content(store, "a").await?;
    let mut end = 0;
    for (offset, chunk) in chunks {
        same("where a chunk begins", offset, end as u64)?;
        let after = end + chunk.len();
        let there = got.get(end..after).map(Bytes::copy_from_slice);
        same("the chunk at its offset", there, Some(chunk))?;
        end = after;
    }
    same("the size", got.len(), end)
}

fn chunk_of(writer: usize, round: usize) -> Bytes {
    format!("{writer}:{round}:{}\n", ".".repeat(round * 7919 % 9000)).into()
}

async fn racing_opens_that_want_no_object_one_wins(cx: &Cx) -> Result {
    let handles = [cx.open().await?, cx.open().await?, cx.open().await?];
    for round in 0..30 {
        let name = format!("round/{round}");
        let start = Arc::new(Barrier::new(handles.len()));
        let opens = handles.iter().map(|store| {
            let (store, name, start) = (store.clone(), name.clone(), Arc::clone(&start));
            cx.on_thread(async move {
                start.wait();
                let options = AppendOptions::default().when(Precondition::Absent);
                Ok(store.open_append(&key(&name)?, options).await)
            })
        });
        let mut won = 0;
        for outcome in join(opens).await {
            match outcome? {
                Ok(_) => won += 1,
                lost => drop(refused(lost, StorageErrorKind::AlreadyExists, &name)?),
            }
        }
        same("how many won", won, 1)?;
    }
    Ok(())
}

/// One thread appends, another moves the object away again and again; every line must be in one
/// of the objects.
async fn appends_across_renames_are_never_lost(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let appending = appender(cx, cx.open().await?);
    let mut moved = 0;
    while appending.is_running() {
        let to = key(&format!("moved/{moved:06}"))?;
        match store.rename(&key("a")?, &to, Default::default()).await {
            Ok(_) => moved += 1,
            gone => drop(refused(gone, StorageErrorKind::NotFound, "a")?),
        }
    }
    appending.await?;
    let mut lines = String::new();
    for i in 0..moved {
        lines.push_str(&text(&store, &format!("moved/{i:06}")).await?);
    }
    if store.exists(&key("a")?).await? {
        lines.push_str(&text(&store, "a").await?);
    }
    same("the lines of all objects", lines, all_lines())
}

/// One thread appends, two others write back what they read, guarded by its version.
async fn appends_across_guarded_rewrites_are_never_lost(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "").await?;
    let appending = appender(cx, cx.open().await?);
    let rewriters = [cx.open().await?, cx.open().await?].map(|store| {
        cx.on_thread(async move {
            for _ in 0..LINES {
                let (meta, body) = store.read_all(&key("a")?).await?;
                let unchanged = Precondition::Version(meta.version);
                if let outcome @ Err(_) = put_when(&store, "a", body, unchanged).await? {
                    refused(outcome, StorageErrorKind::Conflict, "a")?;
                }
            }
            Ok(())
        })
    });
    appending.await?;
    for rewriter in join(rewriters).await {
        rewriter?;
    }
    same("the lines", text(&store, "a").await?, all_lines())
}

const LINES: usize = 300;

fn all_lines() -> String {
    (0..LINES).map(|i| format!("{i}\n")).collect()
}

/// Starts a thread that appends [`LINES`] lines to `a`.
fn appender(cx: &Cx, store: Store) -> OnThread<()> {
    cx.on_thread(async move {
        let mut writer = shared(&store, "a").await?;
        for i in 0..LINES {
            writer.append(Bytes::from(format!("{i}\n"))).await?;
        }
        Ok(())
    })
}

async fn text(store: &Store, name: &str) -> Result<String> {
    Ok(String::from_utf8_lossy(&content(store, name).await?).into_owned())
}

async fn writer_goes_on_in_a_replaced_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    put(&cx.open().await?, "a", "a new, longer body\n").await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 19)?;
    same("the length", writer.len(), 23)?;
    holds(&store, &[("a", "a new, longer body\ntwo\n")]).await?;
    put(&store, "a", "").await?;
    same("the offset", writer.append(Bytes::from("three\n")).await?, 0)?;
    same("what close returns", writer.close().await?, store.head(&key("a")?).await?)?;
    holds(&store, &[("a", "three\n")]).await
}

async fn writer_creates_a_removed_object_again(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    store.remove(&key("a")?).await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 0)?;
    holds(&store, &[("a", "two\n")]).await?;
    store.remove(&key("a")?).await?;
    refused(writer.close().await, StorageErrorKind::NotFound, "a")?;
    holds(&store, &[]).await
}

async fn writer_stays_with_its_key_after_a_rename(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = started(&store, "a").await?;
    store.rename(&key("a")?, &StorageKey::new("b")?, Default::default()).await?;
    same("the offset", writer.append(Bytes::from("two\n")).await?, 0)?;
    holds(&store, &[("a", "two\n"), ("b", "one\n")]).await
}

async fn started(store: &Store, name: &str) -> Result<Writer> {
    let mut writer = shared(store, name).await?;
    writer.append(Bytes::from("one\n")).await?;
    Ok(writer)
}
