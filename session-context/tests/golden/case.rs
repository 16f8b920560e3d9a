//! One recorded case: its files, and our own right answers where the recording has none.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::Failure;
use crate::value::Value;

/// Our right answers to a case, beside its other files.
///
/// An object of file names, each with an object of places (`/0/context/mode`) and what is right
/// there; `{"$absent": true}` for nothing. `why` says why the recording is not followed. A whole
/// file is replaced by `right-NAME` beside `expected-NAME`.
const RIGHT: &str = "right.json";

pub(crate) struct Case {
    pub(crate) name: String,
    folder: PathBuf,
    own_folder: PathBuf,
    right: Value,
    used: RefCell<BTreeSet<String>>,
}

impl Case {
    /// Reads the case in `folder`; our right answers to it lie in `own_folder`.
    pub(crate) fn read(name: &str, folder: PathBuf, own_folder: PathBuf) -> Result<Self, Failure> {
        let mut right = Value::Object(Vec::new());
        if has_own_answers(&own_folder) {
            let text = std::fs::read(own_folder.join(RIGHT));
            right = Value::parse(text.map_err(|error| format!("{RIGHT}: {error}"))?)?;
            right.get("why").ok_or("our own answers do not say why")?;
        }
        Ok(Self { name: name.to_owned(), folder, own_folder, right, used: RefCell::default() })
    }

    /// What `case.json` says under a name.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<Value>, Failure> {
        Ok(self.json("case.json")?.ok_or("no case.json")?.get(name).cloned())
    }

    /// A file as it should be: ours if there is one, else the recorded one.
    pub(crate) fn bytes(&self, name: &str) -> Result<Option<Bytes>, Failure> {
        let rest = name.strip_prefix("expected-").unwrap_or(name);
        let own = self.own_folder.join(format!("right-{rest}"));
        let recorded = self.recorded(name)?;
        let Some(ours) = read_plain_or_gz(&own)? else { return Ok(recorded) };
        self.used.borrow_mut().insert(format!("right-{rest}"));
        if recorded.as_ref() == Some(&ours) {
            return Err(format!("right-{rest} is what was recorded; remove it").into());
        }
        Ok(Some(ours))
    }

    /// A file as it was recorded.
    pub(crate) fn recorded(&self, name: &str) -> Result<Option<Bytes>, Failure> {
        read_plain_or_gz(&self.folder.join(name))
    }

    /// A JSON file as it should be.
    pub(crate) fn json(&self, name: &str) -> Result<Option<Value>, Failure> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        let mut value = Value::parse(bytes)?;
        if let Some(Value::Object(places)) = self.right.get(name) {
            self.used.borrow_mut().insert(name.to_owned());
            for (place, right) in places {
                let changed = put(&mut value, place, right)
                    .ok_or_else(|| format!("{RIGHT}: there is no {place} in {name}"))?;
                if !changed {
                    return Err(format!("{RIGHT}: {place} in {name} is as recorded").into());
                }
            }
        }
        Ok(Some(value))
    }

    /// Our answers that nothing asked for: they prove nothing.
    pub(crate) fn unused(&self) -> Result<Vec<String>, Failure> {
        let used = self.used.borrow();
        let mut unused = Vec::new();
        if let Value::Object(members) = &self.right {
            let files = members.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "why");
            unused.extend(files.filter(|name| !used.contains(*name)).map(str::to_owned));
        }
        let Ok(folder) = std::fs::read_dir(&self.own_folder) else { return Ok(unused) };
        for file in folder {
            let name = file?.file_name().to_string_lossy().trim_end_matches(".gz").to_owned();
            if name.starts_with("right-") && !used.contains(&name) {
                unused.push(name);
            }
        }
        Ok(unused)
    }

    /// Blobs and other files that were there beforehand, by key.
    pub(crate) fn files_before(&self) -> Result<Vec<(String, Bytes)>, Failure> {
        let folders = [
            (self.folder.join("input-blobs"), "blobs/"),
            // What the recorder made without leaving a copy.
            (self.own_folder.join("input-files"), ""),
        ];
        let mut files = Vec::new();
        for (folder, prefix) in folders {
            let Ok(folder) = std::fs::read_dir(folder) else { continue };
            for file in folder {
                let path = file?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.push((format!("{prefix}{name}"), std::fs::read(&path)?.into()));
            }
        }
        Ok(files)
    }
}

/// Tells whether a folder holds answers of ours.
pub(crate) fn has_own_answers(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("right"))
}

/// Puts `right` at a place; tells whether that changed anything, `None` if there is no such place.
fn put(value: &mut Value, place: &str, right: &Value) -> Option<bool> {
    let (parent, last) = place.rsplit_once('/')?;
    let mut at = value;
    for step in parent.split('/').skip(1) {
        at = match at {
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            Value::Object(members) => {
                members.iter_mut().find(|(name, _)| name == step).map(|(_, value)| value)?
            }
            _ => return None,
        };
    }
    match at {
        Value::Array(items) => {
            let item = items.get_mut(last.parse::<usize>().ok()?)?;
            Some(std::mem::replace(item, right.clone()) != *right)
        }
        Value::Object(members) if right.get("$absent").is_some() => {
            let before = members.len();
            members.retain(|(name, _)| name != last);
            Some(members.len() < before)
        }
        Value::Object(_) => {
            let changed = at.get(last) != Some(right);
            at.set(last, right.clone());
            Some(changed)
        }
        _ => None,
    }
}

fn read_plain_or_gz(path: &Path) -> Result<Option<Bytes>, Failure> {
    if path.is_file() {
        return Ok(Some(std::fs::read(path)?.into()));
    }
    let gz = PathBuf::from(format!("{}.gz", path.display()));
    if !gz.is_file() {
        return Ok(None);
    }
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(gz)?).read_to_end(&mut out)?;
    Ok(Some(out.into()))
}
