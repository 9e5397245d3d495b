"""Proves that many policies run in one process, and a resource with many objects, over real servers: each stray goes,
and nothing else. Prints how long it took, and what memory the process had.

  TRUEUP_SCALE_POLICIES  how many policies (default 6)
  TRUEUP_SCALE_OBJECTS   how many objects of one resource (default 3000)
"""

import concurrent.futures
import http.client
import json
import os
import sys
import time

import maps
import scenario

POLICIES = int(os.environ.get("TRUEUP_SCALE_POLICIES", "6"))
OBJECTS = int(os.environ.get("TRUEUP_SCALE_OBJECTS", "3000"))
WRITERS = 4
SPACES = [f"scale-{number}" for number in range(POLICIES)]  # two policies may not act on one object

POLICY = """\
policy: scale
language: 1
subject: the name of a map
roles:
  maps: {kind: object, key: name, live: {deleting: false}}
  rows: {kind: row, key: name}
rules:
  unowned_map:
    finds: map of no row
    when: {maps: one, rows: none}
    grace: 3s
    create_window: 2s
    do: {delete: maps}
"""

HEAD = """\
version: 1
bus: {{embedded: {{}}, max_clock_step: 1s, max_broker_skew: 0s}}
state_dir: {state_dir}
memory: 1GiB
http: {{listen: "127.0.0.1:0"}}
"""
SOURCE = """\
  maps-{number}:
    kubernetes: {{kubeconfig: {kubeconfig}, namespace: scale-{number}, resource: v1/configmaps, selector: of=tests}}
    heartbeat: {{idle: 3s, active: 2s}}
  rows-{number}:
    postgres:
      conninfo: "{conninfo}"
      query: SELECT name FROM public.scale WHERE policy = {number}
      primary_key: [name]
    heartbeat: {{idle: 3s, active: 2s}}
"""
ONE = """\
  - name: p{number}
    file: scale.yaml
    roles: {{maps: maps-{number}, rows: rows-{number}}}
    rules:
      unowned_map: {{mode: enforce, grace: 3s, create_window: 2s}}
    stale_after: 60s
"""


class Scale(maps.Maps):
    NAME = "scale"
    SPACES = SPACES

    def clear(self):
        super().clear()
        self.pg.sql("DROP TABLE IF EXISTS public.scale")

    def configure(self, policies):
        self.pg.sql(
            "CREATE TABLE public.scale (policy int, name text PRIMARY KEY); GRANT SELECT ON public.scale TO repl"
        )
        values = {"state_dir": self.state_dir, "kubeconfig": self.up.env["KUBE_ENGINE_CONFIG"]}
        values["conninfo"] = self.up.env["PG_REPL"]
        text = HEAD.format(**values) + "sources:\n"
        text += "".join(SOURCE.format(number=number, **values) for number in range(policies))
        text += "policies:\n" + "".join(ONE.format(number=number) for number in range(policies))
        names = ", ".join(f"maps-{number}" for number in range(policies))
        text += f"executors:\n  delete_object: {{sources: [{names}]}}\n"
        self.write_files(("scale.yaml", POLICY), text)

    def make(self, number, names):
        """Many maps, over few connections."""

        def write(some):
            connection = http.client.HTTPSConnection(
                self.kube._host, self.kube._port, context=self.kube._tls(), timeout=60
            )
            for name in some:
                body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": maps.LABELS}}
                connection.request(
                    "POST", self.folder_of(SPACES[number]), json.dumps(body), {"Content-Type": "application/json"}
                )
                answer = connection.getresponse()
                answer.read()
                if answer.status != 201:
                    raise AssertionError(f"{name}: {answer.status}")
            connection.close()

        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(write, [names[i::WRITERS] for i in range(WRITERS)]))

    def say(self, what, began, engine):
        text = f"{what}: {time.monotonic() - began:.0f} s, {engine.rss() / 2**20:.0f} MiB resident"
        print(text, file=sys.stderr)

    # ---------------------------------------------------------------- tests
    def test_many_policies_in_one_process(self):
        self.configure(POLICIES)
        for number in range(POLICIES):
            self.pg.sql(f"INSERT INTO public.scale SELECT {number}, 'map-{number}-' || i FROM generate_series(1, 4) i")
            self.make(number, [f"map-{number}-{i}" for i in range(1, 5)])
        engine = self.make_engine()
        began = time.monotonic()
        engine.start(ready_within=60 + 2 * POLICIES)
        for number in range(POLICIES):
            self.make(number, [f"stray-{number}"])
        kept = [[f"map-{number}-{i}" for i in range(1, 5)] for number in range(POLICIES)]
        engine.until("all strays go", lambda: [self.maps(space) for space in SPACES] == kept, 120)
        self.say(f"{POLICIES} policies", began, engine)
        self.assertEqual(engine.end(within=30)[0], 0)
        self.assertEqual(len(engine.logged("command_ended")), POLICIES)

    def test_many_objects_of_one_resource(self):
        self.configure(1)
        self.pg.sql(f"INSERT INTO public.scale SELECT 0, 'map-' || i FROM generate_series(1, {OBJECTS}) i")
        self.make(0, [f"map-{i}" for i in range(1, OBJECTS + 1)])
        engine = self.make_engine()
        began = time.monotonic()
        engine.start(ready_within=120 + OBJECTS / 500)
        self.make(0, ["stray"])
        engine.until("the stray goes", lambda: engine.logged("command_ended"), 120)
        self.say(f"{OBJECTS} objects", began, engine)
        self.assertEqual(engine.end(within=60)[0], 0)
        self.assertEqual([one["subject"] for one in engine.logged("command_ended")], ["p0/stray"])


if __name__ == "__main__":
    scenario.main()
