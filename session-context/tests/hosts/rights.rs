//! The line of access rules in the documentation is all that is needed, in any database.

use crate::agent::SESSION;
use crate::commands::Host;
use crate::reading::write;
use crate::server::Server;

const DOCUMENTED: &str = include_str!("../../../docs/redis.md");

#[test]
fn the_documented_rights_are_enough_in_any_database() {
    let line = DOCUMENTED.lines().find(|line| line.starts_with("ACL SETUSER agent ")).unwrap();
    let line = line.replace(">a-long-secret", ">x");
    let server = Server::start();
    assert_eq!(server.ask(&line.split(' ').collect::<Vec<_>>()), ["OK"]);
    for database in [0, 3] {
        let (first, second) = (Host::new(), Host::new());
        write(&first, 1);
        for (host, command) in [
            (&first, "remote push --wait 600"),
            (&second, "remote pull --all"),
            (&second, "remote status"),
            (&second, "remote claim s"),
            (&second, "remote release s"),
            (&first, "remote verify"),
        ] {
            let store = server.url_of(host.path(), "agent", database);
            let (code, out, err) = host.run_on(&store, command);
            assert_eq!(code, 0, "{command} in database {database}: {out}{err}");
        }
        assert!(second.file(SESSION).exists(), "database {database}");
    }
}
