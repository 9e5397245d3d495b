"""The frame of tests whose objects are config maps: they cost nothing, and nothing else makes any."""

import contextlib

import scenario
from kube import KubeError

RBAC = "/apis/rbac.authorization.k8s.io/v1"
LABELS = {"of": "tests"}


class Maps(scenario.Scenario):
    NAME = ""  # of the cluster role
    SPACES = ()
    RULES = ({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "delete"]},)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.clear)
        self.clear()
        self.give_rights()
        for space in self.SPACES:
            self.kube.make_namespace(space)

    def clear(self):
        for space in self.SPACES:
            with contextlib.suppress(KubeError, OSError):  # many take longer than a call may
                self.kube.call("DELETE", f"{self.folder_of(space)}?labelSelector=of%3Dtests")
        for path in (f"{RBAC}/clusterrolebindings/{self.NAME}", f"{RBAC}/clusterroles/{self.NAME}"):
            with contextlib.suppress(KubeError):
                self.kube.call("DELETE", path)

    def give_rights(self):
        group = "rbac.authorization.k8s.io"
        self.create(f"{RBAC}/clusterroles", f"{group}/v1", "ClusterRole", self.NAME, rules=list(self.RULES))
        self.create(
            f"{RBAC}/clusterrolebindings", f"{group}/v1", "ClusterRoleBinding", self.NAME,
            roleRef={"apiGroup": group, "kind": "ClusterRole", "name": self.NAME},
            subjects=[{"apiGroup": group, "kind": "User", "name": "engine"}],
        )  # fmt: skip

    def create(self, folder, version, kind, name, labels=None, **more):
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": labels or {}}}
        self.kube.call("POST", folder, body | more)

    @staticmethod
    def folder_of(space):
        return f"/api/v1/namespaces/{space}/configmaps"

    def map(self, space, name, **labels):
        self.create(self.folder_of(space), "v1", "ConfigMap", name, LABELS | labels)

    def maps(self, space):
        try:
            path = f"{self.folder_of(space)}?labelSelector=of%3Dtests"
            return sorted(each["metadata"]["name"] for each in self.kube.call("GET", path)["items"])
        except KubeError:
            return []

    def write_files(self, policy, text):
        """`policy` is (name of the file, text)."""
        for path, content in ((f"{self.folder}/{policy[0]}", policy[1]), (self.config, text)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)


class MapsAndRows(Maps):
    """Beside the maps tables with their names and what is said of them; the publication, the slot and the
    rights of who reads one are called after it."""

    MORE = ()  # tables, by what their names have behind the first one's

    def setUp(self):
        super().setUp()
        for more in ("", *self.MORE):
            self.pg.sql(
                f"""
                CREATE TABLE {self.rows_table(more)} (id bigserial PRIMARY KEY, name text, state text NOT NULL);
                ALTER TABLE {self.rows_table(more)} REPLICA IDENTITY FULL;
                CREATE PUBLICATION {self.rows_slot(more)} FOR TABLE {self.rows_table(more)};
                GRANT SELECT, UPDATE (state) ON {self.rows_table(more)} TO repl;
                """
            )

    def clear(self):
        super().clear()
        for more in ("", *self.MORE):
            self.pg.drop_slot(self.rows_slot(more))
            self.pg.sql(
                f"DROP PUBLICATION IF EXISTS {self.rows_slot(more)}; DROP TABLE IF EXISTS {self.rows_table(more)};"
            )

    def rows_table(self, more=""):
        return f"public.{self.NAME}{more}"

    def rows_slot(self, more=""):
        return f"trueup_{self.NAME}{more}"

    def row(self, name, state="active", more=""):
        self.pg.sql(f"INSERT INTO {self.rows_table(more)} (name, state) VALUES ('{name}', '{state}')")

    def state_of(self, name, more=""):
        return self.pg.sql(f"SELECT state FROM {self.rows_table(more)} WHERE name = '{name}'")
