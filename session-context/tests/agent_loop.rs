//! The example of an agent does what it says.

#[allow(dead_code, reason = "its `main` runs elsewhere")]
#[path = "../examples/agent_loop.rs"]
mod example;

#[path = "support/shipped.rs"]
mod shipped;

use std::process::Command;

const OUTPUT: &str = "\
Done: false. The agent dies with 4 entries.
It is back with 4 entries.
The model is told: toolResult: The tool call was interrupted and gave no result.
Done: true.

The session:
• user: Why does the build fail?
├─ • [branch summary] A test runs out of time.
│  • user: How long may a test take?
│  • assistant: Then the limit of one second is too short.
└─ assistant: I will read the log. [read_log]
   toolResult: read_log: build failed: tests
   assistant: The tests were interrupted; once more. [run_tests]
   toolResult: run_tests: 41 passed, 1 ran out of time
   assistant: A test runs out of time.

What the model was sent last, and its answer:
user: Why does the build fail?
user: The conversation came back from another branch. A summary of that branch:

<summary>
A test runs out of time.
</summary>
user: How long may a test take?
assistant: Then the limit of one second is too short.
";

#[test]
fn the_agent_survives_and_branches() {
    let dir = tempfile::tempdir().unwrap();
    let mut out = Vec::new();
    pollster::block_on(example::run(dir.path(), &mut out)).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), OUTPUT);
}

#[test]
fn the_program_of_a_user_does_the_same() {
    let dir = tempfile::tempdir().unwrap();
    for place in [None, Some(dir.path())] {
        let output = Command::new(shipped::agent_loop()).args(place).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), OUTPUT);
        assert_eq!(output.status.code(), Some(0));
    }
}
