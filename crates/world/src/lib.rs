//! Models of GitHub and of Jules.
