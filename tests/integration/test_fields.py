"""Proves on real servers that what a source's `fields` hashes or drops is nowhere in the clear
(design §4.15): not in the journal, not in the topics, the feed or the log, and not by way of a
server's error, while equal texts keep equal hashes and the rules go on repairing.
"""

import hashlib
import hmac
import os

import scenario
import scenes

KUBERNETES = "      fields: {label.team: hash}\n"
POSTGRES = """\
      columns: [status, pod_name, url_slug, owner_slack_channel]
      fields: {owner_email: hash, pod_ip: drop}
"""


class Fields(scenario.Scenario):
    def test_a_hashed_field_is_nowhere_in_the_clear(self):
        self.make_world(seed=5, without=[scene.name for scene in scenes.WRONG])
        self.pg.sql(
            "ALTER TABLE public.instances ADD CHECK (name <> 'stubborn' OR status <> 'failed')"
        )
        self.choose_fields()
        copied = {"owner_email": self.word(), "owner_slack_channel": self.word()}
        streamed = {"owner_email": self.word(), "pod_ip": self.word()}
        kept, lost_row, lost_pod, stubborn = (self.event() for _ in range(4))
        for event in (kept, lost_row, lost_pod):
            event.first_row = event.row(**copied)
        stubborn.first_row = stubborn.row(name="stubborn", **copied)
        team = self.word()
        for event in (kept, lost_row, lost_pod, stubborn):
            event.pod()
            event.label(team=team)
        engine = self.make_engine()
        engine.start()
        kept.update(kept.first_row, **streamed)
        self.lose_row(lost_row)
        self.lose_pod(lost_pod)
        stubborn.delete_pod()
        refused = engine.wait_event(kind="outcome", outcome="failed")
        self.assertIn("violates check constraint", refused["text"])
        self.keep(kept, lost_row, lost_pod, stubborn)
        self.prove(engine)
        engine.end()

        hidden = {copied["owner_email"], streamed["owner_email"], streamed["pod_ip"], team}
        shown = {copied["owner_slack_channel"]}
        hashes = {self.hash_of(w) for w in hidden - {streamed["pod_ip"]}}
        everything = self.everything(engine)
        self.assertEqual({w for w in shown | hashes if w.encode() not in everything}, set())
        self.assertEqual({w for w in hidden if w.encode() in everything}, set())
        print(f"looked through {len(everything)} bytes for {len(hidden)} hidden words")

    def choose_fields(self):
        self.write_config()
        with open(self.config, encoding="utf-8") as file:
            lines = file.readlines()
        with open(self.config, "w", encoding="utf-8") as file:
            for line in lines:
                more = {"selector:": KUBERNETES, "table:": POSTGRES}
                file.write(line + more.get(line.split()[0], ""))

    def word(self):
        """A text that is nowhere else; also a label's value."""
        return f"w{self.rng.getrandbits(96):024x}"

    def hash_of(self, word):
        with open(os.path.join(self.state_dir, "keys", "fields"), encoding="ascii") as file:
            key = bytes.fromhex(file.read().split()[1])
        return hmac.new(key, word.encode(), hashlib.sha256).hexdigest()[:32]

    def everything(self, engine):
        """What is kept, and all that was said."""
        parts = [engine.log().encode(), repr(engine.events).encode()]
        for folder, _, names in os.walk(self.state_dir):
            for path in (os.path.join(folder, name) for name in names):
                if not os.path.isfile(path):
                    continue  # the engine's socket keeps nothing
                with open(path, "rb") as file:
                    parts.append(file.read())
        return b"\n".join(parts)


if __name__ == "__main__":
    scenario.main()
