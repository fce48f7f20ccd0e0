//! Grows in the next commit.
