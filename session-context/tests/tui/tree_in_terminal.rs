//! `sessionctl tree --interactive` in a real terminal.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use session_context::tui::Screen;
use session_context::{SessionManager, SessionOptions, open_existing_storage};
use session_model::SessionDocument;

use crate::support::{DEMO, session};
use crate::tmux::Tmux;

fn with_demo() -> Tmux {
    let tmux = Tmux::new();
    fs::write(tmux.path("demo.jsonl"), DEMO).unwrap();
    tmux
}

fn read(tmux: &Tmux) -> SessionDocument {
    session(fs::read_to_string(tmux.path("demo.jsonl")).unwrap())
}

fn last_line(tmux: &Tmux) -> String {
    fs::read_to_string(tmux.path("demo.jsonl")).unwrap().lines().last().unwrap().to_owned()
}

/// The row a selector begins at.
const LEAF: &str = "• assistant: You are welcome.";

#[test]
fn a_place_is_searched_labelled_and_gone_to() {
    let tmux = with_demo();
    tmux.command("sessionctl tree -i demo.jsonl > out; echo ended $?");
    tmux.until(LEAF);

    tmux.type_text("delay fixed");
    tmux.until_it("what is found", |screen| {
        screen.contains("Search: delay fixed") && !screen.contains("You are welcome")
    });
    tmux.press(&["Escape"]);
    tmux.until("Search: type");

    tmux.press(&["C-o"]);
    tmux.until_it("no tools", |screen| {
        screen.contains("no-tools") && !screen.contains("toolResult")
    });
    tmux.press(&["M-d"]);
    tmux.until(" default ");

    tmux.press(&["End", "Up", "L"]);
    tmux.until("Label");
    tmux.press(&["C-u"]);
    tmux.type_text("tried 漢字");
    tmux.press(&["Enter"]);
    tmux.until("[tried 漢字]");
    let labelled = r#""targetId":"4540215f","label":"tried 漢字""#;
    assert!(last_line(&tmux).contains(labelled), "{}", last_line(&tmux));

    tmux.press(&["M-x"]);
    tmux.until("the branch is archived");
    tmux.press(&["M-h", "End"]);
    tmux.until("(archived)");

    tmux.resize(50, 14);
    tmux.until_it("a narrow screen", |screen| {
        screen.lines().count() == 14 && screen.contains("[tried 漢字]")
    });
    tmux.resize(80, 24);
    tmux.until_it("a wide screen", |screen| screen.lines().count() == 24);

    // Nothing moves when the choice is left.
    let before = last_line(&tmux);
    tmux.press(&["Home", "Enter"]);
    tmux.until("Leave the branch");
    tmux.press(&["Escape"]);
    tmux.until_it("the tree", |screen| !screen.contains("Leave the branch"));
    assert_eq!(last_line(&tmux), before);

    tmux.press(&["Enter"]);
    tmux.until("2. Summarize in own words");
    tmux.press(&["2"]);
    tmux.until("Summary of the branch that is left");
    tmux.type_text("Retries work now.");
    tmux.press(&["Enter"]);
    tmux.until("ended 0");
    let session = read(&tmux);
    let leaf = session.tree().leaf().unwrap();
    let leaf = session.tree().entry(leaf);
    let id = leaf.id().unwrap();
    let out = fs::read_to_string(tmux.path("out")).unwrap();
    assert!(
        out.starts_with(&format!("{id}\nto be said again\n  Downloads of the weather")),
        "{out}"
    );
    assert!(last_line(&tmux).contains(r#""summary":"Retries work now.""#), "{}", last_line(&tmux));
}

#[test]
fn a_summarizer_is_asked_and_can_be_called_off() {
    let tmux = with_demo();
    let command = "sessionctl tree -i demo.jsonl --summarizer './sum.sh'; echo ended $?";
    // It ends when it is told to, and never by itself.
    fs::write(tmux.path("sum.sh"), "cat > asked; test -e answer && cat answer || sleep 1000")
        .unwrap();
    tmux.command("chmod +x sum.sh; clear");
    tmux.command(command);
    tmux.until(LEAF);
    tmux.press(&["Home", "C-s"]);
    tmux.until("The branch is being summed up");
    tmux.press(&["Escape"]);
    tmux.until("called off; nothing has moved");
    assert_eq!(fs::read_to_string(tmux.path("demo.jsonl")).unwrap(), DEMO);

    fs::write(tmux.path("answer"), "What was left.\n").unwrap();
    tmux.press(&["Enter"]);
    tmux.until("3. Summarize, and say what matters");
    tmux.press(&["3"]);
    tmux.until("What the summary is to say");
    tmux.type_text("the delays");
    tmux.press(&["Enter"]);
    tmux.until("ended 0");
    assert!(last_line(&tmux).contains(r#""summary":"What was left.""#), "{}", last_line(&tmux));
    let asked = fs::read_to_string(tmux.path("asked")).unwrap();
    assert!(asked.starts_with("Pay attention to: the delays\n\nassistant: "), "{asked}");
}

#[test]
fn a_session_in_use_is_shown_and_not_changed() {
    let tmux = with_demo();
    let directory = tmux.path(".");
    let storage =
        open_existing_storage(directory.canonicalize().unwrap().to_str().unwrap()).unwrap();
    let options = SessionOptions::default().owner("the agent");
    let opened = SessionManager::open(storage, "demo.jsonl".parse().unwrap(), "/", options);
    let holder = pollster::block_on(opened).unwrap();
    tmux.command("sessionctl tree -i demo.jsonl; echo ended $?");
    tmux.until("read only: ");
    tmux.press(&["L"]);
    tmux.until("Label");
    tmux.type_text("mine");
    tmux.press(&["Enter"]);
    tmux.until("! ");
    tmux.press(&["Home", "Enter", "1"]);
    tmux.until("! ");
    tmux.press(&["Escape"]);
    tmux.until("ended 0");
    assert_eq!(fs::read_to_string(tmux.path("demo.jsonl")).unwrap(), DEMO);
    drop(holder);
}

#[test]
fn a_session_of_an_old_format_is_shown_and_not_changed() {
    let tmux = Tmux::new();
    let old = "{\"type\":\"session\",\"id\":\"s\"}\n\
               {\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";
    fs::write(tmux.path("old.jsonl"), old).unwrap();
    tmux.command("sessionctl tree -i old.jsonl; echo ended $?");
    tmux.until("read only: the file is of an old format");
    tmux.press(&["C-c"]);
    tmux.until("ended 0");
    assert_eq!(fs::read_to_string(tmux.path("old.jsonl")).unwrap(), old);
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let tmux = with_demo();
        tmux.command("sessionctl tree -i demo.jsonl; echo ended $?; stty -a");
        tmux.until(LEAF);
        let pid = Pid::from_raw(tmux.child().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        tmux.until(&format!("ended {code}"));
        let screen = tmux.until_it("settings", |screen| screen.trim_end().ends_with("ready>"));
        assert!(screen.contains(" icanon ") && screen.contains(" echo "), "{screen}");
        assert!(!screen.contains("You are welcome"), "{screen}");
    }
}

#[test]
fn it_ends_with_its_terminal() {
    // Signals may come, or only the end of what is read and written.
    for (signal, command, shows) in [
        (":", "tree -i demo.jsonl", LEAF),
        ("''", "tree -i demo.jsonl", LEAF),
        (":", "resume -i .", "Tab shows all"),
    ] {
        let tmux = with_demo();
        begin(&tmux, signal, "", command, shows);
        assert_eq!(tmux.hang_up("code"), "129\n", "{signal} {command}");
    }
}

#[test]
fn it_ends_whatever_it_was_about_when_the_terminal_went() {
    // So that it nearly always is between two looks at the terminal.
    let slowly = "strace -f -qq -o /dev/null -e trace=poll,ppoll \
                  -e inject=poll,ppoll:delay_exit=30000 ";
    for moment in 0..8 {
        let tmux = with_demo();
        begin(&tmux, ":", slowly, "tree -i demo.jsonl", LEAF);
        for _ in 0..moment {
            tmux.screen();
        }
        assert_eq!(tmux.hang_up("code"), "129\n", "moment {moment}");
    }
}

/// Begins a command that outlives its terminal and then tells how it ended.
fn begin(tmux: &Tmux, on_signal: &str, with: &str, command: &str, shows: &str) {
    let script = format!("trap {on_signal} HUP\n{with}sessionctl {command}\necho $? > code\n");
    fs::write(tmux.path("run.sh"), script).unwrap();
    tmux.command("exec sh run.sh");
    tmux.until(shows);
    // A key that was read shows that the terminal is being read.
    tmux.type_text("q");
    tmux.until("Search: q");
}

#[test]
fn keys_between_changes_of_size_count() {
    let tmux = with_demo();
    tmux.command("sessionctl tree -i demo.jsonl; echo ended $?");
    tmux.until(LEAF);
    let mut typed = String::from("Search: ");
    for (letter, width) in ('a'..='z').zip([60, 80].into_iter().cycle()) {
        tmux.resize(width, 24);
        tmux.type_text(&letter.to_string());
        typed.push(letter);
        tmux.until(&typed);
    }
}

#[test]
fn it_stops_and_goes_on() {
    let tmux = with_demo();
    // Colours were asked for, whatever the environment says.
    tmux.command("set -m; sessionctl tree -i demo.jsonl --color always; echo ended $?");
    tmux.until(LEAF);
    tmux.press(&["C-z"]);
    // Before the shell has it, the terminal is the program's, although the screen is given back.
    tmux.until_it("the shell", |screen| screen.trim_end().ends_with("ready>"));
    tmux.command("fg");
    tmux.until(LEAF);
    assert!(tmux.colored().contains("\u{1b}[38;5;2m"), "no green: {}", tmux.colored());
    tmux.press(&["Escape"]);
    tmux.until_it("the shell", |screen| screen.trim_end().ends_with("ready>"));
}

/// Set for the process that panics.
const PANICS: &str = "SESSION_TEST_PANICS";

#[test]
fn a_panic_gives_the_terminal_back() {
    if std::env::var_os(PANICS).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _in_it = runtime.enter();
        let mut screen = Screen::open().unwrap();
        screen.draw(|_| {}).unwrap();
        panic!("on the screen");
    }
    let tmux = Tmux::new();
    let test = std::env::current_exe().unwrap();
    let name = "tree_in_terminal::a_panic_gives_the_terminal_back";
    tmux.command(&format!(
        "{PANICS}=1 {} --exact {name} --nocapture; stty -a; echo so",
        test.display()
    ));
    let screen = tmux.until_it("settings", |screen| screen.contains("\nso\n"));
    assert!(screen.contains(" icanon ") && screen.contains(" echo "), "{screen}");
}
