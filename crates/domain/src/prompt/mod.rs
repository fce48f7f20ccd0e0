//! What exactly is said to Jules.
