//! Templates that take more than a prompt may: one for each filter, test, function, operator and method of the engine that
//! makes much of little.

/// A text of 2^40 bytes, doubled; whatever reads it never gets that far.
const ENDLESS: &str =
    "{% set n = namespace(s=\"x\") %}{% for i in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}";
/// A text of four megabytes.
const LONG: &str =
    "{% set n = namespace(s=\"x\") %}{% for i in range(22) %}{% set n.s = n.s ~ n.s %}{% endfor %}";
/// Two lists of 2^60 elements each, in a few hundred bytes: every list holds the one before twice.
const TWIN: &str = "{% set n = namespace(a=[\"x\"], b=[\"x\"]) %}{% for i in range(60) %}\
    {% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}";
/// A list of four million elements that are there.
const MANY: &str =
    "{% set n = namespace(s=[1]) %}{% for i in range(22) %}{% set n.s = n.s + n.s %}{% endfor %}";
/// Lists in one another, deeper than any stack.
const DEEP: &str = "{% set n = namespace(a=[\"x\"]) %}{% for i in range(4000) %}\
    {% set n.a = [[[[[[[[[[n.a]]]]]]]]]] %}{% endfor %}";

/// What stands before a template, and the template.
const TEMPLATES: &[(&str, &str)] = &[
    // Operators.
    (ENDLESS, "{{ n.s|length }}"),
    (LONG, "{{ (n.s * 1000)|length }}"),
    ("", "{{ (\"x\" * 3000000000)|length }}"),
    ("", "{{ ([1] * 3000000000)|length }}"),
    (MANY, "{{ (n.s * 1000)|length }}"),
    (
        MANY,
        "{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s|length }}",
    ),
    ("", "{{ (\"%3000000000d\" % 1)|length }}"),
    ("", "{{ (\"%-3000000000s\" % \"x\")|length }}"),
    ("", "{{ (\"%.3000000000f\" % 1.5)|length }}"),
    (TWIN, "{{ n.a == n.b }}"),
    (TWIN, "{{ n.a != n.b }}"),
    (TWIN, "{{ n.a <= n.b }}"),
    (TWIN, "{{ n.a in [n.b] }}"),
    (TWIN, "{{ {n.a: 1} }}"),
    (TWIN, "{{ (\"%s\" % [n.a])|length }}"),
    (TWIN, "{{ (\"%r\" % [n.a])|length }}"),
    (TWIN, "{{ n.a }}"),
    (TWIN, "{{ (n.a ~ \"\")|length }}"),
    (DEEP, "{{ n.a }}"),
    // Filters that repeat.
    ("", "{{ \"x\"|indent(3000000000, true)|length }}"),
    (LONG, "{{ n.s|replace(\"x\", n.s)|length }}"),
    (LONG, "{{ n.s|replace(\"\", n.s)|length }}"),
    (LONG, "{{ (n.s|list)|join(n.s)|length }}"),
    (LONG, "{{ n.s|wordwrap(1, true, n.s)|length }}"),
    (
        LONG,
        "{{ (n.s ~ \"\\n\")|indent(n.s, true, true)|length }}{{ (\"\\n\" * 4000000)|indent(n.s, true, true)|length }}",
    ),
    (
        "",
        "{{ \"{:3000000000}\"|format(1)|length }}{{ \"%3000000000d\"|format(1)|length }}",
    ),
    ("", "{{ [1]|batch(3000000000, \"x\")|list|length }}"),
    ("", "{{ [1]|slice(3000000000, \"x\")|list|length }}"),
    ("", "{{ \"x\"|center(3000000000)|length }}"),
    ("", "{{ {\"a\": [1]}|tojson(3000000000)|length }}"),
    (
        LONG,
        "{{ {\"a\": [1]}|tojson(n.s)|length }}{{ n.s|list|tojson(n.s)|length }}",
    ),
    // Filters that make many values of one text.
    (LONG, "{{ n.s|list|map(\"string\")|list|length }}"),
    (
        LONG,
        "{{ n.s|split(\"\")|list|length }}{{ n.s|split(\"x\")|list|length }}",
    ),
    (LONG, "{{ n.s|replace(\"x\", \"x\\n\")|lines|list|length }}"),
    (LONG, "{{ n.s|list|sort|length }}"),
    (
        LONG,
        "{{ n.s|list|groupby(0)|list|length }}{{ n.s|list|map(\"list\")|list|length }}",
    ),
    (
        LONG,
        "{{ n.s|list|reverse|list|map(\"upper\")|list|length }}",
    ),
    (LONG, "{{ n.s|list|batch(1)|list|length }}"),
    (LONG, "{{ n.s|list|zip(n.s|list)|list|length }}"),
    (
        LONG,
        "{{ n.s|list|chain(n.s|list)|list|length }}{{ (n.s|list + n.s|list)|map(\"string\")|list }}",
    ),
    (
        LONG,
        "{{ n.s|list|select|list|length }}{{ n.s|list|reject(\"none\")|list|length }}",
    ),
    (
        LONG,
        "{{ n.s|replace(\"x\", \"<&>\")|escape|length }}{{ n.s|replace(\"x\", \"<&>\")|escape|replace(\"l\", n.s)|length }}",
    ),
    (LONG, "{{ n.s|replace(\"x\", \"äöü\")|urlencode|length }}"),
    (LONG, "{{ n.s|replace(\"x\", \"äöüß\")|tojson|length }}"),
    // Filters that go through everything.
    (TWIN, "{{ n.a|string|length }}"),
    (TWIN, "{{ n.a|tojson|length }}"),
    (TWIN, "{{ n.a|pprint|length }}"),
    (TWIN, "{{ n.a|join|length }}"),
    (TWIN, "{{ n.a|upper|length }}"),
    (TWIN, "{{ n.a|title|length }}"),
    (TWIN, "{{ n.a|urlencode|length }}"),
    (TWIN, "{{ [n.a, n.b]|unique|list|length }}"),
    (TWIN, "{{ [n.a, n.b]|sort|length }}"),
    (TWIN, "{{ [n.a, n.b]|max }}"),
    (TWIN, "{{ [n.a, n.b]|min }}"),
    (TWIN, "{{ [n.a]|select(\"eq\", n.b)|list }}"),
    (
        TWIN,
        "{{ {\"x\": n.a, \"y\": n.b}|dictsort(by=\"value\") }}",
    ),
    (
        TWIN,
        "{{ [{\"k\": n.a}, {\"k\": n.b}]|groupby(\"k\")|list }}",
    ),
    (
        TWIN,
        "{{ [{\"k\": n.a}]|selectattr(\"k\", \"eq\", n.b)|list }}",
    ),
    (TWIN, "{{ n.a|wordcount }}"),
    (TWIN, "{{ n.a|striptags|length }}"),
    (TWIN, "{{ {\"a\": n.a}|xmlattr|length }}"),
    (TWIN, "{{ n.a|forceescape|length }}"),
    (TWIN, "{{ n.a|truncate(5)|length }}"),
    // Tests.
    (TWIN, "{{ n.a is eq n.b }}"),
    (TWIN, "{{ n.a is ge n.b }}"),
    (TWIN, "{{ n.a is in [n.b] }}"),
    (TWIN, "{{ n.a is sameas n.b }}{{ n.a is eq n.b }}"),
    // Functions.
    (
        "",
        "{{ range(3000000000)|list|length }}{{ range(90000)|list|map(\"string\")|list|join(\"x\" * 100000)|length }}",
    ),
    (TWIN, "{{ dict([[n.a, 1], [n.b, 2]])|length }}"),
    (
        LONG,
        "{{ cycler(n.s|list|map(\"string\")|list, 1).next()|list|map(\"list\")|list|length }}",
    ),
    // Methods.
    (LONG, "{{ n.s.replace(\"x\", n.s)|length }}"),
    (LONG, "{{ n.s.join(n.s|list)|length }}"),
    ("", "{{ \"{:>3000000000}\".format(1)|length }}"),
    (
        LONG,
        "{{ n.s.split(\"x\")|list|map(\"list\")|list|length }}",
    ),
    (TWIN, "{{ [n.a].index(n.b) }}"),
    (TWIN, "{{ [n.a].count(n.b) }}"),
    ("", "{{ \"x\".ljust(3000000000)|length }}"),
    ("", "{{ \"x\".zfill(3000000000)|length }}"),
    // Nesting, and tags.
    (
        "",
        "{% set x %}{% for i in range(90000) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endset %}{{ (x * 100)|length }}",
    ),
    (
        LONG,
        "{% filter replace(\"x\", n.s) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfilter %}",
    ),
    (
        LONG,
        "{% for one in n.s|list|map(\"list\")|list %}{% endfor %}",
    ),
];

/// Each template, with a head that makes it a persona of this id.
pub(crate) fn personas() -> Vec<(String, String)> {
    let numbered = TEMPLATES.iter().enumerate();
    numbered
        .map(|(number, (before, template))| {
            let id = format!("h{number}");
            let text = format!("---\nid: {id}\nemoji: \"⚙\"\n---\nWork.\n{before}{template}\n");
            (id, text)
        })
        .collect()
}
