//! The title slot some files begin with: a line of fixed size that can be updated in place.

use std::iter;

use crate::json::{ObjectBuilder, ObjectView, RawJson};

/// The size of a title slot in bytes, its line end included.
pub const TITLE_SLOT_BYTES: usize = 256;

/// A session's title as the slot holds it.
///
/// The line is `{"type":"title","v":1,"title":…,"source"?:…,"updatedAt":…,"pad":"   "}`, exactly
/// [`TITLE_SLOT_BYTES`] long; newer omp versions write it as the first line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleSlot {
    /// The title; empty for none.
    pub title: String,
    /// Who gave the title: `auto` or `user`.
    pub source: Option<String>,
    /// When the slot was written, in ISO 8601.
    pub updated_at: String,
}

impl TitleSlot {
    /// Reads a slot from the first line of a file, its line end included.
    ///
    /// `None` unless the line has the exact size and every field the right type.
    pub fn read(line: &[u8]) -> Option<Self> {
        if line.len() != TITLE_SLOT_BYTES || line.last() != Some(&b'\n') {
            return None;
        }
        let fields = RawJson::parse(line.to_vec()).ok()?.as_object()?;
        let text = |fields: &ObjectView, name| fields.text(name).map(|t| t.into_owned());
        let is_slot = text(&fields, "type").as_deref() == Some("title")
            && fields.get("v").and_then(RawJson::as_f64) == Some(1.0);
        text(&fields, "pad").filter(|_| is_slot)?;
        let source = match fields.get("source") {
            None => None,
            Some(_) => Some(text(&fields, "source").filter(|s| s == "auto" || s == "user")?),
        };
        Some(Self {
            title: text(&fields, "title")?,
            source,
            updated_at: text(&fields, "updatedAt")?,
        })
    }

    /// Writes the slot as a line of exactly [`TITLE_SLOT_BYTES`].
    ///
    /// A title that does not fit is cut at a character. A source or time that leaves no room is
    /// left out.
    pub fn to_line(&self) -> Vec<u8> {
        let bare = self.unpadded("").as_str().len() + 1;
        let Some(mut room) = TITLE_SLOT_BYTES.checked_sub(bare) else {
            let title = self.title.clone();
            return Self { title, source: None, updated_at: String::new() }.to_line();
        };
        let cut = self.title.char_indices().find(|(_, char)| {
            let quoted = RawJson::string(char.encode_utf8(&mut [0; 4]));
            let left = room.checked_sub(quoted.as_str().len() - 2);
            room = left.unwrap_or(room);
            left.is_none()
        });
        let end = cut.map_or(self.title.len(), |(at, _)| at);
        let mut line = self.unpadded(&self.title[..end]).as_str().as_bytes().to_vec();
        let pad = line.len() - 2;
        line.splice(pad..pad, iter::repeat_n(b' ', room));
        line.push(b'\n');
        line
    }

    fn unpadded(&self, title: &str) -> RawJson {
        ObjectBuilder::new()
            .string("type", "title")
            .raw("v", &RawJson::trusted(bytes::Bytes::from_static(b"1")))
            .string("title", title)
            .optional("source", self.source.as_deref().map(RawJson::string).as_ref())
            .string("updatedAt", &self.updated_at)
            .string("pad", "")
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(title: &str) -> TitleSlot {
        TitleSlot {
            title: title.into(),
            source: Some("user".into()),
            updated_at: "2026-01-01T00:00:00.000Z".into(),
        }
    }

    #[test]
    fn writes_exactly_the_size_and_reads_it_back() {
        for title in ["", "short", "quote \" and \\ and ü", &"x".repeat(120)] {
            let line = slot(title).to_line();
            assert_eq!(line.len(), TITLE_SLOT_BYTES, "{title:?}");
            assert_eq!(TitleSlot::read(&line), Some(slot(title)));
        }
        let line = String::from_utf8(slot("a").to_line()).unwrap();
        let start = r#"{"type":"title","v":1,"title":"a","source":"user","updatedAt":"2026-01-01T00:00:00.000Z","pad":"   "#;
        assert!(line.starts_with(start), "{line}");
    }

    #[test]
    fn a_long_title_is_cut_so_that_its_escaped_form_fits() {
        for title in ["😀".repeat(100), "\"".repeat(200), "\u{1}".repeat(90)] {
            let line = slot(&title).to_line();
            assert_eq!(line.len(), TITLE_SLOT_BYTES);
            let read = TitleSlot::read(&line).unwrap().title;
            assert!(title.starts_with(&read) && read.len() < title.len());
            let longer: String = title.chars().take(read.chars().count() + 1).collect();
            let size = slot("").unpadded(&longer).as_str().len() + 1;
            assert!(size > TITLE_SLOT_BYTES, "{} fits too", longer.len());
        }
    }

    #[test]
    fn what_leaves_no_room_goes_before_the_title() {
        let time = "9".repeat(TITLE_SLOT_BYTES);
        let long = TitleSlot { updated_at: time, ..slot("kept") };
        let read = TitleSlot::read(&long.to_line());
        let left = TitleSlot { source: None, updated_at: String::new(), ..slot("kept") };
        assert_eq!(read, Some(left));
    }

    #[test]
    fn anything_else_is_no_slot() {
        let good = String::from_utf8(slot("t").to_line()).unwrap();
        let same_size = |from: &str, to: &str| {
            let mut line = good.replacen(from, to, 1);
            let (grown, pad) =
                (line.len() - TITLE_SLOT_BYTES.min(line.len()), line.find("pad\":\""));
            line.replace_range(pad.unwrap() + 6..pad.unwrap() + 6 + grown, "");
            while line.len() < TITLE_SLOT_BYTES {
                line.insert(pad.unwrap() + 6, ' ');
            }
            line
        };
        assert!(TitleSlot::read(same_size("\"v\":1", "\"v\":1").as_bytes()).is_some());
        for (from, to) in [
            ("\"v\":1", "\"v\":2"),
            ("\"user\"", "\"bot\""),
            ("\"t\"", "7"),
            ("title\",\"v", "name\",\"v"),
        ] {
            assert_eq!(TitleSlot::read(same_size(from, to).as_bytes()), None, "{to}");
        }
        assert_eq!(TitleSlot::read(good.trim_end().as_bytes()), None);
        assert_eq!(TitleSlot::read(&vec![b' '; 256]), None);
    }
}
