"""Proves G7 on real servers: an instance that is ended loses its pod, then the service and the ingress
of its name, and only then its row says that it stops. Nobody else's are touched.
"""

import scenario
import scenes
import serving
from audit import engine_writes


class Served(serving.Serving):
    def test_an_instance_is_ended_whole_G7(self):
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.write_config()
        self.add_sources("termination_requested: {mode: enforce}")
        ended, lives = self.pair(), self.pair()
        uids = [self.serve(event.pod_name) for event in (ended, lives)]
        engine = self.engine = self.make_engine()
        engine.start()
        subject = f"graph-instances/{ended.pod_name}"
        engine.until("both are known", lambda: engine.metric("trueup_subjects") is not None, 20)
        for entry in ended.pods.values():
            entry[1] = scenes.DELETED
        ended.expect_row(ended.first_row, {"status": "stopping"})
        code, said = self.trueup("terminate", subject, "-o", "json")
        self.assertEqual((code, said["state"]), (0, "granted"), said)
        self.keep(ended, lives)
        self.prove(engine)
        self.assertEqual(self.served(ended.pod_name), [None, None])
        self.assertEqual(self.served(lives.pod_name), uids[1])
        self.check_order(uids[0], subject)

    def check_order(self, uids, subject):
        """Pod, service, ingress, row; each deletion by its very uid."""
        commands = self.engine.seen(kind="command", subject=subject)
        actions = list(dict.fromkeys((c["action"], c["target"]) for c in commands))
        self.assertEqual(
            [action for action, _ in actions],
            ["delete_pod", "delete_object", "delete_object", "update_row"],
        )
        self.assertEqual([target for _, target in actions[1:3]], uids)
        writes = engine_writes(
            self.up.env["KUBE_AUDIT_LOG"], "engine", self.table.meta["audit_from"]
        )
        deleted = [
            (w["objectRef"]["resource"], w["requestObject"]["preconditions"]["uid"])
            for w in writes
            if w["objectRef"]["resource"] != "pods"
        ]
        self.assertEqual(deleted, [("services", uids[0]), ("ingresses", uids[1])])


if __name__ == "__main__":
    scenario.main()
