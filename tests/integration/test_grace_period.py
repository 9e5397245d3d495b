"""Proves on a real API server how long a deleted pod has to end (G1): as long as it says itself, or
as its rule says.
"""

import scenario
import scenes

OWN = 60  # seconds


class GracePeriod(scenario.Scenario):
    def delete_orphan(self, rule=""):
        """The grace period in force of an orphan that gives itself OWN seconds, once the engine with
        these words in the rule has deleted it."""
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.write_config()
        words = "orphaned_pod: {mode: enforce, "
        self.edit_config({words: words + rule})
        engine = self.make_engine()
        engine.start()
        name = f"wrapper-{scenes.make_slug(self.rng)}"
        # On a node, or it is gone at once; there is none, so that nobody ends it.
        spec = {"nodeName": "nowhere", "terminationGracePeriodSeconds": OWN}
        pod = self.kube.create_pod(scenes.NAMESPACE, name, {"app": scenes.APPS[0]}, spec=spec)
        self.addCleanup(self.kube.kill_pod, scenes.NAMESPACE, name)
        self.table.add_pod("grace period", "wrong", "no row owns it", pod, scenes.DELETED)

        def metadata():
            return self.kube.pod(scenes.NAMESPACE, name)["metadata"]

        engine.until("it is being deleted", lambda: "deletionTimestamp" in metadata(), 60)
        period = metadata()["deletionGracePeriodSeconds"]
        self.kube.kill_pod(scenes.NAMESPACE, name)
        self.prove(engine)
        self.assertEqual(engine.end()[0], 0)
        return period

    # Each pod was given 30 s, whatever it said.
    def test_a_pod_has_the_time_that_it_gives_itself_G1(self):
        self.assertEqual(self.delete_orphan(), OWN)

    def test_the_rule_may_say_another_G1(self):
        self.assertEqual(self.delete_orphan("grace_period: 5s, "), 5)


if __name__ == "__main__":
    scenario.main()
