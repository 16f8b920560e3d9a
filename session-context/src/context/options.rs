//! How a context is built.

/// The form of a context's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextForm {
    /// What is in force, as it is stored: summaries stand for what they sum up.
    Plain,
    /// The plain form, mended so that a model's provider takes it; see
    /// [`model_safe`](super::model_safe).
    #[default]
    ModelSafe,
    /// The whole path for people, each compaction's summary in its place.
    Transcript,
}

/// What becomes of tool calls that may still be running.
///
/// That is said of calls without a result in the last message of a context, when nothing but
/// results follows them. All other calls without a result are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PendingCalls {
    /// They get a result that says they were interrupted: right after a restart, when nothing
    /// runs.
    #[default]
    Interrupt,
    /// They stay without a result, which the host adds before it asks a model.
    Keep,
}

/// How messages are mended for a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SafetyOptions {
    /// What becomes of calls that may still be running; default: they count as interrupted.
    pub pending_calls: PendingCalls,
    /// The provider the messages go to, as assistants' messages name it. What another provider
    /// sealed or signed is left out. Default: not known, and everything goes along.
    pub provider: Option<String>,
    /// The most bytes an attachment may have: an image's base64 text, or a mentioned file's text.
    /// A larger one is replaced by a note. Default: no limit.
    pub max_attachment_bytes: Option<usize>,
    /// Whether an image that is still a reference to a blob is replaced by a note: for sessions
    /// opened with whole values, where only what is missing or damaged still is one. Default: no.
    pub note_missing_images: bool,
}

/// How a context is built.
///
/// The default is the model-safe form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextOptions {
    /// The form of the messages.
    pub form: ContextForm,
    /// How they are mended; for the model-safe form only.
    pub safety: SafetyOptions,
    /// Whether a path that ends at a parent which is nowhere in the file goes on at the entry
    /// before it in the file; default: no, the context begins there.
    pub bridge_gaps: bool,
}

impl ContextOptions {
    /// Messages as they are stored.
    pub fn plain() -> Self {
        Self { form: ContextForm::Plain, ..Self::default() }
    }

    /// The whole path, for people.
    pub fn transcript() -> Self {
        Self { form: ContextForm::Transcript, ..Self::default() }
    }
}
