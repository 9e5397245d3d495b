#!/usr/bin/env python3
"""Which oracle of the simulator notices that a safety guard is missing, and after how many runs.

    mutants.py hunt BINARY [--runs N] [--jobs N] [--only GUARD...] [--write]
    mutants.py check BINARY [--runs N] [--jobs N]

BINARY is `trueup` of a build with TRUEUP_MUTANTS=ON. A guard is switched off alone and, where nobody
notices, together with the guards that keep the same thing (BACKUPS). That proves something about it only if
its backups alone are not noticed for the same reason.

hunt   looks through the first N seeds of each plan; --write makes docs/mutants.md of what it found.
check  repeats the runs that docs/mutants.md names, and hunts where one no longer fails. A guard that the page
       says is noticed and that nobody notices any more, or that the page does not have, fails it.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "mutants.md")
GUARDS_PAGE = os.path.join(ROOT, "docs", "guards.md")
FOLDERS = ("api", "apps", "connectors", "engine", "executors", "projections", "sandbox")
SWITCH = re.compile(r'TRUEUP_GUARD\("([a-z_]+)"\)')
ROW = re.compile(r"^\| `([a-z_]+)` \| ((?:`[a-z_]+`(?: )?)*) ?\| ([a-z]+) \| (\d+) \| ([a-z-]+) \|$", re.M)
UNSEEN_ROW = re.compile(r"^\| `([a-z_]+)` \| `Guard_\w+` \|", re.M)
CRASH = "check"  # a TRUEUP_CHECK ended the process, and no oracle

# What keeps the same thing: to be switched off together with the guard where nobody notices it alone.
BACKUPS = {
    "absence_needs_proof": [("both_sides_fresh",), ("epoch_before_progress", "postgres_epoch_first")],
    "approval_of_last_change": [("approval_of_this_command",)],
    "duplicate_dropped": [("one_owner",), ("one_owner", "monotone_versions")],
    "epoch_before_progress": [("postgres_epoch_first", "absence_needs_proof")],
    "gap_not_folded": [("seq_dense",), ("seq_dense", "epoch_counted")],
    "hold_check": [("target_check",)],
    "kubernetes_asks_for_missing": [("kubernetes_may_have_left",)],
    "kubernetes_one_list": [("sweep_spares_newer",)],
    "ledger": [("target_check",), ("row_precondition",)],
    "ledger_first": [("target_check",)],
    "monotone_versions": [("tombstone_two_epochs",), ("sweep_spares_newer",)],
    "new_owner_knows_nothing": [("one_owner",), ("epoch_before_progress",)],
    "one_owner": [("new_owner_knows_nothing", "seq_dense"), ("monotone_versions",)],
    "outbox_until_outcome": [("own_write_barrier",)],
    "owner_everywhere": [("one_owner",)],
    "permit_check": [("executor_follows_brakes",)],
    "postgres_epoch_first": [("epoch_before_progress", "absence_needs_proof")],
    "postgres_same_server": [("new_owner_knows_nothing",)],
    "same_as_told": [("seq_dense",)],
    "seq_dense": [("lost_append_ends_it",)],
    "still_selected": [("target_check",)],
    "target_check": [("hold_check", "still_selected")],
    "tombstone_two_epochs": [("monotone_versions",), ("one_owner",), ("duplicate_dropped",)],
}

# Why nobody notices, where that is so: what no plan has, or no oracle looks at.
_GARBLED = "no server of a plan sends what cannot be read"
_NO_EPOCH = (
    "the engine counts no progress before an epoch, either; without that (`epoch_before_progress`) runs fail in the"
    " same way"
)
_LEFT = "to the oracles a pod that left the selector is as absent as one that is gone"
_XMIN = "the row's `xmin` is compared as well, and no database of a plan gives one again"
UNSEEN = {
    "approval_of_last_change": "people approve what they have just looked at",
    "approval_of_this_command": "to the oracles an approval is for the next command on its object, whatever that is",
    "epoch_counted": "a hole ends the epoch before its count is read (`seq_dense`)",
    "kubernetes_asks_after_marker": "what it would hide happens between a question and a marker, milliseconds apart",
    "kubernetes_epoch_first": _NO_EPOCH,
    "kubernetes_may_have_left": _LEFT,
    "kubernetes_no_hole": _GARBLED,
    "kubernetes_one_list": "a list must break between two pages while pods of its first part come and go",
    "ledger_first": "outcomes can be read whenever commands can",
    "new_owner_knows_nothing": "a new owner lists before it proves anything (`kubernetes_epoch_first`,"
    " `postgres_epoch_first`)",
    "outbox_until_outcome": "what expires is ordered anew, soon enough for a run; `simulation_interleavings_test` notices",
    "owner_everywhere": "what a former owner says in a quiet partition is true, as long as both see one world",
    "permit_check": "a brake is known before the command starts, and no write takes as long as a command lives",
    "postgres_commit_first": "the sandbox sends no keepalive in the middle of a commit",
    "postgres_confirms_durable": "a connector that starts again copies the whole table",
    "postgres_epoch_first": _NO_EPOCH,
    "postgres_no_hole": _GARBLED,
    "postgres_same_server": "slots are gone with the old server, so that a new one is read from the start",
    "proof_in_the_past": "no connector of a plan lies about its marker",
    "request_once": "what is said again changes nothing by then",
    "row_key_precondition": _XMIN,
    "row_precondition": _XMIN,
    "same_as_told": "a record that was lost is a hole by its number (`seq_dense`), and all is told anew",
    "source_clock_skew": "a database's clock that is wrong is the clock by which the oracles count, too",
    "terminate_needs_owner": "what a stranger asked for is done only while the row names him as its owner",
    "mode_stops_commands": "executors refuse what was ordered before the change (`executor_follows_brakes`)",
    "refusal_waits_for_news": "no plan has a selector that is narrowed, behind which a look at the world refuses",
    "rewind_by_versions": "what a restored world lacks is not missed by the oracles, either",
    "rewind_takes_nothing": "what a restored world lacks is not missed by the oracles, either",
    "who_left_says_nothing": "a source that comes back has another owner (`new_owner_knows_nothing`)",
    "unowned_pods_ask": "the slug of every row of a plan names its pod",
    "window_is_watched": "a leap of the clock, a late row and a silent source meet once in 7,000 runs",
}


class Caught(NamedTuple):
    guard: str
    others: tuple
    oracle: str
    run: int  # from 1: also the seed
    plan: str


def why(said):
    """The oracle, and of harm what made it harm: what was so of the object, without names and numbers."""
    if said["oracle"] != "harm":
        return said["oracle"]
    return "harm: " + re.sub(r"\S*\d\S*", "N", said["what"].rpartition(": ")[2])


def guards():
    found = set()
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".h", ".cpp")):
                    with open(os.path.join(place, name), encoding="utf-8") as file:
                        found.update(SWITCH.findall(file.read()))
    return sorted(found)


class Simulator:
    """Runs with some guards off; remembers what came of them."""

    def __init__(self, binary):
        self.binary = binary
        self.reasons_of = {}
        asked = subprocess.run(
            [binary, "simulate", "--plan", "?"], capture_output=True, text=True, check=False
        )
        self.plans = asked.stderr.partition("write one of:")[2].split()

    def first_failure(self, off, plan, first, runs):
        """(oracle, seed, why) of the first run that fails; None: none does."""
        command = [self.binary, "simulate", "--plan", plan, "--seed", str(first), "--runs", str(runs)]
        done = subprocess.run(
            [*command, "--jobs", "1", "--no-shrink", "-o", "json"],
            env={**os.environ, "TRUEUP_MUTANT": ",".join(off)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.stdout.startswith("{"):
            said = json.loads(done.stdout)
            return (said["oracle"], said["first_failed"], why(said)) if said["failed"] else None
        if runs == 1:
            return (CRASH, first, CRASH)
        for seed in range(first, first + runs):
            if failure := self.first_failure(off, plan, seed, 1):
                return failure
        return None

    def failures(self, off, runs):
        """Every failure in the first runs of each plan, a plan after the other."""
        for plan in self.plans:
            seed = 1
            while seed <= runs:
                failure = self.first_failure(off, plan, seed, runs - seed + 1)
                if failure is None:
                    break
                yield (*failure, plan)
                seed = failure[1] + 1

    def reasons(self, off, runs):
        """Why runs with these off fail."""
        if off not in self.reasons_of:
            self.reasons_of[off] = {reason for _, _, reason, _ in self.failures(off, runs)}
        return self.reasons_of[off]

    def sound(self, plan, seed):
        """A run that fails with every guard on proves nothing of any of them."""
        failure = self.first_failure((), plan, seed, 1)
        if failure is not None:
            sys.exit(f"with every guard on, seed {seed} of {plan} fails ({failure[0]}): mend that first")

    def hunt(self, guard, runs):
        for oracle, seed, _, plan in self.failures((guard,), runs):
            self.sound(plan, seed)
            return Caught(guard, (), oracle, seed, plan)
        for others in BACKUPS.get(guard, []):
            known = None
            for oracle, seed, reason, plan in self.failures((guard, *others), runs):
                known = self.reasons(others, runs) if known is None else known
                if reason not in known:
                    self.sound(plan, seed)
                    return Caught(guard, others, oracle, seed, plan)
        return None

    def still(self, row):
        """Does the run that was written down still fail, and without the backups not in the same way?"""
        self.sound(row.plan, row.run)
        failure = self.first_failure((row.guard, *row.others), row.plan, row.run, 1)
        if failure is None or not row.others:
            return failure is not None
        without = self.first_failure(row.others, row.plan, row.run, 1)
        return without is None or without[2] != failure[2]


def tests():
    """The test that holds each guard, by docs/guards.md."""
    with open(GUARDS_PAGE, encoding="utf-8") as file:
        return dict(re.findall(r"^\| `([a-z_]+)` \|.*\| `(Guard_\w+)` \|$", file.read(), re.M))


def read_page():
    if not os.path.exists(PAGE):
        return [], []
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    caught = [
        Caught(guard, tuple(re.findall(r"[a-z_]+", others)), oracle, int(run), plan)
        for guard, others, oracle, run, plan in ROW.findall(text)
    ]
    return caught, [guard for guard in UNSEEN_ROW.findall(text)]


def tell(guard, found):
    if found is None:
        return f"{guard}: nobody"
    others = f" with {', '.join(found.others)} off too" if found.others else ""
    return f"{guard}: {found.oracle}, run {found.run} of {found.plan}{others}"


def summary(rows):
    runs = sorted(row.run for row in rows)
    alone = sum(1 for row in rows if not row.others)
    return alone, len(rows) - alone, int(statistics.median(runs)), runs[-1]


def write(rows, missed, runs, plans):
    held = tests()
    alone, together, median, most = summary(rows)
    lines = [
        "# Which oracle notices that a guard is off",
        "",
        "Written by `tests/simulation/mutants.py hunt BINARY --write` and held by ctest `simulation_mutants`. Each",
        f"guard of [guards.md](guards.md) is switched off, and up to {runs} seeds of each plan of `trueup simulate`",
        f"are run until an oracle objects: {', '.join(plans)}.",
        "",
        f"Of {len(rows) + len(missed)} guards {alone} are noticed alone, {together} only together with others that keep the",
        f"same thing, and {len(missed)} in no run. Runs until then: median {median}, most {most}.",
        "",
        "## Noticed",
        "",
        "Where others had to be off too, nothing is noticed for that reason with these alone: they keep the same thing.",
        f"`{CRASH}` is a check of the product's own that ended the process.",
        "",
        "| guard | only with these off too | oracle | run | plan |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        others = " ".join(f"`{other}`" for other in row.others)
        lines.append(f"| `{row.guard}` | {others}{' ' if others else ''}| {row.oracle} | {row.run} | {row.plan} |")
    lines += [
        "",
        "## Noticed in no run",
        "",
        "A test holds the guard; the simulator lacks a plan that needs it, or an oracle that looks.",
        "",
        "| guard | held by | why no run needs it |",
        "|---|---|---|",
    ]
    lines += [f"| `{guard}` | `{held.get(guard, '–')}` | {UNSEEN.get(guard, '?')} |" for guard in missed]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def hunt(simulator, options):
    wanted = options.only or guards()
    rows, missed = [], []
    with ThreadPoolExecutor(options.jobs) as pool:
        for guard, found in zip(wanted, pool.map(lambda g: simulator.hunt(g, options.runs), wanted)):
            print(tell(guard, found), flush=True)
            if found:
                rows.append(found)
            else:
                missed.append(guard)
    if rows:
        print("%d alone, %d with others, median run %d, most %d" % summary(rows))
    if not options.write:
        return 0
    if options.only:  # the others stay as they are
        before, unseen = read_page()
        rows = sorted(rows + [row for row in before if row.guard not in wanted])
        missed = sorted(missed + [guard for guard in unseen if guard not in wanted])
    write(rows, missed, options.runs, simulator.plans)
    unsaid = [guard for guard in missed if guard not in UNSEEN]
    if unsaid:
        print("no reason is given for: " + ", ".join(unsaid))
    return 1 if unsaid else 0


def check(simulator, options):
    rows, unseen = read_page()
    complaints = [f"{guard} is not in docs/mutants.md" for guard in guards()
                  if guard not in unseen and all(row.guard != guard for row in rows)]
    stale = 0

    def again(row):
        return row if simulator.still(row) else simulator.hunt(row.guard, max(options.runs, 2 * row.run))

    with ThreadPoolExecutor(options.jobs) as pool:
        for row, found in zip(rows, pool.map(again, rows)):
            if found is None:
                complaints.append(f"nobody notices {row.guard} any more; it was {tell(row.guard, row)}")
            elif found != row:
                stale += 1
                print(f"another run now: {tell(row.guard, found)}")
    for complaint in complaints:
        print(complaint)
    print(f"{len(rows)} guards, {stale} of them in another run than docs/mutants.md says")
    return 1 if complaints else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("hunt", "check"))
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    simulator = Simulator(options.binary)
    return {"hunt": hunt, "check": check}[options.what](simulator, options)


if __name__ == "__main__":
    sys.exit(main())
