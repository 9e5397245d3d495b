"""Proves G17 on real servers, with the times that nobody has to set: six orphans of both phases are
gone within five minutes of both sides being observed, and nothing else is touched.
"""

import time

import scenario
import scenes

DEFAULTS = {"idle": "15s", "stale_after": "45s", "grace": "60s", "create_window": "30s"}
LIMIT = 300  # seconds


class Defaults(scenario.Scenario):
    def test_each_orphan_is_gone_within_five_minutes_G17(self):
        self.make_world(without=[scene.name for scene in scenes.WRONG])
        self.write_config(**DEFAULTS)
        engine = self.make_engine()
        engine.start()
        began = time.monotonic()
        left = {}
        for number in range(6):
            slug, phase = scenes.make_slug(self.rng), "Running" if number < 3 else "Failed"
            labels = {"app": scenes.APPS[number % 2]}
            pod = self.kube.create_pod(scenes.NAMESPACE, f"wrapper-{slug}", labels, phase)
            self.table.add_pod("defaults", "wrong", "no row owns it", pod, scenes.DELETED)
            left[pod["metadata"]["name"]] = pod["metadata"]["uid"]
        took = self.wait_for_each(engine, left, began)
        self.assertEqual(len(took), 6)
        self.assertGreaterEqual(min(took), 60, "the grace is 60 s")
        print("gone after " + ", ".join(f"{seconds:.0f} s" for seconds in took))
        self.prove(engine)
        code, _ = engine.end()
        self.assertEqual(code, 0)

    def wait_for_each(self, engine, left, began):
        """Seconds until each of these pods was gone."""
        took = []

        def gone():
            for name in list(left):
                pod = self.kube.pod(scenes.NAMESPACE, name)
                if pod is None or pod["metadata"]["uid"] != left[name]:
                    del left[name]
                    took.append(time.monotonic() - began)
            return not left

        engine.until("every orphan is gone", gone, LIMIT)
        return took


if __name__ == "__main__":
    scenario.main()
