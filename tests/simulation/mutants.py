#!/usr/bin/env python3
"""Which oracle of the simulator notices that a safety guard is missing, and after how many runs.

    mutants.py hunt BINARY [--runs N] [--jobs N] [--only GUARD...] [--write]
    mutants.py check BINARY [--runs N] [--jobs N]

BINARY is `trueup` of a build with TRUEUP_MUTANTS=ON. A guard is switched off alone and, where nobody
notices, together with the guards that keep the same thing (BACKUPS). That proves something about it only if
its backups alone are not noticed for the same reason.

hunt   looks through the first N seeds of each plan; --write puts what it found into the last column of
       docs/guards.md. Where it finds nothing, the reason stays that stands there; where none does, write one.
check  repeats the runs that docs/guards.md names, and hunts where one no longer fails. A guard that the page
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
PAGE = os.path.join(ROOT, "docs", "guards.md")
FOLDERS = ("api", "apps", "connectors", "engine", "executors", "projections", "sandbox")
SWITCH = re.compile(r'TRUEUP_GUARD\("([a-z_]+)"\)')
# A guard's row: all up to the last cell, the guard, the last cell.
ROW = re.compile(r"^(\| `([a-z_]+)` \|.*\| `Guard_\w+` \|) (.*) \|$", re.M)
NOTICED = re.compile(r"([a-z]+), run (\d+) of ([a-z-]+)(?:, with ((?:`[a-z_]+` )+)off too)?")
NO_RUN = "no run: "
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


def read_page():
    """What docs/guards.md says is noticed, and the guards of which it says why none is needed."""
    with open(PAGE, encoding="utf-8") as file:
        rows = ROW.findall(file.read())
    caught, unseen = [], []
    for _, guard, cell in rows:
        if noticed := NOTICED.fullmatch(cell):
            oracle, run, plan, others = noticed.groups()
            caught.append(Caught(guard, tuple(re.findall(r"[a-z_]+", others or "")), oracle, int(run), plan))
        elif cell.startswith(NO_RUN) and cell != NO_RUN + "?":
            unseen.append(guard)
    return caught, unseen


def write_page(found):
    """Of each guard that was hunted what noticed it, None: nothing."""

    def cell(row):
        before, guard, now = row.groups()
        if guard in found and found[guard]:
            now = noticed(found[guard])
        elif guard in found and not now.startswith(NO_RUN):
            now = NO_RUN + "?"
        return f"{before} {now} |"

    with open(PAGE, encoding="utf-8") as file:
        text = ROW.sub(cell, file.read())
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


def noticed(row):
    others = "".join(f"`{other}` " for other in row.others)
    return f"{row.oracle}, run {row.run} of {row.plan}" + (f", with {others}off too" if others else "")


def tell(guard, found):
    if found is None:
        return f"{guard}: nobody"
    others = f" with {', '.join(found.others)} off too" if found.others else ""
    return f"{guard}: {found.oracle}, run {found.run} of {found.plan}{others}"


def summary(rows):
    runs = sorted(row.run for row in rows)
    alone = sum(1 for row in rows if not row.others)
    return alone, len(rows) - alone, int(statistics.median(runs)), runs[-1]


def hunt(simulator, options):
    wanted = options.only or guards()
    found = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for guard, row in zip(wanted, pool.map(lambda g: simulator.hunt(g, options.runs), wanted)):
            print(tell(guard, row), flush=True)
            found[guard] = row
    rows = [row for row in found.values() if row]
    if rows:
        print("%d alone, %d with others, median run %d, most %d" % summary(rows))
    if not options.write:
        return 0
    write_page(found)
    caught, unseen = read_page()
    unsaid = [guard for guard in wanted if guard not in unseen and all(row.guard != guard for row in caught)]
    if unsaid:
        print("docs/guards.md gives no reason for: " + ", ".join(unsaid))
    return 1 if unsaid else 0


def check(simulator, options):
    rows, unseen = read_page()
    complaints = [f"{guard} is not in docs/guards.md, or it says neither by what it is noticed nor why not" for guard in guards()
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
    print(f"{len(rows)} guards, {stale} of them in another run than docs/guards.md says")
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
