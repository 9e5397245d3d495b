"""Proves over a real broker that brokers that do not answer at the start are waited for: the HTTP
side is there and says so, a stop is followed, and once they answer the work begins.
"""

import re
import signal
import unittest

import brokered
from proxy import Proxy


class KafkaStarting(brokered.Brokered):
    def setUp(self):
        super().setUp()
        self.new_bus(1)
        self.proxy = Proxy(int(self.bootstrap.rsplit(":", 1)[1]))
        self.addCleanup(self.proxy.close)
        self.write_config(bus=self.bus(1, bootstrap=f"127.0.0.1:{self.proxy.port}"))

    def launch_without_brokers(self):
        self.proxy.refuse()
        engine = self.launch_engine()
        engine.until("it says so", lambda: "no answer from the brokers" in engine.readiness()[1], 60)
        code, text = engine.readiness()
        print(text.strip())
        self.assertEqual(code, 503)
        self.assertIn("it is still starting: ", text)
        self.assertEqual(engine.get("/healthz")[0], 200)
        self.assertEqual(engine.get("/v1/findings")[0], 503, "no finding would be a lie")
        self.assertEqual(engine.metric("trueup_starting"), 1)
        return engine

    def test_brokers_that_come_late_are_waited_for(self):
        engine = self.launch_without_brokers()
        self.proxy.open()
        engine.until("the journal is read", lambda: "has not delivered" in engine.readiness()[1], 60)
        self.assertEqual(engine.get("/v1/findings")[0], 200)
        self.assertEqual(engine.metric("trueup_starting"), 0)
        self.end_engine(engine)

    def test_a_stop_is_followed_while_no_broker_answers(self):
        engine = self.launch_without_brokers()
        code, took = engine.end(signal.SIGTERM, 15)
        self.assertEqual(code, 0, engine.trace())
        print(f"stopped within {took:.1f} s")
        said = [line for line in engine.log().splitlines() if re.search("; retrying", line)]
        self.assertEqual(len(said), 1, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
