//! Cases of kind `dir`: what is made of a directory.

use session_model::layout::{BucketRoots, BucketScheme};

use crate::Failure;
use crate::case::Case;
use crate::findings::Findings;
use crate::value::Value;

pub(crate) fn replay(case: &Case) -> Result<(), Failure> {
    match case.name.as_str() {
        "session-dir-names" => bucket_names(case),
        other => Err(format!("nothing replays the directories of {other}").into()),
    }
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
