#!/usr/bin/env python3
"""`trueup demo` explains itself, can be operated from another terminal, and ends with a summary."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

ARGS = argparse.Namespace()
SECONDS = 15


class Demo(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def demo(self, *flags):
        command = [ARGS.trueup, "demo", "--seconds", str(SECONDS), "--seed", "7", *flags]
        return subprocess.Popen(
            [*command, "--state-dir", self.folder.name], stdout=subprocess.PIPE, text=True
        )

    def operate(self, *words):
        command = [ARGS.trueup, *words, "--state-dir", self.folder.name, "-o", "json"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def test_it_is_operated_from_another_terminal(self):
        # `findings list --state-dir` said that no engine had run there.
        demo = self.demo()
        self.addCleanup(demo.kill)
        address = os.path.join(self.folder.name, "http.addr")
        deadline = time.monotonic() + 60
        while not os.path.exists(address) and time.monotonic() < deadline:
            time.sleep(0.05)
        listed = self.operate("findings", "list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("findings", json.loads(listed.stdout))
        nobody = self.operate("why", "wrapper-nobody")
        self.assertEqual(nobody.returncode, 1, nobody.stderr)
        self.assertIn("no source has an object of graph-instances/wrapper-nobody", nobody.stderr)
        paused = self.operate("pause", "orphaned_pod")
        self.assertEqual(paused.returncode, 0, paused.stderr)
        text, _ = demo.communicate(timeout=120)
        self.assertEqual(demo.returncode, 0)
        self.assertIn("found     a rule sees a disagreement", text)
        self.assertRegex(text.splitlines()[-1], r"^In \d+ s: \d+ findings: .* not done\.$")

    def test_its_json_has_times_and_ends_with_the_counts(self):
        demo = self.demo("-o", "json")
        self.addCleanup(demo.kill)
        text, _ = demo.communicate(timeout=120)
        self.assertEqual(demo.returncode, 0)
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertTrue([line for line in lines if line["kind"] == "world"])
        for line in lines[:-1]:
            self.assertIn("time_ms", line)
        summary = lines[-1]
        self.assertEqual(summary["kind"], "summary")
        self.assertEqual(summary["commands"], len([x for x in lines if x["kind"] == "command"]))
        self.assertEqual(
            summary["done"] + summary["not_done"],
            len([line for line in lines if line["kind"] == "outcome"]),
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--trueup", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
