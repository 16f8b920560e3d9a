//! What state a path leaves behind.

use session_context::context::ActiveContext;

use super::*;

/// The context at the end of entries given as type and fields, each hanging from the one before.
fn after(entries: &[(&str, &str)]) -> SessionContext {
    let lines: Vec<String> = entries
        .iter()
        .enumerate()
        .map(|(at, (entry_type, fields))| {
            let parent = if at == 0 { "-".to_owned() } else { format!("s{}", at - 1) };
            line(entry_type, &format!("s{at}"), &parent, fields)
        })
        .collect();
    plain(&tree(&lines))
}

fn models(entries: &[(&str, &str)]) -> String {
    after(entries).models.to_json().to_string()
}

const ANSWER: (&str, &str) =
    ("message", r#""message":{"role":"assistant","content":[],"provider":"p","model":"m"}"#);
const LATER_ANSWER: (&str, &str) =
    ("message", r#""message":{"role":"assistant","content":[],"provider":"p","model":"n"}"#);
const SLOW: (&str, &str) = ("model_change", r#""model":"x/slow","role":"slow""#);
const CHOSEN: (&str, &str) = ("model_change", r#""model":"x/chosen""#);

#[test]
fn a_chosen_model_wins_over_answers() {
    assert_eq!(models(&[CHOSEN, ANSWER]), r#"{"default":"x/chosen"}"#);
    assert_eq!(models(&[ANSWER, CHOSEN, LATER_ANSWER]), r#"{"default":"x/chosen"}"#);
    assert_eq!(models(&[ANSWER, LATER_ANSWER]), r#"{"default":"p/n"}"#);
    let again = ("model_change", r#""model":"x/again","role":"default""#);
    assert_eq!(models(&[CHOSEN, again]), r#"{"default":"x/again"}"#);
}

#[test]
fn roles_stand_in_the_order_they_first_got_a_model() {
    let slow_then = |default: &str| format!(r#"{{"slow":"x/slow","default":"{default}"}}"#);
    let default_then = |default: &str| format!(r#"{{"default":"{default}","slow":"x/slow"}}"#);
    assert_eq!(models(&[SLOW, ANSWER]), slow_then("p/m"));
    assert_eq!(models(&[ANSWER, SLOW]), default_then("p/m"));
    assert_eq!(models(&[ANSWER, SLOW, LATER_ANSWER]), default_then("p/n"));
    assert_eq!(models(&[SLOW, CHOSEN, ANSWER]), slow_then("x/chosen"));
    assert_eq!(models(&[ANSWER, SLOW, CHOSEN]), default_then("x/chosen"));
    let other = ("model_change", r#""model":"x/plan","role":"plan""#);
    let want = r#"{"slow":"x/slow","default":"p/m","plan":"x/plan"}"#;
    assert_eq!(models(&[SLOW, ANSWER, other, SLOW]), want);
}

#[test]
fn what_names_no_model_sets_none() {
    let nameless = r#""message":{"role":"assistant","content":[],"provider":"p","model":""}"#;
    assert_eq!(models(&[("message", nameless), ("model_change", r#""model":"""#)]), "{}");
    let user = r#""message":{"role":"user","content":"","provider":"p","model":"m"}"#;
    assert_eq!(models(&[ANSWER, ("message", user)]), r#"{"default":"p/m"}"#);
    let pi = ("model_change", r#""provider":"p","modelId":"m""#);
    assert_eq!(models(&[pi]), r#"{"default":"p/m"}"#);
    let none = ("model_change", r#""model":"a/b","role":"""#);
    assert_eq!(models(&[none]), r#"{"":"a/b"}"#);
}

#[test]
fn models_can_be_asked_for() {
    let models = after(&[SLOW, CHOSEN]).models;
    assert_eq!((models.get("slow"), models.get("gone")), (Some("x/slow"), None));
    assert_eq!((models.default_model(), models.is_empty()), (Some("x/chosen"), false));
}

#[test]
fn the_last_change_holds() {
    let context = after(&[
        ("thinking_level_change", r#""thinkingLevel":"low","configured":"auto""#),
        ("thinking_level_change", r#""thinkingLevel":"high""#),
        ("mode_change", r#""mode":"plan","data":{"a":1}"#),
        ("mode_change", r#""mode":"review""#),
        ("mcp_tool_selection", r#""selectedToolNames":["a","b"]"#),
        ("mcp_tool_selection", r#""selectedToolNames":[]"#),
        ("context_change", r#""contextName":"n","tenant":"t","namespace":"s""#),
        ("context_change", r#""contextName":"n2","tenant":"t2","namespace":"s2""#),
    ]);
    assert_eq!((&*context.thinking_level, context.configured_thinking), ("high", None));
    assert_eq!((&*context.mode, context.mode_data), ("review", None));
    assert_eq!(context.selected_mcp_tool_names, [""; 0]);
    assert!(context.has_persisted_mcp_tool_selection);
    let want = ActiveContext { name: "n2".into(), tenant: "t2".into(), namespace: "s2".into() };
    assert_eq!(context.active_context, Some(want));
}

#[test]
fn odd_changes_fall_back_to_the_defaults() {
    let context = after(&[
        ("thinking_level_change", r#""thinkingLevel":"high""#),
        ("thinking_level_change", r#""thinkingLevel":null"#),
        ("mode_change", r#""mode":"plan""#),
        ("mode_change", ""),
    ]);
    assert_eq!(context, SessionContext::default());
}

#[test]
fn rules_come_once_in_the_order_they_were_first_injected() {
    let context = after(&[
        ("ttsr_injection", r#""injectedRules":["b","a","b"]"#),
        ("ttsr_injection", ""),
        ("ttsr_injection", r#""injectedRules":["c","a"]"#),
    ]);
    assert_eq!(context.injected_ttsr_rules, ["b", "a", "c"]);
}

#[test]
fn service_tiers_are_kept_as_set_and_read_either_way() {
    let set = |value: &str| after(&[("service_tier_change", &format!(r#""serviceTier":{value}"#))]);
    let tiers = |context: &SessionContext| {
        let tiers = context.service_tiers();
        [tiers.openai, tiers.anthropic, tiers.google].map(|tier| tier.unwrap_or_default())
    };
    let word = set(r#""priority""#);
    assert_eq!(word.service_tier, Some(raw(r#""priority""#)));
    assert_eq!(tiers(&word), ["priority"; 3]);
    let families = set(r#"{"google":"flex"}"#);
    assert_eq!(families.service_tier, Some(raw(r#"{"google":"flex"}"#)));
    assert_eq!(tiers(&families), ["", "", "flex"]);
    let cleared = after(&[
        ("service_tier_change", r#""serviceTier":"flex""#),
        ("service_tier_change", r#""serviceTier":null"#),
    ]);
    assert_eq!((cleared.service_tier.clone(), tiers(&cleared)), (None, [""; 3].map(String::from)));
}

#[test]
fn state_from_before_a_compaction_and_a_reset_stays() {
    let context = after(&[
        CHOSEN,
        ("mode_change", r#""mode":"plan""#),
        ("reset_boundary", ""),
        ("compaction", r#""summary":"S","firstKeptEntryId":"","tokensBefore":1"#),
    ]);
    assert_eq!((context.models.default_model(), &*context.mode), (Some("x/chosen"), "plan"));
}

#[test]
fn state_of_other_branches_does_not_count() {
    let lines = [
        message("a", "-", &user("a")),
        line("mode_change", "b", "a", r#""mode":"plan""#),
        line("model_change", "c", "b", r#""model":"x/y""#),
        message("d", "a", &user("d")),
    ];
    let mut want = SessionContext::default();
    let context = plain(&tree(&lines));
    want.messages = context.messages.clone();
    assert_eq!(context, want);
}
