//! Looking at objects: `head`, `read`, `peek` and the ranges.

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::Result;
use super::super::support::{content, ensure, key, put, refused, same};
use crate::storage::{ReadRange, SessionStorageExt, StorageErrorKind};

table! {
    missing_objects_are_not_found,
    head_tells_what_put_returned,
    ranges_are_answered_in_order_and_cut_at_the_end,
    empty_objects_can_be_read,
    read_without_ranges_answers_no_bytes,
    all_ranges_of_a_read_are_of_one_state,
    peek_answers_each_key_in_order,
    peek_never_repeats_bytes_of_the_head,
    peek_is_of_one_state,
    large_objects_come_back_whole,
    modified_is_the_backends_time_of_the_change,
}

async fn missing_objects_are_not_found(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let missing = key("no/such.jsonl")?;
    let name = missing.as_str();
    refused(store.head(&missing).await, StorageErrorKind::NotFound, name)?;
    refused(store.read(&missing, &[ReadRange::Full]).await, StorageErrorKind::NotFound, name)?;
    refused(store.read(&missing, &[]).await, StorageErrorKind::NotFound, name)?;
    same("whether it exists", store.exists(&missing).await?, false)
}

async fn head_tells_what_put_returned(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let put = put(&store, "s/a.jsonl", "one\n").await?;
    same("the key", put.key.as_str(), "s/a.jsonl")?;
    same("the size", put.size, 4)?;
    same("head", store.head(&put.key).await?, put.clone())?;
    same("read", store.read(&put.key, &[ReadRange::Full]).await?.0, put.clone())?;
    let store = cx.reopen(store).await?;
    same("head after reopening", store.head(&put.key).await?, put)
}

async fn ranges_are_answered_in_order_and_cut_at_the_end(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "0123456789").await?;
    let range = |offset, len| ReadRange::Range { offset, len };
    let cases = [
        (range(3, 4), "3456"),
        (ReadRange::Full, "0123456789"),
        (range(0, 0), ""),
        (range(8, 5), "89"),
        (range(10, 1), ""),
        (range(99, 1), ""),
        (range(1, u64::MAX), "123456789"),
        (range(u64::MAX, u64::MAX), ""),
        (ReadRange::From(0), "0123456789"),
        (ReadRange::From(7), "789"),
        (ReadRange::From(10), ""),
        (ReadRange::From(u64::MAX), ""),
        (ReadRange::Suffix(0), ""),
        (ReadRange::Suffix(2), "89"),
        (ReadRange::Suffix(10), "0123456789"),
        (ReadRange::Suffix(u64::MAX), "0123456789"),
        (range(3, 4), "3456"),
    ];
    let ranges: Vec<_> = cases.iter().map(|(range, _)| *range).collect();
    let want: Vec<_> = cases.iter().map(|(_, part)| Bytes::from(*part)).collect();
    let (meta, parts) = store.read(&key("a")?, &ranges).await?;
    same("the size", meta.size, 10)?;
    same("the parts", parts, want.clone())?;
    for (range, want) in ranges.into_iter().zip(want) {
        let (_, parts) = store.read(&key("a")?, &[range]).await?;
        same(&format!("{range:?} alone"), parts, vec![want])?;
    }
    Ok(())
}

async fn empty_objects_can_be_read(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let empty = put(&store, "empty", "").await?;
    same("the size", empty.size, 0)?;
    let ranges = [ReadRange::Full, ReadRange::From(0), ReadRange::Suffix(9)];
    let read = store.read(&empty.key, &ranges).await?;
    same("read", read, (empty.clone(), vec![Bytes::new(); 3]))?;
    let peek = one_peek(store.peek(std::slice::from_ref(&empty.key), 9, 9).await)?;
    same("peek", (peek.meta, peek.head, peek.tail), (empty, Bytes::new(), Bytes::new()))
}

async fn read_without_ranges_answers_no_bytes(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let put = put(&store, "a", "body").await?;
    same("read", store.read(&put.key, &[]).await?, (put, vec![]))
}

/// While one thread replaces the object by ever other bodies, every read must see one of them.
async fn all_ranges_of_a_read_are_of_one_state(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", uniform(0)).await?;
    let writing = store.clone();
    let writer = cx.on_thread(async move {
        for round in 1..2000 {
            put(&writing, "a", uniform(round)).await?;
        }
        Ok(())
    });
    let ranges = [ReadRange::Suffix(3), ReadRange::Full, ReadRange::From(50)];
    while writer.is_running() {
        let (meta, parts) = store.read(&key("a")?, &ranges).await?;
        let [suffix, full, from] = parts.as_slice() else {
            return same("how many parts", parts.len(), 3);
        };
        same("the size beside the bytes", meta.size, full.len() as u64)?;
        ensure("a read is cut short", full.len() >= LEAST)?;
        same("the suffix", suffix, &full.slice(full.len() - 3..))?;
        same("the rest", from, &full.slice(50..))?;
        ensure("a read mixed two states", full.iter().all(|byte| *byte == full[0]))?;
    }
    writer.await
}

async fn peek_answers_each_key_in_order(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "aaaa").await?;
    put(&store, "b/c", "bbbbbb").await?;
    let keys = [key("b/c")?, key("missing")?, key("b")?, key("a")?, key("a")?];
    let mut peeks = store.peek(&keys, 1, 2).await.into_iter();
    let mut next = || peeks.next().ok_or_else(|| super::super::Failure::new("a peek is missing"));
    let peek = next()??;
    same("the first", (peek.meta.key.as_str(), &*peek.head, &*peek.tail), ("b/c", &b"b"[..], &b"bb"[..]))?;
    same("its size", peek.meta.size, 6)?;
    refused(next()?, StorageErrorKind::NotFound, "missing")?;
    refused(next()?, StorageErrorKind::NotFound, "b")?;
    for _ in 0..2 {
        let peek = next()??;
        same("the key", peek.meta.key.as_str(), "a")?;
        same("the meta", peek.meta, store.head(&key("a")?).await?)?;
    }
    same("what is left", next().is_err(), true)?;
    same("peek of no keys", store.peek(&[], 1, 1).await.len(), 0)
}

async fn peek_never_repeats_bytes_of_the_head(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", "0123456789").await?;
    for (head, tail, want) in [
        (0, 0, ("", "")),
        (3, 0, ("012", "")),
        (0, 3, ("", "789")),
        (3, 3, ("012", "789")),
        (5, 5, ("01234", "56789")),
        (7, 7, ("0123456", "789")),
        (10, 10, ("0123456789", "")),
        (11, 1, ("0123456789", "")),
        (0, 11, ("", "0123456789")),
        (u64::MAX, u64::MAX, ("0123456789", "")),
        (1, u64::MAX, ("0", "123456789")),
    ] {
        let peek = one_peek(store.peek(&[key("a")?], head, tail).await)?;
        let got = (peek.head.clone(), peek.tail.clone());
        same(&format!("peek {head} {tail}"), got, (Bytes::from(want.0), Bytes::from(want.1)))?;
        same("whether it is whole", peek.is_whole(), want.0.len() + want.1.len() == 10)?;
    }
    Ok(())
}

async fn peek_is_of_one_state(cx: &Cx) -> Result {
    let store = cx.open().await?;
    put(&store, "a", uniform(0)).await?;
    let writing = store.clone();
    let writer = cx.on_thread(async move {
        for round in 1..2000 {
            put(&writing, "a", uniform(round)).await?;
        }
        Ok(())
    });
    while writer.is_running() {
        let peek = one_peek(store.peek(&[key("a")?], 40, u64::MAX).await)?;
        ensure("a peek is not whole", peek.is_whole() && peek.head.len() == 40)?;
        let mut bytes = peek.head.iter().chain(&peek.tail);
        ensure("a peek mixed two states", bytes.all(|byte| *byte == peek.head[0]))?;
    }
    writer.await
}

async fn large_objects_come_back_whole(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let body: Bytes = (0..8_u32 << 20).map(|i| (i % 251) as u8).collect();
    put(&store, "large", body.clone()).await?;
    ensure("the large object changed", content(&store, "large").await? == body)?;
    let store = cx.reopen(store).await?;
    ensure("the large object changed by reopening", content(&store, "large").await? == body)?;
    let range = ReadRange::Range { offset: 5 << 20, len: 1 << 20 };
    let (_, parts) = store.read(&key("large")?, &[range]).await?;
    ensure("a part of it is wrong", parts == [body.slice(5 << 20..6 << 20)])
}

/// No backend's clock is expected to be more than a day off.
async fn modified_is_the_backends_time_of_the_change(cx: &Cx) -> Result {
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    let near = |time: std::time::SystemTime| time.elapsed().unwrap_or_else(|ahead| ahead.duration()) < day;
    let store = cx.open().await?;
    let first = put(&store, "a", "one").await?;
    ensure("a new object's time is off by a day", near(first.modified))?;
    let second = put(&store, "a", "two").await?;
    ensure("a later change has an earlier time", second.modified >= first.modified)?;
    content(&store, "a").await?;
    same("the time after reading", store.head(&first.key).await?.modified, second.modified)?;
    store.append_once(&first.key, Bytes::from("three")).await?;
    let third = store.head(&first.key).await?.modified;
    ensure("an append's time is off by a day", near(third))?;
    ensure("a later append has an earlier time", third >= second.modified)
}

/// The size of the shortest of the bodies that are replaced while others read.
const LEAST: usize = 60;

/// A body of one letter, of a size that differs from that of the next rounds.
fn uniform(round: usize) -> Bytes {
    vec![b'a' + (round % 26) as u8; LEAST + round * 37 % 4000].into()
}

fn one_peek(
    mut peeks: Vec<Result<crate::storage::Peek, crate::storage::StorageError>>,
) -> Result<crate::storage::Peek> {
    same("how many peeks", peeks.len(), 1)?;
    Ok(peeks.remove(0)?)
}
