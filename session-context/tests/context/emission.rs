//! Which entries of a path a context holds.

use session_model::json::RawJson;

use super::*;

fn summary(fields: &str) -> String {
    format!(r#"{{"role":"compactionSummary",{fields},"timestamp":{TIME_MS}}}"#)
}

fn compaction(id: &str, parent: &str, first_kept: &str) -> String {
    let fields = format!(r#""summary":"S","firstKeptEntryId":"{first_kept}","tokensBefore":9"#);
    line("compaction", id, parent, &fields)
}

const S: &str = r#""summary":"S","tokensBefore":9"#;

#[test]
fn messages_keep_their_bytes_and_where_they_come_from() {
    let odd =
        "{ \"role\" : \"user\", \"content\":\"\\ud83d\" ,\"n\":1.0, \"n\":2e3, \"x\":{\"y\":[ ]}}";
    let unknown = r#"{"content":7,"role":"oracle"}"#;
    let tree = chain(&[odd, unknown]);
    let context = plain(&tree);
    assert_eq!(texts(&context.messages), [odd, unknown]);
    let origin = |m: &ContextMessage| {
        (
            m.role().to_owned(),
            m.node(),
            m.entry_id().map(str::to_owned),
            m.message().role().to_owned(),
        )
    };
    assert_eq!(
        context.messages.iter().map(origin).collect::<Vec<_>>(),
        [
            ("user".into(), tree.find("m0"), Some("m0".into()), "user".into()),
            ("oracle".into(), tree.find("m1"), Some("m1".into()), "oracle".into()),
        ]
    );
    assert_eq!(context.diagnostics, []);
}

#[test]
fn the_leaf_decides() {
    let mut tree = tree(&[
        message("a", "-", &user("a")),
        message("b", "a", &user("b")),
        message("c", "a", &user("c")),
    ]);
    let of = |tree: &SessionTree, leaf| {
        let context = build_session_context(tree, leaf, &ContextOptions::plain());
        let ids = context.messages.iter().filter_map(|m| m.entry_id().map(str::to_owned));
        ids.collect::<Vec<_>>().join(" ")
    };
    tree.set_leaf(tree.find("b"));
    assert_eq!(of(&tree, LeafChoice::Current), "a b");
    assert_eq!(of(&tree, LeafChoice::Id("a")), "a");
    assert_eq!(of(&tree, LeafChoice::Id("c")), "a c");
    assert_eq!(of(&tree, LeafChoice::Id("gone")), "a c");
    assert_eq!(of(&tree, LeafChoice::Root), "");
    tree.set_leaf(None);
    assert_eq!(of(&tree, LeafChoice::Current), "");
    assert_eq!(of(&SessionTree::default(), LeafChoice::Id("a")), "");
    assert_eq!(plain(&tree), SessionContext::default());
}

#[test]
fn a_compaction_stands_for_what_is_before_the_first_it_keeps() {
    let lines = [
        message("a", "-", &user("a")),
        line("branch_summary", "b", "a", r#""fromId":"a","summary":"B""#),
        line("branch_summary", "c", "b", r#""fromId":"root","summary":"""#),
        compaction("d", "c", "b"),
        message("e", "d", &user("e")),
    ];
    let branch =
        format!(r#"{{"role":"branchSummary","summary":"B","fromId":"a","timestamp":{TIME_MS}}}"#);
    let context = plain(&tree(&lines));
    assert_eq!(texts(&context.messages), [&summary(S), &branch, &user("e")]);
    assert_eq!(context.messages[0].entry_id(), Some("d"));
    let transcript = built(&tree(&lines), &ContextOptions::transcript());
    assert_eq!(texts(&transcript.messages), [&user("a"), &branch, &summary(S), &user("e")]);
    assert_eq!((context.diagnostics, transcript.diagnostics), (vec![], vec![]));
}

#[test]
fn the_last_of_several_compactions_holds_and_may_keep_from_before_the_others() {
    let lines = [
        message("a", "-", &user("a")),
        compaction("b", "a", "a"),
        message("c", "b", &user("c")),
        compaction("d", "c", "a"),
        message("e", "d", &user("e")),
    ];
    let want = [&summary(S), &user("a"), &user("c"), &user("e")];
    assert_eq!(texts(&plain(&tree(&lines)).messages), want);
}

#[test]
fn a_compaction_that_keeps_nothing_known_keeps_nothing() {
    let kept = |first_kept: &str| {
        let fields = format!(r#""summary":"S","tokensBefore":9{first_kept}"#);
        let context = plain(&tree(&[
            message("a", "-", &user("a")),
            message("off", "a", &user("off")),
            line("compaction", "c", "a", &fields),
            message("e", "c", &user("e")),
        ]));
        assert_eq!(texts(&context.messages), [&summary(S), &user("e")], "{first_kept}");
        context.diagnostics
    };
    for bad in ["gone", "off", "e"] {
        let diagnostics = kept(&format!(r#","firstKeptEntryId":"{bad}""#));
        assert_eq!(found(&diagnostics), [(DiagnosticCode::FirstKeptMissing, "c")], "{bad}");
        let want = format!(
            "firstKeptEntryId is {bad:?}, which is no entry before the compaction on its path; \
             nothing before it is kept"
        );
        assert_eq!(diagnostics[0].detail, want);
    }
    for bad in ["", r#","firstKeptEntryId":3"#] {
        assert_eq!(found(&kept(bad)), [(DiagnosticCode::FirstKeptMissing, "c")], "{bad}");
    }
    for meant in [r#","firstKeptEntryId":"""#, r#","firstKeptEntryId":"c""#] {
        assert_eq!(kept(meant), [], "{meant}");
    }
}

#[test]
fn of_entries_that_share_the_id_of_the_first_kept_the_nearest_before_counts() {
    let lines = [
        message("x", "-", &user("one")),
        message("x", "x", &user("two")),
        message("b", "x", &user("b")),
        compaction("c", "b", "x"),
        message("x", "c", &user("three")),
    ];
    let want = [&summary(S), &user("two"), &user("b"), &user("three")];
    assert_eq!(texts(&plain(&tree(&lines)).messages), want);
}

#[test]
fn a_providers_own_history_replaces_what_is_kept() {
    let context = |extra: &str, preserved: &str| {
        let fields = format!(
            r#""summary":"S","shortSummary":"s","firstKeptEntryId":"a","tokensBefore":9,"tokensAfter":3{extra},"preserveData":{{"openaiRemoteCompaction":{preserved}}}"#
        );
        plain(&tree(&[
            message("a", "-", &user("a")),
            message("b", "a", &user("b")),
            line("compaction", "c", "b", &fields),
            message("e", "c", &user("e")),
        ]))
    };
    let history = r#"{"provider":"openai","replacementHistory":[{"n":1.0}]}"#;
    let fields = r#""summary":"S","shortSummary":"s","tokensBefore":9,"tokensAfter":3"#;
    let with_payload = summary(&format!(
        r#"{fields},"providerPayload":{{"type":"openaiResponsesHistory","provider":"openai","items":[{{"n":1.0}}]}}"#
    ));
    assert_eq!(texts(&context("", history).messages), [&with_payload, &user("e")]);
    let behind = |id: &str| format!(r#","providerReplayThroughEntryId":"{id}""#);
    let replayed = context(&behind("a"), history);
    assert_eq!(texts(&replayed.messages), [&with_payload, &user("b"), &user("e")]);
    let gone = context(&behind("e"), history);
    assert_eq!(texts(&gone.messages), [&with_payload, &user("e")]);
    assert_eq!(found(&gone.diagnostics), [(DiagnosticCode::FirstKeptMissing, "c")]);
    for unusable in [
        r#"{"provider":"","replacementHistory":[]}"#,
        r#"{"provider":"openai","replacementHistory":{}}"#,
        r#"{"replacementHistory":[]}"#,
        "[]",
    ] {
        let want = [&summary(fields), &user("a"), &user("b"), &user("e")];
        assert_eq!(texts(&context("", unusable).messages), want, "{unusable}");
    }
}

#[test]
fn of_a_reset_and_a_compaction_the_later_decides() {
    let before = [message("a", "-", &user("a")), message("b", "a", &user("b"))];
    let reset = |id: &str, parent: &str| line("reset_boundary", id, parent, "");
    let with = |rest: [String; 3]| tree(&[&before[..], &rest[..]].concat());
    let reset_last =
        with([compaction("c", "b", "b"), reset("d", "c"), message("e", "d", &user("e"))]);
    assert_eq!(texts(&plain(&reset_last).messages), [&user("e")]);
    let reset_first =
        with([reset("c", "b"), compaction("d", "c", "b"), message("e", "d", &user("e"))]);
    assert_eq!(texts(&plain(&reset_first).messages), [&summary(S), &user("b"), &user("e")]);
    let transcript = built(&reset_last, &ContextOptions::transcript());
    assert_eq!(texts(&transcript.messages), [&user("a"), &user("b"), &summary(S), &user("e")]);
    let only = tree(&[message("a", "-", &user("a")), reset("b", "a")]);
    assert_eq!(texts(&plain(&only).messages), [""; 0]);
}

#[test]
fn entries_without_words_are_passed_through() {
    let kinds = ["label", "custom", "progress_v9", "model_usage", "archive", "session_info"];
    let mut lines = vec![message("k", "-", &user("first"))];
    let mut parent = "k".to_owned();
    for kind in kinds {
        lines.push(line(kind, kind, &parent, r#""message":{"role":"user","content":"no"}"#));
        parent = kind.to_owned();
    }
    lines.push(message("z", &parent, &user("last")));
    let context = plain(&tree(&lines));
    assert_eq!(texts(&context.messages), [&user("first"), &user("last")]);
}

#[test]
fn custom_messages_take_the_times_and_values_of_their_entries() {
    let full = r#"{"type":"custom_message","customType":"x","content":[{"type":"text","text":"\ud800"}],"display":false,"details":{"n":1.0},"attribution":"agent","id":"a","parentId":null,"timestamp":1772355600000}"#;
    let bare = r#"{"type":"custom_message","id":"b","parentId":"a","timestamp":"soon"}"#;
    let lines = [full.to_owned(), bare.to_owned()];
    assert_eq!(
        texts(&plain(&tree(&lines)).messages),
        [
            r#"{"role":"custom","customType":"x","content":[{"type":"text","text":"\ud800"}],"display":false,"details":{"n":1.0},"attribution":"agent","timestamp":1772355600000}"#,
            r#"{"role":"custom","customType":"","content":"","display":false,"timestamp":null}"#,
        ]
    );
    assert_eq!(plain(&tree(&lines)).messages[1].message().timestamp(), None);
}

#[test]
fn a_message_entry_without_a_message_is_left_out_and_reported() {
    let lines = [
        line("message", "a", "-", ""),
        line("message", "b", "a", r#""message":"text""#),
        message("c", "b", &user("c")),
    ];
    let context = plain(&tree(&lines));
    assert_eq!(texts(&context.messages), [&user("c")]);
    let code = DiagnosticCode::UnreadableMessage;
    assert_eq!(found(&context.diagnostics), [(code, "a"), (code, "b")]);
}

#[test]
fn a_missing_parent_ends_the_path_unless_gaps_are_bridged() {
    let lines = [
        message("a", "-", &user("a")),
        message("b", "gone1", &user("b")),
        message("c", "b", &user("c")),
        message("d", "gone2", &user("d")),
    ];
    let tree = tree(&lines);
    let code = DiagnosticCode::UnknownParent;
    let ended = plain(&tree);
    assert_eq!(texts(&ended.messages), [&user("d")]);
    assert_eq!(found(&ended.diagnostics), [(code, "d")]);
    let mut options = ContextOptions::plain();
    options.bridge_gaps = true;
    let bridged = built(&tree, &options);
    let want = ["a", "b", "c", "d"].map(user);
    assert_eq!(texts(&bridged.messages), want.each_ref().map(|json| json.as_str()));
    assert_eq!(found(&bridged.diagnostics), [(code, "d"), (code, "b")]);
}

#[test]
fn bridging_never_takes_an_entry_twice() {
    let lines = [
        message("late", "gap", &user("late")),
        message("gap", "gone", &user("gap")),
        message("end", "late", &user("end")),
    ];
    let mut options = ContextOptions::plain();
    options.bridge_gaps = true;
    let context = built(&tree(&lines), &options);
    assert_eq!(texts(&context.messages), [&user("gap"), &user("late"), &user("end")]);
}

#[test]
fn cycles_and_own_parents_end() {
    let lines = [message("a", "b", &user("a")), message("b", "a", &user("b"))];
    assert_eq!(texts(&plain(&tree(&lines)).messages), [&user("a"), &user("b")]);
    let own = [message("a", "a", &user("a"))];
    let context = plain(&tree(&own));
    assert_eq!((texts(&context.messages), context.diagnostics.len()), (vec![&*user("a")], 0));
}

#[test]
fn the_context_as_json_has_its_fields_in_order() {
    let lines = [
        message("a", "-", "{ \"role\":\"user\" ,\"content\":\"\\ud800\"}"),
        line("thinking_level_change", "b", "a", r#""thinkingLevel":"high","configured":"auto""#),
        line("service_tier_change", "c", "b", r#""serviceTier":{"openai":"flex","x":1.0}"#),
        line("model_change", "d", "c", r#""model":"acme/big""#),
        line("context_change", "e", "d", r#""contextName":"n","tenant":"t","namespace":"s""#),
        line("ttsr_injection", "f", "e", r#""injectedRules":["r"]"#),
        line("mcp_tool_selection", "g", "f", r#""selectedToolNames":["m"]"#),
        line("mode_change", "h", "g", r#""mode":"plan","data":{"k":1}"#),
    ];
    assert_eq!(
        plain(&tree(&lines)).to_json(),
        RawJson::parse(concat!(
            r#"{"messages":[{"role":"user","content":"\ud800"}],"thinkingLevel":"high","#,
            r#""configuredThinkingLevel":"auto","serviceTier":{"openai":"flex","x":1.0},"#,
            r#""models":{"default":"acme/big"},"activeContextName":"n","activeContextTenant":"t","#,
            r#""injectedTtsrRules":["r"],"selectedMCPToolNames":["m"],"#,
            r#""hasPersistedMCPToolSelection":true,"mode":"plan","modeData":{"k":1}}"#,
        ))
        .unwrap()
    );
    assert_eq!(
        SessionContext::default().to_json().as_str(),
        r#"{"messages":[],"thinkingLevel":"off","models":{},"injectedTtsrRules":[],"selectedMCPToolNames":[],"hasPersistedMCPToolSelection":false,"mode":"none"}"#
    );
}
