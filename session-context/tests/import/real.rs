//! Every source, walked beside the session it becomes.

use std::fs;

use session_context::import::{Fate, Note, Tool};

use crate::ours;
use crate::support::{converted, document, records, reread, sources};
use crate::{walk_claude, walk_codex};

#[test]
fn claude_sessions_say_the_same_in_the_same_order_on_the_same_branches() {
    for path in sources(Tool::Claude) {
        eprintln!("{}", path.display());
        let source = fs::read(&path).unwrap();
        let conversion = converted(Tool::Claude, &source);
        let kept = walk_claude::walk(&records(&source));
        let ours = ours::walk(&reread(&document(&conversion)));

        // The place of the last of what each record says.
        let mut last = Vec::new();
        let mut want = Vec::new();
        for record in &kept {
            for (at, said) in record.said.iter().enumerate() {
                let after = match at {
                    0 => record.parent.map(Where::Record),
                    _ => Some(Where::Place(want.len() - 1)),
                };
                want.push((said.clone(), after));
            }
            last.push(want.len() - 1);
        }
        let said: Vec<_> = ours.iter().map(|(said, _)| said).collect();
        assert_eq!(said, want.iter().map(|(said, _)| said).collect::<Vec<_>>());
        let mut moved = 0;
        for (at, ((said, after), (_, wanted))) in ours.iter().zip(&want).enumerate() {
            let wanted = wanted.as_ref().map(|place| match place {
                Where::Record(record) => last[*record],
                Where::Place(place) => *place,
            });
            if *after != wanted {
                moved += 1;
                // Only the records of parallel calls are put into line.
                let place = last.iter().position(|last| *last >= wanted.unwrap()).unwrap();
                assert!(kept[place].answer.is_some(), "{at}: {said:?}");
            }
        }
        let joined = conversion.report.notes().get(&Note::ParallelJoined).copied();
        assert!(moved <= joined.unwrap_or_default() * 2, "{moved} of {joined:?}");
        every_record_is_counted(&source, &conversion.report);
    }
}

enum Where {
    Record(usize),
    Place(usize),
}

#[test]
fn codex_sessions_say_the_same_in_the_same_order() {
    for path in sources(Tool::Codex) {
        eprintln!("{}", path.display());
        let source = fs::read(&path).unwrap();
        let conversion = converted(Tool::Codex, &source);
        let ours = ours::walk(&reread(&document(&conversion)));
        let want = walk_codex::walk(&records(&source));
        let line: Vec<_> = (0..ours.len()).map(|at| at.checked_sub(1)).collect();
        assert_eq!(ours.iter().map(|(_, after)| *after).collect::<Vec<_>>(), line);
        let mut said = ours.into_iter().map(|(said, _)| said);
        for want in want {
            if want.0 != "hosted" {
                assert_eq!(said.next(), Some(want));
                continue;
            }
            let (call, result) = (said.next().unwrap(), said.next().unwrap());
            assert!(call.1[0].starts_with("call ") && result.0.starts_with("result "));
        }
        assert_eq!(said.next(), None);
        every_record_is_counted(&source, &conversion.report);
    }
}

#[track_caller]
fn every_record_is_counted(source: &[u8], report: &session_context::import::ConversionReport) {
    let lines = source.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)).count();
    assert_eq!(report.records(), lines as u64, "{report:?}");
    let unknown: Vec<_> = report
        .kinds()
        .iter()
        .filter(|(_, fates)| fates.contains_key(&Fate::Unknown))
        .map(|(kind, _)| kind.as_str())
        .collect();
    let made_up = |kind: &&str| kind.contains("future-kind") || kind.contains("something_new");
    let others: Vec<_> = unknown.into_iter().filter(|kind| !made_up(kind)).collect();
    assert_eq!(others, [] as [&str; 0]);
}
