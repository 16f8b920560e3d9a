//! Indexed session storage: SQLite beside the files, and prompt history.
