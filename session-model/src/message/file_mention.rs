//! Files that people mentioned.

use crate::record::record;

use super::ContentBlock;

record! {
    /// A message of role `fileMention`.
    pub struct FileMentionMessage {
        /// The files in the order they were mentioned.
        files: Vec<MentionedFile> = "files",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
    }
}

record! {
    value
    /// One mentioned file.
    pub struct MentionedFile {
        /// The path as it was mentioned.
        path: String = "path",
        /// The text; empty for an image.
        content: String = "content",
        /// The number of lines of `content`.
        line_count: Option<u64> = "lineCount",
        /// The file's size in bytes.
        byte_size: Option<u64> = "byteSize",
        /// Why the content was left out.
        skipped_reason: Option<String> = "skippedReason",
        /// The image, for an image file.
        image: Option<ContentBlock> = "image",
    }
}
