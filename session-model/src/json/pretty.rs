//! JSON spread over lines for people.

use super::RawJson;

/// Deeper levels are not indented further, so that no depth makes the text much longer.
const MAX_INDENT: usize = 32;

impl RawJson {
    /// Returns the JSON on many lines, each value as it is spelled.
    pub fn pretty(&self) -> String {
        let compact = self.compact();
        let mut out = String::with_capacity(compact.as_str().len() * 2);
        let (mut depth, mut in_string, mut escaped) = (0, false, false);
        let mut chars = compact.as_str().chars().peekable();
        while let Some(c) = chars.next() {
            if in_string {
                out.push(c);
                in_string = c != '"' || escaped;
                escaped = c == '\\' && !escaped;
                continue;
            }
            match c {
                '{' | '[' => {
                    out.push(c);
                    if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                        out.push(end);
                    } else {
                        depth += 1;
                        new_line(&mut out, depth);
                    }
                }
                '}' | ']' => {
                    depth -= 1;
                    new_line(&mut out, depth);
                    out.push(c);
                }
                ',' => {
                    out.push(c);
                    new_line(&mut out, depth);
                }
                ':' => out.push_str(": "),
                _ => {
                    in_string = c == '"';
                    out.push(c);
                }
            }
        }
        out
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth.min(MAX_INDENT)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_spelling() {
        let json = r#"{"a" : 1.0, "b":[ "x\"{,}:\\" , [], {}, "\ud800"],"c":{"d":null}}"#;
        let want = "{\n  \"a\": 1.0,\n  \"b\": [\n    \"x\\\"{,}:\\\\\",\n    [],\n    {},\n    \
                    \"\\ud800\"\n  ],\n  \"c\": {\n    \"d\": null\n  }\n}";
        assert_eq!(RawJson::parse(json).unwrap().pretty(), want);
        assert_eq!(RawJson::parse("\"a\"").unwrap().pretty(), "\"a\"");
    }

    #[test]
    fn depth_does_not_blow_the_text_up() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert!(RawJson::parse(deep).unwrap().pretty().len() < 2_000_000);
    }
}
