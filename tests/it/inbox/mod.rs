//! The inbox: one suite for everything that keeps one.

mod conformance;
mod faults;
mod keeping;
mod leases;
mod sqlite;
mod stand;
mod suite;
