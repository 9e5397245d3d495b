"""Proves that the JSON Schema of policies (`trueup policy schema`) is the reader's own language: it takes
every policy that is shipped or an example, and whatever it refuses, of thousands of files with one
mistake, the reader refuses, too.

  TRUEUP_BIN   the binary under test
  TRUEUP_SEED  which mistakes are made (default 1)
"""

import copy
import glob
import json
import os
import random
import re
import subprocess
import tempfile
import unittest

import jsonschema
import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SEED = int(os.environ.get("TRUEUP_SEED", "1"))
MISTAKES = 600


class Loader(yaml.SafeLoader):
    """YAML as editors and the reader take it: `on` and `off` are words."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag.rsplit(":", 1)[1] in ("int", "null")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def files(*patterns):
    return sorted(path for each in patterns for path in glob.glob(os.path.join(ROOT, each)))


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader)


def places(node, path=()):
    """Every place of a document, as the keys that lead there."""
    yield path
    children = ()
    if isinstance(node, dict):
        children = node.items()
    elif isinstance(node, list):
        children = enumerate(node)
    for key, child in children:
        yield from places(child, (*path, key))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def unknown_key(document, path):
    if isinstance(at(document, path), dict):
        at(document, path)["zz_zz"] = 1
        return True
    return False


def left_out(document, path):
    if not path:
        return False
    del at(document, path[:-1])[path[-1]]
    return True


def a_map(document, path):
    if not path or isinstance(at(document, path), dict):
        return False
    at(document, path[:-1])[path[-1]] = {"zz_zz": 1}
    return True


def a_list_of_lists(document, path):
    if not path:
        return False
    at(document, path[:-1])[path[-1]] = [[1], [2]]
    return True


def another_word(document, path):
    if not path or isinstance(at(document, path), (dict, list)):
        return False
    at(document, path[:-1])[path[-1]] = "zz zz"
    return True


KINDS = (unknown_key, left_out, a_map, a_list_of_lists, another_word)


class PolicySchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.binary = os.environ["TRUEUP_BIN"]
        text = subprocess.run(
            [cls.binary, "policy", "schema"], check=True, capture_output=True, text=True
        ).stdout
        schema = json.loads(text)
        jsonschema.Draft7Validator.check_schema(schema)
        cls.schema = jsonschema.Draft7Validator(schema)

    def refusal(self, document):
        """Why the schema refuses it; None: it does not."""
        error = jsonschema.exceptions.best_match(self.schema.iter_errors(document))
        return None if error is None else f"{list(error.absolute_path)}: {error.message[:200]}"

    def read(self, paths):
        """What the reader says of these files, by path."""
        result = subprocess.run(
            [self.binary, "policy", "check", "-o", "json", *paths],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        said = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([one["file"] for one in said], paths, result.stderr[-2000:])
        return said

    def test_it_takes_every_policy_that_the_reader_takes(self):
        taken = files("policies/*.yaml", "policies/examples/*.yaml", "tests/policies/right/*.yaml")
        self.assertGreater(len(taken), 7)
        for path in taken:
            self.assertIsNone(self.refusal(load(path)), path)

    def test_what_it_refuses_of_the_wrong_files_is_refused(self):
        wrong = files("tests/policies/wrong/*.yaml")
        readable = []
        for path in wrong:
            try:
                readable.append((path, load(path)))
            except yaml.YAMLError:
                continue  # of no language at all
        said = self.read([path for path, _ in readable])
        both = 0
        for (path, document), one in zip(readable, said, strict=True):
            why = self.refusal(document)
            both += why is not None
            if why is not None:
                self.assertFalse(one["sound"], f"{path}: {why}")
        self.assertGreaterEqual(both, 18)
        print(f"of {len(readable)} wrong files it refuses {both}")

    def test_what_it_refuses_of_files_with_one_mistake_is_refused(self):
        print(f"TRUEUP_SEED={SEED}")
        rng = random.Random(SEED)
        sources = [load(path) for path in files("policies/*.yaml", "policies/examples/*.yaml")]
        all_places = [list(places(document)) for document in sources]
        made = []
        with tempfile.TemporaryDirectory(prefix="trueup-schema-") as folder:
            while len(made) < MISTAKES:
                which = rng.randrange(len(sources))
                path, kind = rng.choice(all_places[which]), rng.choice(KINDS)
                document = copy.deepcopy(sources[which])
                if not kind(document, path):
                    continue
                name = os.path.join(folder, f"{len(made)}.yaml")
                with open(name, "w", encoding="utf-8") as file:
                    yaml.safe_dump(document, file, sort_keys=False, allow_unicode=True)
                made.append((name, document, f"{kind.__name__} at {path}"))
            said = self.read([name for name, _, _ in made])
        both = alone = 0
        for (_, document, what), one in zip(made, said, strict=True):
            why = self.refusal(document)
            if why is not None:
                self.assertFalse(one["sound"], f"{what}: {why}")
            both += why is not None
            alone += why is None and not one["sound"]
        print(f"of {len(made)} mistakes both refuse {both}, the reader alone {alone}")
        self.assertGreater(both, alone)


if __name__ == "__main__":
    unittest.main()
