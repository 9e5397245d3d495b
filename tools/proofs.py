#!/usr/bin/env -S python3 -B
"""Writes build/proofs.md: for each number of a requirement, the tests that name it, and how far they go.

  proofs.py            writes it and prints its path
  proofs.py --check    writes it too, so that the page is never older than the last check, and prints
                       only what is wrong

Exit 1 where a requirement has lost its last test, a test names a number that is none, one of
NOT_YET has a test now, or a file of tests stands in none of the folders of LEVELS. Equal tests give
an equal page, to the byte.

A test names a number in its own name (`WaitsOutTheGrace_G1`, `test_restart_S3`), a story in its
first line, and a whole file in its first comment. What the numbers mean stands in SUBJECTS; how far
a test goes follows from where it is.
"""

import os
import re
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = "build/proofs.md"
HEAD = """\
# What proves what

Written by `tools/proofs.py` from the tests. A number in the name of a test, in the first line of a story
(`policies/*/*.scn`) or in the first comment of a file of tests is a requirement that it proves. A file without names proves it as a whole.

Each proof says how far it goes: *rule*, the decision alone; *edge*, the code that meets the world or the log, over
fake or real counterparts; *end to end*, the whole loop from the sources to the effect. A requirement that has *rule*
alone is decided rightly, and nothing says that it is carried out.
"""
# Where a test is says how far it goes; the longest prefix decides.
LEVELS = {
    "rule": "policies/ tests/engine/base/ tests/engine/core/ tests/engine/model/ tests/scenarios/",
    "edge": """tests/api/ tests/apps/ tests/connectors/ tests/engine/codec/ tests/engine/ports/
        tests/engine/runtime/ tests/engine/world/ tests/executors/ tests/ports/ tests/projections/""",
    "end to end": "tests/apps/host_test.cpp tests/e2e/ tests/integration/ tests/simulation/",
    # The double of the world, the oracles and the text: that these are right proves nothing of the
    # product. A number there says what they are for.
    "none": """tests/formats/ tests/layering/ tests/sandbox/ tests/simulation/oracles_test.cpp
        tests/simulation/proofs_test.cpp""",
}
PROOFS = ["rule", "edge", "end to end"]  # the levels that count
UNPLACED = "unplaced"
LETTERS = {
    "G": "Graph instances",
    "S": "Safety: what must never go wrong",
    "C": "Crash and order",
    "T": "Traps: mistakes that were made before",
    "W": "Cloud workers",
    "P": "Processors",
    "L": "Storage instances",
    "R": "Runners",
}
SUBJECTS = """
G1 a pod that no row owns
G2 a row whose pod is gone
G3 a running row whose pod has Failed
G4 the TTL is over
G5 nobody used it
G6 a row that names no pod
G7 ending an instance: its pod, then its row
G8 ending on request, by those who may
G9 the owner is told before
G10 hibernation in place of the end
G11 cost by owner
G12 a hint for what idles
G13 export jobs of dead workers
G14 passes over everything
G15 a pass on request, with a token
G16 one-time cleanup from the command line
G17 every act may be repeated, and nothing legitimate is harmed
G18 the metrics' names
G19 the log's events
G20 dashboard and alerts
G21 the incident: 6 pods, 9 rows
G22 an empty or failed list is not "all gone"
G23 starting and Failed, stopping without a pod, running and Succeeded
G24 terminating pods, NULL activity, blank TTL
G25 rows and pods that may be each other's
S1 another pod under the name before the delete
S2 the other pod is an orphan too: its own grace
S3 the list fails
S4 the list is empty all at once
S5 the list is cut, its token expires
S6 the row commits after its pod
S7 a row without pod_name, and a live pod
S8 phases and statuses that do not go together
S9 a removal that says Running
S10 made and gone between two looks
S11 a watch with gaps, or deaf
S12 older after newer, twice, two connectors
S13 versions of Kubernetes go back
S14 PostgreSQL fails over, loses its slot, goes back
S15 rows deleted while nobody read
S16 unchanged TOAST, key-only DELETE, TRUNCATE
S17 a primary key used again, or moved
S18 a new cloud instance that cannot be described yet
S19 a healthy cloud instance not found once
S20 cloud instances on their way out; one bad id in a batch
S21 one region throttled or denied
S22 the scope is edited while it runs
S23 labels missing from a good answer
S24 a veto between the command and its act
S25 it becomes busy between check and act
S26 two claim one id
S27 a node is down, comes back, is removed
S28 a whole zone fails and recovers
S29 caps of small pools
S30 the desired side loses rows for one look
S31 labels copied, removed; selector empty
S32 recreated while the old one terminates; finalizers
S33 failures counted once, backed off
S34 classes of failure
S35 clocks
S36 TTL extended, activity after the command
S37 crashes, full disks, lost rows
S38 commands twice, late, elsewhere; answers lost
S39 accepted and then rejected
S40 restarts and changes of policy in the middle
C1 crash behind the append
C2 crash inside the write-behind
C3 appends of unknown result
C4 two engines lead one shard
C5 a relay that slept
C6 older after newer; sources in any order
C7 restart at every offset
C8 checkpoint and tail are the full fold
C9 an impure fold is caught
C10 old journal, new build
C11 retention, lost tails, gaps
C12 stable at last
T0.1 a failed list taken for an empty one
T0.2 rows without pod_name make orphans of all pods
T0.3 rows listed before pods
T0.4 deleted by name
T0.5 drift that knows one pair of states only
T0.6 TTLs acted on again, wrong clocks
T0.7 metrics that count attempts
"""
# Of policies that nothing is connected to yet; their words stand in the design.
OF_OTHERS = """
W1 W2 W3 W4 W5 W6 W7 W10 W12 W13 W14 W15 P1 P2 P3 P4 P5 P6 P25 P26 P27 L1 L2 L3 L4 L5 L6 L7 L14
L15 L18 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10
"""
# Requirements that no test proves yet. P6 and L6 are about what is created, by which name and with
# which labels; so far it is only decided that something is.
NOT_YET = set("G9 G10 G11 G12 G13 G20 S18 S19 S20 S21 S25 S27 S28 S30 S33 S34 P6 L6".split())
# Elsewhere these letters number the invariants of a header.
OF_OTHER_POLICIES = ("tests/engine/core/", "policies/", "tests/integration/")

CASE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_\w+)\(\s*(\w+)\s*,\s*(\w+)", re.M)
METHOD = re.compile(r"^    def (test_\w+)\(", re.M)
IN_NAME = re.compile(r"_(?:([GSCWPLR])(\d+)|T(\d)_(\d))(?=_|$)")
IN_TEXT = re.compile(r"(?<![\w.])(?:([GSCWPLR])(\d+)|T(\d)\.(\d))(?![\w.]*\w)")


def subjects():
    """{number: its few words}"""
    known = dict(line.split(" ", 1) for line in SUBJECTS.strip().splitlines())
    return known | dict.fromkeys(OF_OTHERS.split(), "")


def numbers(pattern, text):
    return [f"{a}{b}" if a else f"T{c}.{d}" for a, b, c, d in pattern.findall(text)]


def first_comment(path, text):
    """What a file says of itself."""
    if path.endswith(".py"):
        found = re.search(r'"""(.*?)"""', text, re.S)
        return found.group(1) if found else ""
    mark = "#" if path.endswith(".scn") else "//"
    lines = text.splitlines()[: 1 if mark == "#" else None]
    taken = []
    for line in lines:
        if not line.startswith(mark):
            break
        taken.append(line.lstrip("#/ "))
    # An invariant of a header is numbered there.
    return re.sub(r"invariants? [A-Z]\d+", "", " ".join(taken))


def cases(path, text):
    """The names of the tests in a file."""
    if path.endswith(".py"):
        return METHOD.findall(text)
    return [".".join(pair) for pair in CASE.findall(text) if not pair[1].startswith("DISABLED_")]


def test_files():
    for here, _, names in sorted(os.walk(os.path.join(ROOT, "policies"))):
        for name in sorted(names):
            if name.endswith(".scn") and name != "world.scn":
                yield os.path.relpath(os.path.join(here, name), ROOT)
    for here, _, names in sorted(os.walk(os.path.join(ROOT, "tests"))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(here, name), ROOT)
            if name.endswith((".cpp", ".h")) or re.fullmatch(r"(test_\w+|\w+_test)\.py", name):
                if not path.startswith("tests/support/"):
                    yield path


def tests():
    """{path: text} of each file with tests in it"""
    found = {}
    for path in test_files():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        if path.endswith((".scn", ".py")) or cases(path, text):
            found[path] = text
    return found


def level(path):
    """How far the tests of a file go: a name of LEVELS, or UNPLACED."""
    fits = [
        (len(prefix), name)
        for name, prefixes in LEVELS.items()
        for prefix in prefixes.split()
        if path.startswith(prefix)
    ]
    return max(fits, key=lambda fit: fit[0], default=(0, UNPLACED))[1]


def meant(path, number):
    """Is this the number of a requirement, and not of an invariant?"""
    return number[0] not in "WPLR" or path.startswith(OF_OTHER_POLICIES)


def proofs(files):
    """{number: {path: names of tests, none for the whole file}}"""
    found = defaultdict(dict)
    for path, text in files.items():
        if level(path) not in PROOFS:
            continue
        for name in cases(path, text):
            for number in numbers(IN_NAME, name):
                if meant(path, number):
                    found[number].setdefault(path, []).append(name)
        for number in numbers(IN_TEXT, first_comment(path, text)):
            if meant(path, number):
                found[number].setdefault(path, [])
    return found


def order(number):
    return [int(part) for part in number[1:].split(".")]


def flaws(files, found):
    """A sentence for each number, or file, that is not as it should be."""
    for path in files:
        if level(path) == UNPLACED:
            yield f"{path}: tests of which level? Name the folder in LEVELS in tools/proofs.py"
    known = subjects()
    for number in sorted(found):
        if number not in known:
            yield f"{', '.join(found[number])}: there is no {number}"
    for number, words in known.items():
        if number not in found and number not in NOT_YET:
            yield f"{number} {words}: no test names it"
        if number in found and number in NOT_YET:
            yield f"{number} {words}: a test names it, take it out of NOT_YET in tools/proofs.py"


def entry(number, words, by_path):
    """The lines about one requirement: its levels, then its proofs, the furthest last."""
    proven = [name for name in PROOFS if any(level(path) == name for path in by_path)]
    lines = [" ".join(filter(None, [f"**{number}**", words, f"({', '.join(proven) or 'not yet'})"])), ""]
    for path, names in sorted(by_path.items(), key=lambda p: (PROOFS.index(level(p[0])), p[0])):
        shown = ", ".join(f"`{name}`" for name in names)
        lines.append(f"- *{level(path)}* `{path}`" + (f": {shown}" if shown else ""))
    return [*lines, ""] if by_path else lines


def written(found):
    """The document."""
    known = subjects()
    lines = [HEAD]
    for letter, title in LETTERS.items():
        mine = [number for number in {*known, *found} if number[0] == letter]
        lines += [f"## {title}", ""] if mine else []
        for number in sorted(mine, key=order):
            lines += entry(number, known.get(number, ""), found.get(number, {}))
    return "\n".join(lines).rstrip() + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__.strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    files = tests()
    found = proofs(files)
    wrong = list(flaws(files, found))
    for sentence in wrong:
        print(sentence)
    path = os.path.join(ROOT, DOCUMENT)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(written(found))
    if not sys.argv[1:]:
        print(DOCUMENT)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
