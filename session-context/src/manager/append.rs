//! Appending entries.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;
use session_model::body::{
    Archive, BranchSummary, Compaction, ContextChange, CredentialPin, CustomEntry,
    CustomMessageEntry, EntryBody, Label, McpToolSelection, ModeChange, ModelChange, ModelUsage,
    ServiceTierChange, SessionInit, ThinkingLevelChange, TtsrInjection,
};
use session_model::entry::NewEntries;
use session_model::env::fresh_entry_id;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::message::Message;
use session_model::persisted::PersistOptions;
use session_model::record::Nullable;
use session_model::storage::Payload;
use session_model::time::to_iso;
use session_model::tree::SessionTree;
use session_model::{Entry, EntryKind};

use super::SessionManager;
use crate::error::{Result, SessionError};

/// Envelope fields, which the manager sets itself.
const ENVELOPE: [&str; 4] = ["type", "id", "parentId", "timestamp"];

impl SessionManager {
    /// Appends an entry of any type as a child of the leaf and returns its id.
    ///
    /// # Errors
    ///
    /// [`SessionError::ReadOnly`]: nothing has changed. [`SessionError::NotSaved`]: the entry is
    /// in memory and has the id the error names, and the file does not hold it.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: if the future is dropped, the entry may or may not have been added.
    pub fn append(&mut self, body: impl Into<EntryBody>) -> impl Future<Output = Result<String>> {
        let body = body.into();
        // No `async fn`: its future would hold the body twice, and be moved with it.
        async move {
            let prepared = self.prepare([&body], |body, made, at| {
                Ok(made.add(body, at.id, at.parent, at.time, at.options))
            })?;
            self.append_prepared(prepared).await
        }
    }

    /// Appends a message.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub fn append_message(
        &mut self,
        message: impl Into<Message>,
    ) -> impl Future<Output = Result<String>> {
        self.append(message.into())
    }

    /// Appends a message given as JSON; every field and spelling is kept.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append), and [`SessionError::InvalidEntry`] if it is no object with a
    /// string `role`.
    pub async fn append_message_json(&mut self, message: &RawJson) -> Result<String> {
        check_message(message)?;
        let body = ObjectBuilder::new().raw("message", message).build();
        self.append_fields("message", &body).await
    }

    /// Appends an entry given as JSON; `id`, `parentId` and `timestamp` are set anew, every other
    /// field and spelling is kept.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append), and [`SessionError::InvalidEntry`] if it is no object with a
    /// string `type`, is a header or title slot, or is a message or label that lacks what makes it
    /// one.
    pub async fn append_entry_json(&mut self, entry: &RawJson) -> Result<String> {
        let entry_type = check_entry_json(entry)?;
        self.append_fields(&entry_type, entry).await
    }

    async fn append_fields(&mut self, entry_type: &str, fields: &RawJson) -> Result<String> {
        let prepared = self.prepare([fields], |fields, made, at| {
            Ok(made.add_json(&with_envelope(entry_type, fields, &at), at.options))
        })?;
        self.append_prepared(prepared).await
    }

    async fn append_prepared(&mut self, prepared: Prepared) -> Result<String> {
        let id = self.save_new(prepared).await?.pop().unwrap_or_default();
        self.settle_durability(&id).await?;
        Ok(id)
    }

    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.read_only_reason() {
            None => Ok(()),
            Some(reason) => {
                Err(SessionError::ReadOnly { key: self.key.clone(), reason: reason.to_owned() })
            }
        }
    }

    /// Makes entries, each a child of the one before and the first a child of the leaf; `make`
    /// tells whether it could make one. Nothing has changed yet when this returns.
    pub(super) fn prepare<T>(
        &mut self,
        new: impl IntoIterator<Item = T>,
        make: impl Fn(T, &mut NewEntries, At<'_>) -> Result<bool>,
    ) -> Result<Prepared> {
        self.check_writable()?;
        let mut made = std::mem::take(&mut self.made);
        let prepared = self.prepare_in(&mut made, new, make);
        made.clear();
        self.made = made;
        prepared
    }

    fn prepare_in<T>(
        &mut self,
        made: &mut NewEntries,
        new: impl IntoIterator<Item = T>,
        make: impl Fn(T, &mut NewEntries, At<'_>) -> Result<bool>,
    ) -> Result<Prepared> {
        let tree = self.document.tree();
        let leaf = parent_for_new(tree);
        let (mut ids, mut taken) = (Vec::<String>::new(), HashSet::new());
        for new in new {
            taken.extend(ids.last().cloned());
            let is_taken = |id: &str| tree.find(id).is_some() || taken.contains(id);
            let id = fresh_entry_id(&mut *self.ids, is_taken);
            let time = to_iso(self.clock.now_ms());
            let parent = ids.last().map(String::as_str).or(leaf.as_deref());
            if !make(new, made, At { id: &id, parent, time: &time, options: &self.persist })? {
                let reason = "its type is no string".to_owned();
                return Err(SessionError::InvalidEntry { reason });
            }
            ids.push(id);
        }
        let (lines, entries) = made.take();
        let prepared = match self.filter {
            None => Prepared { ids, lines, entries },
            Some(_) => {
                Prepared::of(entries.into_iter().map(|entry| self.filtered(entry)).collect())
            }
        };
        prepared.entries.iter().try_for_each(|entry| self.check_entry(entry))?;
        Ok(prepared)
    }

    /// Refuses what could not be read back, or speaks of what is not there.
    fn check_entry(&self, entry: &Entry) -> Result<()> {
        let invalid = |reason: String| Err(SessionError::InvalidEntry { reason });
        let kind = entry.kind();
        if kind == EntryKind::Unknown && matches!(&*entry.entry_type(), "session" | "title") {
            return invalid("a session has one header only".to_owned());
        }
        self.check_line(entry)?;
        if !matches!(kind, EntryKind::Label | EntryKind::Archive) {
            return Ok(());
        }
        match entry.body() {
            EntryBody::Label(label) => self.find(&label.target_id).map(|_| ()),
            EntryBody::Archive(archive) => {
                let target = self.find(&archive.target_id)?;
                let leaf = self.tree().leaf();
                let active = leaf.is_some_and(|leaf| self.tree().path_to(leaf).contains(&target));
                if archive.archived && active {
                    return invalid("the active path cannot be archived; move off it first".into());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Refuses a line that would be too long to be read back.
    pub(super) fn check_line(&self, entry: &Entry) -> Result<()> {
        let (bytes, most) = (entry.line().len(), self.load.max_line_bytes);
        if bytes <= most {
            return Ok(());
        }
        let reason = format!("its line has {bytes} bytes, and only {most} can be read back");
        Err(SessionError::InvalidEntry { reason })
    }

    /// Appends a change of the thinking level; `None` is written as `null`, which means `off`.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_thinking_level_change(&mut self, level: Option<&str>) -> Result<String> {
        let thinking_level =
            level.map_or(Nullable::Null, |level| Nullable::Value(level.to_owned()));
        self.append(ThinkingLevelChange { thinking_level, ..Default::default() }).await
    }

    /// Appends a choice of model, as `provider/modelId`; `None` is the role `default`.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_model_change(&mut self, model: &str, role: Option<&str>) -> Result<String> {
        let (model, role) = (Some(model.to_owned()), role.map(str::to_owned));
        self.append(ModelChange { model, role, ..Default::default() }).await
    }

    /// Appends a change of the service tier.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_service_tier_change(&mut self, tier: ServiceTierChange) -> Result<String> {
        self.append(tier).await
    }

    /// Appends a compaction.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append), and [`SessionError::UnknownEntry`] if the first kept entry is
    /// given and not in the session.
    pub async fn append_compaction(&mut self, compaction: Compaction) -> Result<String> {
        if !compaction.first_kept_entry_id.is_empty() {
            self.find(&compaction.first_kept_entry_id)?;
        }
        self.append(compaction).await
    }

    /// Appends state of an extension.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_custom_entry(
        &mut self,
        custom_type: &str,
        data: Option<RawJson>,
    ) -> Result<String> {
        let custom_type = custom_type.to_owned();
        self.append(CustomEntry { custom_type, data, ..Default::default() }).await
    }

    /// Appends a message of an extension.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_custom_message(&mut self, message: CustomMessageEntry) -> Result<String> {
        self.append(message).await
    }

    /// Labels an entry; `None` or an empty label takes its label away.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append), and [`SessionError::UnknownEntry`] without such an entry.
    pub async fn append_label_change(
        &mut self,
        target: &str,
        label: Option<&str>,
    ) -> Result<String> {
        self.find(target)?;
        let (target_id, label) = (target.to_owned(), label.map(str::to_owned));
        self.append(Label { target_id, label, ..Default::default() }).await
    }

    /// Hides the branch that begins at an entry, or shows it again; nothing is deleted.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append), [`SessionError::UnknownEntry`] without such an entry, and
    /// [`SessionError::InvalidEntry`] for one on the active path.
    pub async fn append_archive(&mut self, target: &str, archived: bool) -> Result<String> {
        self.append(Archive { target_id: target.to_owned(), archived, ..Default::default() }).await
    }

    /// Appends which credential a provider is used with, as a hash that tells it.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_credential_pin(&mut self, provider: &str, hash: &str) -> Result<String> {
        let (provider, hash) = (provider.to_owned(), hash.to_owned());
        self.append(CredentialPin { provider, hash, ..Default::default() }).await
    }

    /// Appends rules that were injected.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_ttsr_injection(&mut self, rules: Vec<String>) -> Result<String> {
        self.append(TtsrInjection { injected_rules: rules, ..Default::default() }).await
    }

    /// Appends a selection of tools of MCP servers.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_mcp_tool_selection(&mut self, tools: Vec<String>) -> Result<String> {
        self.append(McpToolSelection { selected_tool_names: tools, ..Default::default() }).await
    }

    /// Appends how a child agent's session begins.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_session_init(&mut self, init: SessionInit) -> Result<String> {
        self.append(init).await
    }

    /// Appends a change of mode.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_mode_change(
        &mut self,
        mode: &str,
        data: Option<RawJson>,
    ) -> Result<String> {
        self.append(ModeChange { mode: mode.to_owned(), data, ..Default::default() }).await
    }

    /// Appends a change of the active context.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_context_change(
        &mut self,
        context_name: &str,
        tenant: &str,
        namespace: &str,
    ) -> Result<String> {
        self.append(ContextChange {
            context_name: context_name.to_owned(),
            tenant: tenant.to_owned(),
            namespace: namespace.to_owned(),
            ..Default::default()
        })
        .await
    }

    /// Appends a use of a model outside the conversation.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_model_usage(&mut self, usage: ModelUsage) -> Result<String> {
        self.append(usage).await
    }

    /// Appends a reset boundary: the context starts afresh behind it, and the history stays.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_reset_boundary(&mut self) -> Result<String> {
        self.append(session_model::body::ResetBoundary::default()).await
    }

    pub(super) async fn append_branch_summary(&mut self, summary: BranchSummary) -> Result<String> {
        self.append(summary).await
    }
}

/// A leaf without an id cannot be named; its parent, which must have one, stands in.
pub(super) fn parent_for_new(tree: &SessionTree) -> Option<Cow<'_, str>> {
    let leaf = tree.leaf()?;
    tree.entry(leaf).id().or_else(|| tree.entry(tree.parent_of(leaf)?).id())
}

/// What a new entry says of itself, and the form it is written in.
pub(super) struct At<'a> {
    pub(super) id: &'a str,
    pub(super) parent: Option<&'a str>,
    pub(super) time: &'a str,
    pub(super) options: &'a PersistOptions,
}

/// Entries that can be added to the session and, their lines, to its file.
pub(super) struct Prepared {
    pub(super) ids: Vec<String>,
    pub(super) lines: Bytes,
    pub(super) entries: Vec<Entry>,
}

impl Prepared {
    /// Entries that were made elsewhere.
    pub(super) fn of(entries: Vec<Entry>) -> Self {
        let lines = entries.iter().map(|entry| entry.line().clone()).collect::<Payload>();
        let ids = entries.iter().map(|entry| entry.id().unwrap_or_default().into_owned()).collect();
        Self { ids, lines: lines.to_bytes(), entries }
    }
}

/// An entry of these fields, with its envelope where other tools have it.
pub(super) fn with_envelope(entry_type: &str, fields: &RawJson, at: &At<'_>) -> RawJson {
    let fields = fields.as_object().unwrap_or_default();
    let late_envelope = matches!(entry_type, "custom" | "custom_message");
    let parent = at.parent.map_or_else(RawJson::null, RawJson::string);
    let envelope = |out: ObjectBuilder| {
        out.string("id", at.id).raw("parentId", &parent).string("timestamp", at.time)
    };
    let mut out = ObjectBuilder::new().string("type", entry_type);
    if !late_envelope {
        out = envelope(out);
    }
    for field in fields.fields().iter().filter(|f| !ENVELOPE.contains(&&*f.name())) {
        out = out.raw_field(field.raw_name(), field.value());
    }
    if late_envelope { envelope(out).build() } else { out.build() }
}

/// Checks that an entry given as JSON can be appended to some session, and returns its type.
///
/// Whether the entries it speaks of exist is another question.
///
/// # Errors
///
/// [`SessionError::InvalidEntry`] if it is no object with a string `type`, is a header or title
/// slot, or is a message without a message.
pub fn check_entry_json(entry: &RawJson) -> Result<String> {
    let invalid = |reason: &str| SessionError::InvalidEntry { reason: reason.to_owned() };
    let fields = entry.as_object().ok_or_else(|| invalid("it is no JSON object"))?;
    let entry_type = fields.text("type").ok_or_else(|| invalid("it has no string `type`"))?;
    match &*entry_type {
        "session" | "title" => return Err(invalid("a session has one header only")),
        "message" => check_message(fields.get("message").unwrap_or(&RawJson::null()))?,
        _ => {}
    }
    Ok(entry_type.into_owned())
}

/// Checks that a message given as JSON can be appended to some session.
///
/// # Errors
///
/// [`SessionError::InvalidEntry`] if it is no object with a string `role`.
pub fn check_message(message: &RawJson) -> Result<()> {
    let role = message.as_object().and_then(|m| m.text("role").map(|role| role.into_owned()));
    match role {
        Some(_) => Ok(()),
        None => Err(SessionError::InvalidEntry {
            reason: "a message is an object with a string `role`".to_owned(),
        }),
    }
}

/// Whether this entry makes a session worth a file.
pub(super) fn is_answer(entry: &Entry) -> bool {
    entry.kind() == EntryKind::Message
        && entry
            .message()
            .and_then(|m| m.as_object())
            .is_some_and(|m| m.text("role").is_some_and(|role| role == "assistant"))
}
