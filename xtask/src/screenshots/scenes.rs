//! What is shown.

use std::{fs, path::Path};

use crate::{Error, Result};

/// The session that is shipped.
const DEMO: &str = "session-context/examples/data/demo.jsonl";

/// A screen, and how it is reached.
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) command: &'static str,
    pub(super) steps: &'static [Step],
}

/// Keys, by tmux's names for them, and what the screen shows then.
pub(super) struct Step {
    pub(super) keys: &'static [&'static str],
    pub(super) shows: &'static str,
}

pub(super) const SCENES: [Scene; 3] = [
    Scene {
        name: "tree",
        width: 100,
        height: 26,
        command: "sessionctl tree -i agent/sessions/-weather/demo.jsonl",
        steps: &[
            Step { keys: &[], shows: "• assistant: You are welcome" },
            Step { keys: &["M-t"], shows: "no-tools" },
            Step { keys: &["Home"], shows: "› • user: Downloads" },
            Step {
                keys: &["Down", "Down", "Down", "Down"], shows: "› │  • user: Use a growing"
            },
        ],
    },
    Scene {
        name: "picker",
        width: 100,
        height: 22,
        command: "sessionctl",
        steps: &[
            Step { keys: &["Tab"], shows: "Sessions of all directories" },
            Step { keys: &[], shows: "$0.09" },
            Step { keys: &["Home", "Down"], shows: "user: Thank you, that is all." },
        ],
    },
    Scene {
        name: "search",
        width: 100,
        height: 18,
        command: "sessionctl",
        steps: &[
            Step { keys: &["Tab"], shows: "Sessions of all directories" },
            Step {
                keys: &["C-f", "d", "e", "l", "a", "y", "Space", "t", "e", "s", "t"],
                shows: "6/6",
            },
            Step { keys: &["Down", "Down"], shows: "› assistant: …three attempts" },
        ],
    },
];

/// Sessions beside the one that is shipped: name, day, directory, title, parent, how it ended, and
/// what it cost.
const OTHERS: [(&str, u8, &str, &str, &str, &str, &str); 7] = [
    ("019bd0a1", 20, "/work/radio", "Name the antennas after birds", "", "toolUse", "0.42"),
    (
        "019bc4f2",
        16,
        "/work/weather",
        "Retry, with a limit for each host",
        "019bc10e",
        "stop",
        "0.31",
    ),
    ("019bc5d3", 17, "/work/weather", "Which host is slow?", "019bc4f2", "aborted", "0.07"),
    ("019bb7a9", 12, "/work/weather", "Draw the wind as arrows", "", "stop", "1.18"),
    ("019ba3c4", 9, "/work/weather", "Parse the new station list", "", "error", "0.12"),
    ("019b9e55", 6, "/work/radio", "Find out why channel 4 is silent", "", "stop", "2.05"),
    ("019b8f10", 3, "/work/notes", "Sort recipes by season", "", "stop", "0.09"),
];

impl Scene {
    /// Puts the sessions in their place.
    pub(super) fn prepare(&self, root: &Path, dir: &Path) -> Result<()> {
        let sessions = dir.join("agent/sessions/-weather");
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Write { path, source }
        };
        fs::create_dir_all(&sessions).map_err(failed(&sessions))?;
        let demo = root.join(DEMO);
        let text = fs::read(&demo).map_err(|source| Error::Read { path: demo, source })?;
        let path = sessions.join("demo.jsonl");
        fs::write(&path, text).map_err(failed(&path))?;
        for other in &OTHERS {
            let path = sessions.join(format!("{}.jsonl", other.0));
            fs::write(&path, session(other)).map_err(failed(&path))?;
        }
        Ok(())
    }
}

fn session(
    &(name, day, cwd, title, parent, end, cost): &(&str, u8, &str, &str, &str, &str, &str),
) -> String {
    let time = |minute: u8| format!("2026-01-{day:02}T14:{minute:02}:00.000Z");
    // The session that is shipped has a longer id.
    let parent = match parent {
        "" => String::new(),
        "019bc10e" => r#","parentSession":"019bc10e-6f40-7c52-9d1e-5b2f8c4a7e10""#.to_owned(),
        parent => format!(r#","parentSession":"{parent}""#),
    };
    let (first, second) = (time(5), time(20));
    format!(
        r#"{{"type":"session","version":3,"id":"{name}","timestamp":"{first}","cwd":"{cwd}","title":"{title}"{parent}}}
{{"type":"message","id":"a","parentId":null,"timestamp":"{first}","message":{{"role":"user","content":"{title}, please."}}}}
{{"type":"message","id":"b","parentId":"a","timestamp":"{second}","message":{{"role":"assistant","content":[{{"type":"text","text":"Here is how far I have come."}}],"stopReason":"{end}","usage":{{"cost":{{"total":{cost}}}}}}}}}
"#
    )
}
