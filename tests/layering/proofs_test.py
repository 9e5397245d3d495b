#!/usr/bin/env python3
"""Proves that tools/proofs.py says of each proof how far it goes, and counts none that goes nowhere."""

import unittest

import layers  # noqa: F401  pylint: disable=unused-import  # tools/ is on the path then
import proofs

STORY = "# A claim (S32)\n0s known all\n"
CASE = 'TEST(Subject, Claims_S32) {\n    EXPECT_TRUE(true);\n}\n'


def page(**files):
    return proofs.written(proofs.proofs({path: text for path, text in files.values()}))


class Proofs(unittest.TestCase):
    def test_each_proof_says_its_level_and_a_requirement_all_of_them(self):
        text = page(
            story=("policies/some/story.scn", STORY),
            edge=("tests/executors/some_test.cpp", CASE),
            whole=("tests/integration/test_some.py", '"""Proves it (S32)."""\n'),
        )
        self.assertRegex(text, r"\*\*S32\*\* .* \(rule, edge, end to end\)\n")
        self.assertIn("- *rule* `policies/some/story.scn`\n", text)
        self.assertIn("- *edge* `tests/executors/some_test.cpp`: `Subject.Claims_S32`\n", text)
        self.assertIn("- *end to end* `tests/integration/test_some.py`\n", text)

    def test_a_test_of_the_double_or_of_an_oracle_proves_nothing(self):
        for path in ("tests/sandbox/cluster_test.cpp", "tests/simulation/oracles_test.cpp"):
            with self.subTest(path=path):
                found = proofs.proofs({path: CASE})
                self.assertEqual(dict(found), {})
                self.assertIn("S32 ", "\n".join(proofs.flaws({path: CASE}, found)))

    def test_the_longest_prefix_decides(self):
        self.assertEqual(proofs.level("tests/apps/host_test.cpp"), "end to end")
        self.assertEqual(proofs.level("tests/apps/plan_test.cpp"), "edge")

    def test_a_file_of_tests_in_no_folder_of_a_level_is_a_flaw(self):
        files = {"tests/elsewhere/some_test.cpp": CASE}
        said = [s for s in proofs.flaws(files, proofs.proofs(files)) if "tests/elsewhere" in s]
        self.assertEqual(len(said), 1)
        self.assertIn("LEVELS", said[0])

    def test_each_folder_of_a_level_has_tests(self):
        paths = list(proofs.tests())
        for prefixes in proofs.LEVELS.values():
            for prefix in prefixes.split():
                self.assertTrue(any(path.startswith(prefix) for path in paths), prefix)


if __name__ == "__main__":
    unittest.main()
