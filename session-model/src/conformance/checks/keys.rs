//! Keys: every valid one names an object of its own, and nothing else does.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::Result;
use super::super::support::{dump, exclusive, holds, key, put, refused, same};
use crate::storage::{
    CopyOptions, MAX_KEY_BYTES, MAX_SEGMENT_BYTES, RenameOptions, SessionStorageExt,
    StorageErrorKind,
};

table! {
    odd_keys_name_objects_of_their_own,
    odd_directories_hold_objects,
    odd_keys_can_be_written_moved_and_removed,
    longest_keys_work,
    keys_that_differ_in_case_only_are_two,
    names_like_a_backends_own_are_free,
}

/// Segments that are valid, though somebody's file system, shell or database may trip over them.
const ODD: [&str; 58] = [
    " ", "  ", " a", "a ", "a.", "a..", "...", "-", "--", "-rf", "~", "~a", ".a", "~.",
    "a.~", "*", "?", "a*b", "\"", "'", "`", "$HOME", "$(x)", "%", "%2F", "%00", "%s", "&", "|", ";",
    "<", ">", ":", "a:b", "C:", "con", "NUL", "nul.txt", "aux.c", "\n", "a\nb", "\r", "\t", "\u{1}",
    "\u{7f}", "\u{85}", "\u{a0}", "\u{feff}", "\u{2028}", "\u{202e}abc", "ü", "u\u{308}", "名前", "😀",
    "👩‍👩‍👧‍👦", "ﬀ", "ß", "\u{10ffff}",
];

async fn odd_keys_name_objects_of_their_own(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut want = BTreeMap::new();
    for (i, name) in ODD.into_iter().enumerate() {
        let body = Bytes::from(format!("{i}"));
        put(&store, name, body.clone()).await?;
        want.insert(name.to_owned(), body);
    }
    same("all", dump(&store).await?, want.clone())?;
    let store = cx.reopen(store).await?;
    same("all after reopening", dump(&store).await?, want)
}

async fn odd_directories_hold_objects(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let mut want = BTreeMap::new();
    for (i, name) in ODD.into_iter().enumerate() {
        let name = format!("{name}/{}", ODD[(i + 1) % ODD.len()]);
        put(&store, &name, name.clone()).await?;
        want.insert(name.clone(), Bytes::from(name));
    }
    same("all", dump(&store).await?, want)?;
    for name in ODD {
        same(&format!("how many below {name:?}"), store.remove_all(&key(name)?).await?, 1)?;
    }
    holds(&store, &[]).await
}

async fn odd_keys_can_be_written_moved_and_removed(cx: &Cx) -> Result {
    let store = cx.open().await?;
    for name in ODD {
        let (from, to) = (key(&format!("from/{name}"))?, key(&format!("to/{name}"))?);
        let mut writer = exclusive(&store, from.as_str()).await?;
        writer.append(Bytes::from("one\n")).await?;
        let busy = store.open_append(&from, Default::default()).await;
        refused(busy, StorageErrorKind::Busy, from.as_str())?;
        writer.close().await?;
        store.rename(&from, &to, RenameOptions::default()).await?;
        store.copy(&to, &from, CopyOptions::default()).await?;
        holds(&store, &[(from.as_str(), "one\n"), (to.as_str(), "one\n")]).await?;
        store.remove(&from).await?;
        store.remove(&to).await?;
    }
    holds(&store, &[]).await
}

async fn longest_keys_work(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let segment = "s".repeat(MAX_SEGMENT_BYTES);
    let wide = "名".repeat(MAX_SEGMENT_BYTES / 3);
    let longest = format!("{segment}/{segment}/{wide}/{segment}/{}", "k".repeat(60));
    same("the length of the longest key", longest.len(), MAX_KEY_BYTES)?;
    let many = vec!["d"; MAX_KEY_BYTES / 2].join("/");
    for name in [longest.as_str(), many.as_str(), wide.as_str()] {
        let mut writer = exclusive(&store, name).await?;
        writer.append(Bytes::from("one")).await?;
        writer.close().await?;
        put(&store, name, "two").await?;
        store.append_once(&key(name)?, Bytes::from("+")).await?;
    }
    let want = [(many.as_str(), "two+"), (longest.as_str(), "two+"), (wide.as_str(), "two+")];
    holds(&store, &want).await?;
    let store = cx.reopen(store).await?;
    holds(&store, &want).await?;
    for name in [longest.as_str(), many.as_str(), wide.as_str()] {
        let kept = key("kept")?;
        store.rename(&key(name)?, &kept, RenameOptions::overwriting()).await?;
        store.copy(&kept, &key(name)?, CopyOptions::default()).await?;
        store.remove(&key(name)?).await?;
    }
    holds(&store, &[("kept", "two+")]).await
}

async fn keys_that_differ_in_case_only_are_two(cx: &Cx) -> Result {
    let store = cx.open().await?;
    let want = [("A", "1"), ("D/a", "2"), ("a", "3"), ("d/A", "4"), ("d/a", "5"), ("É", "6"), ("é", "7")];
    for (name, body) in want {
        put(&store, name, body).await?;
    }
    holds(&store, &want).await
}

async fn names_like_a_backends_own_are_free(cx: &Cx) -> Result {
    let names = [
        ".git/config", ".lock", ".tmp/a", "a", "a-journal", "a-shm", "a-wal", "a.1", "a.bak",
        "a.jsonl", "a.lock", "a.part", "a.tmp", "a~", "index.db", "lock", "tmp/a", "trash/a", "~a",
    ];
    let store = cx.open().await?;
    for name in names {
        put(&store, name, name).await?;
    }
    let mut writer = exclusive(&store, "a").await?;
    writer.append(Bytes::from("+")).await?;
    for name in names.into_iter().filter(|name| *name != "a") {
        put(&store, name, name).await?;
    }
    let mut want: Vec<_> = names.into_iter().map(|name| (name, name)).collect();
    want[3] = ("a", "a+");
    holds(&store, &want).await?;
    writer.close().await?;
    let store = cx.reopen(store).await?;
    holds(&store, &want).await
}
