//! Lists all parsers of external text, each with a valid sample. The tests feed arbitrary text to all of them, and so
//! does the fuzz target in `tests/fuzz/inputs/`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::exchange;
use phileas_domain::jobs::{Config, Event, Line, MonitorMemory, Registry};
use phileas_domain::model::Tree;
use phileas_domain::pipeline::{self, Artifact, Settings};
use phileas_domain::plan::{self, Cron};
use phileas_domain::prompt::{self, Assembly, Attached};
use phileas_domain::setup;
use phileas_domain::state;

/// A parser of external text.
pub(crate) struct Parser {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its samples; the first is valid.
    pub(crate) samples: &'static [&'static str],
    /// Parses a text and returns whether it is valid. It must not panic.
    pub(crate) read: fn(&str) -> bool,
}

const PLAN: &str = include_str!("../../../../tests/parts/schemas/right/schedules.full.toml");
const PERSONA: &str = "---\nid: curator\nemoji: \"🔧\"\ndescription: Keeps it tidy.\nlabels: [tidy]\n---\nTidy {{ repo }}.\n\
    {% include \"shared/rules.md\" %}\n{% for one in journals %}{{ one }}{% endfor %}\n";
const TIDY: &str = "---\nid: curator\nemoji: \"🔧\"\ndescription: Keeps it tidy.\n---\nTidy.\n";
const STATE: &str = include_str!("../../../../tests/fixtures/state/v4-dict.as-v5.json");
const EVENT: &str = "schema_version: 1\nid: \"pend01\"\nissue_id: \"\"\ncreated_at: 2026-01-05\nauthor_role: taxonomy\n\
    confidence: high\ntitle: Two names for one thing\nstatement: The parser calls it a step, and the runner a stage.\n\
    evidence:\n  - path: src/parser.rs\n    loc: [12, \"20-30\", parse]\n    note: It is called a step here.\n";
const PATCH: &str = "diff --git a/.jules/exchange/events/pending/a.yml b/.jules/exchange/events/pending/a.yml\n\
    new file mode 100644\nindex 0000000..e69de29\n--- /dev/null\n+++ b/.jules/exchange/events/pending/a.yml\n\
    @@ -0,0 +1,2 @@\n+id: aaaaaa\n+title: One\ndiff --git a/src/lib.rs b/src/lib.rs\nindex 1111111..2222222 100644\n\
    --- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n";
const REVIEW: &str =
    include_str!("../../../../tests/parts/schemas/right/pipeline-review-result.full.json");
const JOBS: &str = "{\"job_id\": \"a\", \"session_id\": \"123\", \"repo\": \"acme/widget\", \"priority\": \"high\"}\n\
    {\"id\": \"b\", \"session\": \"sessions/456\", \"depends_on\": [\"a\"]}\n# a remark\n\n789\n";
const TOLD: &str = "{\"event\": \"question\", \"event_id\": \"evt_1\", \"job_id\": \"a\", \"session_id\": \"123\", \
    \"message\": \"Which one?\"}";
const CONFIG: &str = "{\"poll_interval_seconds\": 45, \"api_base\": \"https://jules.googleapis.com/v1\", \
    \"stuck_minutes\": 20, \"zai_command\": \"zai {event}\"}";
const LAYER: &str = "{{ section(\"Role\", include_required(\".jules/layers/observers/contracts.yml\")) }}\n\
    {{ section(\"Memory\", include_required(\".jules/workstations/\" ~ role ~ \"/perspective.yml\")) }}\n\
    {% if file_exists(\".jules/exchange/changes.yml\") %}{{ include_optional(\".jules/exchange/changes.yml\") }}{% endif %}\n\
    {% include \".jules/layers/observers/parts/more.j2\" %}\n";
const OLDER_LAYER: &str = "runtime_context:\n  role: qa\nincludes:\n  - title: Contracts\n    \
    path: .jules/roles/decider/contracts.yml\n  - title: Memory\n    \
    path: .jules/workstreams/{{role}}/perspective.yml\n    optional: true\n";
const JLO: &str = include_str!("../../../../tests/parts/schemas/right/config.full.toml");
const COMPONENT: &str = "name = \"node\"\nsummary = \"Node\"\nafter = [\"git\"]\n[env]\nNODE_VERSION = { default = \"20\" }\n";

/// All parsers.
pub(crate) const PARSERS: &[Parser] = &[
    Parser {
        name: "plan",
        samples: &[
            "cycle = [\"curator\"]\n[budget]\ndaily_sessions = 4\ntier = \"pro\"\n",
            PLAN,
        ],
        read: |text| {
            let tree = Tree::from_texts([
                (".jules/schedules.toml", text),
                (".jules/personas/curator/prompt.md", TIDY),
            ]);
            is_sound(&plan::read(&tree).1)
        },
    },
    Parser {
        name: "layers of a plan",
        samples: &[JLO, PLAN],
        read: |text| is_sound(&plan::read(&Tree::from_texts([(".jlo/config.toml", text)])).1),
    },
    Parser {
        name: "cron",
        samples: &[
            "17 3 * * 1",
            "*/15 9-17 * * MON-FRI",
            "0 0 29 2 *",
            "@daily",
        ],
        read: |text| {
            let _ = Cron::parse("0 3 * * *", text);
            Cron::parse(text, "Europe/Berlin").is_ok()
        },
    },
    Parser {
        name: "persona",
        samples: &[PERSONA, "---\nid: curator\n---\nTidy.\n"],
        read: |text| {
            let mut sound = true;
            for file in ["prompt.md", "prompt.md.j2"] {
                let tree = Tree::from_texts([
                    (format!(".jules/personas/curator/{file}"), text),
                    (".jules/shared/rules.md".to_owned(), text),
                    (
                        ".jules/personas/curator/journals/2026-01-05.md".to_owned(),
                        text,
                    ),
                ]);
                let (personas, found) = plan::read_personas(&tree);
                sound &= is_sound(&found);
                for persona in personas.values() {
                    let _ = prompt::validate_prompt(
                        persona,
                        &prompt::SourceFiles::of_default_branch(&tree),
                        &prompt::InProcess,
                    );
                }
                let _ = prompt::read_orders(&tree);
            }
            sound
        },
    },
    Parser {
        name: "layer's template",
        samples: &[LAYER, OLDER_LAYER, TIDY],
        read: |text| {
            // As the newer form in one folder, and as both parts of the older one in others.
            let tree = Tree::from_texts([
                (".jules/layers/observers/observers_prompt.j2", text),
                (".jules/layers/observers/contracts.yml", text),
                (".jules/layers/observers/schemas/perspective.yml", text),
                (
                    ".jules/layers/observers/parts/more.j2",
                    "more {{ run_mode }}\n",
                ),
                (".jules/roles/decider/prompt.yml", "role: {{ role }}\n"),
                (".jules/roles/decider/prompt_assembly.yml", text),
                (".jules/roles/decider/contracts.yml", text),
                (".jules/roles/planner/prompt.yml", text),
                (".jules/roles/planner/prompt_assembly.yml", OLDER_LAYER),
            ]);
            let ledger = Tree::from_texts([(".jules/exchange/changes.yml", text)]);
            let variables = [("role", "qa"), ("run_mode", text)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
            let attached = [Attached {
                title: "Requirement",
                what: "the file x",
                text,
            }];
            let made = ["observers", "decider", "planner"].map(|layer| {
                prompt::assemble_prompt(&Assembly {
                    layer,
                    tree: &tree,
                    ledger: &ledger,
                    variables: &variables,
                    task: None,
                    attached: &attached,
                    turn: "t1",
                    now: Timestamp::UNIX_EPOCH,
                    entropy: &[7; 32],
                })
            });
            if let Ok(made) = &made[0] {
                assert!(made.prompt.len() <= prompt::PROMPT_LIMIT_BYTES);
            }
            made[0].is_ok()
        },
    },
    Parser {
        name: "state",
        samples: &[STATE, "{}", "{\"version\": 3, \"history\": {}}"],
        read: |text| state::codec::load(text).is_ok(),
    },
    Parser {
        name: "exchange",
        samples: &[EVENT, "labels: [bugs]\n", "schema_version: 1\n"],
        read: |text| {
            let paths = [
                ".jules/exchange/events/pending/pend01.yml",
                ".jules/exchange/events/decided/deci01.yml",
                ".jules/exchange/requirements/item01.yml",
                ".jules/exchange/proposals/leverage-architect-fewer-parts.yml",
                ".jules/exchange/changes.yml",
                ".jules/workstations/taxonomy/perspective.yml",
                ".jules/workstreams/core/issues/bugs/item01.yml",
                ".jules/github-labels.json",
                ".jules/exchange/feedback/pend01.yml",
            ];
            let tree = Tree::from_texts(paths.map(|path| (path, text)));
            let _ = exchange::find_fixes(&tree);
            let _ = exchange::Labels::read_labels(&tree);
            // The file is also at paths where it cannot be valid.
            let here = |one: &&Diagnostic| one.file == paths[0] && one.is_error();
            !exchange::check_exchange(&tree)
                .diagnostics
                .iter()
                .any(|one| here(&one))
        },
    },
    Parser {
        name: "change set",
        samples: &[PATCH],
        read: |text| {
            let bases: BTreeSet<String> = exchange::base_paths(text);
            let known: BTreeMap<String, String> = bases
                .into_iter()
                .map(|path| (path, text.to_owned()))
                .collect();
            let _ = exchange::apply_patch(text, &known);
            let (files, found) = exchange::apply_patch(text, &BTreeMap::new());
            !files.is_empty() && found.is_empty()
        },
    },
    Parser {
        name: "pipeline",
        samples: &[REVIEW, "{}", "- lesson: one\n"],
        read: |text| {
            let _ = Settings::read_settings("pipeline.toml", text);
            let readings = Artifact::ALL.map(|artifact| {
                let file = artifact.file_name();
                is_sound(
                    &pipeline::read_artifact(artifact, file, text, &Settings::default())
                        .diagnostics,
                )
            });
            readings.contains(&true)
        },
    },
    Parser {
        name: "jobs",
        samples: &[JOBS, "[\"123\", {\"session_id\": \"4\"}]"],
        read: |text| Registry::parse("jobs.jsonl", Line::split_lines(text.as_bytes())).is_ok(),
    },
    Parser {
        name: "events",
        samples: &[TOLD],
        read: |text| {
            let _ = MonitorMemory::parse("monitor.json", text.as_bytes());
            Event::parse(text).is_ok()
        },
    },
    Parser {
        name: "monitor's config",
        samples: &[CONFIG],
        read: |text| Config::parse("config.json", text).is_ok(),
    },
    Parser {
        name: "tools",
        samples: &[COMPONENT],
        read: |text| {
            for layout in setup::Layout::ALL {
                let tree = Tree::from_texts([
                    (".jlo/setup/tools.yml", text),
                    (".jlo/setup/catalogue/node/meta.toml", text),
                    (".jules/setup/tools.yml", text),
                ]);
                let _ = setup::Catalogue::read_catalogue(&tree, layout);
            }
            true
        },
    },
    Parser {
        name: "what agents write",
        samples: &["A line\u{1b}[31m with \u{202e}tricks\n"],
        read: |text| {
            prompt::clean_text(&prompt::clean_text(text)) == prompt::clean_text(text)
                && !prompt::clean_line(text).contains('\n')
        },
    },
];

fn is_sound(found: &[Diagnostic]) -> bool {
    !found.iter().any(Diagnostic::is_error)
}
