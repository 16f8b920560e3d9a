//! A record together with the exact bytes of its line.

use bytes::Bytes;

use crate::json::{ObjectEdit, Piece, RawJson};

/// A JSON object and the bytes it was read from or is to be written as.
///
/// The bytes include the line end and whatever else stood on the line (a CR, NULs, text behind
/// the record), so that an untouched line is written back as it was.
#[derive(Clone, Debug)]
pub(crate) struct RecordLine {
    bytes: Bytes,
    start: u32,
    end: u32,
    /// The record with U+FFFD for what is no UTF-8, if there is such.
    lossy: Option<Box<RawJson>>,
}

impl RecordLine {
    /// A new line that holds just this record.
    pub(crate) fn new(json: &RawJson) -> Self {
        let json = json.compact();
        let mut bytes = Vec::with_capacity(json.as_bytes().len() + 1);
        bytes.extend_from_slice(json.as_bytes());
        let end = bytes.len() as u32;
        bytes.push(b'\n');
        Self { bytes: bytes.into(), start: 0, end, lossy: None }
    }

    /// A line as read; `json` is where in `bytes` the record lies.
    pub(crate) fn read(bytes: Bytes, json: std::ops::Range<usize>) -> Self {
        let lossy = match std::str::from_utf8(&bytes[json.clone()]) {
            Ok(_) => None,
            Err(_) => {
                let text = String::from_utf8_lossy(&bytes[json.clone()]).into_owned();
                Some(Box::new(RawJson::trusted(text.into())))
            }
        };
        Self { bytes, start: json.start as u32, end: json.end as u32, lossy }
    }

    /// A line as read that is known to be UTF-8.
    pub(crate) fn read_utf8(bytes: Bytes, json: std::ops::Range<usize>) -> Self {
        Self { bytes, start: json.start as u32, end: json.end as u32, lossy: None }
    }

    /// The bytes to write.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The record.
    pub(crate) fn json(&self) -> RawJson {
        match &self.lossy {
            Some(json) => (**json).clone(),
            None => RawJson::trusted(self.bytes.slice(self.start as usize..self.end as usize)),
        }
    }

    /// The record's text.
    pub(crate) fn text(&self) -> &str {
        match &self.lossy {
            Some(json) => json.as_str(),
            None => std::str::from_utf8(&self.bytes[self.start as usize..self.end as usize])
                .unwrap_or_default(),
        }
    }

    /// A part of the record's text; cheaper than [`text`](Self::text), which checks all of it.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Option<&str> {
        std::str::from_utf8(self.part_bytes(range)?).ok()
    }

    /// The bytes of a part of the record's text.
    pub(crate) fn part_bytes(&self, range: std::ops::Range<usize>) -> Option<&[u8]> {
        match &self.lossy {
            Some(json) => json.as_bytes().get(range),
            None => self.bytes[self.start as usize..self.end as usize].get(range),
        }
    }

    /// Tells whether the bytes end a line, so that another may follow.
    pub(crate) fn ends_line(&self) -> bool {
        self.bytes.last() == Some(&b'\n')
    }

    /// The same line with a line end behind it.
    pub(crate) fn with_line_end(&self) -> Self {
        Self { bytes: [&self.bytes[..], b"\n"].concat().into(), ..self.clone() }
    }

    /// The same line with some fields changed and every other byte as it was.
    pub(crate) fn edited(&self, edit: &ObjectEdit) -> Option<Self> {
        let (start, end) = (self.start as usize, self.end as usize);
        let json = &self.bytes[start..end];
        let pieces = match &self.lossy {
            None => edit.pieces(self.text())?,
            Some(_) => edit.pieces(&same_length_text(json))?,
        };
        let mut bytes = Vec::with_capacity(self.bytes.len() + 96);
        bytes.extend_from_slice(&self.bytes[..start]);
        for piece in &pieces {
            match piece {
                Piece::Keep(range) => bytes.extend_from_slice(&json[range.clone()]),
                Piece::New(text) => bytes.extend_from_slice(text.as_bytes()),
            }
        }
        let new_end = bytes.len();
        bytes.extend_from_slice(&self.bytes[end..]);
        Some(Self::read(bytes.into(), start..new_end))
    }
}

/// Stands in for bytes that are no UTF-8, so that places in the text are places in the bytes.
pub(crate) fn same_length_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| text.push('?'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_keeps_what_surrounds_the_record() {
        let bytes = Bytes::from_static(b"\0\0{\"a\":1, \"b\":\"\xff\"} tail\r\n");
        let line = RecordLine::read(bytes.clone(), 2..18);
        assert_eq!(line.text(), "{\"a\":1, \"b\":\"\u{fffd}\"}");
        assert_eq!(line.bytes(), &bytes);
        let edited = line.edited(&ObjectEdit::new().set("a", &RawJson::null())).unwrap();
        assert_eq!(&edited.bytes()[..], b"\0\0{\"a\":null, \"b\":\"\xff\"} tail\r\n");
        assert_eq!(edited.text(), "{\"a\":null, \"b\":\"\u{fffd}\"}");
    }

    #[test]
    fn a_new_line_is_compact_and_ended() {
        let line = RecordLine::new(&RawJson::parse("{ \"a\" :\n1 }").unwrap());
        assert_eq!(&line.bytes()[..], b"{\"a\":1}\n");
        assert_eq!(line.json().as_str(), "{\"a\":1}");
    }
}
