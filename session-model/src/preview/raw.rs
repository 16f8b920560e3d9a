//! Objects and lists taken apart without copying: a view of a whole tree reads every entry.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{decode_string, fields_of};

/// The fields of an object as names and values in their spelling.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Object<'a> {
    /// Takes an object apart; anything else has no fields.
    pub(crate) fn of(value: &'a str) -> Self {
        Self(fields_of(value).map(|fields| fields.0).unwrap_or_default())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a value in its spelling; of duplicates the last.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().rev().find(|(key, _)| {
            // Almost every name is spelled plainly.
            let spelled = inside(key).unwrap_or_default();
            spelled == name || (spelled.contains('\\') && decode_string(spelled) == name)
        });
        found.map(|(_, value)| *value)
    }

    /// Returns the text of a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        text_of(self.get(name)?)
    }

    /// Returns the objects of a list.
    pub(crate) fn objects(&self, name: &str) -> Vec<Object<'a>> {
        let list = self.get(name).filter(|value| value.starts_with('['));
        let items = list.and_then(|list| serde_json::from_str::<Vec<&'a RawValue>>(list).ok());
        let items = items.unwrap_or_default().into_iter();
        items.map(|item| Object::of(item.get())).filter(|object| !object.is_empty()).collect()
    }

    /// Returns the names and values in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> + '_ {
        self.0.iter().map(|(key, value)| (text_of(key).unwrap_or_default(), *value))
    }
}

/// The inside of a string in its spelling.
pub(crate) fn inside(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

fn text_of(value: &str) -> Option<Cow<'_, str>> {
    Some(decode_string(inside(value)?))
}
