//! The committed inputs of the fuzz targets of a remote, replayed through what the targets check.

use std::fs;

#[path = "../../../session-model/fuzz/src/remote.rs"]
#[allow(unreachable_pub, reason = "it is a module of the fuzz targets as well")]
mod remote;

type Property = fn(&[u8]);

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../session-model/fuzz/corpus");

#[test]
fn every_committed_answer_of_a_remote_holds() {
    let properties: [(&str, Property); 2] =
        [("remote_reply", remote::reply), ("remote_wire", remote::wire)];
    for (name, property) in properties {
        let inputs: Vec<_> = fs::read_dir(format!("{CORPUS}/{name}")).unwrap().collect();
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for input in inputs {
            let path = input.unwrap().path();
            eprintln!("{}", path.display());
            property(&fs::read(path).unwrap());
        }
    }
}
