#!/usr/bin/env python3
"""Proves that clang-tidy, as the check runs it, refuses mistakes with locks, and that every mutex of
the product says what it is for: one that no annotation names would be checked by nobody."""

import re
import shutil
import unittest

from layers import tidy

import clang_tidy  # noqa: E402  of tools/, which layers.py makes known

MISTAKES = "tests/layering/unlocked.cpp"
MUTEX = re.compile(r"\b(?:Shared)?Mutex (\w+);")


def unnamed(text):
    """The mutexes of a file that none of its annotations names."""
    code = tidy.scrub(text)
    return [
        name
        for name in MUTEX.findall(code)
        if not re.search(rf"\bTRUEUP_\w+\([^()]*\b{name}\b", code)
    ]


class Locks(unittest.TestCase):
    def test_every_mistake_is_refused_and_nothing_else(self):
        if shutil.which(clang_tidy.TIDY) is None:
            self.skipTest(f"{clang_tidy.TIDY} is not installed")
        command = ["c++", "-std=c++20", "-I.", "-o", "unlocked.o", "-c", MISTAKES]
        clean, words = clang_tidy.tidy_file(MISTAKES, command)
        self.assertFalse(clean)
        found = re.findall(
            rf"{MISTAKES}:(\d+):\d+: error: .*\[clang-diagnostic-thread-safety", words
        )
        lines = tidy.read(MISTAKES).splitlines()
        wanted = [n for n, line in enumerate(lines, 1) if line.endswith("// refused")]
        self.assertEqual(sorted({int(line) for line in found}), wanted, words)
        self.assertEqual(words.count("error:"), len(wanted), words)

    def test_every_mutex_of_the_product_is_named_by_an_annotation(self):
        found = [
            f"{path}: {name}"
            for path in tidy.product_files()
            if path not in ("engine/base/mutex.h", "engine/base/shared_mutex.h")
            for name in unnamed(tidy.read(path))
        ]
        self.assertEqual(found, [])

    def test_a_mutex_that_nothing_names_is_found(self):
        self.assertEqual(unnamed("Mutex mutex_;\nint sum_ = 0;\n"), ["mutex_"])
        self.assertEqual(unnamed("mutable SharedMutex all_;  // GUARDED_BY(all_)\n"), ["all_"])
        self.assertEqual(unnamed("Mutex mutex_;\nint sum_ TRUEUP_GUARDED_BY(mutex_) = 0;\n"), [])


if __name__ == "__main__":
    unittest.main()
