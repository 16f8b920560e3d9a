//! An export as one page: everything is in it, nothing in it runs but its own script, and it asks
//! for nothing.
//!
//! Three walls stand between a session and the reader. All text is escaped, and Markdown may make
//! only what [`prose`] lets it. The page's policy allows no script and no style but the two whose
//! digests it names, images only from the page itself, and nothing else. And images are only those
//! whose bytes are of a known kind.

mod entry;
mod image;
mod page;
mod prose;
mod rows;
mod write;

pub(super) use page::render;
