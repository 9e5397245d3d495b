#!/usr/bin/env python3
"""kill -9 of the whole process, again and again, over the sandbox (C1, C2, C3, C12).

Each round starts `trueup demo` over one state folder and kills it at a random moment, or right
after a finding, a command or an outcome was printed. Beside what goes wrong while it runs, between
rounds a row or a pod goes or a pod fails, unseen, and one time in four the projection is lost: a
checkpoint, which may have been in the making at the kill, or the whole journal replaces it (C8). In
the end it runs calmly until nothing is wrong, and is checked:

  - state = fold of the journal, accepted items = all items, belief = truth (verify_state.cpp);
  - effects: the script of the world depends on when the process is killed, so there is no
    undisturbed run to compare with. What an undisturbed run would have done follows from the
    world's own history instead (world_file.py): at each accepted write its cause must have been
    there, nothing may be written twice, and at the end nothing may be wrong.

A seed repeats the world's chances and the moments, not the machine's timing.
"""
import argparse
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from world_file import World

LONGEST_ROUND = 7.0
CALM_LIMIT = 120.0
STAYS_RIGHT = 4.0
FEWEST = 5
KINDS = ("orphan", "vanish", "orphan", "fail")


class Demo:
    """One process, its output read by a thread."""

    def __init__(self, args, state, calm=False):
        command = [args.trueup, "--log-level", "error", "demo", "--state-dir", state, "--seed",
                   str(args.seed), "-o", "json"] + (["--calm"] if calm else [])
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            try:
                self.lines.put(json.loads(line))
            except ValueError:
                pass  # cut by the kill
        self.lines.put(None)

    def wait_for(self, kind, seconds):
        """True once a line of this kind was printed; None: just the time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                line = self.lines.get(timeout=left)
            except queue.Empty:
                return False
            if line is None:
                self.fail("ended by itself")
            if line["kind"] == kind:
                return True
        return False

    def end(self, how):
        self.process.send_signal(how)
        code = self.process.wait(60)
        self.reader.join(10)
        return code

    def fail(self, what):
        self.process.kill()
        self.process.wait()
        self.errors.seek(0)
        sys.exit(f"the demo {what}:\n{self.errors.read().decode(errors='replace')}")


def make_trouble(state, number, chance):
    """Something happens in the world while no process is there."""
    path = os.path.join(state, "world.jsonl")
    if not os.path.exists(path):
        return  # killed before its world began
    world = World().read(path)
    healthy = world.healthy()
    if len(healthy) <= FEWEST:
        return
    row, pod = chance.choice(sorted(healthy, key=lambda pair: pair[0]["id"]))
    act = world.trouble(KINDS[number % len(KINDS)], row, pod)
    with open(path, "rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)  # a torn last line never happened
        file.seek(0, os.SEEK_END)
        file.write(json.dumps(act, separators=(",", ":")).encode() + b"\n")


def lose_rows(state):
    policy = os.path.join(state, "policies", "graph-instances")
    shutil.rmtree(os.path.join(policy, "projection"), ignore_errors=True)
    made = os.path.join(state, "checkpoints", "graph-instances")
    there = os.listdir(made) if os.path.isdir(made) else []
    named = [name for name in there if name.count("-") == 2]
    return "projection lost, " + ("with a checkpoint" if named else "without one")


def kill_rounds(args, state, chance):
    moments = {}
    for number in range(args.rounds):
        if number > 0:
            make_trouble(state, number, chance)
        if number > 0 and chance.random() < 0.25:
            what = lose_rows(state)
            moments[what] = moments.get(what, 0) + 1
        demo = Demo(args, state)
        kind = chance.choice([None, None, "finding", "command", "outcome"])
        longest = chance.uniform(0.05, 1.5) if chance.random() < 0.3 else \
            chance.uniform(3.0, LONGEST_ROUND)
        hit = demo.wait_for(kind, longest)
        time.sleep(chance.uniform(0, 0.02))
        if demo.process.poll() is not None:
            demo.fail("ended by itself")
        demo.end(signal.SIGKILL)
        name = f"after a {kind}" if hit else "at some time"
        moments[name] = moments.get(name, 0) + 1
    return moments


def calm_down(args, state):
    """Runs without new trouble until the world stays right for a while."""
    demo = Demo(args, state, calm=True)
    path = os.path.join(state, "world.jsonl")
    end = time.monotonic() + CALM_LIMIT
    right_since = None
    wrong = []
    while time.monotonic() < end:
        demo.wait_for(None, 0.5)
        wrong = World().read(path).wrong() if os.path.exists(path) else ["there is no world yet"]
        now = time.monotonic()
        right_since = None if wrong else (right_since or now)
        if right_since and now - right_since >= STAYS_RIGHT:
            break
    else:
        subprocess.run([args.trueup, "findings", "list", "--state-dir", state], check=False)
        demo.fail("did not put everything right: " + "; ".join(wrong))
    if code := demo.end(signal.SIGINT):
        demo.fail(f"ended with exit code {code}")


def verify(args, state):
    world = World().read(os.path.join(state, "world.jsonl"))
    checked = subprocess.run([args.verify, "--state-dir", state, "--seed", str(args.seed)],
                             stdout=subprocess.PIPE, check=False)
    try:
        report = json.loads(checked.stdout)
    except ValueError:
        report = {"problems": [f"verify_state ended with {checked.returncode}"], "counts": {}}
    problems = world.problems + world.wrong() + report["problems"]
    if checked.returncode and not report["problems"]:
        problems.append(f"verify_state ended with {checked.returncode}")
    if args.rounds >= 30 and len(world.deletes) + len(world.updates) < 6:
        problems.append("hardly anything was repaired: the rounds prove too little")
    print(f"effects: {len(world.deletes)} pods deleted, {sum(world.updates.values())} rows failed, "
          f"refused {dict(world.refused)}")
    print(f"state: {report['counts']}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trueup", required=True)
    parser.add_argument("--verify", required=True, help="the verify_state binary")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0, help="0: a fresh one")
    parser.add_argument("--keep", action="store_true", help="keep the state folder")
    args = parser.parse_args()
    args.seed = args.seed or random.SystemRandom().randrange(1, 1 << 31)
    print(f"seed {args.seed}, {args.rounds} rounds", flush=True)
    state = tempfile.mkdtemp(prefix="trueup-kill-")
    began = time.monotonic()
    moments = kill_rounds(args, state, random.Random(args.seed))
    print(f"rounds {moments}", flush=True)
    calm_down(args, state)
    problems = verify(args, state)
    print(f"{time.monotonic() - began:.0f} s")
    for problem in problems:
        print("PROBLEM:", problem)
    if problems or args.keep:
        print("state folder:", state)
    else:
        shutil.rmtree(state)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
