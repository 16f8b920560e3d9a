//! Appending: where bytes go, who sees them, and what survives.

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::{Failure, Result};
use super::super::support::{
    content, ensure, exclusive, holds, key, put, refused, same, shared,
};
use crate::storage::{
    AppendOptions, Precondition, ReadRange, SessionStorageExt, StorageErrorKind,
};

table! {
    opening_creates_an_empty_object,
    opening_goes_on_at_the_end,
    opening_changes_nothing_that_exists,
    open_preconditions_are_checked,
    failed_open_creates_nothing_and_claims_nothing,
    bytes_begin_at_the_returned_offset,
    appended_bytes_are_visible_at_once,
    appending_nothing_changes_nothing,
    appended_bytes_survive_reopening,
    dropping_a_writer_loses_nothing,
    large_appends_arrive_whole,
    many_appends_arrive_in_order,
    append_once_returns_the_state_after,
    close_returns_the_final_state,
    readers_never_see_half_a_chunk,
}

async fn opening_creates_an_empty_object(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let writer = shared(&store, "new/a").await?;
    same("its length", (writer.len(), writer.is_empty()), (0, true))?;
    same("its error", writer.error().is_none(), true)?;
    holds(&store, &[("new/a", "")]).await?;
    drop(writer);
    exclusive(&store, "new/b").await?.close().await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("new/a", ""), ("new/b", "")]).await
}

async fn opening_goes_on_at_the_end(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "one\n").await?;
    for (i, open) in [true, false].into_iter().enumerate() {
        let mut writer = if open { exclusive(&store, "a").await? } else { shared(&store, "a").await? };
        let end = 4 + 4 * i as u64;
        same("the length", (writer.len(), writer.is_empty()), (end, false))?;
        same("the offset", writer.append(Bytes::from("two\n")).await?, end)?;
        same("the length after", writer.len(), end + 4)?;
        writer.close().await?;
    }
    holds(&store, &[("a", "one\ntwo\ntwo\n")]).await
}

async fn opening_changes_nothing_that_exists(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let before = put(&store, "a", "one\n").await?;
    drop(shared(&store, "a").await?);
    same("head after a shared writer", store.head(&key("a")?).await?, before.clone())?;
    let closed = exclusive(&store, "a").await?.close().await?;
    same("what close returns", closed, before.clone())?;
    same("head after an exclusive writer", store.head(&key("a")?).await?, before)
}

async fn open_preconditions_are_checked(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let stale = put(&store, "a", "1").await?.version;
    let now = put(&store, "a", "one").await?.version;
    let a = key("a")?;
    for exclusive in [false, true] {
        let open = |condition: Precondition| {
            let options = if exclusive { AppendOptions::exclusive("x") } else { Default::default() };
            store.open_append(&a, AppendOptions::when(options, condition))
        };
        refused(open(Precondition::Absent).await, StorageErrorKind::AlreadyExists, "a")?;
        refused(open(Precondition::Length(4)).await, StorageErrorKind::Conflict, "a")?;
        let version = Precondition::Version(stale.clone());
        refused(open(version).await, StorageErrorKind::Conflict, "a")?;
        drop(open(Precondition::Present).await?);
        drop(open(Precondition::Length(3)).await?);
        drop(open(Precondition::Version(now.clone())).await?);
    }
    let absent = AppendOptions::default().when(Precondition::Absent);
    drop(store.open_append(&key("b")?, absent).await?);
    holds(&store, &[("a", "one"), ("b", "")]).await
}

async fn failed_open_creates_nothing_and_claims_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let version = put(&store, "a", "one").await?.version;
    let try_open = async |name: &str, condition| {
        let options = AppendOptions::exclusive("a failed open").when(condition);
        Ok::<_, Failure>(store.open_append(&key(name)?, options).await)
    };
    for condition in [Precondition::Present, Precondition::Length(0)] {
        let outcome = try_open("dir/b", condition).await?;
        refused(outcome, StorageErrorKind::NotFound, "dir/b")?;
    }
    let outcome = try_open("dir/b", Precondition::Version(version)).await?;
    refused(outcome, StorageErrorKind::NotFound, "dir/b")?;
    let outcome = try_open("a", Precondition::Length(9)).await?;
    refused(outcome, StorageErrorKind::Conflict, "a")?;
    holds(&store, &[("a", "one")]).await?;
    drop(exclusive(&store, "a").await?);
    drop(exclusive(&cx.open().await?, "dir/b").await?);
    put(&store, "a", "no claim is left").await?;
    holds(&store, &[("a", "no claim is left"), ("dir/b", "")]).await
}

async fn bytes_begin_at_the_returned_offset(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for (name, mut writer) in
        [("x", exclusive(&store, "x").await?), ("s", shared(&store, "s").await?)]
    {
        let mut end = 0;
        for chunk in ["a\n", "bcd\n", "", "\n", "efghijk\n"] {
            same("the offset", writer.append(Bytes::from(chunk)).await?, end)?;
            end += chunk.len() as u64;
            same("the length", writer.len(), end)?;
        }
        same("the content", content(&store, name).await?, "a\nbcd\n\nefghijk\n")?;
    }
    Ok(())
}

async fn appended_bytes_are_visible_at_once(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    let mut want = String::new();
    for i in 0..20 {
        let line = format!("line {i}\n");
        let start = writer.append(Bytes::from(line.clone())).await?;
        want.push_str(&line);
        holds(&store, &[("a", &want)]).await?;
        let ranges = [ReadRange::From(start), ReadRange::Suffix(3)];
        let (_, parts) = store.read(&key("a")?, &ranges).await?;
        same("the last line", parts, vec![Bytes::from(line.clone()), Bytes::from(line[line.len() - 3..].to_owned())])?;
    }
    Ok(())
}

async fn appending_nothing_changes_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let before = put(&store, "a", "one\n").await?;
    for mut writer in [exclusive(&store, "a").await?] {
        same("the offset", writer.append(Bytes::new()).await?, 4)?;
        same("head", store.head(&key("a")?).await?, before.clone())?;
        same("close", writer.close().await?, before.clone())?;
    }
    let mut writer = shared(&store, "a").await?;
    same("the offset of a shared writer", writer.append(Bytes::new()).await?, 4)?;
    same("head", store.head(&key("a")?).await?, before)
}

async fn appended_bytes_survive_reopening(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    writer.append(Bytes::from("two\n")).await?;
    writer.close().await?;
    let store = cx.reopen(store).await?;
    store.append_once(&key("a")?, Bytes::from("three\n")).await?;
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "one\ntwo\nthree\n")]).await
}

async fn dropping_a_writer_loses_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("one\n")).await?;
    drop(writer);
    let mut writer = shared(&store, "a").await?;
    writer.append(Bytes::from("two\n")).await?;
    drop(writer);
    let store = cx.reopen(store).await?;
    holds(&store, &[("a", "one\ntwo\n")]).await
}

async fn large_appends_arrive_whole(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let body: Bytes = (0..8_u32 << 20).map(|i| (i % 253) as u8).collect();
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("head\n")).await?;
    same("the offset", writer.append(body.clone()).await?, 5)?;
    same("the offset after", writer.append(Bytes::from("tail\n")).await?, 5 + (8 << 20))?;
    let got = content(&store, "a").await?;
    same("the size", got.len(), 10 + (8 << 20))?;
    ensure("the large append changed", got.slice(5..got.len() - 5) == body)
}

async fn many_appends_arrive_in_order(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    let mut want = String::new();
    for i in 0..2000 {
        let line = format!("{i}\n");
        writer.append(Bytes::from(line.clone())).await?;
        want.push_str(&line);
    }
    writer.close().await?;
    same("the content", content(&store, "a").await?, want)
}

async fn append_once_returns_the_state_after(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let meta = store.append_once(&key("a")?, Bytes::from("one\n")).await?;
    same("the size", meta.size, 4)?;
    same("head", store.head(&key("a")?).await?, meta)?;
    holds(&store, &[("a", "one\n")]).await
}

async fn close_returns_the_final_state(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for mut writer in [exclusive(&store, "a").await?, shared(&store, "b").await?] {
        writer.append(Bytes::from("one\n")).await?;
        let meta = writer.close().await?;
        same("the size", meta.size, 4)?;
        same("head", store.head(&meta.key).await?, meta)?;
    }
    Ok(())
}

async fn readers_never_see_half_a_chunk(cx: &Cx) -> Result {
    const CHUNK: usize = 20_000;
    let store = cx.open().await?;
    let mut writer = exclusive(&store, "a").await?;
    let writing = cx.on_thread(async move {
        for _ in 0..100 {
            writer.append(vec![b'x'; CHUNK].into()).await?;
        }
        Ok(writer.close().await?)
    });
    while writing.is_running() {
        let (meta, body) = store.read_all(&key("a")?).await?;
        same("the size beside the bytes", meta.size, body.len() as u64)?;
        same("how much of a chunk is seen", body.len() % CHUNK, 0)?;
    }
    same("the size", writing.await?.size, 100 * CHUNK as u64)
}
