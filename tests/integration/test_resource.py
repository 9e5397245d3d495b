"""Proves that a custom resource of a stranger is put right by what stands in it: fields by path, of a
list too, are published, judged, read once more before anything is done, and set.
"""

import boxes
import scenario
from boxes import BOXES, RBAC


class Resource(boxes.Boxes):
    def test_what_stands_in_an_object_decides(self):
        for name in ("well", "drifted", "kept"):
            self.box(name, plan="gold")
            self.row(name, "free" if name == "drifted" else "gold")
        self.row("lost", "free")
        self.box("unwanted", "False", plan="free")
        self.box("busy", plan="free")
        self.box("paid", "False", plan="gold")
        # Unknown, each in its own way: nothing is done to them.
        self.box("silent", "False")
        self.box("odd", "False", plan="silver")
        self.box("strange", "False", plan={"of": "free"})
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        self.assertNotIn("no box has", said)
        self.edit_policy("spec.plan", "spec.paln")
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertIn("no box has spec.paln, which the policy reads as boxes.plan", said)
        self.edit_policy("spec.paln", "spec.plan")
        engine = self.make_engine()
        engine.start()
        engine.until("the unwanted box goes", lambda: not self.has("unwanted"), 60)
        engine.until("the lost row is told", lambda: self.said("lost") == "lost free", 60)
        engine.until("the drifted row follows", lambda: self.said("drifted") == "active gold", 60)
        self.tell("busy", [{"type": "Ready", "status": "False"}])
        engine.until("the box that is ready no more goes", lambda: not self.has("busy"), 60)
        code, said = self.run_trueup("why", "boxes/odd", "--state-dir", self.state_dir)
        self.assertEqual(code, 0, said)
        self.assertIn("unknown_word", said)
        self.assertEqual(engine.end()[0], 0)
        done = sorted(one["subject"] for one in engine.logged("command_ended"))
        self.assertEqual(done, ["boxes/busy", "boxes/drifted", "boxes/lost", "boxes/unwanted"])
        for name in ("well", "kept", "paid", "silent", "odd", "strange"):
            self.assertTrue(self.has(name), name)

    def test_what_is_set_in_an_object_is_set_where_its_path_says(self):
        for name in ("paused", "running", "held", "strange"):
            suspended = {"suspended": {"by": "hand"}} if name == "strange" else {}
            self.box(name, plan="gold", size=3, **suspended)
            self.row(name, "gold", "active" if name == "running" else "paused")
        hold = {"metadata": {"annotations": {"trueup.io/hold": "by hand"}}}
        self.kube.call("PATCH", f"{BOXES}/held", hold, "application/merge-patch+json")
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        engine = self.make_engine()
        engine.start()
        engine.until("the box says so", lambda: self.saw("paused")["status"].get("told") == "paused", 60)
        self.assertEqual(engine.end()[0], 0)
        box = self.saw("paused")
        self.assertEqual(box["spec"], {"plan": "gold", "size": 3, "suspended": True})
        note = box["metadata"]["annotations"]["example.org/note"]
        self.assertEqual(note, "the row of paused is paused")
        self.assertEqual(len(box["status"]["conditions"]), 2, "what nobody set stays")
        for name in ("running", "held"):
            self.assertNotIn("suspended", self.saw(name)["spec"], name)
        self.assertEqual(self.saw("strange")["spec"]["suspended"], {"by": "hand"})
        done = {one["action"] for one in engine.logged("command_ended") if one["outcome"] == "done"}
        self.assertEqual(done, {"update_object", "update_status"})

    def test_a_row_without_a_box_has_one_made(self):
        self.create_boxes()
        for name in ("there", "wanted", "twice"):
            self.row(name, "gold")
        self.row("over", "gold", "lost")
        self.box("there", plan="free")
        self.edit_policy("of: tests}, ", "of: others}, ")
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 2, said)
        self.assertIn("without the label of by which source boxes selects its objects", said)
        self.edit_policy("of: others}, ", "of: tests}, ")
        self.kube.call("DELETE", f"{RBAC}/clusterrolebindings/boxes")
        self.grant(["get", "list", "watch"])
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 2, said)
        self.assertIn("no right to create boxes, which missing_box does; grant the verb create", said)
        self.kube.call("DELETE", f"{RBAC}/clusterrolebindings/boxes")
        self.grant(["get", "list", "watch", "create"])
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        engine = self.make_engine()
        engine.start()
        engine.until("the boxes are made", lambda: self.has("wanted") and self.has("twice"), 60)
        first = self.saw("twice")["metadata"]["uid"]
        self.kube.call("DELETE", f"{BOXES}/twice")
        engine.until("a deleted box is made again", lambda: self.has("twice"), 60)
        self.assertNotEqual(self.saw("twice")["metadata"]["uid"], first)
        # One whose owner is a moment later than its row stays the owner's.
        self.row("owned", "gold")
        self.box("owned", plan="free")
        self.row("later", "gold")
        engine.until("the box later is made", lambda: self.has("later"), 60)
        self.assertEqual(engine.end()[0], 0)
        box = self.saw("wanted")
        row = int(self.pg.sql("SELECT id FROM public.boxes WHERE box = 'wanted'"))
        self.assertEqual(
            box["spec"],
            {"plan": "gold", "size": 3, "sizes": [1, "2"], "conditions": [{"type": "Ready", "id": row}]},
        )
        self.assertEqual((box["kind"], box["metadata"]["labels"]), ("Box", {"of": "tests"}))
        marks = box["metadata"]["annotations"]
        self.assertEqual(marks["example.org/why"], 'the row of "wanted"')
        self.assertRegex(marks["trueup.io/command"], "^[0-9a-f]{32}$")
        for name in ("there", "owned"):
            self.assertEqual(self.saw(name)["spec"], {"plan": "free"}, name)
        self.assertFalse(self.has("over"))
        ended = sorted((one["subject"], one["action"], one["outcome"]) for one in engine.logged("command_ended"))
        made = ("create_object", "done")
        self.assertEqual(
            ended, [(f"boxes/{name}", *made) for name in ("later", "twice", "twice", "wanted")]
        )

    def test_what_the_server_does_not_take_is_said_and_not_made(self):
        self.create_boxes()
        self.edit_policy("labels: {of: tests},", "labels: {of: tests}, finalizers: [no name],")
        for name in ("there", "here"):
            self.box(name, plan="gold")
            self.row(name, "gold")
        self.row("wanted", "gold")
        engine = self.make_engine()
        engine.start()
        engine.until("the refusal is told", lambda: engine.logged("command_ended"), 60)
        self.assertEqual(engine.end()[0], 0)
        one = engine.logged("command_ended")[0]
        self.assertEqual((one["action"], one["outcome"]), ("create_object", "failed"))
        self.assertIn("metadata.finalizers", one["detail"])
        self.assertFalse(self.has("wanted"))

    def test_what_a_command_made_is_taken_back_and_nothing_else(self):
        self.create_boxes(boxes.RETRACTING)
        self.edit_config({
            "{mode: enforce, grace: 3s, create_window: 2s}\n":
                "{mode: enforce, grace: 3s, create_window: 2s}\n"
                "      left_box: {mode: enforce, grace: 3s, create_window: 2s}\n",
            "create_object: {sources: [boxes]}\n":
                "create_object: {sources: [boxes]}\n  retract_record: {sources: [boxes]}\n",
        })  # fmt: skip
        self.box("byhand", plan="gold")
        for name in ("wanted", "finished", "kept"):
            self.row(name, "gold")
        self.kube.call("DELETE", f"{RBAC}/clusterrolebindings/boxes")
        self.grant(["get", "list", "watch", "create"])
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 2, said)
        self.assertIn("no right to delete boxes, which left_box does; grant the verb delete", said)
        self.kube.call("DELETE", f"{RBAC}/clusterrolebindings/boxes")
        self.grant(["get", "list", "watch", "create", "delete"])
        code, said = self.run_trueup("config", "check", "-c", self.config)
        self.assertEqual(code, 0, said)
        engine = self.make_engine()
        engine.start()
        for name in ("wanted", "finished", "kept"):
            engine.until("the boxes are made", lambda name=name: self.has(name), 60)
        finalized = {"metadata": {"finalizers": ["example.org/of-somebody"]}}
        self.kube.call("PATCH", f"{BOXES}/finished", finalized, "application/merge-patch+json")
        self.pg.sql("UPDATE public.boxes SET state = 'lost' WHERE box IN ('wanted', 'finished')")
        # What it owns would stay: that is for the cluster's collector to see to, which nobody runs here.
        engine.until("the box that nobody wants is left to the collector",
                     lambda: self.saw("wanted")["metadata"].get("finalizers") == ["orphan"], 60)  # fmt: skip
        self.let_go("wanted")
        ended = {}

        def all_told():
            ended.update({one["subject"]: one for one in engine.logged("command_ended")
                          if one["action"] == "retract_record"})  # fmt: skip
            return len(ended) == 3

        engine.until("the others are refused", all_told, 60)
        self.assertEqual(engine.end()[0], 0)
        self.assertEqual(ended["boxes/wanted"]["outcome"], "done")
        for name, why in (("byhand", "it was not created by a command"), ("finished", "it has finalizers")):
            self.assertEqual(ended["boxes/" + name]["outcome"], "refused")
            self.assertIn(why, ended["boxes/" + name]["detail"])
        for name in ("byhand", "finished", "kept"):
            self.assertTrue(self.has(name), name)
        self.assertFalse(self.has("wanted"))
        self.let_go("finished")



if __name__ == "__main__":
    scenario.main()
