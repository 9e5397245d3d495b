#!/usr/bin/env -S python3 -B
"""Runs clang-tidy-14 on the product's sources, each only when it or a header of ours changed.
Which remarks it makes, and that locks are held (engine/base/mutex.h), is said in .clang-tidy.

  clang_tidy.py --build build/asan [--jobs 2] [--budget SECONDS] [FILE...]

A clean file is stamped in ${TRUEUP_CACHE:-~/.cache/trueup}/tidy by a hash of all that it is made
of: the source, the headers of this repository that it includes, .clang-tidy, the compile command
and clang-tidy's version. Those that changed last come first. After --budget seconds no further file
is begun; those left are named, and the next run goes on from there.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tidy import ROOT, product_files, read

TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-14")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', flags=re.M)
# The analyzer gives a function up after so many states. Its default, 225,000, doubles the time of
# a run and finds nothing more here.
ANALYZER = ["-Xclang", "-analyzer-config", "-Xclang", "max-nodes=30000"]
# gcc's, or of builds for which clang is not the compiler
FOREIGN = re.compile(r"-fsanitize\S*|-fno-sanitize\S*|--coverage|-Werror")


def headers(path, seen):
    """Adds `path` and all files of the repository that it includes to `seen`."""
    if path in seen or not os.path.isfile(os.path.join(ROOT, path)):
        return
    seen.add(path)
    for included in INCLUDE.findall(read(path)):
        headers(included, seen)


def commands(build):
    """{source: its compile command without what clang does not need}"""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        words = shlex.split(entry["command"])
        if os.path.basename(words[0]) == "ccache":
            words = words[1:]
        found[path] = [word for word in words if not FOREIGN.fullmatch(word)]
    return found


def parts_of(path):
    """The source and all files of the repository that it includes."""
    seen = set()
    headers(path, seen)
    return seen


def stamp_of(parts, command, common):
    hashed = hashlib.sha256(common)
    relative = " ".join(command).replace(ROOT, ".")
    hashed.update(relative.encode())
    for file in sorted(parts):
        hashed.update(file.encode() + b"\0" + read(file).encode() + b"\0")
    return hashed.hexdigest()


def tidy_file(path, command):
    """(whether it is clean, clang-tidy's words)"""
    at = command.index("-o")
    options = [word for word in command[1:at] + command[at + 2 :] if word != "-c"]
    options = [word for word in options if not word.endswith(path)]
    done = subprocess.run(
        [TIDY, "--quiet", path, "--", *options, *ANALYZER],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode == 0, done.stdout if "error:" in done.stdout else done.stdout + done.stderr


def changed_last():
    """{file: how many commits ago it changed}; 0: it is not committed yet"""
    log = subprocess.run(["git", "log", "-500", "--format=%x00", "--name-only"], cwd=ROOT,
                         capture_output=True, text=True, check=False).stdout  # fmt: skip
    ages = {}
    for age, commit in enumerate(log.split("\0")[1:], 1):
        for path in commit.split():
            ages.setdefault(path, age)
    for words in (["diff", "--name-only", "HEAD"], ["ls-files", "-o", "--exclude-standard"]):
        changed = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True,
                                 check=False).stdout  # fmt: skip
        ages |= dict.fromkeys(changed.split(), 0)
    return ages


class Run:
    """One run over many files, with progress and a budget of time."""

    def __init__(self, args, cache):
        self.args, self.cache = args, cache
        self.deadline = time.monotonic() + args.budget if args.budget else None
        self.done, self.bad, self.left = 0, [], []

    def one(self, job):
        path, command, stamp, count = job
        if self.deadline and time.monotonic() > self.deadline:
            self.left.append(path)
            return
        clean, words = tidy_file(path, command)
        self.done += 1
        if clean:
            open(os.path.join(self.cache, stamp), "w", encoding="utf-8").close()
        else:
            self.bad.append(path)
            print(words, flush=True)
        if self.done % 10 == 0:
            print(f"{self.done} of {count}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True, help="a configured build folder")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, help="seconds (default: until all is done)")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    cache = os.environ.get("TRUEUP_CACHE") or os.path.expanduser("~/.cache/trueup")
    cache = os.path.join(cache, "tidy")
    os.makedirs(cache, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    common = version + read(".clang-tidy").encode() + " ".join(ANALYZER).encode()
    known = commands(args.build)
    wanted = [os.path.relpath(os.path.abspath(path), ROOT) for path in args.files]
    sources = wanted or [p for p in product_files() if p.endswith(".cpp") and p in known]
    parts = {path: parts_of(path) for path in sources}
    jobs = [(path, known[path], stamp_of(parts[path], known[path], common)) for path in sources]
    ages = changed_last()
    fresh = [job for job in jobs if not os.path.exists(os.path.join(cache, job[2]))]
    fresh.sort(key=lambda job: min(ages.get(part, len(ages)) for part in parts[job[0]]))
    print(f"{len(jobs)} sources, {len(jobs) - len(fresh)} unchanged since they were clean", flush=True)
    run = Run(args, cache)
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(run.one, [(*job, len(fresh)) for job in fresh]))
    if run.left:
        print(f"no time for {len(run.left)}: {' '.join(run.left)}; another run goes on from there")
    print(f"{run.done} looked at, {len(run.bad)} with remarks: {' '.join(run.bad) or 'none'}")
    return 1 if run.bad else 0


if __name__ == "__main__":
    sys.exit(main())
