//! Tests the messages about broken templates.

use super::*;
use crate::model::{Entry, Mode};

#[test]
fn the_line_is_that_of_the_file() {
    insta::assert_snapshot!(
        Given::body("one\ntwo {{ descripton }}").mistake(),
        @r#".jules/personas/refactor/prompt.md.j2:7:8: error: `descripton` is undefined; did you mean `description`?"#
    );
}

/// A template that formats a text is longer for the engine than in its file.
#[test]
fn columns_count_in_the_template_as_it_was_written() {
    for (body, column) in [
        ("{{ '%s' % id }} {{ nope }}", 20),
        (
            "{{ '%s' % id ~ '%s' % id }}{{ ('%s') % (id) }} {{ nope }}",
            51,
        ),
        ("{{ '%s %s' % (id, nope) }}", 12),
        ("ü {{ '%s' % nope }}", 11),
        ("{{ '%s' % id }}{% if %}", 22),
    ] {
        let said = Given::body(body).mistake();
        let place = format!(".jules/personas/refactor/prompt.md.j2:6:{column}: ");
        assert!(said.starts_with(&place), "{body}: {said}");
        assert!(!said.contains("percent"), "{said}");
    }
    let given = Given::body("{% include 'inner.md.j2' %}").file(
        ".jules/inner.md.j2",
        "\n{{ '%s' % id }} {{ '%d' % 1 }} {{ nope }}",
    );
    let said = given.mistake();
    assert!(said.starts_with(".jules/inner.md.j2:2:35: "), "{said}");
}

#[test]
fn each_mistake_says_how_to_go_on() {
    let range = "a range has at most 100000 numbers; write a smaller one";
    for (body, help) in [
        ("{{ range(1000000) }}", range),
        ("{{ range(1e9) }}", range),
        ("{{ 'a' * 1e9 }}", "repeat it fewer times"),
        (
            "{{ range('a') }}",
            "`x|int` makes a whole number, and `x|string` a text",
        ),
        (
            "{{ range() }}",
            "write the arguments that the macro declares, or that Jinja2 describes for the filter or function",
        ),
        (
            "{{ ['a']|sum }}",
            "`x|int` makes a whole number, and `x|string` a text",
        ),
        ("{{ 1 // 0 }}", "unable to calculate 1 // 0"),
    ] {
        let said = Given::body(body).mistake();
        assert!(said.ends_with(help), "{body}: {said}");
    }
}

#[test]
fn a_missing_part_is_no_missing_name() {
    let given = Given::body("{% for pr in open_prs %}{{ pr.body }}{% endfor %}").pull(1, "x");
    assert!(given.mistake().ends_with(
        "`pr.body` is undefined; name a part that it has, or guard it with `is defined`"
    ));
}

#[test]
fn the_message_names_the_including_file() {
    let given = Given::body("x\n{% include 'partials/outer.md.j2' %}")
        .file(
            ".jules/partials/outer.md.j2",
            "{% include 'partials/inner.md.j2' %}",
        )
        .file(".jules/partials/inner.md.j2", "\n\n  {{ trak }}");
    insta::assert_snapshot!(given.mistake(), @r#".jules/partials/inner.md.j2:3:6: error: `trak` is undefined (used by `.jules/partials/outer.md.j2`:1, used by `.jules/personas/refactor/prompt.md.j2`:7); did you mean `track`?"#);
}

#[test]
fn a_partial_that_is_used_names_its_own_line() {
    let given = Given::body("{{ outer }}")
        .file(".jules/partials/outer.md.j2", "a\n{{ inner }}")
        .file(".jules/partials/inner.md.j2", "{{ id.append(1) }}");
    insta::assert_snapshot!(given.mistake(), @r#".jules/partials/inner.md.j2:1:6: error: unknown method: string has no method named append (used by `.jules/partials/outer.md.j2`:2, used by `.jules/personas/refactor/prompt.md.j2`:6); use a method that gives a new value, such as `x.upper()` or `x.get("a")`: no template changes a list or a map in place; `{% set x = x + [1] %}` makes a new one"#);
}

#[test]
fn a_parent_template_is_named_with_who_inherits() {
    let given = Given::body("{% extends 'base.j2' %}").file(".jules/base.j2", "\n{% if %}");
    insta::assert_snapshot!(given.mistake(), @r#".jules/base.j2:2:7: error: syntax error: unexpected end of block (used by `.jules/personas/refactor/prompt.md.j2`); complete the tag: something is missing before its end"#);
}

#[test]
fn a_missing_template_comes_with_the_nearest_one() {
    let given = Given::body("{% extends 'base/persona.md.js' %}")
        .file(".jules/jules/templates/base/persona.md.j2", "");
    insta::assert_snapshot!(given.mistake(), @r#".jules/personas/refactor/prompt.md.j2:6:4: error: template "base/persona.md.js" does not exist; did you mean `base/persona.md.j2`?"#);
}

#[test]
fn syntax_errors_have_a_place() {
    insta::assert_snapshot!(Given::body("a\n{% for x %}").mistake(), @r#".jules/personas/refactor/prompt.md.j2:7:10: error: syntax error: unexpected end of block, expected in; complete the tag: something is missing before its end"#);
}

#[test]
fn what_is_nested_too_deep_to_be_read_is_no_include() {
    let nested = format!("{{{{ {}1{} }}}}", "(".repeat(200), ")".repeat(200));
    let said = Given::body(&nested).mistake();
    assert!(said.contains(":6:"), "{said}");
    assert!(said.contains("nested too deep"), "{said}");
    assert!(!said.contains("levels deep"), "{said}");
}

#[test]
fn a_title_is_named_by_its_key() {
    let mut given = Given::body("Work.");
    given.persona.title = Some("{{ trackk }}".to_owned());
    insta::assert_snapshot!(given.mistake(), @r#".jules/personas/refactor/prompt.md.j2: error: `trackk` is undefined (at title); did you mean `track`?"#);
}

#[test]
fn mistakes_of_title_and_body_are_reported_together() {
    let mut given = Given::body("{{ a_a }}");
    given.persona.title = Some("{{ b_b }}".to_owned());
    assert_eq!(given.render().unwrap_err().len(), 2);
}

#[test]
fn refusals_name_the_template_that_asked() {
    let mut given = Given::body("{{ asking }}").file(
        ".jules/partials/asking.md.j2",
        "\n{% include '../../etc/passwd' %}",
    );
    insta::assert_snapshot!(given.mistake(), @r#".jules/partials/asking.md.j2:2:4: error: the file name `../../etc/passwd` is refused: it contains `..` (used by `.jules/personas/refactor/prompt.md.j2`:6); name a file below `.jules`: from the repository's root, or from the persona's folder"#);
    given.tree.insert_text(
        ".jules/partials/asking.md.j2",
        "{% include 'link.md' ignore missing %}",
    );
    given.tree.insert(
        ".jules/link.md",
        Entry {
            mode: Mode::Link,
            oid: String::new(),
            size: 1,
            text: None,
        },
    );
    insta::assert_snapshot!(given.mistake(), @r#".jules/partials/asking.md.j2:1:4: error: `.jules/link.md` is a symbolic link, and links are not followed (used by `.jules/personas/refactor/prompt.md.j2`:6); put the file itself here"#);
}

#[test]
fn each_limit_is_named() {
    let nested = (0..12)
        .map(|n| format!("{{% for a{n} in range(90000) %}}"))
        .collect::<String>()
        + &"{% endfor %}".repeat(12);
    let deep: Vec<(String, String)> = (0..9)
        .map(|n| {
            (
                format!(".jules/partials/p{n}.md"),
                format!("{{{{ p{} }}}}", n + 1),
            )
        })
        .collect();
    let steps = format!("the template takes more than {FUEL_LIMIT_STEPS} steps");
    let levels = format!("call each other more than {RECURSION_LIMIT} levels deep");
    let partials = format!("partials use each other more than {PARTIAL_DEPTH_LIMIT} levels deep");
    let prompt = format!("the prompt gets longer than {PROMPT_LIMIT_BYTES} bytes");
    let emitted = format!("expressions put out more than {EMITTED_LIMIT_BYTES} bytes");
    let whole = format!(
        "the prompt has 101500 bytes, more than {}",
        PROMPT_LIMIT_BYTES - MARKER_ROOM_BYTES
    );
    for (body, limit) in [
        (
            "{% for x in range(100000) %}{{ x * 2 }}{% endfor %}",
            steps.as_str(),
        ),
        (nested.as_str(), &steps),
        ("{% include '.jules/loop.md' %}", &levels),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", &levels),
        (
            "{% include '.jules/personas/refactor/prompt.md.j2' %}",
            &levels,
        ),
        ("{{ p0 }}", &partials),
        (
            "{% for x in range(2000) %}{{ 'x' * 100 }}{% endfor %}",
            &prompt,
        ),
        (
            "{% set y %}{% for x in range(9000) %}{{ 'x' * 100 }}{% endfor %}{% endset %}",
            &emitted,
        ),
        ("{{ 'x' * 101500 }}", &whole),
        ("{{ circle }}", "uses itself: circle -> circle"),
    ] {
        let mut given = Given::body(body)
            .file(".jules/loop.md", "{% include '.jules/loop.md' %}")
            .file(".jules/partials/circle.md", "{{ circle }}")
            .file(".jules/personas/refactor/prompt.md.j2", "");
        for (path, text) in &deep {
            given = given.file(path, text);
        }
        let said = given.mistake();
        assert!(said.contains(limit), "{body}: {said}");
    }
    let template = format!("bytes, more than {TEMPLATE_LIMIT_BYTES};");
    let said = Given::body(&"x".repeat(TEMPLATE_LIMIT_BYTES + 1)).mistake();
    assert!(said.contains(&template), "{said}");
}

/// An expression of a workflow is printed literally, or not at all.
#[test]
fn an_expression_of_github_actions_is_told_with_the_way_to_show_it() {
    for expression in [
        "${{ github.sha }}",
        "${{ secrets['TOKEN'] }}",
        "${{ hashFiles('**/Cargo.lock') }}",
        "${{ runner.os == 'Linux' && 'a' || 'b' }}",
        "${{ !cancelled() }}",
        "${{github.event.pull_request.number}}",
    ] {
        let fix = format!("{{% raw %}}{expression}{{% endraw %}}");
        let said = Given::body(&format!("Run\n`{expression}`.")).mistake();
        assert!(said.contains(":7:") && said.contains(&fix), "{said}");
        let shown = Given::body(&format!("Run {fix}.")).prompt();
        assert_eq!(shown, format!("Run {expression}."));
    }
    for body in ["$ {{ nope }}", "${{ id }} {{ nope }}"] {
        let said = Given::body(body).mistake();
        assert!(!said.contains("raw"), "{said}");
    }
}

#[test]
fn an_empty_prompt_is_a_mistake() {
    assert!(
        Given::body(" {# nothing #}\n")
            .mistake()
            .contains("the prompt is empty")
    );
}

#[test]
fn r14_deep_nesting_ends_in_a_message() {
    let repeat = |part: &str| part.repeat((TEMPLATE_LIMIT_BYTES - 100) / part.len());
    let deep = |n: usize| {
        format!(
            "{{% macro m(n) %}}{{% if n %}}{{{{ m(n - 1) }}}}{{% else %}}{{{{ d{} }}}}{{% endif %}}{{% endmacro %}}{{{{ m(25) }}}}",
            n + 1
        )
    };
    for (name, body) in [
        ("parentheses", format!("{{{{ {} }}}}", repeat("("))),
        ("lists", format!("{{{{ {} }}}}", repeat("["))),
        ("not", format!("{{{{ {} 1 }}}}", repeat("not "))),
        ("minus", format!("{{{{ {}1 }}}}", repeat("-"))),
        ("if", repeat("{% if true %}")),
        ("for", repeat("{% for x in [1] %}")),
        ("partials", "{{ d0 }}".to_owned()),
        ("attributes", format!("{{{{ id{} }}}}", repeat(".x"))),
        ("sum", format!("{{{{ 1{} }}}}", repeat("+1"))),
        ("concat", format!("{{{{ 1{} }}}}", repeat("~1"))),
        ("filters", format!("{{{{ id{} }}}}", repeat("|upper"))),
        ("calls", format!("{{{{ id{} }}}}", repeat("()"))),
        ("power", format!("{{{{ 1{} }}}}", repeat("**1"))),
        (
            "elif",
            format!(
                "{{% if false %}}{}{{% endif %}}",
                repeat("{% elif false %}")
            ),
        ),
        ("ternary", format!("{{{{ {}1 }}}}", repeat("1 if id else "))),
        ("and", format!("{{{{ 1{} }}}}", repeat(" and 1"))),
        (
            "values",
            "{% set n = namespace(x=[]) %}{% for i in range(20000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}".to_owned(),
        ),
        (
            "maps",
            "{% set n = namespace(x={}) %}{% for i in range(20000) %}{% set n.x = {'a': n.x} %}{% endfor %}{{ n.x }}{{ n.x == n.x }}{{ y }}".to_owned(),
        ),
        ("tests", format!("{{{{ id{} }}}}", repeat(" is string"))),
        ("formats", format!("{{{{ id{} }}}}", repeat(" % id"))),
        ("bracketed formats", format!("{{{{ {} }}}}", repeat("id % ("))),
        (
            "json",
            "{% set n = namespace(x={}) %}{% for i in range(20000) %}{% set n.x = {'a': [n.x]} %}{% endfor %}{{ n.x|tojson }}".to_owned(),
        ),
    ] {
        let mut given = Given::body(&body);
        for n in 0..6 {
            given = given.file(&format!(".jules/partials/d{n}.md"), &deep(n));
        }
        if let Err(said) = given.render() {
            assert!(!said[0].message.is_empty(), "{name}");
        }
    }
}
