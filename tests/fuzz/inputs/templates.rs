//! Any text as a persona's template, rendered as the program does it: by a child process with limits.

use std::path::PathBuf;
use std::sync::LazyLock;

use phileas::adapters::renderer::ChildRenderer;
use phileas::runtime::ports::{Renderer as _, RendererGuard};
use phileas_domain::model::Tree;
use phileas_domain::plan;
use phileas_domain::prompt::{
    PROMPT_LIMIT_BYTES, RenderAnswer, RenderError, RenderPrompts as _, RenderRequest, Request,
    SourceFiles,
};

/// The children, which stay between two inputs.
static CHILDREN: LazyLock<(ChildRenderer, RendererGuard)> = LazyLock::new(|| {
    let renderer = ChildRenderer::new(program());
    let kept = renderer.keep_ready();
    (renderer, kept)
});

/// The program that renders. A fuzzer is no such program itself.
fn program() -> PathBuf {
    let built = option_env!("CARGO_BIN_EXE_phileas").map(PathBuf::from);
    let named = || std::env::var_os("PHILEAS_BIN").map(PathBuf::from);
    built
        .or_else(named)
        .expect("PHILEAS_BIN names the program, as `cargo build` makes it")
}

/// Renders one input. It may be refused for whatever it does; the machine and its process are never at fault.
pub(crate) fn run(data: &[u8]) {
    let Ok(template) = std::str::from_utf8(data) else {
        return;
    };
    let text = format!("---\nid: curator\nemoji: \"🔧\"\n---\n{template}");
    let path = ".jules/personas/curator/prompt.md.j2";
    let tree = Tree::from_texts([
        (path, text.as_str()),
        (
            ".jules/partials/rules.md.j2",
            "Follow {{ repo }}'s rules.\n",
        ),
    ]);
    let (personas, _) = plan::read_personas(&tree);
    let Some(persona) = personas.values().next() else {
        return;
    };
    let request = Request {
        repository: &"acme/widget".parse().expect("it is a name"),
        persona,
        tree: &tree,
        track: &"default".into(),
        open_pulls: &[],
        sprint: Some(3),
        entropy: &[7; 32],
        notes: &["Your previous turn ended as `merged`.".to_owned()],
        work: &[],
        subject: None,
    };
    let files = SourceFiles::of_default_branch(&tree);
    let answers = CHILDREN
        .0
        .render(&[RenderRequest::for_persona(&request, &files)]);
    match &answers[..] {
        [RenderAnswer::Persona(made)] => assert!(made.prompt.len() <= PROMPT_LIMIT_BYTES),
        [RenderAnswer::Failed(RenderError::Invalid(said))] => {
            assert!(said.iter().all(|one| !one.file.is_empty()), "{said:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// Inputs to begin from.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    [
        "Work on {{ repo }} as {{ id }}.\n{% for pull in open_prs %}- {{ pull.title }}\n{% endfor %}",
        "{{ rules }}{% set x = \"x\" %}{% for i in range(9) %}{% set x = x ~ x %}{% endfor %}{{ x|length }}",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(9) }}",
        "{{ \"%s-%05d\" % (\"a\", 7) }}{{ [3, 1, 2]|sort|join(\", \") }}{{ {\"a\": [1]}|tojson(2) }}",
        "{{ \"a b\"|replace(\" \", \"x\" * 99)|indent(4, true)|wordwrap(20)|upper }}",
        "{{ [1, 2, 3]|batch(2, \"x\")|list }}{{ range(9)|slice(3)|list }}{{ \"abc\"|list|map(\"upper\")|list }}",
        "{% set n = namespace(a=[1]) %}{% for i in range(9) %}{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a == n.a }}",
        "{% include \".jules/partials/rules.md.j2\" %}{% raw %}{{ }}{% endraw %}{# nothing #}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
