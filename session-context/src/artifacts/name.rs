//! Names among artifacts, made of what others gave.

use session_model::layout::SESSION_SUFFIX;

/// The longest part of a name that comes from outside.
const MAX_PART: usize = 64;

/// The largest number that is one: what programs made by counting stays below.
const MAX_NUMBER: u64 = u32::MAX as u64;

/// Returns the number of an artifact of this name: of `7.bash.log` it is 7.
pub fn artifact_number(name: &str) -> Option<u64> {
    let (number, rest) = name.split_once('.')?;
    let is_artifact = rest.strip_suffix(".log").is_some()
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit());
    number.parse().ok().filter(|number| is_artifact && *number <= MAX_NUMBER)
}

/// Returns what of a tool's name can be part of an artifact's: other characters than ASCII
/// letters, digits, `-` and `_` become `_`; at most 64 are kept, and nothing becomes `tool`.
pub fn tool_part(tool: &str) -> String {
    let safe = |c: char| if is_safe(c) { c } else { '_' };
    match tool.chars().take(MAX_PART).map(safe).collect::<String>() {
        part if part.is_empty() => "tool".to_owned(),
        part => part,
    }
}

/// The name of a child agent's session; `None` if the agent's id cannot be part of one.
pub(crate) fn agent_file_name(agent: &str) -> Option<String> {
    let fits = !agent.is_empty() && agent.len() <= MAX_PART && agent.chars().all(is_safe);
    fits.then(|| format!("{agent}{SESSION_SUFFIX}"))
}

fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_names_with_a_tool() {
        for (name, number) in [
            ("0.bash.log", Some(0)),
            ("003.y.log", Some(3)),
            ("9..log", Some(9)),
            ("10.log", None),
            ("12.txt", None),
            ("-5.z.log", None),
            ("x.bash.log", None),
            ("+1.a.log", None),
            ("99999999999999999999.a.log", None),
            ("4294967296.a.log", None),
        ] {
            assert_eq!(artifact_number(name), number, "{name}");
        }
    }

    #[test]
    fn names_from_outside_lead_nowhere_else() {
        assert_eq!(tool_part("bash"), "bash");
        assert_eq!(tool_part("../../etc/passwd\0\u{1b}"), "______etc_passwd__");
        assert_eq!(tool_part(""), "tool");
        assert_eq!(tool_part(&"é".repeat(300)), "_".repeat(64));
        assert_eq!(agent_file_name("Task-1").as_deref(), Some("Task-1.jsonl"));
        for refused in ["", "..", "a/b", ".~x", "é", &"a".repeat(65)] {
            assert_eq!(agent_file_name(refused), None, "{refused}");
        }
    }
}
