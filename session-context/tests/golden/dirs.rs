//! Cases of kind `dir`: what is made of a directory.

use session_context::listing::{CwdFilter, ListingOptions, Scope, most_recent};
use session_model::layout::{BucketRoots, BucketScheme};
use session_model::storage::StorageKey;

use crate::case::Case;
use crate::findings::Findings;
use crate::value::Value;
use crate::world::{Backend, World, path_of};
use crate::{Failure, listing, resuming};

pub(crate) async fn replay(case: &Case, backend: Backend) -> Result<(), Failure> {
    match case.name.as_str() {
        "session-dir-names" => bucket_names(case),
        "list-directory" => list_directory(case, World::new(backend)?).await,
        "continue-recent" => resuming::continue_recent(case, World::new(backend)?).await,
        "resolve-resumable" => resuming::resolve(case, World::new(backend)?).await,
        other => Err(format!("nothing replays the directories of {other}").into()),
    }
}

async fn list_directory(case: &Case, world: World) -> Result<(), Failure> {
    put_files(case, &world).await?;
    let mut found = Findings::default();
    listing::compare(&mut found, case, &world).await?;
    for (name, limit) in [
        ("expected-recent-limit-0.json", 0),
        ("expected-recent-limit-1.json", 1),
        ("expected-recent-limit-3.json", 3),
        ("expected-recent-default.json", 3),
    ] {
        let options = ListingOptions::default().limit(limit);
        let rows = listing::rows(&world, "sessions", options).await?;
        listing::recent(&mut found, case, name, &rows)?;
    }
    let right = case.json("expected-most-recent.json")?.ok_or("no most recent session")?;
    found.values("expected-most-recent.json", &newest(&world, "sessions").await?, &right);
    let missing = listing::rows(&world, "nowhere", ListingOptions::default()).await?;
    let ours = Value::object([
        ("list", Value::Array(missing.iter().map(|row| Value::text(&path_of(&row.key))).collect())),
        ("recent", Value::Array(Vec::new())),
        ("mostRecent", newest(&world, "nowhere").await?),
    ]);
    let right = case.json("expected-missing-dir.json")?.ok_or("no list of a missing directory")?;
    found.values("expected-missing-dir.json", &ours, &right);
    found.into_result()
}

/// Puts the files of the manifest where they belong.
pub(crate) async fn put_files(case: &Case, world: &World) -> Result<(), Failure> {
    for file in case.json("input-manifest.json")?.ok_or("no manifest")?.items() {
        let text = |name: &str| file.get(name).and_then(Value::as_text).ok_or("a bad manifest");
        let key = StorageKey::new(text("path")?)?;
        let stored = case.bytes(&text("stored")?)?.ok_or("a file of the manifest is missing")?;
        world.put(&key, stored).await?;
        let mtime = file.get("mtime").and_then(Value::as_i64).ok_or("a file without a time")?;
        world.set_file_time(&key, mtime)?;
    }
    Ok(())
}

async fn newest(world: &World, folder: &str) -> Result<Value, Failure> {
    let scope = Scope::Bucket(StorageKey::new(folder)?);
    let row = most_recent(&*world.storage, &scope, CwdFilter::named("/work/project")).await?;
    Ok(row.map_or(Value::Null, |row| Value::text(&path_of(&row.key))))
}

/// Names of buckets in the scheme that looks at the home directory and that for temporary files.
fn bucket_names(case: &Case) -> Result<(), Failure> {
    let [home, tmpdir] = ["home", "tmpdir"].map(|name| case.flag(name));
    let (home, temp) =
        (home?.and_then(|home| home.as_text()), tmpdir?.and_then(|tmp| tmp.as_text()));
    let roots = BucketRoots { home: home.as_deref(), temp: temp.as_deref() };
    let recorded = case.json("expected-dir-names.json")?.ok_or("no names")?;
    let mut ours = Vec::new();
    for name in recorded.items() {
        let cwd = name.get("cwd").and_then(Value::as_text).ok_or("a name without a directory")?;
        // The recorder's link leads to this directory.
        let real = cwd.replace("{ROOT}/link", "/tmp/golden-home/proj");
        let bucket = BucketScheme::Relative.bucket_name(&without_dots(&real), &roots);
        let dir_name = ("dirName", Value::text(&bucket));
        ours.push(Value::object([("cwd", Value::text(&cwd)), dir_name]));
    }
    let mut found = Findings::default();
    found.values("expected-dir-names.json", &Value::Array(ours), &recorded);
    found.into_result()
}

/// A path as the operating system resolves it where no links are.
fn without_dots(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
