"""Proves that a role may be played by a query, here over a JSON column and a join: what it answers is proven and
looked up before each write, by a role that may only SELECT; what it fails to answer, or answers empty
by mistake, makes no rule act; and nobody writes it.
"""

import shlex

import maps
import scenario

SPACE = "query-maps"

POLICY = """\
policy: accounts
language: 1
subject: the name of an account's map
roles:
  maps: {kind: object, key: name, live: {deleting: false}}
  accounts: {kind: row, key: map, live: {state: [active, on_leave]}, fields: {state: [active, on_leave, left], map: text}}
rules:
  left_account:
    finds: account has left, its map is there
    when: {maps: one, accounts: {one: {state: left}}}
    grace: 3s
    do: {delete: maps}
  unowned_map:
    finds: map of no account
    when: {maps: one, accounts: none}
    grace: 3s
    create_window: 2s
    do: {delete: maps}
"""

CONFIG = """\
version: 1
bus: {{embedded: {{}}, max_clock_step: 1s, max_broker_skew: 0s}}
state_dir: {state_dir}
sources:
  maps:
    kubernetes: {{kubeconfig: {kubeconfig}, namespace: {space}, resource: v1/configmaps, selector: of=tests}}
    heartbeat: {{idle: 2s, active: 1s}}
  accounts:
    postgres:
      conninfo: "{conninfo}"
      query: |
        SELECT s.id, s.map, u.data ->> 'state' AS state  -- what an account says of itself
        FROM public.query_spaces s JOIN public.query_users u ON u.id = s.user_id;
      primary_key: [id]
    heartbeat: {{idle: 2s, active: 1s}}
policies:
  - name: accounts
    file: accounts.yaml
    roles: {{maps: maps, accounts: accounts}}
    rules:
      left_account: {{mode: enforce, grace: 3s}}
      unowned_map: {{mode: enforce, grace: 3s, create_window: 2s}}
    stale_after: 8s
executors:
  delete_object: {{sources: [maps]}}
http: {{listen: "127.0.0.1:0"}}
"""


class Query(maps.Maps):
    NAME = "query"
    SPACES = (SPACE,)

    def setUp(self):
        super().setUp()
        self.pg.sql(
            """
            CREATE TABLE public.query_users (id bigint PRIMARY KEY, data jsonb NOT NULL);
            CREATE TABLE public.query_spaces (id bigserial PRIMARY KEY, user_id bigint, map text);
            CREATE ROLE query_reader LOGIN PASSWORD 'reader';
            GRANT SELECT ON public.query_users, public.query_spaces TO query_reader;
            """
        )
        fields = dict(word.split("=", 1) for word in shlex.split(self.up.env["PG_OWNER"]))
        fields |= {"user": "query_reader", "password": "reader"}
        text = CONFIG.format(
            state_dir=self.state_dir, kubeconfig=self.up.env["KUBE_ENGINE_CONFIG"], space=SPACE,
            conninfo=" ".join(f"{key}={value}" for key, value in fields.items()),
        )  # fmt: skip
        self.write_files(("accounts.yaml", POLICY), text)

    def clear(self):
        super().clear()
        self.pg.sql(
            """
            DROP TABLE IF EXISTS public.query_spaces, public.query_users, public.query_kept;
            DO $$ BEGIN
              IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'query_reader') THEN
                DROP OWNED BY query_reader; DROP ROLE query_reader;
              END IF;
            END $$;
            """
        )

    # ---------------------------------------------------------------- making
    def account(self, number, state):
        self.pg.sql(
            f"""
            INSERT INTO public.query_users VALUES ({number}, '{{"state": "{state}"}}');
            INSERT INTO public.query_spaces (user_id, map) VALUES ({number}, 'map-{number}');
            """
        )
        self.map(SPACE, f"map-{number}")

    def becomes(self, number, state):
        self.pg.sql(f"UPDATE public.query_users SET data = '{{\"state\": \"{state}\"}}' WHERE id = {number}")

    # ---------------------------------------------------------------- tests
    def test_a_role_may_be_a_query(self):
        for number in range(1, 7):
            self.account(number, "active" if number % 2 else "on_leave")
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        engine = self.make_engine()
        engine.start()
        self.becomes(2, "left")
        engine.until("the map of who left goes", lambda: "map-2" not in self.maps(SPACE), 60)
        self.map(SPACE, "map-of-nobody")
        engine.until("the map of nobody goes", lambda: "map-of-nobody" not in self.maps(SPACE), 60)

        # A column that is not there any more: nothing is known, nothing is done.
        self.pg.sql("ALTER TABLE public.query_users RENAME COLUMN data TO details")
        self.map(SPACE, "map-later")
        engine.until("it says so", lambda: "data does not exist" in str(engine.readiness()), 60)
        self.assertIn("map-later", self.maps(SPACE))
        self.pg.sql("ALTER TABLE public.query_users RENAME COLUMN details TO data")
        engine.until("the later map goes", lambda: "map-later" not in self.maps(SPACE), 60)

        # A join that is empty by mistake: no map is deleted for it.
        began = engine.mark()
        self.pg.sql("CREATE TABLE public.query_kept AS TABLE public.query_users; TRUNCATE public.query_users")
        engine.until("it is not believed", lambda: "quarantin" in str(engine.readiness()), 60)
        self.pg.sql("INSERT INTO public.query_users TABLE public.query_kept; DROP TABLE public.query_kept")
        engine.until("it is believed", lambda: "quarantin" not in str(engine.readiness()), 60)
        self.assertEqual(engine.seen(began, event="command_ended"), [])
        self.assertEqual(engine.end()[0], 0)
        self.assertEqual(self.maps(SPACE), [f"map-{number}" for number in (1, 3, 4, 5, 6)])

    def test_nobody_writes_a_query(self):
        self.account(1, "active")
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text.replace("executors:\n", "executors:\n  update_row: {source: accounts}\n"))
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertNotEqual(code, 0, said)
        self.assertIn("which is a query and can only be read", said)


if __name__ == "__main__":
    scenario.main()
