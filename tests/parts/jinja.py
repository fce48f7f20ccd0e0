#!/usr/bin/env python3
"""Holds the templates of phileas against Jinja2: each must give the same text in both, or be refused by both.

    tests/parts/jinja.py PHILEAS FOLDER

FOLDER is made for the templates, and must not be there yet.

The templates cover each filter, test, function, tag and operator of Jinja2, and the usual methods of Python's texts, lists
and maps. Those that differ stand below with what they give here; the README lists them for people. A template that has
begun to agree is told as well, so that the list stays true.
"""

import copy
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    import jinja2
except ImportError:
    sys.exit("tests/parts/jinja.py: jinja2 is missing; run `scripts/test --install jinja`")

CONTEXT = {'name': 'Ada',
 'count': 3,
 'price': 2.5,
 'big': 12345678,
 'zero': 0,
 'neg': -7,
 'empty': '',
 'yes': True,
 'no': False,
 'nothing': None,
 'text': 'The quick brown fox jumps over the lazy dog',
 'lines': 'one\ntwo\n\nthree',
 'html': '<p>Fish &amp; <b>chips</b></p>',
 'items': ['pear', 'Apple', 'fig'],
 'numbers': [3, 1, 2, 3],
 'mixed': [1, 'two', 3.0, None, True],
 'users': [{'name': 'Zoe', 'age': 30, 'team': 'red', 'tags': ['a', 'b']},
           {'name': 'bob', 'age': 25, 'team': 'blue', 'tags': []},
           {'name': 'Eve', 'age': 30, 'team': 'red', 'tags': ['c']}],
 'map': {'b': 2, 'a': 1, 'C': 3},
 'nested': {'deep': {'er': 'value'}, 'list': [[1, 2], [3, 4]]},
 'path': 'src/lib rs?x=1&y=ä'}

# Files that templates extend, include and import.
FILES = {'base.j2': '[{% block head %}head{% endblock %}|{% block body %}{% endblock %}|{% block foot scoped %}foot{% endblock '
            '%}]',
 'macros.j2': "{% macro hello(who, greeting='Hello') %}{{ greeting }} {{ who }}{% endmacro %}{% set answer = 42 %}",
 'part.j2': 'part of {{ name }}'}

# One template a line. Lines of a template are parted by ⏎.
SAME = r"""
{{ name }}
{{ count }} {{ price }} {{ yes }} {{ no }} {{ nothing }} {{ zero }} {{ neg }}
{{ items }}
{{ mixed }}
{{ map }}
{{ nested }}
{{ (1, 2) }} {{ (1,) }} {{ () }} {{ [] }} {{ {} }}
{{ "it's" }} {{ ["it's", 'a"b', "new\nline", "tab\t", "back\\slash", "ä"] }}
{{ 1.0 }} {{ 0.1 + 0.2 }} {{ 1e3 }} {{ 1e20 }} {{ 1.5e-7 }} {{ 100.0 }} {{ 3.14159 }}
{{ 10 / 4 }} {{ 10 // 4 }} {{ 10 % 4 }} {{ 2 ** 10 }} {{ 7 / 7 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7.5 // 2 }} {{ 7.5 % 2 }}
{{ 1 + 2 * 3 - 4 }} {{ (1 + 2) * 3 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ "a" + "b" }} {{ "ab" * 3 }} {{ [1] + [2] }} {{ [0] * 3 }}
{{ "a" + 1 }}
{{ "a" ~ 1 ~ yes ~ nothing ~ 2.0 }}
{{ 1 == 1.0 }} {{ "a" == 'a' }} {{ 1 != 2 }} {{ 1 < 2 }} {{ 2 <= 2 }} {{ 3 > 2 }} {{ 3 >= 4 }} {{ "a" < "b" }}
{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }}
{{ 1 == 1 and 2 == 3 }} {{ 1 or 0 }} {{ 0 or "x" }} {{ "" or nothing }} {{ 1 and "y" }} {{ not 1 }} {{ not "" }}
{{ "a" in "abc" }} {{ "z" not in "abc" }} {{ 1 in [1, 2] }} {{ "a" in map }} {{ 5 in (1, 5) }}
{{ "yes" if yes else "no" }} {{ "x" if no }} [{{ "x" if no else "" }}]
{{ "a" "b" }}
{{ 1_000_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }}
{{ true }} {{ True }} {{ false }} {{ none }} {{ None }}
{{ items[0] }} {{ items[-1] }} {{ items[1:] }} {{ items[:2] }} {{ items[::-1] }} {{ items[::2] }} {{ text[4:9] }} {{ text[-3:] }} {{ name[::-1] }}
{{ map.a }} {{ map["b"] }} {{ nested.deep.er }} {{ nested["list"][1][0] }} {{ users[0].name }}
{{ map.items() | list }}
{{ map.keys() | list }} {{ map.values() | list }} {{ map.get("a") }} {{ map.get("zz") }} {{ map.get("zz", 9) }}
{{ missing }}
{{ map.missing }}
{{ missing.attribute }}
{{ items[9] }}
{{ missing is defined }} {{ name is defined }} {{ missing is undefined }} {{ map.missing is defined }}
{% if missing %}a{% else %}b{% endif %}
{% if not missing %}a{% else %}b{% endif %}
{% if missing or yes %}a{% else %}b{% endif %}
{% if missing and yes %}a{% else %}b{% endif %}
{% if map.missing %}a{% else %}b{% endif %}
{% if yes and map.missing %}a{% elif missing %}b{% else %}c{% endif %}
{{ "a" if missing else "b" }}
{{ missing or "fallback" }}
{{ missing and "x" or "y" }}
{{ missing | default("d") }} {{ missing | d("d") }} {{ "" | default("e", true) }} {{ nothing | default("n") }} {{ map.zz | default("z") }} {{ "" | default("e", boolean=true) }}
{% for x in missing %}a{% endfor %}
{{ missing | length }}
{{ missing ~ "x" }}
{{ missing + 1 }}
{{ missing | upper }}
{{ -3 | abs }} {{ 3.5 | abs }} {{ (-3) | abs }}
{{ range(7) | batch(3) | list }} {{ range(7) | batch(3, "x") | list }}
{{ "hello WORLD" | capitalize }}
[{{ "ab" | center(6) }}] [{{ "abc" | center(6) }}] [{{ "abc" | center(7) }}] [{{ "ab" | center(7) }}] [{{ "x" | center(width=5) }}]
{{ items | count }} {{ text | length }} {{ map | length }} {{ "ä€" | length }}
{{ map | dictsort }} {{ map | dictsort(true) }} {{ map | dictsort(false, "value") }} {{ map | dictsort(by="value", reverse=true) }} {{ map | dictsort(case_sensitive=true) }}
{{ html | escape }} {{ html | e }} {{ "'\"" | e }} {{ 1 | e }}
{{ html | forceescape }} {{ html | safe | forceescape }} {{ html | safe }}
{{ 1 | filesizeformat }} {{ 100 | filesizeformat }} {{ 1000 | filesizeformat }} {{ 1300000 | filesizeformat }} {{ 1024 | filesizeformat(true) }} {{ 13000000000 | filesizeformat(binary=true) }} {{ 0 | filesizeformat }}
{{ items | first }} {{ "abc" | first }} {{ items | last }} {{ "abc" | last }} {{ range(3) | last }}
{{ [] | first }}
{{ "3.5" | float }} {{ "x" | float }} {{ "x" | float(1.5) }} {{ 3 | float }}
{{ "42" | int }} {{ "x" | int }} {{ "x" | int(7) }} {{ "0x1F" | int(0, 16) }} {{ 3.9 | int }} {{ "3.9" | int }} {{ "11" | int(base=2) }} {{ true | int }}
{{ "%s and %s" | format("a", 1) }} {{ "%(a)s" | format(a=3) }} {{ "%05.2f|%5d|%-5s|%x" | format(3.14159, 42, "ab", 255) }}
{{ users | groupby("team") | list | length }}
{% for g in users | groupby("team") %}{{ g.grouper }}:{{ g.list | map(attribute="name") | join(",") }};{% endfor %}
{% for team, list in users | groupby("team") %}{{ team }}={{ list | length }} {% endfor %}
{% for team, list in users | groupby("team", default="none") %}{{ team }} {% endfor %}
[{{ lines | indent }}] [{{ lines | indent(2) }}] [{{ lines | indent(2, true) }}] [{{ lines | indent(2, blank=true) }}] [{{ lines | indent("> ") }}] [{{ lines | indent(width=3, first=true) }}]
{{ items | join }} {{ items | join(", ") }} {{ users | join("; ", attribute="name") }} {{ mixed | join("-") }} {{ "abc" | join("|") }}
{{ "abc" | list }} {{ map | list }} {{ range(3) | list }} {{ (1, 2) | list }}
{{ "ABC" | lower }} {{ "abc" | upper }} {{ 1 | upper }} {{ true | lower }}
{{ users | map(attribute="name") | list }} {{ items | map("upper") | list }} {{ users | map(attribute="zz", default="none") | list }} {{ items | map("replace", "p", "P") | list }} {{ users | map(attribute="tags.0", default="-") | list }}
{{ numbers | max }} {{ numbers | min }} {{ items | max }} {{ items | min }} {{ items | min(case_sensitive=true) }} {{ users | max(attribute="age") == users[0] }}
{{ [] | max }}
{{ "a" | pprint }} {{ 5 | pprint }}
{{ numbers | reject("odd") | list }} {{ numbers | reject("equalto", 3) | list }} {{ mixed | reject("none") | list }} {{ [0, 1, ""] | reject | list }}
{{ users | rejectattr("tags") | map(attribute="name") | list }} {{ users | rejectattr("age", "gt", 26) | map(attribute="name") | list }}
{{ "aaa" | replace("a", "b") }} {{ "aaa" | replace("a", "b", 2) }} {{ 123 | replace("2", "x") }}
{{ items | reverse | list }} {{ "abc" | reverse }} {{ range(3) | reverse | list }}
{{ 42.55 | round }} {{ 42.55 | round(1) }} {{ 42.55 | round(1, "floor") }} {{ 42.51 | round(method="ceil") }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 1234 | round(-2) }} {{ 7 | round }}
{{ numbers | select("odd") | list }} {{ numbers | select("gt", 1) | list }} {{ [0, 1, "", "a"] | select | list }} {{ numbers | select("in", [1, 2]) | list }} {{ numbers | select("divisibleby", 3) | list }}
{{ users | selectattr("age", "equalto", 30) | map(attribute="name") | join(",") }} {{ users | selectattr("tags") | list | length }} {{ users | selectattr("name", "in", ["bob"]) | list | length }}
{% for column in range(7) | slice(3) %}{{ column }}{% endfor %}
{% for column in range(7) | slice(3, "x") %}{{ column }}{% endfor %}
{{ items | sort }} {{ items | sort(true) }} {{ items | sort(case_sensitive=true) }} {{ numbers | sort(reverse=true) }} {{ users | sort(attribute="name") | map(attribute="name") | list }} {{ users | sort(attribute="age,name") | map(attribute="name") | list }}
{{ 1 | string }} {{ yes | string }} {{ [1, "a"] | string }} {{ nothing | string }}
{{ html | striptags }} {{ "<!-- c --> a   b" | striptags }} {{ "&lt;b&gt;" | striptags }} {{ "caf&eacute;" | striptags }}
{{ numbers | sum }} {{ users | sum(attribute="age") }} {{ numbers | sum(start=10) }} {{ [] | sum }}
{{ "hello wORLD foo-bar it's" | title }} {{ "a(b)c" | title }}
{{ map | tojson }} {{ items | tojson }} {{ "<a> & 'b'" | tojson }} {{ yes | tojson }} {{ nothing | tojson }} {{ 1.0 | tojson }} {{ "ä" | tojson }}
{{ map | tojson(indent=2) }}
{{ map | tojson(2) }}
{{ "  x  " | trim }}| {{ "xxaxx" | trim("x") }}
{{ text | truncate(20) }} {{ text | truncate(20, true) }} {{ text | truncate(20, false, "…") }} {{ text | truncate(length=15, end="!") }} {{ text | truncate(42) }} {{ text | truncate(38, leeway=0) }} {{ "short" | truncate(20) }} {{ text | truncate }} {{ "foo bar baz qux" | truncate(9, true, leeway=0) }} {{ "foobarbazqux" | truncate(9) }}
{{ numbers | unique | list }} {{ ["a", "A", "b"] | unique | list }} {{ ["a", "A"] | unique(true) | list }} {{ users | unique(attribute="team") | map(attribute="name") | list }}
{{ path | urlencode }} {{ {"a": 1, "b c": "d/e"} | urlencode }} {{ [("a", "1"), ("b", "ä")] | urlencode }} {{ 5 | urlencode }}
{{ text | wordcount }} {{ "don't stop-now" | wordcount }} {{ "" | wordcount }} {{ "a_b ä1" | wordcount }}
{{ text | wordwrap(10) }}
{{ text | wordwrap(15, false) }}
{{ text | wordwrap(15, wrapstring=" / ") }}
{{ "abcdefghijklmnop qr" | wordwrap(5) }} {{ "abcdefghijklmnop qr" | wordwrap(5, false) }}
{{ "well-known short-lived" | wordwrap(8) }} {{ "well-known short-lived" | wordwrap(8, break_on_hyphens=false) }} {{ "well-known" | wordwrap(3, true, "_", false) }}
{{ lines | wordwrap(3) }}
{{ "a b  c   d" | wordwrap(4) }}
{{ {"class": "a b", "id": "x<y", "none": none} | xmlattr }} [{{ {"a": 1} | xmlattr(false) }}] [{{ {} | xmlattr }}] {{ {"a": missing, "b": true} | xmlattr }}
{{ {"a b": 1} | xmlattr }}
{{ map | items | list }} {{ {} | items | list }}
{{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 1 is number }} {{ "1" is number }} {{ 1.0 is float }} {{ 1 is integer }} {{ 1 is float }} {{ true is integer }} {{ true is number }}
{{ true is boolean }} {{ 1 is boolean }} {{ true is true }} {{ false is false }} {{ 1 is true }} {{ none is none }} {{ "" is none }}
{{ "a" is string }} {{ [] is string }} {{ [] is sequence }} {{ "a" is sequence }} {{ {} is sequence }} {{ {} is mapping }} {{ [] is mapping }} {{ [] is iterable }} {{ 1 is iterable }} {{ "a" is iterable }} {{ range(2) is iterable }}
{{ "abc" is lower }} {{ "ABC" is upper }} {{ "aBc" is lower }} {{ "1" is upper }}
{{ 1 is eq 1 }} {{ 1 is equalto 2 }} {{ 1 is == 1 }} {{ 1 is ne 2 }} {{ 1 is lt 2 }} {{ 1 is lessthan 2 }} {{ 2 is le 2 }} {{ 2 is gt 1 }} {{ 2 is greaterthan 3 }} {{ 2 is ge 2 }} {{ 1 is in [1] }} {{ 1 is not in [1] }} {{ 1 is not eq 1 }}
{{ "upper" is filter }} {{ "zzz" is filter }} {{ "odd" is test }} {{ "zzz" is test }} {{ range is callable }} {{ 1 is callable }} {{ "a" is callable }} {{ items is callable }} {{ dict is callable }}
{{ 1 is sameas 1 }} {{ true is sameas true }} {{ none is sameas none }} {{ "a" is escaped }} {{ ("a" | safe) is escaped }}
{{ range(5) | list }} {{ range(2, 5) | list }} {{ range(10, 0, -3) | list }} {{ range(0) | list }}
{{ dict(a=1, b="x") }} {{ dict(a=1).a }} {{ dict([("a", 1)]) }} {{ dict({"a": 1}, b=2) }}
{% set c = cycler("a", "b", "c") %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.next() }}
{% set c = cycler("a", "b") %}{{ c.current }}{{ c.next() }}{{ c.current }}{{ c.next() }}{% set _ = c.reset() %}{{ c.next() }}
{% set j = joiner(", ") %}{% for x in items %}{{ j() }}{{ x }}{% endfor %}
{% set j = joiner() %}[{{ j() }}{{ j() }}]
{% set ns = namespace(n=0) %}{% for x in numbers %}{% set ns.n = ns.n + x %}{% endfor %}{{ ns.n }}
{% set ns = namespace() %}{% set ns.x = 1 %}{{ ns.x }}
{% for x in items %}⏎  - {{ x }}⏎{% endfor %}⏎end
{% for x in items -%}⏎  - {{ x }}⏎{%- endfor %}⏎end
{% set x %}⏎one⏎{% endset %}[{{ x }}]
# heading⏎⏎{% if yes %}⏎text⏎{% else %}⏎other⏎{% endif %}⏎⏎more {# note #}⏎{# line #}⏎end
{% for x in items %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{% if not loop.last %},{% endif %}{% endfor %}
{% for x in items %}{{ loop.previtem | default("-") }}<{{ x }}>{{ loop.nextitem | default("-") }} {% endfor %}
{% for x in numbers %}{{ loop.changed(x) }} {% endfor %}
{% for x in items %}{{ loop.cycle("odd", "even") }} {% endfor %}
{% for x in [] %}a{% else %}none{% endfor %}
{% for x in numbers if x > 1 %}{{ loop.index }}:{{ x }} {% endfor %}
{% for k, v in map.items() %}{{ k }}={{ v }} {% endfor %}
{% for k in map %}{{ k }} {% endfor %}
{% for a, b in nested.list %}{{ a }}-{{ b }} {% endfor %}
{% for c in "abc" %}{{ c }}.{% endfor %}
{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{% endif %}{% endfor %}
{% for x in range(3) %}{% for y in range(2) %}{{ loop.index }}{{ x }}{{ y }} {% endfor %}{% endfor %}
{% set x = 1 %}{% for i in range(3) %}{% set x = i %}{% endfor %}{{ x }}
{% set x = 1 %}{% if yes %}{% set x = 2 %}{% endif %}{{ x }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}
{% set a, b = (1, 2) %}{{ b }}{{ a }}
{% set t = 1, 2 %}{{ t }}
{% set body %}Hello {{ name }}{% endset %}{{ body | upper }}
{% set body | upper %}Hello {{ name }}{% endset %}{{ body }}
{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}
{% with %}{% set z = 1 %}{{ z }}{% endwith %}{{ z is defined }}
{% macro m(a, b=2, c="x") %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c="y") }} {{ m(1, 3, "z") }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}
{% macro m(a) %}{{ caller() }}{{ a }}{% endmacro %}{% call m(1) %}inside{% endcall %}
{% macro m() %}{{ caller(5) }}{% endmacro %}{% call(x) m() %}got {{ x }}{% endcall %}
{% macro m(a, b=1) %}{% endmacro %}{{ m.name }} {{ m.caller }}
{% macro fact(n) %}{{ n if n < 2 else n * (fact(n - 1) | int) }}{% endmacro %}{{ fact(5) }}
{% filter upper %}hello {{ name }}{% endfilter %}
{% filter replace("l", "L") | trim %} hello {% endfilter %}
{% raw %}{{ name }} {% if %}{% endraw %}
{# a comment #}x{#- another -#} y
a {%- if yes -%} b {%- endif -%} c
{%+ if yes %} a {% endif %}
  {% if yes %}⏎  indented⏎  {% endif %}⏎end
{{ "a" -}}   b   {{- "c" }}
{% if count == 3 %}three{% elif count == 4 %}four{% else %}other{% endif %}
{% if items %}some{% endif %}{% if [] %}none{% endif %}{% if "" %}e{% endif %}{% if 0 %}z{% endif %}{% if 0.0 %}f{% endif %}{% if {} %}m{% endif %}{% if none %}n{% endif %}
{% extends "base.j2" %}{% block body %}{{ name }}{% endblock %}
{% extends "base.j2" %}{% block head %}my {{ super() }}{% endblock %}{% block body %}{{ self.head() }}{% endblock %}
{% include "part.j2" %}
{% include ["none.j2", "part.j2"] %}
{% include "none.j2" ignore missing %}x
{% include "none.j2" %}
{% import "macros.j2" as m %}{{ m.hello(name) }} {{ m.answer }}
{% from "macros.j2" import hello, answer as a %}{{ hello("x", greeting="Hi") }} {{ a }}
{% from "macros.j2" import hello as h with context %}{{ h(name) }}
{% from "macros.j2" import nope %}{{ nope is defined }}
{% block one %}1{% endblock %}{{ self.one() }}
{% block one required %}{% endblock %}
{% autoescape true %}{{ html }}{% endautoescape %}
{% autoescape false %}{{ html }}{% endautoescape %}
{% do items %}
{% for x in items %}{% break %}{% endfor %}
{% trans %}hello{% endtrans %}
{{ "%s" % name }} {{ "%s is %d" % (name, count) }} {{ "%.2f" % price }} {{ "%d%%" % 50 }} {{ "%(a)s" % {"a": 1} }} {{ "%5s|%-5s|" % ("a", "b") }} {{ "%r" % "a" }} {{ "%s" % [1, 2] }} {{ "%x %o %e" % (255, 8, 1234.5) }} {{ "%05d" % 42 }} {{ "%+d" % 3 }} {{ "%c" % "x" }} {{ "%s" % (name,) }} {{ "%s" % none }}
{% set f = "%s!" %}{{ f % name }} {{ (f ~ "?") % name }} {{ f|upper % name }}
{{ "%s" % name | upper }} {{ "a" ~ "%s" % name ~ "b" }} {{ "%s" % count + 1 }}
{{ "%s %s" % name }}
{{ "%d" % "x" }}
{{ "no" % name }}
{{ count % 2 }} {{ 7.5 % 2 }} {{ numbers[0] % 2 == 1 }} {{ (count + 1) % 2 }} {% if loop is defined and loop.index % 2 %}{% endif %}
{{ name.upper() }} {{ name.lower() }} {{ "hello world".title() }} {{ "abc".capitalize() }} {{ "aBc".swapcase() }} {{ "STRASSE".casefold() }}
{{ " x ".strip() }}| {{ "xxa".lstrip("x") }} {{ "axx".rstrip("x") }} {{ "a,b,c".split(",") }} {{ "a b  c".split() }} {{ "a,b,c".split(",", 1) }} {{ "a,b,c".rsplit(",", 1) }} {{ "a b  c".rsplit(None, 1) }} {{ lines.splitlines() }} {{ "a\nb\n".splitlines(true) }}
{{ "abc".startswith("a") }} {{ "abc".endswith("c") }} {{ "abc".startswith(("x", "a")) }} {{ "abcabc".find("c") }} {{ "abcabc".rfind("c") }} {{ "abc".find("z") }} {{ "abcabc".count("b") }} {{ "abc".index("b") }} {{ "abcb".rindex("b") }}
{{ "abc".index("z") }}
{{ "a-b".replace("-", "+") }} {{ "aaa".replace("a", "b", 2) }} {{ ", ".join(items) }} {{ "{} is {}".format(name, count) }} {{ "{0}{1}{0}".format("a", "b") }} {{ "{x}".format(x=1) }} {{ "{:>5}|{:<5}|{:^5}|{:05.1f}".format("a", "b", "c", 2.25) }} {{ "{:,}".format(big) }}
{{ "5".zfill(3) }} {{ "-5".zfill(4) }} {{ "ab".center(6, "*") }} {{ "abc".center(6) }}| {{ "ab".ljust(4) }}| {{ "ab".rjust(4, ".") }}
{{ "abc".isalpha() }} {{ "123".isdigit() }} {{ "a1".isalnum() }} {{ "ABC".isupper() }} {{ "abc".islower() }} {{ " ".isspace() }} {{ "123".isnumeric() }} {{ "123".isdecimal() }} {{ "Abc Def".istitle() }} {{ "abc".isidentifier() }} {{ "abc".isascii() }}
{{ "a=b=c".partition("=") }} {{ "a=b=c".rpartition("=") }} {{ "abc".partition("z") }} {{ "test.py".removesuffix(".py") }} {{ "test.py".removeprefix("test") }} {{ "a\tb".expandtabs(4) }}
{{ items.index("fig") }} {{ numbers.count(3) }} {{ items.copy() }} {{ map.copy() }}
{{ name.nope() }}
{{ nope() }}
{{ name | nope }}
{{ name is nope }}
{% if items|length > 2 and name != "Bob" %}ok{% endif %}
{{ items|map("lower")|sort|join(", ") }}
{{ users|map(attribute="age")|sum / users|length }}
{{ (users|selectattr("team", "eq", "red")|list)[0].name }}
{{ users|map(attribute="name")|map("lower")|sort|first }}
{% for u in users|sort(attribute="age", reverse=true) %}{{ u.name }}{{ "," if not loop.last }}{% endfor %}
{{ {"a": 1, "b": [1, 2]}["b"][1] }} {{ {1: "x"}[1] }} {{ {"x": 1, "y": 2}.items()|list }}
{{ "line1\nline2" }} {{ 'single \'quote\'' }} {{ "uni\u00e4" }} {{ "\x41" }}
{{ "${{ x }}" }} $ {{ name }} ${{ name }}
{{ name|upper|lower|title|replace("A","B") }}
{{ 5 if count > 2 else 6 if count > 1 else 7 }}
{{ not yes and no }} {{ not (yes and no) }} {{ yes and not no }}
{{ (count, name)[0] }} {{ ("a", "b")|join("+") }}
{{ name is string and count is number }} {{ name is not none }} {{ count is not string }}
{{ [1, 2] == [1, 2] }} {{ (1, 2) == [1, 2] }} {{ {"a": 1} == {"a": 1} }} {{ [1] < [2] }} {{ none == none }} {{ 1 == "1" }} {{ true == 1 }}
{{ -count }} {{ - 3 }} {{ 3 - -3 }}
{{ missing == "x" }}
{{ "x" in missing }}
{{ missing > 3 }}
{{ missing is none }}
{{ missing | list }}
{{ missing == missing2 }}
{{ loop }}
{{ items.0 }} {{ nested.list.1.0 }}
{{ users[0]["name"] }} {{ users[-1].name }} {{ users[0].get("age") }}
{{ "abc"|length * 2 }} {{ 2 * "abc"|length }} {{ "a"|upper ~ "b"|upper }}
{{ 10|string|length }} {{ 1.5|int + 2 }} {{ "1,2,3".split(",")|map("int")|sum }}
{{ numbers|sort|reverse|list }} {{ numbers|sort|unique|list|tojson }}
{{ "a b c"|title|replace(" ", "") }} {{ ["a", none, "b"]|select|join(",") }} {{ [3, 1]|sort|first }}
{{ "é"|upper }} {{ "ÀÉ"|lower }} {{ "straße"|upper }}
{{ 1e100 }} {{ 123456789012345678901234567890 }} {{ 9999999999999999.0 }} {{ 0.00001 }} {{ 1.10 }}
{{ "abc" * 0 }}| {{ [1, 2] * 2 }} {{ 2 * [0] }} {{ 3 * "ab" }}
{{ (0.1 * 3)|round(2) }} {{ 10 / 3 }} {{ (10 / 3)|round(2) }} {{ 1 / 3 }}
{{ 2 ** -1 }} {{ 2 ** 0.5 }} {{ 4 ** 0.5 }} {{ (-8) ** 3 }}
"""

# What a template gives here, where Jinja2 gives something else: a text, or None where it is refused.
DIFFERENT = {'{{ users[0] | attr("name") }}': 'Zoe',
 '{{ "ß" | capitalize }}': 'SS',
 '{{ items | pprint }}': "[\n    'pear',\n    'Apple',\n    'fig',\n]",
 '{{ 1, 2 }}': None,
 '{% for a in 1, 2 %}{{ a }}{% endfor %}': None,
 '{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, a=3) }}': None,
 '{% macro m(a, b=1) %}{% endmacro %}{{ m.arguments }}': "['a', 'b']",
 '{% include "part.j2" without context %}': 'part of Ada',
 '{% set l = [1] %}{% set _ = l.append(2) %}{{ l }}': None,
 '{% set d = {} %}{% set _ = d.update({"a": 1}) %}{{ d }}': None,
 '{{ map.pop("a") }}': None,
 '{{ name.__class__ }}': None,
 '{{ "see http://x.org now" | urlize }}': None,
 '{{ lipsum(n=1) | length > 0 }}': None,
 '{{ [1] | random }}': None,
 '{{ +count }}': None,
 '{{ missing | join(",") }}': '',
 '{{ [1e20] }}': '[1e20]',
 '{{ 1e20 ~ "" }}': '100000000000000000000.0'}


class Undefined(jinja2.StrictUndefined):
    """As in phileas: false in a condition, and an error wherever else it is used."""

    __bool__ = jinja2.Undefined.__bool__


def by_jinja(template):
    environment = jinja2.Environment(
        undefined=Undefined, trim_blocks=True, lstrip_blocks=True, loader=jinja2.DictLoader(FILES)
    )
    try:
        return environment.from_string(template).render(copy.deepcopy(CONTEXT)).strip()
    except Exception:  # Whatever it is, the template has no text.
        return None


def repository(folder, templates):
    """A repository with a persona for each template."""
    for name, text in FILES.items():
        path = folder / ".jules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / ".jules/schedules.toml").write_text("")
    for number, template in enumerate(templates):
        # JSON is YAML, so the values are the same on both sides.
        keys = "".join(f"{key}: {json.dumps(value)}\n" for key, value in CONTEXT.items())
        path = folder / f".jules/personas/t{number}/prompt.md.j2"
        path.parent.mkdir(parents=True)
        # A prompt must not be empty.
        path.write_text(f"---\nid: t{number}\nemoji: x\n{keys}---\n{template}\n.")


def by_phileas(program, folder, number):
    arguments = [program, "persona", "render", f"t{number}", str(folder), "--json"]
    ended = subprocess.run(arguments, capture_output=True, text=True, timeout=180)
    if ended.returncode == 1:
        return None, ended.stdout.strip()
    if ended.returncode != 0:
        sys.exit(f"{' '.join(arguments)} ended with {ended.returncode}: {ended.stderr}")
    prompt = json.loads(ended.stdout)["prompt"]
    return prompt.strip().removesuffix(".").strip(), ""


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    same = [line.replace("⏎", "\n") for line in SAME.strip("\n").split("\n")]
    templates = same + list(DIFFERENT)
    wrong = 0
    folder = Path(sys.argv[2])
    folder.mkdir()
    repository(folder, templates)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ours = list(pool.map(lambda number: by_phileas(sys.argv[1], folder, number), range(len(templates))))
    for template, (text, why) in zip(templates, ours):
        theirs = by_jinja(template)
        if template in DIFFERENT:
            is_right = text == DIFFERENT[template] and text != theirs
        else:
            is_right = text == theirs
        if not is_right:
            wrong += 1
            print(f"{template!r}\n  Jinja2:  {theirs!r}\n  phileas: {text!r} {why}")
    if wrong:
        sys.exit(f"{wrong} of {len(templates)} templates are not as they should be")
    print(f"{len(same)} templates are the same in Jinja2 {jinja2.__version__}; {len(DIFFERENT)} differ, as the README says")


main()
