//! `list`: order, prefixes, every option, and what happens meanwhile.

use std::collections::BTreeSet;
use std::future::poll_fn;

use super::super::check::table;
use super::super::cx::{Cx, Store};
use super::super::failure::Result;
use super::super::support::{content, exclusive, key, listed, put, same, shared};
use crate::storage::{ListOptions, ListStream, ObjectMeta, StorageKey};

table! {
    empty_store_lists_nothing,
    keys_are_sorted_as_bytes,
    items_tell_what_head_tells,
    prefix_ends_at_a_segment,
    prefix_lists_neither_itself_nor_above,
    prefix_of_nothing_lists_nothing,
    depth_counts_segments_below_the_prefix,
    suffix_is_the_end_of_the_key,
    start_after_is_exclusive_and_need_not_exist,
    limit_is_the_most_there_is,
    options_work_together,
    pages_by_start_after_are_complete,
    a_thousand_objects_in_one_directory,
    many_directories,
    stream_outlives_its_store_handle,
    stable_objects_are_listed_once_whatever_happens,
    open_writers_are_listed_as_their_objects_only,
}

/// Keys that walk into the usual traps of directory walkers: `-` and `.` sort before `/`.
const NAMES: [&str; 16] = [
    "a!/x", "a-1", "a-/y.jsonl", "a.jsonl", "a/!", "a/b", "a/b-/c.jsonl", "a/b.jsonl", "a/c/d/e.jsonl",
    "a/c0", "a0", "aa/x", "b/.hidden", "b/a.jsonl", "b/ü.jsonl", "z",
];

/// Fills a store with [`NAMES`], in an order that is not sorted.
async fn filled(cx: &Cx) -> Result<Store> {
    let store = cx.open().await?;
    for i in 0..NAMES.len() {
        let name = NAMES[i * 7 % NAMES.len()];
        put(&store, name, name).await?;
    }
    Ok(store)
}

/// The sorted names for which a rule holds.
fn names(rule: impl Fn(&str) -> bool) -> Vec<String> {
    let all = BTreeSet::from(NAMES);
    all.into_iter().filter(|name| rule(name)).map(str::to_owned).collect()
}

async fn keys_of(store: &Store, prefix: Option<&str>, options: ListOptions) -> Result<Vec<String>> {
    let prefix = prefix.map(key).transpose()?;
    let metas = listed(store, prefix.as_ref(), options).await?;
    Ok(metas.into_iter().map(|meta| meta.key.to_string()).collect())
}

async fn empty_store_lists_nothing(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let none: Vec<String> = Vec::new();
    same("all", keys_of(&store, None, ListOptions::default()).await?, none.clone())?;
    let store = cx.reopen(store).await?;
    same("all", keys_of(&store, None, ListOptions::default()).await?, none)
}

async fn keys_are_sorted_as_bytes(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    same("all", keys_of(&store, None, ListOptions::default()).await?, names(|_| true))?;
    let store = cx.reopen(store).await?;
    same("all after reopening", keys_of(&store, None, ListOptions::default()).await?, names(|_| true))
}

async fn items_tell_what_head_tells(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for meta in listed(&store, None, ListOptions::default()).await? {
        same("an item", &meta, &store.head(&meta.key).await?)?;
        same("the size", meta.size, content(&store, meta.key.as_str()).await?.len() as u64)?;
    }
    Ok(())
}

async fn prefix_ends_at_a_segment(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for prefix in ["a", "a/b-", "a/c", "a/c/d", "b", "a!"] {
        let below = format!("{prefix}/");
        let got = keys_of(&store, Some(prefix), ListOptions::default()).await?;
        same(&format!("below {prefix}"), got, names(|name| name.starts_with(&below)))?;
    }
    Ok(())
}

async fn prefix_lists_neither_itself_nor_above(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for object in ["a/b", "z", "a/c/d/e.jsonl"] {
        let got = keys_of(&store, Some(object), ListOptions::default()).await?;
        same(&format!("below {object}"), got, names(|_| false))?;
    }
    Ok(())
}

async fn prefix_of_nothing_lists_nothing(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for nothing in ["no/such", "a/b/c", "a/no", "z/a"] {
        let got = keys_of(&store, Some(nothing), ListOptions::default()).await?;
        same(&format!("below {nothing}"), got, names(|_| false))?;
    }
    Ok(())
}

async fn depth_counts_segments_below_the_prefix(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for depth in 0..5 {
        let options = ListOptions::default().max_depth(depth);
        let got = keys_of(&store, None, options.clone()).await?;
        let want = names(|name| name.split('/').count() <= depth);
        same(&format!("all to depth {depth}"), got, want)?;
        let got = keys_of(&store, Some("a"), options).await?;
        let want = names(|name| name.starts_with("a/") && name.split('/').count() <= depth + 1);
        same(&format!("below a to depth {depth}"), got, want)?;
    }
    let got = keys_of(&store, None, ListOptions::default().max_depth(usize::MAX)).await?;
    same("to any depth", got, names(|_| true))
}

async fn suffix_is_the_end_of_the_key(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for suffix in [".jsonl", "", "b", "-/c.jsonl", "ü.jsonl", "a/b", "JSONL", "a much longer suffix than any key"] {
        let got = keys_of(&store, None, ListOptions::default().suffix(suffix)).await?;
        same(&format!("ending with {suffix:?}"), got, names(|name| name.ends_with(suffix)))?;
    }
    Ok(())
}

async fn start_after_is_exclusive_and_need_not_exist(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for after in ["!", "a", "a-1", "a-2", "a/b", "a/b-", "a/b-/c.jsonl", "a/c/z", "b", "z", "zz"] {
        let options = ListOptions::default().start_after(key(after)?);
        let got = keys_of(&store, None, options.clone()).await?;
        same(&format!("after {after}"), got, names(|name| name > after))?;
        let got = keys_of(&store, Some("a"), options).await?;
        let want = names(|name| name > after && name.starts_with("a/"));
        same(&format!("below a after {after}"), got, want)?;
    }
    Ok(())
}

async fn limit_is_the_most_there_is(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for limit in [0, 1, 2, 15, 16, 17, usize::MAX] {
        let got = keys_of(&store, None, ListOptions::default().limit(limit)).await?;
        let want: Vec<_> = names(|_| true).into_iter().take(limit).collect();
        same(&format!("at most {limit}"), got, want)?;
    }
    Ok(())
}

async fn options_work_together(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    let options = ListOptions::default()
        .suffix(".jsonl")
        .max_depth(2)
        .start_after(key("a/b-")?)
        .limit(2);
    let got = keys_of(&store, Some("a"), options.clone()).await?;
    same("below a", got, names(|name| ["a/b-/c.jsonl", "a/b.jsonl"].contains(&name)))?;
    let got = keys_of(&store, None, options.clone()).await?;
    same("of all", got, names(|name| ["a/b.jsonl", "b/a.jsonl"].contains(&name)))?;
    let got = keys_of(&store, Some("b"), options.limit(9)).await?;
    same("below b", got, names(|name| name.starts_with("b/") && name.ends_with(".jsonl")))
}

async fn pages_by_start_after_are_complete(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    for size in 1..5 {
        let mut all = Vec::new();
        let mut options = ListOptions::default().limit(size);
        loop {
            let page = keys_of(&store, None, options.clone()).await?;
            let Some(last) = page.last() else { break };
            options = options.start_after(key(last)?);
            all.extend(page);
        }
        same(&format!("all pages of {size}"), all, names(|_| true))?;
    }
    Ok(())
}

async fn a_thousand_objects_in_one_directory(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut want = BTreeSet::new();
    for i in 0..1000 {
        let name = format!("dir/{}.jsonl", i * 379 % 1000);
        put(&store, &name, "x").await?;
        want.insert(name);
    }
    let got = keys_of(&store, Some("dir"), ListOptions::default()).await?;
    same("all", &got, &want.iter().cloned().collect::<Vec<_>>())?;
    let options = ListOptions::default().start_after(key("dir/500.jsonl")?).limit(3);
    let want: Vec<_> = want.range("dir/500.jsonl".to_owned()..).skip(1).take(3).cloned().collect();
    same("a page", keys_of(&store, None, options).await?, want)?;
    same("how many were removed", store.remove_all(&key("dir")?).await?, 1000)
}

async fn many_directories(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut want = BTreeSet::new();
    for i in 0..300 {
        let name = format!("{}/{}/a", i % 17, i);
        put(&store, &name, "x").await?;
        want.insert(name);
    }
    let got = keys_of(&store, None, ListOptions::default()).await?;
    same("all", got, want.into_iter().collect::<Vec<_>>())
}

async fn stream_outlives_its_store_handle(cx: &Cx) -> Result {
    let store = filled(cx).await?;
    let mut stream = {
        let prefix = key("a")?;
        store.list(Some(&prefix), ListOptions::default())
    };
    let first = next(&mut stream).await?.map(|meta| meta.key.to_string());
    drop(store);
    let mut got: Vec<_> = first.into_iter().collect();
    while let Some(meta) = next(&mut stream).await? {
        got.push(meta.key.to_string());
    }
    same("the listing", got, names(|name| name.starts_with("a/")))
}

async fn stable_objects_are_listed_once_whatever_happens(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let name = |i: usize| format!("d{}/{i:03}", i / 50);
    for i in 0..200 {
        put(&store, &name(i), "x").await?;
    }
    let mut stream = store.list(None, ListOptions::default());
    let mut got = Vec::new();
    while let Some(meta) = next(&mut stream).await? {
        got.push(meta.key);
        // Every fourth object changes: those ahead go away, new ones come behind and ahead.
        if got.len() % 40 == 1 {
            let turn = got.len() / 40;
            for i in (turn..200).step_by(20).filter(|i| i % 4 == 0) {
                if store.remove(&key(&name(i))?).await.is_ok() {
                    put(&store, &format!("{}-new", name(i)), "y").await?;
                }
            }
        }
    }
    same("whether it is sorted, each once", got.is_sorted_by(|a, b| a < b), true)?;
    let stable = |key: &StorageKey| {
        (0..200).filter(|i| i % 4 != 0).any(|i| key.as_str() == name(i))
    };
    let got: Vec<_> = got.iter().filter(|key| stable(key)).map(ToString::to_string).collect();
    let want: Vec<_> = (0..200).filter(|i| i % 4 != 0).map(name).collect();
    same("the objects that stayed", got, want)
}

async fn open_writers_are_listed_as_their_objects_only(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let _held = exclusive(&store, "d/a").await?;
    let _other = shared(&store, "d/e/b").await?;
    for handle in [store.clone(), cx.open().await?] {
        let got = keys_of(&handle, None, ListOptions::default()).await?;
        same("all", got, vec!["d/a".to_owned(), "d/e/b".to_owned()])?;
    }
    Ok(())
}

async fn next(stream: &mut ListStream) -> Result<Option<ObjectMeta>> {
    Ok(poll_fn(|task| stream.as_mut().poll_next(task)).await.transpose()?)
}
