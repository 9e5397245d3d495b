"""Proves that keys and tokens are exchanged while `trueup up` runs (design §4.15): commands that the
new key signed are carried out, a token that was taken away lets nobody in, and a file that is bad
changes nothing.
"""

import os
import urllib.error
import urllib.request

import scenario

NOTICED = 20  # seconds; it looks every five


class Keys(scenario.Scenario):
    def test_keys_and_tokens_change_while_it_runs(self):
        self.start_with_nothing_wrong()
        engine = self.engine
        old_token = self.read("tokens").split()[-1]
        self.assertEqual(self.ask(old_token), 200)
        for name in ("commands", "requests"):
            self.write(name, f"fresh-{name} {'5a' * 32}\n{self.read(name)}")
        self.write("tokens", "local admin " + "7b" * 16 + "\n")
        for name in ("commands", "requests", "tokens"):
            self.until_said(f"keys/{name} was read again")
        self.assertEqual((self.ask(old_token), self.ask("7b" * 16)), (401, 200))

        lost_pod = self.pair()
        self.lose_pod(lost_pod)
        self.keep(lost_pod)
        self.prove(engine)
        self.assertIn(b"fresh-commands", self.log_bytes())

        self.write("commands", "fresh-commands 5a\n")
        self.until_said("what was read before stays in force")
        lost_row = self.pair()
        self.lose_row(lost_row)
        self.keep(lost_row)
        self.prove(engine)
        self.assertEqual(engine.log().count("stays in force"), 1)

    def path(self, name):
        return os.path.join(self.state_dir, "keys", name)

    def read(self, name):
        with open(self.path(name), encoding="ascii") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def until_said(self, words):
        self.engine.until(f"'{words}'", lambda: words in self.engine.log(), NOTICED)

    def ask(self, token):
        """The status of a look at the findings with that token."""
        with open(os.path.join(self.state_dir, "http.addr"), encoding="ascii") as file:
            url = f"http://{file.read().strip()}/v1/findings"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def log_bytes(self):
        parts = []
        for folder, _, names in os.walk(os.path.join(self.state_dir, "policies", "graph-instances", "log")):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    parts.append(file.read())
        return b"\n".join(parts)


if __name__ == "__main__":
    scenario.main()
