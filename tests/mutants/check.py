#!/usr/bin/env python3
"""Puts each mistake back that was found in Trueup, and wants its test to fail.

  check.py             every tests/mutants/*.patch
  check.py NAME...     these
  check.py --list      their names, and what each one did
  check.py --applies   only whether each can still be put back, in a few seconds (tools/check)

A patch begins with what the mistake did, and names the test that notices it: `Test: PROGRAM FILTER`,
a program of the build and its --gtest_filter. It is applied to a copy of the tracked files in
build/findings, so that nothing else is touched; the programs that pass without it must fail with it.
One whose program needs a server (PG_OWNER is not set) is left out, and said to be.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "mutants"
COPY = ROOT / "build" / "findings" / "source"
BUILD = ROOT / "build" / "findings" / "build"
NEEDS = {"postgres_real_test": "PG_OWNER"}
LIMIT = 600  # seconds for a program's run


class Mistake:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        text = path.read_text(encoding="utf-8")
        found = re.search(r"^Test: (\S+) (\S+)$", text, re.MULTILINE)
        if not found:
            raise SystemExit(f"{path}: no line `Test: PROGRAM FILTER`")
        self.program, self.filter = found.groups()
        self.symptom = text[: found.start()].strip().replace("\n", " ")

    def apply(self, back=False):
        command = ["patch", "-p1", "-s", "--no-backup-if-mismatch", "-i", str(self.path)]
        result = subprocess.run(
            command + (["-R"] if back else []), cwd=COPY, capture_output=True, text=True
        )
        return result.returncode == 0, result.stdout + result.stderr


    def applies(self):
        command = ["patch", "-p1", "-s", "-f", "--dry-run", "-i", str(self.path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def copy_tracked():
    """A file that did not change keeps its time, so that little is built again."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    for path in [p for p in COPY.rglob("*") if p.is_file()]:
        if str(path.relative_to(COPY)) not in wanted:
            path.unlink()


def build(*programs):
    """What the compiler said, where it failed; else None."""
    jobs = os.environ.get("TRUEUP_JOBS", str(os.cpu_count()))
    result = subprocess.run(
        ["ninja", "-C", str(BUILD), "-j", jobs, *programs], capture_output=True, text=True
    )
    return None if result.returncode == 0 else result.stdout[-3000:]


def configure():
    flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O0 -g0", "-DTRUEUP_MUTANTS=ON"]
    command = ["cmake", "-G", "Ninja", "-S", str(COPY), "-B", str(BUILD), *flags]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(result.stdout + result.stderr)


def passes(mistake):
    [program] = [p for p in BUILD.rglob(mistake.program) if p.is_file()]
    command = [str(program), f"--gtest_filter={mistake.filter}"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return False, "it did not come to an end"
    ran = re.search(r"\[==========\] (\d+) tests? from .* ran", result.stdout)
    if result.returncode == 0 and (not ran or ran[1] == "0"):
        raise SystemExit(f"{mistake.name}: {mistake.filter} names no test of {mistake.program}")
    failed = re.findall(r"^\[  FAILED  \] (\S+)$", result.stdout, re.MULTILINE)
    return result.returncode == 0, ", ".join(dict.fromkeys(failed)) or f"exit {result.returncode}"


def judge(mistake):
    """(noticed, what to say)."""
    refused = build(mistake.program)  # without the one before
    passed, failed = (False, refused) if refused else passes(mistake)
    if not passed:
        return False, f"fails without it: {failed}"
    applied, said = mistake.apply()
    if not applied:
        return False, f"does not apply any more: {said.strip()}"
    try:
        refused = build(mistake.program)
        if refused:
            return False, f"does not build any more:\n{refused}"
        passed, failed = passes(mistake)
    finally:
        mistake.apply(back=True)
    return (False, "nothing failed") if passed else (True, failed)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--applies", action="store_true")
    args = parser.parse_args()
    known = {path.stem: Mistake(path) for path in sorted(HERE.glob("*.patch"))}
    unknown = [name for name in args.names if name not in known]
    if unknown:
        parser.error(f"there is no {unknown[0]}; --list says which there are")
    chosen = [known[name] for name in args.names or known]
    if args.list:
        for mistake in chosen:
            print(f"{mistake.name}: {mistake.symptom}")
        return 0
    if args.applies:
        lost = [mistake for mistake in chosen if not mistake.applies()]
        for mistake in lost:
            print(f"{mistake.path.relative_to(ROOT)}: does not apply any more; make it anew")
        return 1 if lost else 0
    left_out = [m for m in chosen if NEEDS.get(m.program, "PATH") not in os.environ]
    chosen = [m for m in chosen if m not in left_out]
    copy_tracked()
    configure()
    wrong = 0
    for number, mistake in enumerate(chosen, start=1):
        noticed, said = judge(mistake)
        wrong += not noticed
        word = "noticed" if noticed else "NOT NOTICED"
        print(f"[{number}/{len(chosen)}] {word} {mistake.name}: {said}", flush=True)
    for mistake in left_out:
        print(f"left out {mistake.name}: {mistake.program} needs {NEEDS[mistake.program]}")
    print(f"{len(chosen) - wrong} of {len(chosen)} are noticed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
