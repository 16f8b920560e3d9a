//! What the remote lost, put back from a whole copy; and claims over several commands.

use crate::agent::SESSION;
use crate::commands::Host;
use crate::reading::{done, write};
use crate::server::Server;

#[test]
fn lost_chunks_are_told_and_written_anew_from_a_whole_copy() {
    for how in ["removed", "overwritten", "all"] {
        let server = Server::start();
        let (first, second) = (Host::new(), Host::new());
        let text = write(&first, 20);
        done(&first, &server, "remote push --wait 600");
        done(&second, &server, "remote pull --all");
        let chunks = server.chunks();
        match how {
            "removed" => drop(server.ask(&["DEL", &chunks[0], &chunks[7]])),
            "overwritten" => drop(server.ask(&["SETRANGE", &chunks[3], "100", "other"])),
            _ => chunks.iter().for_each(|chunk| drop(server.ask(&["DEL", chunk]))),
        }
        let lost = server.state();
        let (code, out, _) = first.run(&server, "remote verify");
        assert_eq!(code, 3, "{out}");
        assert!(out.contains("has lost bytes of it; `remote push --repair` writes them"), "{out}");
        // Without being told nothing is changed, and no copy is.
        done(&second, &server, "remote pull");
        done(&second, &server, "remote push --wait 600");
        assert_eq!(server.state(), lost, "{how}");
        // A copy that is not whole does not help.
        let part = &text[..text.len() / 2];
        let part = &part[..=part.iter().rposition(|&byte| byte == b'\n').unwrap()];
        std::fs::write(second.file(SESSION), part).unwrap();
        let (code, out, err) = second.run(&server, "remote verify");
        assert_eq!(code, 3, "{out}{err}");
        let (code, out, err) = second.run(&server, "remote push --repair --wait 600");
        assert_eq!(code, 3, "{out}{err}");
        assert!(err.contains("is not whole either"), "{err}");
        assert_eq!(server.state(), lost, "{how}");
        // Any that is does.
        let out = done(&first, &server, "remote push --repair --wait 600 --json");
        assert!(out.contains(&format!("\"repaired\":[\"{SESSION}\"]")), "{out}");
        assert_eq!(done(&first, &server, "remote verify"), "1 session is the same\n");
        done(&second, &server, "remote pull");
        for host in [&first, &second] {
            assert!(std::fs::read(host.file(SESSION)).unwrap() == text, "{how}");
        }
        let state = server.state();
        assert_eq!((&*state[2], &*state[3]), ("", &*text.len().to_string()));
    }
}

#[test]
fn a_claim_outlives_its_command_until_it_is_released_by_id() {
    let server = Server::start();
    let (first, second) = (Host::new(), Host::new());
    write(&first, 1);
    done(&first, &server, "remote push --wait 600");
    done(&second, &server, "remote pull --all");
    let taken = format!("{SESSION} is this host's\n");
    assert_eq!(done(&first, &server, "remote claim s"), taken);
    assert_eq!(done(&first, &server, "remote claim s"), taken);
    let (code, _, err) = second.run(&server, "remote claim s");
    assert_eq!(code, 4, "{err}");
    let not = format!("{SESSION} was not this host's\n");
    assert_eq!(done(&second, &server, "remote release s"), not);
    let path = first.file(SESSION).display().to_string();
    let released = format!("{SESSION} is given up\n");
    assert_eq!(done(&first, &server, &format!("remote release {path}")), released);
    assert_eq!(done(&second, &server, "remote claim s"), taken);
    assert_eq!(done(&second, &server, "remote release S"), released);
}
