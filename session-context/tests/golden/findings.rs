//! Everything that is not as it should be in one case.

use bytes::Bytes;

use crate::Failure;
use crate::value::Value;

#[derive(Default)]
pub(crate) struct Findings(Vec<String>);

impl Findings {
    pub(crate) fn add(&mut self, finding: impl Into<String>) {
        self.0.push(finding.into());
    }

    pub(crate) fn values(&mut self, what: &str, ours: &Value, right: &Value) {
        self.0.extend(ours.differences(right).into_iter().map(|diff| format!("{what}{diff}")));
    }

    pub(crate) fn files(&mut self, what: &str, ours: Option<&Bytes>, right: Option<&Bytes>) {
        match (ours, right) {
            (None, None) => {}
            (Some(_), None) => self.add(format!("{what}: the file should not be there")),
            (None, Some(_)) => self.add(format!("{what}: the file should be there")),
            (Some(ours), Some(right)) if ours == right => {}
            (Some(ours), Some(right)) => {
                let (mut a, mut b) = (lines(ours), lines(right));
                let mut number = 1;
                let (a, b) = loop {
                    match (a.next(), b.next()) {
                        (Some(a), Some(b)) if a == b => number += 1,
                        pair => break pair,
                    }
                };
                self.add(format!(
                    "{what}: line {number}\n        is        {}\n        should be {}",
                    shown(a),
                    shown(b)
                ));
            }
        }
    }

    pub(crate) fn into_result(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0.join("\n    ").into()) }
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n')
}

fn shown(line: Option<&[u8]>) -> String {
    line.map_or("missing".to_owned(), |line| {
        format!("\"{}\"", line.escape_ascii().to_string().chars().take(1200).collect::<String>())
    })
}
