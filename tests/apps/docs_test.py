"""Proves that what the docs show is what the binary takes: each policy in docs/policies is valid, and each
command line names a command and options that there are.

  TRUEUP_BIN   the binary under test
"""

import glob
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def blocks(path):
    """The indented blocks of a page, without their indentation."""
    with open(path, encoding="utf-8") as file:
        lines = [*file.read().split("\n"), "the end"]
    block = []
    for line in lines:
        if line.startswith("    ") or (not line and block):
            block.append(line[4:])
            continue
        if block:
            yield "\n".join(block).strip("\n") + "\n"
        block = []


class Docs(unittest.TestCase):
    def setUp(self):
        self.binary = os.environ["TRUEUP_BIN"]
        self.helps = {}

    def run_trueup(self, *words):
        return subprocess.run(
            [self.binary, *words], capture_output=True, text=True, timeout=60, check=False
        )

    def test_each_policy_in_the_docs_is_valid(self):
        pages = sorted(glob.glob(os.path.join(ROOT, "docs", "policies", "*.md")))
        tried = 0
        with tempfile.TemporaryDirectory(prefix="trueup-docs-") as folder:
            for page in pages:
                for text in blocks(page):
                    if not re.match(r"policy: \w+\nlanguage: 1\n", text):
                        continue
                    tried += 1
                    path = os.path.join(folder, f"{tried}.yaml")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
                    result = self.run_trueup("policy", "check", path)
                    self.assertEqual(result.returncode, 0, f"{page}:\n{text}\n{result.stderr}")
        self.assertGreaterEqual(tried, 4)

    def help_of(self, command):
        """What its help says; empty: there is no such command."""
        if command not in self.helps:
            result = self.run_trueup(*command, "--help")
            self.helps[command] = result.stdout if result.returncode == 0 else ""
        return self.helps[command]

    def command_of(self, words):
        """The words that name the command, as far as there is one."""
        command = ()
        for word in words:
            if not re.fullmatch(r"[a-z][a-z-]*", word) or not self.help_of((*command, word)):
                return command
            if f"trueup {' '.join((*command, word))}" not in self.help_of((*command, word)):
                return command
            command = (*command, word)
        return command

    def test_each_command_in_the_docs_is_one(self):
        pages = sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
        tried = 0
        for page in [*pages, os.path.join(ROOT, "README.md")]:
            if f"{os.sep}adr{os.sep}" in page:
                continue  # what was decided then
            for text in blocks(page):
                for line in text.splitlines():
                    if not line.startswith("trueup ") or line.startswith("trueup is up"):
                        continue  # the second is what it prints
                    line = re.split(r"\s#|[|>&;]|\)", line)[0]
                    words = line.split()[1:]
                    command = self.command_of(words)
                    self.assertTrue(command, f"{page}: {line}")
                    tried += 1
                    for option in re.findall(r"(?<=\s)--[a-z][a-z-]*", line):
                        self.assertIn(option, self.help_of(command), f"{page}: {line}")
        self.assertGreaterEqual(tried, 39)
        print(f"{tried} command lines")


if __name__ == "__main__":
    unittest.main()
