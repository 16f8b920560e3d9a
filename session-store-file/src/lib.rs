//! Session storage over a directory of files.
