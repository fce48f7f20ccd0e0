//! The syntax settings with which templates are parsed.

use minijinja::syntax::SyntaxConfig;

pub(super) fn seed_syntax() -> SyntaxConfig {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the delimiters are the engine's own")
}
