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
                let same = ours.iter().zip(right).take_while(|(a, b)| a == b).count();
                let line = 1 + ours[..same].iter().filter(|&&byte| byte == b'\n').count();
                self.add(format!(
                    "{what}: line {line}, byte {same}\n        is        …{}\n        should be …{}",
                    around(ours, same),
                    around(right, same)
                ));
            }
        }
    }

    pub(crate) fn into_result(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0.join("\n    ").into()) }
    }
}

/// What stands at an offset, and a little before.
fn around(bytes: &[u8], at: usize) -> impl std::fmt::Display {
    bytes[at.saturating_sub(60)..bytes.len().min(at + 200)].escape_ascii()
}
