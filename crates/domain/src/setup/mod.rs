//! What must be installed on the machine on which Jules works: tools that people name, compiled into one script.
//!
//! | file | written by |
//! |---|---|
//! | `tools.yml` | people: `tools: [gh, python]` |
//! | `components/<name>/{meta.toml,install.sh}` | people: tools of their own, or others than those of the [`Catalogue`] |
//! | `install.sh` | [`compile_setup()`]: what is pasted into the set-up script at Jules |
//! | `vars.toml`, `secrets.toml` | [`compile_setup()`], with the values that people wrote into them |
//! | `.gitignore` | people, and a line of [`compile_setup()`] for the file that holds secrets |
//!
//! They lie in `.jlo/setup` (seed 001), or in `.jules/setup` (seed 000), where one `env.toml` holds both kinds of values.
//!
//! **Order.** A tool comes after all that it depends on; of those that could come next, the alphabet decides.
//!
//! **Isolation.** Each fragment runs in a subshell: its variables, folder and exit status do not affect the others.
//! A fragment that fails ends the script with its name.
//!
//! **Values are kept.** A variable that changes its kind moves with its value, from the secrets to what is committed only
//! when it is asked for by name; one that no chosen tool declares any more
//! stays while it has a written value.

mod catalogue;
mod compile;
mod component;
mod fragment;
mod ignore;
mod layout;
mod limits;
mod merge;
mod meta;
mod order;
mod script;
mod settings;
mod text;
mod tools;
mod variable;

pub use catalogue::Catalogue;
pub use compile::{Compiled, Mode, Output, compile_setup};
pub use component::{Component, Origin};
pub use layout::Layout;
pub use limits::{
    COMPONENTS_LIMIT, FILE_LIMIT_BYTES, TOOLS_LIMIT, VALUE_LIMIT_BYTES, VARIABLES_LIMIT,
};
pub use variable::{Class, Variable};
