"""Proves that no fault of the Kubernetes API is read as an absence, and that what went wrong
meanwhile is repaired afterwards (S3, S5, S11, S13).

The engine reaches the API through a relay, so that its connections can be cut or silenced. Every
outage lasts longer than the grace.
"""

import os
import shutil
import time

import faults
import scenario
import scenes
from kube import KubeError

PODS = f"/api/v1/namespaces/{scenes.NAMESPACE}/pods"


class KubernetesFaults(faults.Faults):
    server = "kube"
    source = "pods"
    blind_rule = "missing_pod"

    def make_proxy(self):
        return self.kube_proxy()

    def test_restart_and_crash_of_the_apiserver_S3(self):
        before = self.pair()
        scenario.service("kube", "restart")
        self.lose_pod(before)
        self.heal(before)
        lost_row, starts = self.pair(), self.event()
        self.until_ready()
        scenario.service("kube", "kill")
        self.lose_row(lost_row)
        starts.row("starting", after=scenes.disappeared(starts.pod_name))
        self.fail_for(faults.OUTAGE)
        scenario.service("kube", "restart")
        self.heal(lost_row, starts)

    def test_watch_cut_and_watch_deaf_S11(self):
        lost = [self.pair() for _ in range(2)]
        for _ in range(5):
            self.proxy.cut()
            time.sleep(0.3)
        self.lose_pod(lost[0])
        self.heal(lost[0])
        self.assertGreater(self.proxy.deafen(), 0)
        self.lose_pod(lost[1])
        orphan = self.event()
        orphan.pod(after=scenes.DELETED)
        self.heal(lost[1], orphan, seconds=180)  # each deaf connection may cost a call's 30 s

    def test_pods_deleted_offline_are_found_after_410_gone_S11(self):
        lost, stays = [self.pair() for _ in range(4)], self.pair()
        orphan = self.event()
        self.until_ready()
        epochs = self.epochs()
        version = self.kube.call("GET", PODS)["metadata"]["resourceVersion"]
        self.proxy.freeze()  # the watch must go on from where it was, and not be listed anew
        for event in lost:
            self.lose_pod(event)
        orphan.pod(after=scenes.DELETED)
        scenario.service("kube", "expire")
        self.assertEqual(self.answer_to_a_watch_from(version), 410)
        self.proxy.open()
        self.proxy.cut()
        self.heal(*lost, orphan, stays)
        self.assertIn("410", self.engine.log())
        self.assertGreater(self.epochs(), epochs)

    def answer_to_a_watch_from(self, version):
        """The code that the API gives a watch from this resourceVersion."""
        query = f"watch=1&timeoutSeconds=1&resourceVersion={version}"
        try:
            return self.kube.call("GET", f"{PODS}?{query}")["object"].get("code", 200)
        except KubeError as error:
            return error.code

    def test_crash_of_etcd_after_which_the_api_is_silent_S3(self):
        lost_row = self.pair()
        scenario.service("kube", "kill", "etcd")
        self.lose_row(lost_row)
        self.fail_for(faults.OUTAGE)
        scenario.service("kube", "restart")
        lost_pod = self.pair()
        self.lose_pod(lost_pod)
        self.heal(lost_row, lost_pod)

    def test_etcd_restored_from_a_backup_S13(self):
        comes_back, lost_row = self.pair(), self.pair()
        self.until_ready()
        backup = os.path.join(self.folder, "etcd")
        data = os.path.join(os.path.dirname(self.up.env["KUBE_ADMIN_CONFIG"]), "etcd")
        self.with_etcd_stopped(lambda: shutil.copytree(data, backup))
        made_since = self.pair()
        comes_back.looks_wrong()
        comes_back.delete_pod()
        self.pg.delete(comes_back.first_row["id"])
        comes_back.looks_right()
        self.heal()

        def restore():
            shutil.rmtree(data)
            shutil.copytree(backup, data)

        self.with_etcd_stopped(restore)
        for entry in comes_back.pods.values():
            entry[1] = scenes.DELETED  # it is there again, and its row is not
        comes_back.expect_row(comes_back.first_row, scenes.ABSENT)
        for entry in made_since.pods.values():
            entry[1] = scenes.GONE
        made_since.expect_row(made_since.first_row, scenes.disappeared(made_since.pod_name))
        self.vouch_for_the_past(lambda: self.lose_row(lost_row))
        self.heal(comes_back, made_since, lost_row)

    def with_etcd_stopped(self, act):
        scenario.service("kube", "kill")
        scenario.service("kube", "kill", "etcd")
        act()
        scenario.service("kube", "restart")

    def test_rights_taken_away_S3_S4(self):
        path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
        binding = self.kube.call("GET", f"{path}/trueup-engine")
        lost_pod, orphan = self.pair(), self.event()
        self.kube.call("DELETE", f"{path}/trueup-engine")
        try:
            self.proxy.cut()  # an open watch would go on
            self.engine.until("the 403 is noticed", lambda: not self.answering(), 30)
            self.lose_pod(lost_pod)
            orphan.pod(after=scenes.DELETED)
            self.fail_for(faults.OUTAGE)
            self.assertIn("403", self.engine.readiness()[1])
        finally:
            binding["metadata"] = {"name": "trueup-engine"}
            self.kube.call("POST", path, binding)
        self.heal(lost_pod, orphan)


if __name__ == "__main__":
    scenario.main()
