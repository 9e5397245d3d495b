#!/usr/bin/env python3
"""Proves that each ban of tools/tidy.py finds a planted example and leaves its neighbours alone."""

import unittest

from layers import tidy

CORE, OTHER = "engine/core/planted.cpp", "executors/planted.cpp"


def forbidden(path, text):
    return [remark.text for remark in tidy.check_text(path, text) if remark.forbidden]


class Text(unittest.TestCase):
    def test_the_product_has_nothing_forbidden(self):
        found = [
            remark
            for path in tidy.product_files()
            for remark in tidy.check_text(path, tidy.read(path))
            if remark.forbidden
        ]
        self.assertEqual(found, [])

    def test_bans_of_the_pure_folders(self):
        for line in (
            "std::unordered_map<int, int> rows;",
            "double share = 0.5;",
            "float f(int x);",
            "static int calls = 0;",
            "static std::string last;",
            "static std::vector<int> seen{1};",
            "thread_local int depth = 0;",
        ):
            with self.subTest(line=line):
                found = forbidden(CORE, line + "\n")
                self.assertEqual(len(found), 1)
                self.assertIn("use ", found[0])
                self.assertEqual(forbidden(OTHER, line + "\n"), [])

    def test_bans_everywhere(self):
        for line in (
            "// FIXME: later",
            "int x = 1;  // TODO(me) why",
            "mutable std::mutex mutex_;",
            "std::recursive_mutex mutex_;",
            "std::shared_mutex mutex_;",
            "std::condition_variable changed_;",
            "std::condition_variable_any changed_;",
            "const std::lock_guard lock(mutex_);",
            "std::unique_lock<Mutex> lock(mutex_);",
            "const std::shared_lock lock(mutex_);",
            "const std::scoped_lock lock(a, b);",
            "// return verdict;",
            "    // if (ready) {",
            "// offset = next + 1;",
            "// state.meta.applied(offset);",
            "//}",
            '// #include "engine/core/fold.h"',
        ):
            with self.subTest(line=line):
                self.assertEqual(len(forbidden(OTHER, line + "\n")), 1)

    def test_what_is_right_is_let_be(self):
        for line in (
            "// The fold never sees double or unordered_map; it says `static int x;` nowhere.",
            "//   kWaiting  unowned, grace still running (see the rule above);",
            "static constexpr int kLimit = 3;",
            "static const std::string kName;",
            "static Verdict judge(const Subject& subject);",
            'const char* text = "double // TODO return x;";',
            "auto limit = 15'000; auto other = 20'000;",
        ):
            with self.subTest(line=line):
                self.assertEqual(forbidden(CORE, line + "\n"), [])

    def test_the_locks_home_may_name_the_standard_librarys(self):
        line = "std::mutex native_;\n"
        self.assertEqual(forbidden("engine/base/mutex.h", line), [])
        self.assertEqual(forbidden("engine/base/shared_mutex.h", line), [])
        self.assertEqual(len(forbidden("engine/base/current.h", line)), 1)

    def test_long_functions(self):
        body = "    step();\n"
        for lines, wrong in ((tidy.FUNCTION_LINES - 2, 0), (tidy.FUNCTION_LINES - 1, 1)):
            for head in (
                "namespace a {\nint f(int x)",
                "Shard::Shard(Log& log)\n    : log_(log)",
                "class C {\n  public:\n    bool ok() const noexcept",
            ):
                with self.subTest(head=head, lines=lines):
                    extra = head.count("\n") if "Shard" in head else 0
                    text = head + " {\n" + body * (lines - extra) + "}\n}\n"
                    self.assertEqual(len(forbidden(OTHER, text)), wrong)


if __name__ == "__main__":
    unittest.main()
