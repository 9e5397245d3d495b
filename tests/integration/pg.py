"""A small client of PostgreSQL, for tests: it runs psql, as the superuser `owner`."""

import json
import os
import shlex
import shutil
import subprocess

# The columns of public.instances, in order, with their types.
COLUMNS = {
    "id": "bigserial PRIMARY KEY",
    "name": "text",
    "owner_username": "text",
    "owner_email": "text",
    "owner_slack_channel": "text",
    "url_slug": "text",
    "status": "text NOT NULL",
    "pod_name": "text",
    "pod_ip": "text",
    "instance_url": "text",
    "error_code": "text",
    "error_message": "text",
    "stack_trace": "text",
    "created_at": "timestamptz NOT NULL DEFAULT now()",
    "ttl": "text",
    "last_activity_at": "timestamptz",
    "inactivity_timeout": "text",
    "memory_usage_bytes": "bigint",
}
SLOT = "trueup_rows"


class PgError(Exception):
    """psql failed; the text is what it said."""


class Postgres:
    """Runs SQL. Safe to use from several threads: each call is a psql of its own."""

    def __init__(self, env):
        fields = dict(word.split("=", 1) for word in shlex.split(env["PG_OWNER"]))
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER"}
        names |= {"password": "PGPASSWORD", "dbname": "PGDATABASE"}
        self._env = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        self._env |= {names[k]: v for k, v in fields.items()}
        self._env |= {"PGTZ": "UTC", "PGOPTIONS": "-c client_min_messages=warning"}
        beside_server = os.path.join(env.get("PG_BIN", ""), "psql")
        self._psql = beside_server if os.path.exists(beside_server) else shutil.which("psql")
        if not self._psql:
            raise PgError("no psql: tools/services/install gets it")

    def sql(self, text):
        """Runs statements, each in its own transaction unless they say BEGIN; returns the
        output, columns parted by |."""
        result = subprocess.run(
            [self._psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"],
            input=text,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if result.returncode != 0:
            raise PgError(result.stderr.strip())
        return result.stdout.rstrip("\n")

    # ---------------------------------------------------------------- schema
    def make_schema(self, slot=SLOT):
        """The table, empty, and its publication. Drops an older table and an idle slot. Updates
        by anybody but `owner` are written down in public.instance_writes."""
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        self.drop_slot(slot)
        self.sql(
            f"""
            BEGIN;
            DROP PUBLICATION IF EXISTS trueup;
            DROP TABLE IF EXISTS public.instances, public.instance_writes;
            CREATE TABLE public.instances ({columns});
            ALTER TABLE public.instances REPLICA IDENTITY FULL;
            CREATE PUBLICATION trueup FOR TABLE public.instances;
            GRANT SELECT, UPDATE ON public.instances TO repl;
            CREATE TABLE public.instance_writes
              (at timestamptz DEFAULT clock_timestamp(), id bigint, before jsonb, after jsonb);
            CREATE OR REPLACE FUNCTION public.write_down() RETURNS trigger SECURITY DEFINER
              LANGUAGE plpgsql AS $$ BEGIN
              INSERT INTO public.instance_writes (id, before, after)
              VALUES (OLD.id, to_jsonb(OLD), to_jsonb(NEW));
              RETURN NULL;
            END $$;
            CREATE TRIGGER write_down AFTER UPDATE ON public.instances FOR EACH ROW
              WHEN (session_user <> 'owner') EXECUTE FUNCTION public.write_down();
            COMMIT;
            """
        )

    def drop_slot(self, slot=SLOT):
        """Drops the slot, ending its reader first; no error if there is none."""
        self.kill_walsender(slot)
        self.sql(
            f"""
            DO $$ BEGIN
              FOR i IN 1..100 LOOP
                PERFORM FROM pg_replication_slots WHERE slot_name = {quote(slot)} AND active;
                EXIT WHEN NOT FOUND;
                PERFORM pg_sleep(0.05);
              END LOOP;
              PERFORM pg_drop_replication_slot(slot_name) FROM pg_replication_slots
               WHERE slot_name = {quote(slot)};
            END $$;
            """
        )

    def kill_walsender(self, slot=SLOT):
        """Terminates the server process that streams the slot; returns how many there were."""
        query = "SELECT count(pg_terminate_backend(active_pid)) FROM pg_replication_slots"
        return int(self.sql(f"{query} WHERE slot_name = {quote(slot)} AND active_pid IS NOT NULL"))

    # ---------------------------------------------------------------- rows
    def rows(self, where="true"):
        """The rows as dictionaries, by id."""
        text = self.sql(
            "SELECT coalesce(json_agg(row_to_json(i) ORDER BY id), '[]')"
            f" FROM public.instances i WHERE {where}"
        )
        return json.loads(text)

    def row(self, row_id):
        """The row, or None."""
        found = self.rows(f"id = {int(row_id)}")
        return found[0] if found else None

    def foreign_writes(self):
        """Each update of a row by anybody but `owner`, oldest first: id, before, after."""
        query = "SELECT coalesce(json_agg(w ORDER BY at), '[]') FROM public.instance_writes w"
        return json.loads(self.sql(query))

    def insert(self, row):
        """Inserts one row given by column; returns it as stored."""
        return self.insert_all([row])[0]

    def insert_all(self, rows):
        """Inserts rows in one transaction; returns them as stored."""
        return self.write([insert_statement(row) for row in rows])

    def update(self, row_id, changes):
        """Changes some columns; returns the row as stored, or None if there is no such row."""
        assignments = ", ".join(f"{name} = {quote(value)}" for name, value in changes.items())
        where = f"WHERE id = {int(row_id)} RETURNING row_to_json(i)"
        found = self.write([f"UPDATE public.instances i SET {assignments} {where}"])
        return found[0] if found else None

    def delete(self, row_id):
        self.sql(delete_statement(row_id))

    def write(self, statements):
        """Runs statements in one transaction; returns the rows that they return."""
        output = self.sql("BEGIN;\n" + ";\n".join(statements) + ";\nCOMMIT;")
        return [json.loads(line) for line in output.splitlines()]


def insert_statement(row):
    names = ", ".join(row)
    values = ", ".join(quote(value) for value in row.values())
    return f"INSERT INTO public.instances AS i ({names}) VALUES ({values}) RETURNING row_to_json(i)"


def delete_statement(row_id):
    return f"DELETE FROM public.instances WHERE id = {int(row_id)}"


def quote(value):
    """An SQL literal; None is NULL."""
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
