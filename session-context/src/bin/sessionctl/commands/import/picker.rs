//! Asking which sessions are meant.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::UNIX_EPOCH;

use session_context::import::{Source, Tool, glimpse};
use session_model::preview::one_line;
use session_model::time::to_iso;

use crate::failure::Failure;
use crate::output::{Output, TITLE_CHARS, look};

/// How many sessions are offered, the latest.
const MOST: usize = 40;

/// Tells whether somebody is there to be asked.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Lets a person choose among the latest sources.
pub(super) fn pick(
    tool: Tool,
    mut sources: Vec<Source>,
    out: &mut Output,
) -> Result<Vec<Source>, Failure> {
    if sources.is_empty() {
        return Ok(sources);
    }
    sources.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    for (at, source) in sources.iter().take(MOST).enumerate() {
        let (cwd, title) = match glimpse(tool, &source.path) {
            Ok(glimpse) => (glimpse.cwd, glimpse.title),
            Err(_) => (None, None),
        };
        let title = one_line(title.as_deref().unwrap_or_default(), TITLE_CHARS);
        out.text(look::ID, &format!("{:>4}", at + 1))?;
        out.text(look::DIM, &format!("  {}  ", day_of(source)))?;
        out.line(&format!("{title}  {}", cwd.unwrap_or_default()))?;
    }
    if sources.len() > MOST {
        out.line(&format!("      and {} older ones, which `all` takes too", sources.len() - MOST))?;
    }
    out.flush()?;
    loop {
        eprint_prompt()?;
        let mut answer = String::new();
        if io::stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(Vec::new());
        }
        match chosen(&answer, sources.len()) {
            Some(places) => return Ok(places.into_iter().map(|at| sources[at].clone()).collect()),
            None => out.line("write numbers such as 1,3-5, or all, or nothing")?,
        }
        out.flush()?;
    }
}

fn eprint_prompt() -> io::Result<()> {
    let mut err = io::stderr().lock();
    write!(err, "Import which? (1,3-5, all; nothing for none) ")?;
    err.flush()
}

/// The places that an answer names, each once; `None` if it makes no sense.
fn chosen(answer: &str, count: usize) -> Option<Vec<usize>> {
    let answer = answer.trim();
    if answer.eq_ignore_ascii_case("all") {
        return Some((0..count).collect());
    }
    let mut places = Vec::new();
    for part in answer.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first == 0 || first > last || last > count {
            return None;
        }
        places.extend((first - 1..last).filter(|at| !places.contains(at)).collect::<Vec<_>>());
    }
    Some(places)
}

fn day_of(source: &Source) -> String {
    let since = source.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let ms = since.map(|since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    ms.map_or_else(|| " ".repeat(16), |ms| to_iso(ms)[..16].replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_places() {
        for (answer, places) in [
            ("", Some(vec![])),
            (" 2 \n", Some(vec![1])),
            ("1,3-5", Some(vec![0, 2, 3, 4])),
            ("2-3 3 1", Some(vec![1, 2, 0])),
            ("ALL", Some((0..6).collect())),
            ("0", None),
            ("7", None),
            ("5-4", None),
            ("one", None),
            ("1-", None),
            ("1-99999999999999999999", None),
        ] {
            assert_eq!(chosen(answer, 6), places, "{answer:?}");
        }
    }
}
