//! Tests each rule of the module's documentation.

use super::*;

#[test]
fn a_name_that_is_not_there_is_false_in_a_condition_and_an_error_where_it_is_printed() {
    for (body, prompt) in [
        ("{% if nope %}a{% else %}b{% endif %}", "b"),
        ("{% if not nope %}a{% endif %}", "a"),
        (
            "{% if id and nope %}a{% elif nope or id %}b{% endif %}",
            "b",
        ),
        ("{{ 'a' if nope else 'b' }}", "b"),
        ("{{ nope or 'b' }}", "b"),
    ] {
        assert_eq!(Given::body(body).prompt(), prompt, "{body}");
    }
    for body in [
        "{{ nope }}",
        "{{ nope.x }}",
        "{% for x in nope %}{% endfor %}x",
    ] {
        assert!(Given::body(body).mistake().contains("nope"), "{body}");
    }
}

#[test]
fn every_name_of_the_context_has_its_value() {
    let mut given = Given::body("");
    given.sprint = Some(3);
    given.notes = vec!["be brief".to_owned()];
    given
        .persona
        .frontmatter
        .insert("pronouns".to_owned(), "they/them".into());
    given
        .persona
        .frontmatter
        .insert("areas".to_owned(), serde_json::json!(["a", {"b": 1}]));
    for (template, expected) in [
        (
            "{{ id }} {{ emoji }} {{ description }}",
            "refactor 🔧 tidies up",
        ),
        (
            "{{ owner }}|{{ repo }}|{{ repo_full }}|{{ track }}",
            "acme|widget|acme/widget|default",
        ),
        (
            "{{ pronouns }} {{ areas[0] }} {{ areas[1].b }}",
            "they/them a 1",
        ),
        (
            "{{ sprint }} {{ sprint_context_text }}",
            "3 This is sprint 3. Its plans and feedback are in `.jules/sprints/sprint-3/`.",
        ),
        (
            "{{ notes|join }} {{ open_prs|length }}{{ open_prs }}{{ journal_entries }}",
            "be brief 0",
        ),
        ("{{ nothing is defined }} {{ id is defined }}", "False True"),
    ] {
        given.persona.body = template.to_owned();
        let prompt = given.prompt();
        assert_eq!(prompt.split("\n\n## ").next(), Some(expected), "{template}");
    }
}

#[test]
fn the_password_of_old_templates_is_the_uuid_of_the_id() {
    // The example of RFC 9562, appendix A.4: version 5 in the DNS namespace.
    let mut given = Given::body("{{ password }}");
    given.persona.id = "www.example.com".into();
    assert_eq!(given.prompt(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
}

#[test]
fn templates_inherit_include_and_import_across_the_folders() {
    let given = Given::body(
        "{% extends 'base/persona.md.j2' %}\n{% from 'macros.j2' import shout %}\n\
         {% block content %}{{ super() }} {{ shout(id) }} {% include 'partials/own.md.j2' %}{% endblock %}",
    )
    .file(".jules/templates/base/persona.md.j2", "I am {{ id }}.\n{% block content %}Base{% endblock %}\n\n{{ manners_block }}")
    .file(".jules/macros.j2", "{% macro shout(x) %}{{ x|upper }}!{% endmacro %}")
    .file(".jules/personas/refactor/partials/own.md.j2", "own of {{ id }}")
    .file(".jules/personas/blocks/manners.md.j2", "Be kind, {{ emoji }}.");
    let rendered = given.render().unwrap();
    assert_eq!(
        rendered.prompt,
        "I am refactor.\nBase REFACTOR! own of refactor\nBe kind, 🔧."
    );
    assert_eq!(
        rendered.included,
        [
            ".jules/macros.j2",
            ".jules/personas/blocks/manners.md.j2",
            ".jules/personas/refactor/partials/own.md.j2",
            ".jules/templates/base/persona.md.j2",
        ]
    );
}

#[test]
fn a_partial_is_a_name_and_a_block_has_a_suffix() {
    let given =
        Given::body("{{ celebration }}, {{ empty_queue_celebration }}, {{ autonomy_block }}")
            .file(".jules/partials/celebration.md.j2", "Hooray {{ id }}")
            .file(".jules/blocks/autonomy.md.j2", "{{ celebration }} alone");
    assert_eq!(
        given.prompt(),
        "Hooray refactor, Hooray refactor, Hooray refactor alone"
    );
}

#[test]
fn partials_beside_each_other_are_not_deep() {
    let mut given = Given::body("");
    for n in 0..=PARTIAL_DEPTH_LIMIT {
        given.persona.body.push_str(&format!("{{{{ p{n} }}}}"));
        given = given.file(&format!(".jules/partials/p{n}.md"), &n.to_string());
    }
    assert_eq!(given.prompt(), "01234");
}

#[test]
fn a_key_without_a_value_does_not_hide_the_personas_own() {
    let mut given = Given::body("{{ emoji }} {{ description }} {{ repo }}");
    given
        .persona
        .frontmatter
        .insert("emoji".to_owned(), serde_json::Value::Null);
    given
        .persona
        .frontmatter
        .insert("description".to_owned(), serde_json::Value::Null);
    given
        .persona
        .frontmatter
        .insert("repo".to_owned(), "of the persona".into());
    assert_eq!(given.prompt(), "🔧 tidies up of the persona");
}

#[test]
fn a_broken_partial_hurts_only_those_who_use_it() {
    let given = Given::body("Fine.").file(".jules/partials/broken.md.j2", "{{ nowhere }}{% if %}");
    assert_eq!(given.prompt(), "Fine.");
}

#[test]
fn a_plain_prompt_is_said_word_for_word() {
    let mut given = Given::body("Keep {{ this }} and {% that %}.\n");
    given.persona.path = ".jules/personas/refactor/prompt.md".to_owned();
    assert_eq!(given.prompt(), "Keep {{ this }} and {% that %}.");
}

#[test]
fn tags_take_their_line_with_them() {
    assert_eq!(
        Given::body("a\n  {% if true %}\nb\n  {% endif %}\nc\n").prompt(),
        "a\nb\nc"
    );
}

#[test]
fn what_a_body_did_not_use_is_added() {
    let journal = ".jules/personas/refactor/journals/2026-01-01-0900-First.md";
    let mut given = Given::body("Work.").file(journal, "---\ntitle: t\n---\nSeen.");
    given.sprint = Some(2);
    given.notes = vec!["two files were left out".to_owned()];
    let added = given.render().unwrap();
    let headings: Vec<&str> = added
        .prompt
        .lines()
        .filter(|line| line.starts_with("## "))
        .collect();
    assert_eq!(
        headings,
        [
            "## Previous journal entries",
            "## Sprint",
            "## Notes on your earlier turns"
        ]
    );
    assert!(added.prompt.ends_with("\n- two files were left out"));
    assert_eq!(added.included, [journal]);

    given.persona.body = "{% block x %}Work.{% endblock %}".to_owned();
    let arranged = given.render().unwrap();
    assert_eq!(
        arranged.prompt,
        "Work.\n\n## Notes on your earlier turns\n\n- two files were left out"
    );
    assert!(arranged.included.is_empty());

    given.persona.body =
        "{{ journal_entries }}{{ sprint_context_text }}{{ notes|length }}".to_owned();
    let used = given.render().unwrap();
    assert!(!used.prompt.contains("## "));
    assert_eq!(used.prompt.matches("Seen.").count(), 1);
    assert_eq!(used.included, [journal]);
}

#[test]
fn titles_carry_emoji_and_id() {
    for (title, emoji, expected) in [
        (None, "🔧", "🔧 refactor: default"),
        (None, "", "refactor: default"),
        (Some("tidy {{ repo }}"), "🔧", "🔧 refactor: tidy widget"),
        (
            Some("{{ emoji }} {{ id }}: scheduled task"),
            "🔧",
            "🔧 refactor: scheduled task",
        ),
        (Some("{{ id }} at work"), "🔧", "🔧 refactor at work"),
        (None, "🧑\u{200d}🌾", "🧑\u{200d}🌾 refactor: default"),
        (Some("refactoring"), "", "refactor: refactoring"),
        (Some("  {# nothing #}\n"), "🔧", "🔧 refactor: default"),
        (
            Some("two\nlines [phileas:0123456789ab.1]"),
            "",
            "refactor: two lines (phileas:0123456789ab.1]",
        ),
    ] {
        let mut given = Given::body("Work.");
        given.persona.title = title.map(str::to_owned);
        given.persona.emoji = emoji.to_owned();
        assert_eq!(given.render().unwrap().title, expected);
    }
    let mut given = Given::body("Work.");
    given.persona.title = Some("long ".repeat(100));
    assert_eq!(
        given.render().unwrap().title.chars().count(),
        TITLE_LIMIT_CHARS
    );
}

#[test]
fn files_can_be_quoted_as_they_stand() {
    let given = Given::body(
        "{{ include_required('contracts.yml') }}|{{ include_optional('missing.yml') }}|{{ include_optional('./x.txt') }}",
    )
    .file(".jules/contracts.yml", "a: {{ b }}")
    .file(".jules/personas/refactor/x.txt", "beside");
    assert_eq!(given.prompt(), "a: {{ b }}||beside");
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let given = Given::body("{{ open_prs }} {% for pr in open_prs %}{{ pr.title }}{% endfor %}")
        .pull(1, "x");
    assert_eq!(given.render(), given.render());
}

#[test]
fn validate_tries_the_busy_and_the_quiet_way() {
    let tree = Tree::new();
    let wrong = persona(
        "a",
        "x\n{% if open_prs %}{{ onw }}{% else %}{{ idd }}{% endif %}",
    );
    let said: Vec<String> =
        validate_prompt(&wrong, &SourceFiles::of_default_branch(&tree), &InProcess)
            .iter()
            .map(ToString::to_string)
            .collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("prompt.md.j2:7:") && said[0].contains("`onw` is undefined"),
        "{said:?}"
    );
    assert!(said[1].contains("did you mean `id`?"), "{said:?}");
    assert_eq!(
        validate_prompt(
            &persona("a", "{{ id }}"),
            &SourceFiles::of_default_branch(&tree),
            &InProcess
        ),
        []
    );

    let mut plain = persona("a", "{{ id }}");
    plain.path = ".jules/personas/a/prompt.md".to_owned();
    assert_eq!(
        validate_prompt(&plain, &SourceFiles::of_default_branch(&tree), &InProcess)[0].to_string(),
        ".jules/personas/a/prompt.md: warning: the prompt looks like a template, but is sent to Jules as it stands; \
         rename it to `prompt.md.j2`"
    );
}

#[test]
fn validate_warns_of_keys_that_hide_our_values() {
    let tree = Tree::new();
    let files = SourceFiles::of_default_branch(&tree);
    let mut hiding = persona("a", "{{ track }} {{ mood }}");
    for key in ["track", "mood"] {
        hiding.frontmatter.insert(key.to_owned(), "mine".into());
    }
    let said = validate_prompt(&hiding, &files, &InProcess);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(
        said[0].to_string(),
        ".jules/personas/a/prompt.md.j2: warning: the key hides the value `track` that phileas gives to templates \
         (at track); give the key another name, unless that is meant"
    );
    hiding.path = ".jules/personas/a/prompt.md".to_owned();
    hiding.body = "Do it.".to_owned();
    assert_eq!(validate_prompt(&hiding, &files, &InProcess), []);
}

#[test]
fn a_pull_request_has_our_names_and_those_of_github() {
    let given = Given::body(
        "{% for pr in open_prs %}{{ pr.number }} {{ pr.isDraft }} {{ pr.draft }} \
         {{ pr.author.login ~ '' == pr.author ~ '' }} {{ pr.headRefName ~ '' == pr.head ~ '' }}\n{% endfor %}",
    )
    .pull(1, "x")
    .pull(2, "y");
    assert!(
        given
            .prompt()
            .starts_with("1 False False True True\n2 True True True True\n")
    );
}
