//! What must be installed on the machine on which Jules works: tools that people name, compiled into one script.
//!
//! | file | written by |
//! |---|---|
//! | `tools.yml` | people: `tools: [gh, python]` |
//! | `components/<name>/{meta.toml,install.sh}` | people: tools of their own, or others than those of the [`Catalogue`] |
//! | `install.sh` | [`compile()`]: what is pasted into the set-up script at Jules |
//! | `vars.toml`, `secrets.toml` | [`compile()`], with the values that people wrote into them |
//! | `.gitignore` | people, and a line of [`compile()`] for the file that holds secrets |
//!
//! They lie in `.jlo/setup` (seed 001), or in `.jules/setup` (seed 000), where one `env.toml` holds both kinds of values.
//!
//! **Order.** A tool comes after all that it depends on; of those that could come next, the alphabet decides.
//!
//! **Isolation.** Each fragment runs in a subshell: what it sets, where it goes and how it ends concerns nobody else.
//! A fragment that fails ends the script with its name.
//!
//! **Values are kept.** A variable that changes its kind moves with its value, from the secrets to what is committed only
//! when it is asked for by name; one that no chosen tool declares any more
//! stays while it has a value that somebody wrote.

mod catalogue;
mod compile;
mod component;
mod fragment;
mod ignore;
mod layout;
mod merge;
mod meta;
mod order;
mod script;
mod settings;
mod text;
mod tools;
mod variable;

pub use catalogue::Catalogue;
pub use compile::{Compiled, Mode, Output, compile};
pub use component::{Component, Origin};
pub use layout::Layout;
pub use variable::{Class, Variable};

/// The largest file that is read, in bytes.
pub const FILE_LIMIT_BYTES: usize = 64 * 1024;
/// How many tools of its own a repository may have.
pub const COMPONENTS_LIMIT: usize = 100;
/// How many tools `tools.yml` may name.
pub const TOOLS_LIMIT: usize = 100;
/// How many variables one file may hold, and one tool declare.
pub const VARIABLES_LIMIT: usize = 200;
/// A variable's value, in bytes.
pub const VALUE_LIMIT_BYTES: usize = 8 * 1024;
