#!/usr/bin/env python3
"""Two types of one name: a crash in a piece of code that nobody had touched.

Symptom: the demo crashed in a destructor of std::function, far from any change. Two folders each
defined a struct of the same name in the namespace that they share; the linker kept one inline
constructor and one destructor for both, silently, since that is what the one definition rule lets it
do. Internal types stand in an anonymous namespace, or bear the name of what they are.
"""

import re
import unittest

from layers import tidy

OPEN = re.compile(
    r"\b(?P<kind>namespace|class|struct|union|enum(?:\s+(?:class|struct))?)\b"
    r"(?:\s*(?:\[\[[^\]]*\]\]|TRUEUP_\w+(?:\([^()]*\))?))?\s*(?P<name>[\w:]*)[^;{}()=<>]*(?:<[^;{}()]*>[^;{}()=]*)?\{"
)


def definitions(text):
    """The full names of all types that a file defines with external linkage."""
    code = tidy.scrub(text)
    openers = {match.end() - 1: match for match in OPEN.finditer(code)}
    scope, found = [], []
    for brace in re.finditer(r"[{}]", code):
        if brace.group(0) == "}":
            if scope:
                scope.pop()
            continue
        match = openers.get(brace.start())
        if match is None:
            scope.append(None)  # a body: what it defines is its own
            continue
        name = match.group("name")
        scope.append(name if match.group("kind") == "namespace" or name else None)
        if match.group("kind") == "namespace":
            scope[-1] = name or None
        elif name and all(scope):
            found.append("::".join(scope))
    return found


def clashes(files):
    """[(name, first path, second path)] of a list of (path, text)."""
    seen, found = {}, []
    for path, text in files:
        for name in definitions(text):
            if name in seen:
                found.append((name, seen[name], path))
            seen.setdefault(name, path)
    return found


class Names(unittest.TestCase):
    def test_no_two_types_have_the_same_full_name(self):
        found = clashes((path, tidy.read(path)) for path in tidy.product_files())
        self.assertEqual(found, [])

    def test_the_scan_sees_the_types_of_the_product(self):
        names = {n for path in tidy.product_files() for n in definitions(tidy.read(path))}
        for name in (
            "trueup::core::State",
            "trueup::runtime::Shard",
            "trueup::apps::Host::Source",
            "trueup::Command",
            "trueup::connectors::postgres::PostgresConnector",
        ):
            self.assertIn(name, names)
        self.assertGreater(len(names), 200)

    def test_planted_twins_are_found(self):
        first = "namespace a::b {\nstruct Answer {\n    int x;\n};\n}\n"
        for second in (
            "namespace a { namespace b { class Answer final : public Base { int y; }; } }",
            "namespace a::b { struct [[nodiscard]] Answer { std::string s = R\"(})\"; }; }",
            "namespace a::b { enum class Answer : unsigned char { kYes }; }",
            "namespace a::b { class TRUEUP_SCOPED_CAPABILITY Answer { int y; }; }",
            "namespace a::b { class TRUEUP_CAPABILITY(\"mutex\") Answer { int y; }; }",
        ):
            with self.subTest(second=second):
                self.assertEqual(
                    clashes([("x.h", first), ("y.cpp", second)]), [("a::b::Answer", "x.h", "y.cpp")]
                )

    def test_types_that_do_not_meet_are_let_be(self):
        first = "namespace a { struct Answer { int x; }; }"
        for second in (
            "namespace a { namespace { struct Answer { int y; }; } }",
            "namespace a { struct Other { struct Answer { int y; }; }; }",
            "namespace a { struct Answer; void f(struct Answer& x) { } }",
            "namespace a { void f() { struct Answer { int y; }; } }",
            "namespace b { struct Answer { int y; }; }",
            "// namespace a { struct Answer { int y; }; }",
        ):
            with self.subTest(second=second):
                self.assertEqual(clashes([("x.h", first), ("y.cpp", second)]), [])


if __name__ == "__main__":
    unittest.main()
