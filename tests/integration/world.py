#!/usr/bin/env -S python3 -B
"""Makes a world of pods and rows in real servers, acts on it, and checks what became of it.

This is not the engine and knows nothing of it. The servers come from tools/services/kube and
tools/services/postgres; their addresses from the env file that these write.

  world.py make --table table.json --seed 1       the world before the engine starts
  world.py config --state-dir D --out trueup.yaml the engine's configuration for it
  world.py during --table table.json --seconds 60 timed events while the engine runs
  world.py check --table table.json --wait 120 --stable 5
  world.py audit --table table.json               the engine's writes, by the servers' own logs
"""

import argparse
import os
import random
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor

import acts
import audit
import check
import scenes
import timeline
from kube import Kube, KubeError
from pg import SLOT, PgError, Postgres
from table import Table

SHIPPED = "use: graph-instances"
EMBEDDED = "{embedded: {}, max_clock_step: 1s, max_broker_skew: 0s}"

CONFIG = """\
version: 1
bus: {bus}
state_dir: {state_dir}
memory: 256MiB
sources:
  pods:
    kubernetes:
      kubeconfig: {kubeconfig}
      namespace: {namespace}
      selector: "app in ({apps})"
    heartbeat: {{idle: {idle}, active: 2s}}{expect}
  rows:
    postgres:
      conninfo: "{conninfo}"
      table: public.instances
      publication: trueup
      slot: {slot}
    heartbeat: {{idle: {idle}, active: 2s}}{expect}
policies:
  - name: graph-instances
    {policy}
    roles: {{pods: pods, rows: rows}}
    rules:
      orphaned_pod: {{mode: {mode}, grace: {grace}, create_window: {create_window}{budget}}}
      missing_pod: {{mode: {mode}, grace: {grace}, create_window: {create_window}{budget}}}
      status_drift: {{mode: {mode}{budget}}}
    stale_after: {stale_after}
executors:
  delete_pod: {{source: pods}}
  update_row: {{source: rows}}
http: {{listen: "{listen}"}}
"""


def read_env(path):
    """The exports of an env file, over the environment."""
    env = dict(os.environ)
    with open(path, encoding="utf-8") as file:
        for word in shlex.split(file.read(), comments=True):
            name, equals, value = word.partition("=")
            if equals:
                env[name] = value
    return env


def default_env_file():
    home = os.path.expanduser(os.environ.get("TRUEUP_CACHE", "~/.cache/trueup"))
    run = os.path.join(home, "run", os.environ.get("TRUEUP_INSTANCE", "default"))
    return os.path.join(os.environ.get("TRUEUP_SERVICES_RUN", run), "services.env")


class Servers:
    """Both servers, each connected on first use."""

    def __init__(self, path):
        self.env = read_env(path)
        self._kube = self._pg = None

    @property
    def kube(self):
        self._kube = self._kube or Kube(self.env)
        return self._kube

    @property
    def pg(self):
        self._pg = self._pg or Postgres(self.env)
        return self._pg


# ------------------------------------------------------------------ the world
def make(args, servers):
    kube, pg = servers.kube, servers.pg
    for namespace in (scenes.NAMESPACE, scenes.ELSEWHERE):
        kube.make_namespace(namespace)
        kube.clear_pods(namespace)
    pg.make_schema(args.slot)
    log = servers.env.get("KUBE_AUDIT_LOG")
    audit_from = os.path.getsize(log) if log and os.path.exists(log) else 0
    meta = {"seed": args.seed, "namespace": scenes.NAMESPACE, "audit_from": audit_from}
    table = Table(args.table, meta)
    rng = random.Random(args.seed)
    pods, rows = [], []
    for scene, kind in scenes.chosen(args.without, args.extra):
        for _ in range(scene.count * args.scale):
            slug = scenes.make_slug(rng)
            label = (scene.name, kind, scene.why)
            for spec in scene.objects:
                if isinstance(spec, scenes.Pod):
                    pods.append((label, slug, spec, random.Random(rng.random())))
                else:
                    rows.append((label, *scenes.row_of_spec(rng, slug, spec)))
    rng.shuffle(rows)
    with ThreadPoolExecutor(8) as pool:
        made = pool.map(lambda p: scenes.make_pod(kube, p[3], p[1], p[2]), pods)
        for (label, _, spec, _), pod in zip(pods, made):
            table.add_pod(*label, pod, spec.after)
    for (label, _, after), row in zip(rows, pg.insert_all([row for _, row, _ in rows])):
        table.add_row(*label, row, after)
    table.save()
    print(f"made {table.summary()}; table {args.table}")
    return 0


def during(args, servers):
    table = Table.load(args.table)
    count = timeline.play(
        table,
        servers.kube,
        servers.pg,
        seconds=args.seconds,
        seed=args.seed,
        count=args.events,
        grace=args.grace,
        without=args.without,
    )
    table.save()
    for note in table.notes:
        print(note)
    print(f"played {count} events; now {table.summary()}")
    return int(any(note.startswith("FAILED") for note in table.notes))


def check_world(args, servers):
    table = Table.load(args.table)
    found = check.wait_until_right(table, servers.kube, servers.pg, args.wait, args.stable)
    for note in table.notes:
        print(f"note: {note}")
    for line in found:
        print(f"DIFFERS {line}")
    if found:
        print(f"{len(found)} of {len(table.pods) + len(table.rows)} objects differ")
        return 1
    for line in check.unknown(table, servers.kube, servers.pg):
        print(f"note: not in the table: {line}")
    print(f"all as expected: {table.summary()}")
    return 0


def audit_log(args, servers):
    path = args.log or servers.env.get("KUBE_AUDIT_LOG")
    if not path:
        raise SystemExit("no audit log: start the servers with KUBE_AUDIT=1")
    table = Table.load(args.table) if args.table else None
    sound = audit.report(path, args.user, table)
    return 0 if audit.report_rows(servers.pg, table) and sound else 1


def config(args, servers):
    text = CONFIG.format(
        bus=args.bus,
        state_dir=args.state_dir,
        kubeconfig=servers.env["KUBE_ENGINE_CONFIG"],
        namespace=scenes.NAMESPACE,
        apps=", ".join(scenes.APPS),
        conninfo=servers.env["PG_REPL"],
        slot=args.slot,
        mode=args.mode,
        grace=args.grace,
        create_window=args.create_window,
        budget=f", budget: {args.budget}" if args.budget else "",
        idle=args.idle,
        stale_after=args.stale_after,
        expect="" if args.expect is None else f"\n    expect: {{at_least: {args.expect}}}",
        policy=args.policy,
        listen=args.listen,
    )
    with open(args.out, "w", encoding="utf-8", opener=private) as file:
        file.write(text)
    return 0


def private(path, flags):
    return os.open(path, flags, 0o600)


# ------------------------------------------------------------------ command line
def parser():
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--env", default=default_env_file(), help="env file of tools/services")
    common.add_argument("--slot", default=SLOT)
    with_table = argparse.ArgumentParser(add_help=False)
    with_table.add_argument("--table", "--out", default="table.json", help="default table.json")
    top = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name, run, about, *parents):
        added = commands.add_parser(name, parents=[common, *parents], help=about, description=about)
        added.set_defaults(run=run)
        return added

    p = command("make", make, "make the world anew, and its table", with_table)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--scale", type=int, default=1, help="how many times each scene")
    p.add_argument("--without", nargs="*", default=[], metavar="SCENE")
    p.add_argument("--with", nargs="*", default=[], metavar="SCENE", dest="extra")

    p = command("during", during, "play timed events and add them to the table", with_table)
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--events", type=int, default=0, help="default one a second, each kind once")
    p.add_argument("--grace", type=float, default=3.0, help="seconds, as in the configuration")
    p.add_argument("--without", nargs="*", default=[], metavar="EVENT")

    for name, wait in (("check", 0), ("wait", 120)):
        p = command(name, check_world, "compare the servers with the table", with_table)
        p.add_argument("--wait", type=float, default=wait, help=f"seconds to try (default {wait})")
        p.add_argument("--stable", type=float, default=0, help="must still agree seconds later")

    p = command("audit", audit_log, "check the engine's writes by the servers' own logs")
    p.add_argument("--log", help="default: the one of the env file")
    p.add_argument("--table", help="also check which pods were deleted")
    p.add_argument("--user", default="engine")

    p = command("config", config, "write the engine's configuration")
    p.add_argument("--state-dir", required=True)
    p.add_argument("--bus", default=EMBEDDED, help="as the configuration has it")
    p.add_argument("--out", default="trueup.yaml")
    p.add_argument("--mode", default="enforce")
    p.add_argument("--grace", default="3s")
    p.add_argument("--create-window", default="2s")
    p.add_argument("--budget", default="", help="of each rule, as {max: 5, window: 1m}")
    p.add_argument("--idle", default="15s", help="pace of progress while nothing waits")
    p.add_argument("--stale-after", default="45s")
    p.add_argument("--expect", help="expect.at_least of each source (default: the product's, 1)")
    p.add_argument("--policy", default=SHIPPED, help="which text, as 'file: /a/policy.yaml'")
    p.add_argument("--listen", default="127.0.0.1:0")

    p = command("uncorrelated", acts.uncorrelated, acts.uncorrelated.__doc__)
    p.add_argument("action", choices=("add", "remove"))

    p = command("pod", acts.pod, "one act on one pod; prints what it is then")
    p.add_argument(
        "action", choices=("create", "recreate", "delete", "phase", "label", "release", "get")
    )
    p.add_argument("name")
    p.add_argument("value", nargs="?", help="PHASE of phase, NAME=VALUE of label")
    p.add_argument("--namespace", default=scenes.NAMESPACE)
    p.add_argument("--app", default=scenes.APPS[0], help="label app; empty for none")
    p.add_argument("--phase", default="Running")
    p.add_argument("--finalizer", action="store_true", help="so that a deletion does not end")
    p.add_argument("--row", nargs="?", const="running", metavar="STATUS", help="also its row")

    p = command("row", acts.row, acts.row.__doc__)
    p.add_argument("action", choices=("insert", "update", "get", "delete"))
    p.add_argument("words", nargs="*", metavar="ID|COLUMN=VALUE")

    p = command("sql", acts.sql, "run SQL as the superuser")
    p.add_argument("text")

    p = command("slot", acts.slot, "the replication slot: drop it, kill its walsender, show it")
    p.add_argument("action", choices=("drop", "kill", "get"))
    return top


def main():
    args = parser().parse_args()
    try:
        return args.run(args, Servers(args.env))
    except (KubeError, PgError, OSError) as error:
        print(f"world.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
