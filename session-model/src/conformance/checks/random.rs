//! Random sequences of operations; see [`RandomRun`](super::super::RandomRun).

use super::super::check::table;
use super::super::cx::Cx;
use super::super::failure::Result;
use super::super::random::{RandomRun, run};

table! {
    operations_agree_with_a_map,
}

/// The run draws and shrinks between futures, so it needs a thread that is not inside one.
async fn operations_agree_with_a_map(cx: &Cx) -> Result {
    cx.work_on_thread(|harness| run(RandomRun::default(), harness)).await
}
