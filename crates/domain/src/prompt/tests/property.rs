//! Tests that arbitrary texts never cause a panic.

use proptest::prelude::*;

use super::*;

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        prop::sample::select(vec![
            "{{",
            "}}",
            "{%",
            "%}",
            "{#",
            "#}",
            " id ",
            " open_prs ",
            " journal_entries ",
            "|upper",
            "|",
            ".",
            "[0]",
            "(",
            ")",
            " for x in ",
            " endfor ",
            " if ",
            " else ",
            " endif ",
            " block b ",
            " endblock ",
            " extends ",
            " include ",
            " macro m(a) ",
            " endmacro ",
            " set y = ",
            " raw ",
            " endraw ",
            "'partials/p.md'",
            "'../x'",
            " p ",
            " q_block ",
            " range(9) ",
            " -",
            "~",
            "+",
            " 1 ",
            "\n",
            "é",
            "\0",
            " loop.index ",
            " self.b() ",
            " super() ",
            " import ",
            " as z ",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn render_answers_whatever_the_texts_are(
        body in prop::collection::vec(piece(), 0..40).prop_map(|parts| parts.concat()),
        partial in prop::collection::vec(piece(), 0..12).prop_map(|parts| parts.concat()),
        title in prop::option::of(prop::collection::vec(piece(), 0..6).prop_map(|parts| parts.concat())),
        foreign in any::<String>(),
        is_template in any::<bool>(),
    ) {
        let mut given = Given::body(&body)
            .file(".jules/partials/p.md", &partial)
            .file(".jules/blocks/q.md", &body)
            .file(".jules/personas/refactor/journals/1.md", &foreign)
            .pull(1, &foreign);
        given.persona.title = title;
        if !is_template {
            given.persona.path = ".jules/personas/refactor/prompt.md".to_owned();
        }
        match given.render() {
            Ok(rendered) => {
                prop_assert!(rendered.prompt.len() + MARKER_ROOM_BYTES <= PROMPT_LIMIT_BYTES);
                prop_assert!(rendered.title.chars().count() <= TITLE_LIMIT_CHARS);
                prop_assert!(!rendered.title.contains('\n') && rendered.title.contains("refactor"));
            }
            Err(said) => {
                prop_assert!(!said.is_empty());
                for one in said {
                    prop_assert!(one.file.starts_with(".jules/"), "{}", one);
                    prop_assert!(!one.message.is_empty());
                }
            }
        }
    }
}
