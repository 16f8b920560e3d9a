//! Session storage in memory, with fault injection for tests.
