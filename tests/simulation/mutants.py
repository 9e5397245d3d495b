#!/usr/bin/env python3
"""Switches the safety guards off one by one and says which oracle of the simulator notices, and after how
many runs.

    mutants.py BINARY [--runs N] [--only GUARD...] [--write FILE]

BINARY is `trueup` of a build with TRUEUP_MUTANTS=ON. A guard that no run misses is said to be missed by
nobody: the tests of docs/guards.md hold it all the same.
"""

import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("engine", "connectors", "executors")
SWITCH = re.compile(r'TRUEUP_GUARD\("([a-z_]+)"\)')


def guards():
    found = set()
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".h", ".cpp")):
                    with open(os.path.join(place, name), encoding="utf-8") as file:
                        found.update(SWITCH.findall(file.read()))
    return sorted(found)


def hunt(binary, guard, runs):
    """The oracle that noticed first, and in which run; None, None: nobody did."""
    for plan in ("standard", "people", "faults"):
        command = [binary, "simulate", "--runs", str(runs), "--plan", plan]
        done = subprocess.run(
            [*command, "--no-shrink", "-o", "json"],
            env={**os.environ, "TRUEUP_MUTANT": guard},
            capture_output=True,
            text=True,
            check=False,
        )
        if not done.stdout.startswith("{"):
            return "crash", 1, plan
        said = json.loads(done.stdout)
        if said["failed"]:
            return said["oracle"], said["first_failed"], plan
    return None, None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--write")
    options = parser.parse_args()
    rows = []
    for guard in options.only or guards():
        oracle, run, plan = hunt(options.binary, guard, options.runs)
        print(f"{guard}: {f'{oracle}, run {run} of {plan}' if oracle else 'nobody'}", flush=True)
        rows.append((guard, oracle, run, plan))
    caught = sorted(run for _, oracle, run, _ in rows if oracle)
    if caught:
        print(f"{len(caught)} of {len(rows)}; runs: median {caught[len(caught) // 2]}, most {caught[-1]}")
    if options.write:
        write(options.write, rows, options.runs)
    return 0


def write(path, rows, runs):
    with open(path, "w", encoding="utf-8") as file:
        file.write("# Which oracle misses which guard\n\n")
        file.write(
            "Written by `tests/simulation/mutants.py` from a build with `TRUEUP_MUTANTS=ON`: each guard of\n"
            f"[guards.md](guards.md) is switched off, and up to {runs} runs of each plan are carried out.\n\n"
        )
        file.write("| guard | oracle | run | plan |\n|---|---|---|---|\n")
        for guard, oracle, run, plan in rows:
            file.write(f"| `{guard}` | {oracle or '–'} | {run or ''} | {plan or ''} |\n")


if __name__ == "__main__":
    sys.exit(main())
