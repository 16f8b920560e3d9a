//! The context at the leaf of the large, compacted session.

use std::path::Path;

use session_context::{ContextOptions, LeafChoice};

use crate::open::open_read_only;
use crate::{best, row};

pub(crate) fn run(file: &Path) {
    let session = open_read_only(file);
    let forms =
        [("plain", ContextOptions::plain()), ("safe for a model", ContextOptions::default())];
    for (name, options) in forms {
        let time = best(9, || session.session_context(LeafChoice::Current, &options));
        let messages = session.session_context(LeafChoice::Current, &options).messages.len();
        let what = format!("context at the leaf, {name}");
        let note = format!("{messages} messages");
        row(&what, format!("{:.2} ms", 1e3 * time.as_secs_f64()), &note);
    }
    println!();
}
