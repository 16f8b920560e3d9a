//! Changing fields of an object and nothing else.

use std::ops::Range;

use super::view::key_is;
use super::{RawJson, split};

/// A list of changes to one object, in the manner of JavaScript.
///
/// Setting an existing field replaces its value in place (of duplicates the last, which is the
/// one in force); a new field goes to the end; a removed field goes with all its duplicates.
/// Every byte that is not of a changed field stays.
///
/// ```
/// use session_model::json::{ObjectEdit, RawJson};
///
/// let object = RawJson::parse(r#"{ "a": 1.0, "b" : 2 }"#)?;
/// let edited = ObjectEdit::new()
///     .set("b", &RawJson::string("x"))
///     .set("c", &RawJson::null())
///     .apply(&object)
///     .unwrap();
/// assert_eq!(edited.as_str(), r#"{ "a": 1.0, "b" : "x","c":null }"#);
/// # Ok::<(), session_model::json::InvalidJson>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ObjectEdit {
    changes: Vec<(String, Option<RawJson>)>,
}

/// A part of an edited text: kept from the old one, or new.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Keep(Range<usize>),
    New(String),
}

impl ObjectEdit {
    /// Starts with no changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells whether there is no change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The names of the fields that are changed.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().map(|(name, _)| name.as_str())
    }

    /// Sets a field; the value keeps its spelling unless line breaks must go.
    pub fn set(mut self, name: impl Into<String>, value: &RawJson) -> Self {
        let one_line = memchr::memchr2(b'\n', b'\r', value.as_bytes()).is_none();
        let value = if one_line { value.clone() } else { value.compact() };
        self.changes.push((name.into(), Some(value)));
        self
    }

    /// Removes a field.
    pub fn remove(mut self, name: impl Into<String>) -> Self {
        self.changes.push((name.into(), None));
        self
    }

    /// Applies the changes; `None` if the value is no object.
    pub fn apply(&self, object: &RawJson) -> Option<RawJson> {
        let text = object.as_str();
        let pieces = self.pieces(text)?;
        let mut out = String::with_capacity(text.len() + 64);
        for piece in &pieces {
            match piece {
                Piece::Keep(range) => out.push_str(&text[range.clone()]),
                Piece::New(new) => out.push_str(new),
            }
        }
        Some(RawJson::trusted(out.into()))
    }

    /// Returns what the edited text is made of; `None` if the text is no object.
    pub(crate) fn pieces(&self, text: &str) -> Option<Vec<Piece>> {
        let spans = Spans::of(text)?;
        let mut cuts: Vec<(Range<usize>, String)> = Vec::new();
        let mut removed = vec![false; spans.fields.len()];
        let mut added: Vec<(&str, &RawJson)> = Vec::new();
        for (name, value) in &self.changes {
            let mut of_name = (0..spans.fields.len())
                .filter(|&i| key_is(text[spans.fields[i].0.clone()].as_bytes(), name));
            match value {
                None => {
                    of_name.for_each(|i| removed[i] = true);
                    added.retain(|(n, _)| n != name);
                }
                Some(value) => match of_name.rfind(|&i| !removed[i]) {
                    Some(i) => {
                        let span = spans.fields[i].1.clone();
                        cuts.retain(|(old, _)| *old != span);
                        cuts.push((span, value.as_str().to_owned()));
                    }
                    None => match added.iter_mut().find(|(n, _)| n == name) {
                        Some((_, old)) => *old = value,
                        None => added.push((name, value)),
                    },
                },
            }
        }
        cuts.retain(|(span, _)| {
            !spans.fields.iter().zip(&removed).any(|((_, v), gone)| *gone && v == span)
        });
        cuts.extend(spans.removals(&removed));
        if !added.is_empty() {
            let some_left = removed.iter().any(|gone| !gone);
            cuts.push((spans.end..spans.end, Self::tail(&added, some_left)));
        }
        cuts.sort_by_key(|(span, _)| (span.start, span.end));
        let (mut pieces, mut at) = (Vec::with_capacity(2 * cuts.len() + 1), 0);
        for (span, new) in cuts {
            pieces.push(Piece::Keep(at..span.start));
            pieces.push(Piece::New(new));
            at = span.end;
        }
        pieces.push(Piece::Keep(at..text.len()));
        Some(pieces)
    }

    fn tail(added: &[(&str, &RawJson)], comma_first: bool) -> String {
        let mut out = String::new();
        for (at, (name, value)) in added.iter().enumerate() {
            if comma_first || at > 0 {
                out.push(',');
            }
            out.push_str(RawJson::string(name).as_str());
            out.push(':');
            out.push_str(value.as_str());
        }
        out
    }
}

/// Where the fields of an object lie in its text.
struct Spans {
    fields: Vec<(Range<usize>, Range<usize>)>,
    /// Behind the last field, or behind `{` of an empty object.
    end: usize,
}

impl Spans {
    fn of(text: &str) -> Option<Self> {
        let fields: Vec<_> = split::fields(text.as_bytes())?.collect();
        let end =
            fields.last().map_or_else(|| text.find('{').map(|at| at + 1), |f| Some(f.1.end))?;
        Some(Self { fields, end })
    }

    /// A field goes with the comma behind it; the last ones go with the comma before them.
    fn removals(&self, removed: &[bool]) -> Vec<(Range<usize>, String)> {
        let last_kept = removed.iter().rposition(|gone| !gone);
        let gone = (0..removed.len()).filter(|&i| removed[i]);
        gone.map(|i| {
            let (key, value) = &self.fields[i];
            let span = match last_kept {
                Some(last) if last < i => self.fields[i - 1].1.end..value.end,
                _ => key.start..self.fields.get(i + 1).map_or(value.end, |next| next.0.start),
            };
            (span, String::new())
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(object: &str, edit: ObjectEdit) -> String {
        edit.apply(&RawJson::parse(object.to_owned()).unwrap()).unwrap().to_string()
    }

    fn num(n: u32) -> RawJson {
        RawJson::parse(n.to_string()).unwrap()
    }

    #[test]
    fn removes_first_middle_last_and_all() {
        let object = r#"{ "a":1 , "b":2 , "c":3 }"#;
        assert_eq!(edited(object, ObjectEdit::new().remove("a")), r#"{ "b":2 , "c":3 }"#);
        assert_eq!(edited(object, ObjectEdit::new().remove("b")), r#"{ "a":1 , "c":3 }"#);
        assert_eq!(edited(object, ObjectEdit::new().remove("c")), r#"{ "a":1 , "b":2 }"#);
        assert_eq!(edited(object, ObjectEdit::new().remove("b").remove("c")), r#"{ "a":1 }"#);
        let all = ObjectEdit::new().remove("a").remove("b").remove("c");
        assert_eq!(edited(object, all.clone()), "{  }");
        assert_eq!(edited(object, all.set("d", &num(4))), r#"{ "d":4 }"#);
    }

    #[test]
    fn sets_the_duplicate_in_force_and_removes_all() {
        let object = r#"{"a":1,"a":2,"\u0061":3}"#;
        assert_eq!(
            edited(object, ObjectEdit::new().set("a", &num(9))),
            r#"{"a":1,"a":2,"\u0061":9}"#
        );
        assert_eq!(edited(object, ObjectEdit::new().remove("a")), "{}");
        assert_eq!(edited(object, ObjectEdit::new().remove("a").set("a", &num(5))), r#"{"a":5}"#);
    }

    #[test]
    fn later_changes_win() {
        let twice = ObjectEdit::new().set("a", &num(2)).set("a", &num(3));
        assert_eq!(edited(r#"{"a":1}"#, twice.clone()), r#"{"a":3}"#);
        assert_eq!(edited("{}", twice), r#"{"a":3}"#);
        let gone = ObjectEdit::new().set("a", &num(2)).remove("a");
        assert_eq!(edited(r#"{"a":1,"b":1}"#, gone.clone()), r#"{"b":1}"#);
        assert_eq!(edited("{}", gone), "{}");
    }

    #[test]
    fn untouched_bytes_stay() {
        let object = r#"{"n":1.0,"lone":"\ud800","dup":1,"dup":2,"x" : [ 1 ] }"#;
        assert_eq!(edited(object, ObjectEdit::new()), object);
        assert_eq!(
            edited(object, ObjectEdit::new().set("y", &num(1))),
            r#"{"n":1.0,"lone":"\ud800","dup":1,"dup":2,"x" : [ 1 ],"y":1 }"#
        );
        assert_eq!(ObjectEdit::new().apply(&num(1)), None);
    }
}
