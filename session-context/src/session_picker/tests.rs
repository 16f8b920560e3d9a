//! Which sessions are shown, and when they come.

use std::sync::Arc;
use std::time::Duration;

use session_model::storage::SessionStorageExt;
use session_store_memory::MemoryStorage;

use super::*;
use crate::listing::{Place, SessionCatalog};
use crate::search::{SearchRequest, SearchResults, SessionSearch};

/// Sessions as `name day-made day-of-activity cwd parent title`, in their own storage.
async fn catalog(sessions: &[&str]) -> SessionCatalog {
    let storage = MemoryStorage::new();
    for session in sessions {
        let [name, made, active, cwd, parent, title] =
            session.splitn(6, ' ').collect::<Vec<_>>()[..]
        else {
            panic!("{session}");
        };
        let parent = match parent {
            "-" => String::new(),
            parent => format!(r#","parentSession":"{parent}""#),
        };
        let file = format!(
            r#"{{"type":"session","id":"{name}","timestamp":"2026-01-{made}T00:00:00Z","cwd":"{cwd}","title":"{title}"{parent}}}
{{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-{active}T00:00:00Z","message":{{"role":"user","content":"first of {name}"}}}}
{{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-{active}T00:00:00Z","message":{{"role":"assistant","content":[],"usage":{{"cost":{{"total":0.5}}}}}}}}
"#
        );
        let key = format!("sessions/-bucket/{name}.jsonl").parse().unwrap();
        storage.append_once(&key, file.into()).await.unwrap();
    }
    SessionCatalog::new(vec![Place::agent_dir(Arc::new(storage)).unwrap()])
}

fn shown(state: &SessionPickerState) -> Vec<String> {
    let row = |(at, row): (usize, &PickerRow)| {
        let id = &state.sessions()[row.session].summary.as_ref().unwrap().id;
        let mark = if state.cursor() == Some(at) { ">" } else { "" };
        format!("{mark}{}{id}", "-".repeat(row.depth))
    };
    state.rows().iter().enumerate().map(row).collect()
}

const SESSIONS: &[&str] = &[
    "a 01 10 /w - Parser rewrite",
    "b 02 03 /w a Parser rewrite, other way",
    "c 03 20 /w b The third try",
    "d 04 12 /other - Unrelated",
    "e 05 11 /other a Fork elsewhere",
    "f 06 06 /w e Back again",
];

fn state_of(sessions: &[&str]) -> SessionPickerState {
    let rows = pollster::block_on(async {
        let catalog = catalog(sessions).await;
        catalog.list_all(crate::listing::ListingOptions::default()).await.unwrap()
    });
    let mut state = SessionPickerState::new(Some(CwdFilter::named("/w")));
    state.set_sessions(rows);
    state
}

#[test]
fn families_stand_together_in_the_order_of_their_latest_member() {
    let mut state = state_of(SESSIONS);
    // `f` comes from `e`, which is elsewhere, and through it from `a`.
    assert_eq!(shown(&state), [">a", "-f", "-b", "--c"]);
    state.move_by(2);
    state.set_scope(PickerScope::All);
    assert_eq!(shown(&state), ["a", "-e", "--f", ">-b", "--c", "d"]);
    state.set_sort(PickerSort::Created);
    assert_eq!(shown(&state), ["a", "-e", "--f", ">-b", "--c", "d"]);
    let mut state = state_of(&["a 01 10 /w - x", "b 02 03 /w - y", "c 03 05 /w - z"]);
    assert_eq!(shown(&state), [">a", "c", "b"]);
    state.set_sort(PickerSort::Created);
    assert_eq!(shown(&state), ["c", "b", ">a"]);
}

#[test]
fn a_circle_of_parents_is_shown_once() {
    let state = state_of(&["a 01 10 /w b x", "b 02 03 /w a y", "c 03 04 /w c z"]);
    assert_eq!(shown(&state), [">a", "-b", "c"]);
}

#[test]
fn a_search_ranks_all_sessions_in_scope() {
    let mut state = state_of(SESSIONS);
    state.set_query("parser");
    assert_eq!(shown(&state), [">a", "b"]);
    state.set_query("prsr way");
    assert_eq!(shown(&state), [">b"]);
    state.set_query("FIRST back");
    assert_eq!(shown(&state), [">f"]);
    state.set_query("other");
    assert_eq!(shown(&state), [">b"]);
    state.set_scope(PickerScope::All);
    assert_eq!(shown(&state), [">b", "d", "e"].map(str::to_owned));
    state.set_query("none of them");
    assert_eq!((shown(&state), state.selected().is_some()), (vec![], false));
    state.move_by(1);
    state.set_query("");
    assert_eq!(shown(&state), [">a", "-e", "--f", "-b", "--c", "d"]);
}

#[test]
fn one_row_leads_around_the_ends_and_a_page_does_not() {
    let mut state = state_of(SESSIONS);
    let mut met = Vec::new();
    for rows in [-1, -1, 1, 1, 9, -9, 2, -2] {
        state.move_by(rows);
        met.push(state.cursor().unwrap());
    }
    assert_eq!(met, [3, 2, 3, 0, 3, 0, 2, 0]);
}

#[test]
fn the_loader_tells_the_newest_then_all_and_the_reader_what_is_inside() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let catalog = catalog(SESSIONS).await;
        let mut loader = Loader::start(catalog.clone());
        let Some(Loaded::First(first)) = loader.next().await else { panic!("no first rows") };
        let mut names: Vec<_> = first.iter().map(|row| row.key.to_string()).collect();
        names.sort();
        let wanted = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(names, wanted.map(|name| format!("sessions/-bucket/{name}.jsonl")));
        let mut all = None;
        for _ in 0..2 {
            while all.is_none() {
                match loader.next().await {
                    Some(Loaded::All(rows)) => all = Some(rows.unwrap()),
                    Some(Loaded::Progress(progress)) => assert_eq!(progress.total, 6),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(all.as_ref().map(Vec::len), Some(6));
            loader.again(true);
        }
        let mut reader = Reader::start(catalog.places().to_vec());
        reader.ask(first.clone());
        let (name, detail) = reader.next().await.unwrap();
        assert_eq!(name, name_of(&first[0]));
        assert_eq!((detail.cost, detail.error), (Some(0.5), None));
        let id = &first[0].summary.as_ref().unwrap().id;
        let last: Vec<_> = detail.last.iter().map(ToString::to_string).collect();
        assert_eq!(last, [format!("user: first of {id}"), "assistant: ".to_owned()]);
    });
}

#[test]
fn what_was_said_is_searched_again_with_more_time() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let search = SessionSearch::new(catalog(SESSIONS).await);
        let (sender, mut found) = tokio::sync::mpsc::unbounded_channel();
        let limits = [Duration::ZERO, Duration::from_secs(600)];
        said::serve(&search, &SearchRequest::new("first of"), &limits, &sender).await;
        drop(sender);
        let mut trace = Vec::new();
        while let Some(found) = found.recv().await {
            let (name, results) = match found {
                SaidFound::Progress(_) => continue,
                SaidFound::Part(results) => ("part", results),
                SaidFound::All(results) => ("all", results.unwrap()),
            };
            trace.push((name, results.hits.len(), results.coverage.not_reached));
        }
        assert_eq!(trace, [("part", 0, 6), ("all", 6, 0)]);
        let mut searcher = SaidSearcher::start(search, SearchRequest::new("first of e"));
        let found = loop {
            match searcher.next().await.unwrap() {
                SaidFound::All(found) => break found.unwrap(),
                SaidFound::Progress(_) | SaidFound::Part(_) => {}
            }
        };
        assert_eq!(found.hits[0].session.id.as_deref(), Some("e"));
        assert!(searcher.next().await.is_none());
    });
}

#[test]
fn nothing_is_searched_that_nobody_waits_for() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let storage = MemoryStorage::new();
        storage.faults().record();
        let place = Place::agent_dir(Arc::new(storage.clone())).unwrap();
        let search = SessionSearch::new(SessionCatalog::new(vec![place]));
        let (sender, found) = tokio::sync::mpsc::unbounded_channel();
        drop(found);
        said::serve(&search, &SearchRequest::new("first"), &[Duration::MAX], &sender).await;
        assert_eq!(storage.faults().operations(), []);
    });
}

#[test]
fn the_cursor_stays_at_its_entry_while_more_is_found() {
    let search = SessionSearch::new(pollster::block_on(catalog(SESSIONS)));
    let found =
        |words: &str| pollster::block_on(search.search(SearchRequest::new(words), |_| {})).unwrap();
    let id = |state: &SaidState| state.selected().and_then(|hit| hit.session.id.clone());
    let mut state = SaidState::default();
    state.set_query("first");
    assert_eq!((state.progress(), state.cursor()), (Some(None), None));
    let all = found("first");
    let some = SearchResults { hits: all.hits[2..4].to_vec(), ..SearchResults::default() };
    state.set_found(SaidFound::Part(some)).unwrap();
    assert_eq!(id(&state), all.hits[2].session.id);
    // Whoever has not moved is shown the best.
    let more = SearchResults { hits: all.hits[1..4].to_vec(), ..SearchResults::default() };
    state.set_found(SaidFound::Part(more)).unwrap();
    assert_eq!((state.cursor(), id(&state)), (Some(0), all.hits[1].session.id.clone()));
    state.move_by(1);
    state.set_found(SaidFound::All(Ok(all.clone()))).unwrap();
    assert_eq!((state.progress(), state.cursor()), (None, Some(2)));
    assert_eq!(id(&state), all.hits[2].session.id);
    state.set_query("firs");
    assert_eq!((state.results(), state.cursor()), (&all, Some(0)));
    let key = "sessions/x.jsonl".parse().unwrap();
    let error = crate::SessionError::NotFound { key };
    assert!(state.set_found(SaidFound::All(Err(error))).unwrap_err().contains("sessions/x.jsonl"));
    state.set_query("");
    assert_eq!((state.results().hits.len(), state.progress()), (0, None));
}
