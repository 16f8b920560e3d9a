//! `sessionctl` and `sessionctl resume --interactive` in a real terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::picker::file;
use crate::tmux::Tmux;

/// A terminal in a directory that two of three sessions work in.
fn with_sessions() -> Tmux {
    let tmux = Tmux::new();
    let cwd = tmux.path(".").canonicalize().unwrap();
    let cwd = cwd.to_str().unwrap();
    for (name, text) in [
        ("one", file("s-one", 3, cwd, "Parse wind speeds", "", "stop")),
        ("two", file("s-two", 4, cwd, "Draw the map", "", "error")),
        ("far", file("s-far", 5, "/elsewhere", "Something else", "", "stop")),
    ] {
        write(&tmux.path(&format!("agent/sessions/-w/{name}.jsonl")), &text);
    }
    tmux
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn names(tmux: &Tmux) -> Vec<String> {
    let files = fs::read_dir(tmux.path("agent/sessions/-w")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".jsonl")).collect();
    names.sort();
    names
}

#[test]
fn a_session_is_searched_renamed_deleted_brought_back_and_chosen() {
    let tmux = with_sessions();
    tmux.command("sessionctl > out; echo ended $?");
    tmux.until_it("those of here", |screen| {
        screen.contains("› Draw the map")
            && screen.contains("Parse wind speeds")
            && !screen.contains("Something else")
    });
    // What is inside is read in the background.
    tmux.until("$0.25");
    tmux.until("assistant: [error] This is done");

    tmux.press(&["Tab"]);
    tmux.until("Something else");
    tmux.press(&["Tab"]);
    tmux.until("Sessions of this directory");

    tmux.type_text("wnd");
    tmux.until("› Parse wind speeds");
    tmux.press(&["M-r"]);
    tmux.until("Enter keeps it");
    tmux.type_text(" 漢字");
    tmux.press(&["Enter"]);
    tmux.until("the title is kept");
    tmux.until("› Parse wind speeds 漢字");

    tmux.press(&["M-d"]);
    tmux.until("Move to the trash?");
    assert_eq!(names(&tmux), ["far.jsonl", "one.jsonl", "two.jsonl"]);
    tmux.press(&["Enter"]);
    tmux.until("it is in the trash");
    tmux.until("No session is found");
    assert_eq!(names(&tmux), ["far.jsonl", "two.jsonl"]);
    tmux.press(&["M-z"]);
    tmux.until("it is back");
    tmux.until("› Parse wind speeds 漢字");
    assert_eq!(names(&tmux), ["far.jsonl", "one.jsonl", "two.jsonl"]);

    tmux.resize(40, 12);
    tmux.until_it("a narrow screen", |screen| {
        screen.lines().count() == 12 && screen.contains("› Parse wind speeds 漢字")
    });
    tmux.press(&["M-f"]);
    tmux.until_it("the copy", |screen| screen.matches("Parse wind speeds 漢字").count() == 2);
    assert_eq!(names(&tmux).len(), 4);

    tmux.press(&["Escape"]);
    tmux.until("Search: type");
    tmux.press(&["Enter"]);
    tmux.until("ended 0");
    let out = fs::read_to_string(tmux.path("out")).unwrap();
    assert!(out.contains("Parse wind speeds 漢字") && out.contains("/agent/sessions/-w/"), "{out}");
}

#[test]
fn what_was_said_is_found_and_gone_to() {
    let tmux = with_sessions();
    tmux.command("sessionctl resume -i > out; echo ended $?");
    tmux.until("› Draw the map");
    tmux.press(&["C-f"]);
    tmux.until("Type what was said");
    tmux.type_text("besides wind");
    tmux.until("Nothing is found");
    tmux.press(&["C-w"]);
    tmux.until_it("what was said here", |screen| {
        screen.contains("› assistant: This is done, and more besides.")
            && screen.contains("  2/2")
            && !screen.contains("Something else")
    });
    tmux.press(&["Tab"]);
    tmux.until(" 3/3");
    tmux.press(&["Tab"]);
    tmux.until_it("those of here", |screen| screen.contains("  2/2"));
    tmux.press(&["Down"]);
    tmux.until("Parse wind speeds\nassistant: This is done");
    tmux.press(&["Enter"]);
    tmux.until("› • assistant: This is done");
    // Whoever goes nowhere comes back.
    tmux.press(&["Escape"]);
    tmux.until("Search: besides");
    tmux.press(&["Enter"]);
    tmux.until("› • assistant: This is done");
    tmux.press(&["Home", "Enter"]);
    tmux.until("Leave the branch");
    tmux.press(&["1"]);
    tmux.until("ended 0");
    let out = fs::read_to_string(tmux.path("out")).unwrap();
    assert!(out.contains("one.jsonl\n") && out.contains("\nto be said again\n"), "{out}");
    let file = fs::read_to_string(tmux.path("agent/sessions/-w/one.jsonl")).unwrap();
    assert!(file.lines().last().unwrap().contains("branch_summary"), "{file}");
}

#[test]
fn sessions_of_several_agents_are_chosen_among() {
    let tmux = with_sessions();
    let cwd = tmux.path(".").canonicalize().unwrap();
    let theirs = file("s-omp", 6, cwd.to_str().unwrap(), "Theirs", "", "stop");
    write(&tmux.path(".omp/agent/sessions/-w/x.jsonl"), &theirs);
    write(&tmux.path("loose/y.jsonl"), &file("s-y", 2, "/elsewhere", "Loose", "", "stop"));
    tmux.command("sessionctl resume -i agent .omp/agent loose --json > out; echo ended $?");
    tmux.until_it("those of two agents", |screen| {
        ["› Theirs", "  omp ", "Draw the map"].iter().all(|text| screen.contains(text))
    });
    tmux.press(&["M-r", "C-u"]);
    tmux.type_text("Ours");
    tmux.press(&["Enter"]);
    tmux.until("› Ours");
    tmux.press(&["Tab", "End"]);
    tmux.until_it("those of all", |screen| {
        screen.contains("› Loose") && screen.contains("  loose ")
    });
    tmux.press(&["Home", "Enter"]);
    tmux.until("ended 0");
    let out = fs::read_to_string(tmux.path("out")).unwrap();
    assert!(out.contains("/.omp/agent/sessions/-w/x.jsonl") && out.contains("Ours"), "{out}");

    tmux.command("clear; sessionctl resume -i --all-agents; echo ended $?");
    tmux.until("› Ours");
    tmux.press(&["Escape"]);
    tmux.until("ended 0");
}

#[test]
fn sessions_are_exported_and_imported() {
    let tmux = with_sessions();
    let line = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"one","timestamp":"2026-03-01T09:00:00Z","cwd":"/elsewhere","message":{"role":"user","content":"Measure the rain"}}"#;
    write(&tmux.path(".claude/projects/-elsewhere/one.jsonl"), &format!("{line}\n"));
    tmux.command("sessionctl; echo ended $?");
    tmux.until("› Draw the map");
    tmux.press(&["M-e"]);
    tmux.until("Write to a new file");
    tmux.press(&["C-u"]);
    tmux.type_text("map.html");
    tmux.press(&["Enter"]);
    tmux.until("written to map.html");
    let page = fs::read_to_string(tmux.path("map.html")).unwrap();
    assert!(page.contains("Draw the map"), "{page}");
    let mode = fs::metadata(tmux.path("map.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // What is there is not written over.
    tmux.press(&["M-e", "C-u"]);
    tmux.type_text("map.html");
    tmux.press(&["Enter"]);
    tmux.until("! ");

    tmux.press(&["Tab", "M-i"]);
    tmux.until("› Measure the rain");
    tmux.press(&["Enter"]);
    tmux.until("this is the imported session");
    tmux.until_it("the sessions", |screen| {
        screen.contains("Sessions of all directories") && screen.contains("› Measure the rain")
    });
    tmux.press(&["M-i"]);
    tmux.until_it("sessions of Claude Code", |screen| {
        screen.contains("Sessions of Claude Code") && screen.contains("› Measure the rain")
    });
    tmux.press(&["Enter"]);
    tmux.until("nothing is new");
    tmux.press(&["C-c"]);
    tmux.until("ended 0");
}

#[test]
fn nothing_is_chosen_and_nothing_changed() {
    let tmux = with_sessions();
    tmux.command(
        "cd /; sessionctl resume -i --cwd $HOME --json > $HOME/out; echo ended $?; cat $HOME/out",
    );
    tmux.until("› Draw the map");
    write(
        &tmux.path("agent/sessions/-w/one/child.jsonl"),
        &file("s-child", 2, "/elsewhere", "Look it up", "", "stop"),
    );
    tmux.press(&["Tab", "M-a"]);
    tmux.until("└ agent: Look it up");
    tmux.press(&["M-a"]);
    tmux.until_it("no agents", |screen| !screen.contains("agent: Look it up"));
    tmux.press(&["M-d"]);
    tmux.until("Move to the trash?");
    tmux.press(&["Escape"]);
    tmux.until_it("the sessions", |screen| !screen.contains("Move to the trash?"));
    assert_eq!(names(&tmux), ["far.jsonl", "one.jsonl", "two.jsonl"]);
    // What another program takes away is not made anew, and what is no session is left.
    fs::remove_file(tmux.path("agent/sessions/-w/far.jsonl")).unwrap();
    write(&tmux.path("agent/sessions/-w/one.jsonl"), "no session\n");
    for (words, name) in [("Something", "› Something else"), ("one.", "› unreadable one.jsonl")]
    {
        tmux.type_text(words);
        tmux.until(name);
        tmux.press(&["M-r"]);
        tmux.until("Enter keeps it");
        tmux.press(&["Enter"]);
        tmux.until("! ");
        tmux.press(&["Escape"]);
        tmux.until("Search: type");
    }
    tmux.press(&["Escape"]);
    tmux.until("ended 0\nnull");
    assert_eq!(names(&tmux), ["one.jsonl", "two.jsonl"]);
    let left = fs::read_to_string(tmux.path("agent/sessions/-w/one.jsonl")).unwrap();
    assert_eq!(left, "no session\n");
}

#[test]
fn without_a_terminal_there_is_no_screen() {
    let tmux = with_sessions();
    let lines = [
        ("sessionctl < /dev/null", "Usage: sessionctl"),
        ("sessionctl resume -i < /dev/null", "--interactive needs a terminal"),
        ("sessionctl tree -i demo < /dev/null", "--interactive needs a terminal"),
    ];
    for (at, (line, says)) in lines.iter().enumerate() {
        tmux.command(&format!(
            "{line} 2>&1 | cat > out; clear; grep -q -e '{says}' out && echo so {at}"
        ));
        tmux.until_it(says, |screen| screen.starts_with(&format!("so {at}\n")));
    }
}
