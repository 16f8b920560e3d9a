//! The scripts, each atomic: everything is checked before the first write.

use std::sync::LazyLock;

use redis::Script;

/// What the scripts of one session have in common.
const PRELUDE: &str = include_str!("lua/prelude.lua");

macro_rules! scripts {
    ($($name:ident = $prelude:expr, $file:literal;)*) => {
        $(pub(super) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(&[$prelude, include_str!($file)].concat()));)*
    };
}

scripts! {
    APPLY = PRELUDE, "lua/apply.lua";
    BEGIN = PRELUDE, "lua/begin.lua";
    CLAIM = PRELUDE, "lua/claim.lua";
    COMMIT = PRELUDE, "lua/commit.lua";
    FEED = "", "lua/feed.lua";
    LIST = "", "lua/list.lua";
    NAMES = "", "lua/names.lua";
    NOTIFY = "", "lua/notify.lua";
    PUT_OBJECT = "", "lua/put_object.lua";
    READ = PRELUDE, "lua/read.lua";
    RELEASE = PRELUDE, "lua/release.lua";
    REMOVE = PRELUDE, "lua/remove.lua";
    REMOVE_OBJECT = "", "lua/remove_object.lua";
    STATE = "", "lua/state.lua";
    SWEEP = PRELUDE, "lua/sweep.lua";
}
