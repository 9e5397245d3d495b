#!/usr/bin/env python3
"""Proves that docs/formats says what is really published (design §3).

TRUEUP_FORMATS names the program formats_records, which prints the topics, the schemas and one record
of each public topic, as the relay and an executor made them.

  formats_test.py            compares
  formats_test.py --write    copies the schemas into asyncapi.yaml; needs no program
"""

import json
import os
import re
import subprocess
import sys
import unittest

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "docs", "formats")
DOCUMENT = os.path.join(FOLDER, "asyncapi.yaml")
PUBLIC = ("findings", "commands", "outcomes")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def read_code():
    program = os.environ.get("TRUEUP_FORMATS", "")
    if not os.access(program, os.X_OK):
        raise SystemExit(f"TRUEUP_FORMATS must name the program formats_records; it is '{program}'")
    return json.loads(subprocess.run([program], check=True, capture_output=True).stdout)


# -------------------------------------------------------------------- the page
def sections(page):
    """{title: its lines up to the next title}"""
    found, title = {}, ""
    for line in page.splitlines():
        if re.match(r"#+ ", line):
            title = line.lstrip("#").strip()
        found.setdefault(title, []).append(line)
    return found


def tables(lines):
    """The tables of a section: lists of rows, the first one is the head; cells without backticks
    around the whole."""
    found = [[]]
    for line in lines:
        if not line.startswith("|"):
            found.append([])
        elif not set(line) <= set("|-"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found[-1].append([re.sub(r"^`([^`]*)`$", r"\1", cell) for cell in cells])
    return [table for table in found if table]


def wrong_messages(page, schema):
    """One sentence for each field or value that the page and the schema do not agree on."""
    wrong, parts = [], sections(page)
    for file in ("finding", "command", "outcome"):
        declared = schema[f"trueup/v1/{file}.proto"]
        for name, fields in declared["messages"].items():
            said = [[row[0], int(row[1]), row[2]] for row in first_table(parts, name)]
            wrong += differing(name, said, fields)
        for name, values in declared["enums"].items():
            if name == "Reason":
                continue
            said = [[row[0], int(row[1])] for row in first_table(parts, name)]
            wrong += differing(name, said, [list(pair) for pair in values.items()])
    return wrong


def first_table(parts, title):
    """The rows of a section's first table; none if there is no such section."""
    found = tables(parts.get(title, []))
    return found[0][1:] if found else []


def differing(name, said, declared):
    wrong = [
        f"{name}: the page says {row}, the schema does not" for row in said if row not in declared
    ]
    wrong += [f"{name}: the page lacks {row}" for row in declared if row not in said]
    if not wrong and said != declared:
        wrong.append(f"{name}: put the rows in the schema's order")
    return wrong


# -------------------------------------------------------------------- asyncapi.yaml
COPY = re.compile(r"^( +)schema: \|\n((?:\1  .*\n|\n)+)", flags=re.M)
FILE = re.compile(r"schemas/trueup/v1/\w+\.proto")


def with_schemas(text):
    """The document with the schemas as they are now. The first line of each copy names its file."""

    def copied(match):
        margin, name = match.group(1) + "  ", FILE.search(match.group(2)).group(0)
        lines = [f"// {name}", *read(name).splitlines()]
        body = "".join(f"{margin}{line}".rstrip() + "\n" for line in lines)
        return f"{match.group(1)}schema: |\n{body}"

    return COPY.sub(copied, text)


def resolve(document, node):
    """What a node means: `$ref` within the document is followed."""
    while isinstance(node, dict) and str(node.get("$ref", "")).startswith("#/"):
        target = document
        for step in node["$ref"][2:].split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def references(node):
    """All values of `$ref` within."""
    if isinstance(node, dict):
        for name, inner in node.items():
            yield from [inner] if name == "$ref" else references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from references(inner)


def flaw(schema, value):
    """Why a text is not as its schema says, or None."""
    if "const" in schema:
        return None if value == schema["const"] else f"is '{value}', not '{schema['const']}'"
    if schema.get("type") != "string":
        return f"has no schema of a text: {schema}"
    if not re.search(schema["pattern"], value):
        return f"'{value}' does not match {schema['pattern']}"
    if not schema.get("minLength", 0) <= len(value.encode()) <= schema.get("maxLength", 1 << 30):
        return f"'{value}' is too short or too long"
    return None


def wrong_headers(document, schema, headers):
    """One sentence for each header that the document and a record do not agree on."""
    properties = schema["properties"]
    names = [name for name, _ in headers]
    wrong = []
    if [name for name in properties if name in names] != names:
        wrong.append(f"the record has the headers {names}, the document {list(properties)}")
    wrong += [
        f"{name} is required and not there" for name in schema["required"] if name not in names
    ]
    for name, value in headers:
        found = name in properties and flaw(resolve(document, properties[name]), value)
        if found:
            wrong.append(f"{name}: {found}")
    return wrong


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.code = read_code()
        cls.page = read(FOLDER, "README.md")
        cls.document = yaml.safe_load(read(DOCUMENT))
        cls.parts = sections(cls.page)

    def messages(self):
        """(topic, the document's message, the record of the code) of each public topic"""
        for topic in PUBLIC:
            channel = self.document["channels"][topic]
            (message,) = channel["messages"].values()
            yield topic, resolve(self.document, message), self.code["records"][topic]

    # ---------------------------------------------------------------- the page
    def test_the_topics_are_those_of_the_code(self):
        rows = first_table(self.parts, "Topics")
        self.assertEqual(sorted(row[0] for row in rows), sorted(self.code["topics"]))
        self.assertEqual({row[0] for row in rows if row[1] == "yes"}, set(PUBLIC))
        known = {m: file for file, s in self.code["schema"].items() for m in s["messages"]}
        for row in rows:
            self.assertIn(row[2], known)

    def test_public_keys_are_the_field_that_the_page_names(self):
        keys = {row[0]: row[3] for row in first_table(self.parts, "Topics") if row[1] == "yes"}
        for topic, _, record in self.messages():
            self.assertEqual(record["key"], record["fields"][keys[topic]], topic)

    def test_retention_is_told_for_every_topic(self):
        rows = first_table(self.parts, "How long records are kept")
        told = {row[0] for row in rows}
        for topic in self.code["topics"]:
            self.assertIn(re.sub(r"^changes\..*", "changes.*", topic), told)

    def test_headers_are_told_in_their_order(self):
        headers, types = tables(self.parts["Headers"])
        for topic, _, record in self.messages():
            names = [name for name, _ in record["headers"]]
            self.assertEqual(names, [row[0] for row in headers[1:]], topic)
        known = {dict(record["headers"])["ce_type"] for _, _, record in self.messages()}
        self.assertEqual({row[0] for row in types[1:]}, known)

    def test_findings_have_the_headers_that_tell_edges_apart_and_others_on_request(self):
        rows = tables(self.parts["Headers"])[0][1:]
        always = [row[0] for row in rows if row[1] == "always"]
        asked = [row[0] for row in rows if "findings on request" in row[1]]
        self.assertEqual({row[0] for row in rows}, {*always, *asked})
        (message,) = self.document["channels"]["findings"]["messages"].values()
        schema = resolve(self.document, message)["headers"]
        for record in self.code["life"]:
            self.assertEqual([name for name, _ in record["headers"]], always)
            self.assertEqual(wrong_headers(self.document, schema, record["headers"]), [])

    def test_sources_and_ids_have_the_form_that_the_page_tells(self):
        _, types = tables(self.parts["Headers"])
        forms = {row[0]: row for row in types[1:]}
        for _, _, record in self.messages():
            headers = dict(record["headers"])
            for place, name in ((1, "ce_source"), (2, "ce_id")):
                form = re.split(r"<[^>]*>", forms[headers["ce_type"]][place])
                pattern = "([0-9a-z-]+)".join(re.escape(part) for part in form)
                self.assertRegex(headers[name], f"^{pattern}$")

    def test_every_field_and_value_is_told(self):
        self.assertEqual(wrong_messages(self.page, self.code["schema"]), [])

    def test_every_reason_is_told(self):
        declared = self.code["schema"]["trueup/v1/finding.proto"]["enums"]["Reason"]
        said = [word for row in first_table(self.parts, "Reason")
                for word in row[1].replace("`", " ").split()]  # fmt: skip
        words = {name.removeprefix("REASON_").lower() for name in declared}
        self.assertEqual(len(said), len(set(said)))
        self.assertEqual(set(said), words - {"unspecified"})

    def test_every_internal_message_is_named(self):
        rows = first_table(self.parts, "Internal formats")
        for file, schema in self.code["schema"].items():
            name = os.path.basename(file)
            said = [row[1].replace("`", " ").split() for row in rows if row[0] == name]
            if name.removesuffix(".proto") + "s" in PUBLIC:
                self.assertEqual(said, [], name)
            else:
                self.assertEqual([sorted(words) for words in said], [sorted(schema["messages"])])

    def test_limits_are_those_of_the_code(self):
        text = " ".join(self.parts["Topics"])
        self.assertIn(f"1 to {self.code['max_key_bytes']} bytes", text)
        self.assertIn(f"at most {self.code['max_item_bytes'] >> 10} KiB", text)
        self.assertIn(f"{self.code['max_record_bytes'] >> 20} MiB", text)

    def test_an_executors_question_for_the_time_is_empty(self):
        record = self.code["records"]["heartbeat"]
        self.assertIn(f"`{record['key']}`", self.page)
        self.assertEqual((record["value"], record["headers"]), ("", []))

    def test_a_planted_difference_is_found(self):
        schema = self.code["schema"]
        for old, new in (
            ("| `reason` | 7 | `Reason` |", "| `reason` | 8 | `Reason` |"),
            ("| `mac` | 14 | `bytes` |", "| `mac` | 14 | `string` |"),
            ("| `executor` | 6 |", "| `executer` | 6 |"),
            ("| `KIND_NONE` | 2 |", "| `KIND_NONE` | 9 |"),
        ):
            with self.subTest(new=new):
                self.assertIn(old, self.page)
                self.assertEqual(len(wrong_messages(self.page.replace(old, new), schema)), 2)
        line = "| `executor` | 6 | `string` | which executor reports it |\n"
        self.assertIn(line, self.page)
        self.assertEqual(len(wrong_messages(self.page.replace(line, ""), schema)), 1)

    # ---------------------------------------------------------------- asyncapi.yaml
    def test_the_document_is_of_asyncapi_3_and_leads_nowhere_else(self):
        self.assertEqual(self.document["asyncapi"], "3.0.0")
        for reference in references(self.document):
            self.assertTrue(reference.startswith("#/"), reference)
            resolve(self.document, {"$ref": reference})

    def test_channels_are_the_public_topics(self):
        addresses = {name: c["address"] for name, c in self.document["channels"].items()}
        self.assertEqual(addresses, {topic: f"{{prefix}}.{{policy}}.{topic}" for topic in PUBLIC})

    def test_operations_send_what_their_channel_has(self):
        used = []
        for operation in self.document["operations"].values():
            self.assertEqual(operation["action"], "send")
            channel = operation["channel"]["$ref"]
            (message,) = operation["messages"]
            self.assertTrue(message["$ref"].startswith(f"{channel}/messages/"))
            used.append(channel)
        self.assertEqual(sorted(used), sorted(f"#/channels/{topic}" for topic in PUBLIC))

    def test_payloads_are_the_messages_of_the_code(self):
        for topic, message, record in self.messages():
            self.assertEqual(message["name"], record["message"], topic)
            payload = message["payload"]
            self.assertEqual(payload["schemaFormat"], "application/vnd.google.protobuf;version=3")
            first, copy = payload["schema"].split("\n", 1)
            file = FILE.search(first).group(0)
            self.assertEqual(copy, read(file), "formats_test.py --write copies it again")
            schema = self.code["schema"][file.removeprefix("schemas/")]
            package, name = record["message"].rsplit(".", 1)
            self.assertEqual(schema["package"], package)
            self.assertIn(name, schema["messages"])
            self.assertEqual(message["contentType"], dict(record["headers"])["content-type"])

    def test_headers_are_as_the_document_says(self):
        for topic, message, record in self.messages():
            found = wrong_headers(self.document, message["headers"], record["headers"])
            self.assertEqual(found, [], topic)

    def test_keys_are_as_the_document_says(self):
        for topic, message, record in self.messages():
            key = resolve(self.document, message["bindings"]["kafka"]["key"])
            self.assertIsNone(flaw(key, record["key"]), topic)

    def test_a_planted_header_is_found(self):
        (message, record), *_ = [rest for topic, *rest in self.messages() if topic == "commands"]
        good = record["headers"]
        for bad in (
            good + [["ce_extra", "1"]],
            good[1:],
            [good[1], good[0], *good[2:]],
            [["ce_specversion", "0.3"], *good[1:]],
            [good[0], ["ce_id", "7"], *good[2:]],
            [*good[:4], ["ce_subject", ""], *good[5:]],
        ):
            with self.subTest(bad=bad):
                self.assertNotEqual(wrong_headers(self.document, message["headers"], bad), [])
        self.assertEqual(wrong_headers(self.document, message["headers"], good[:-1]), [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        TEXT = with_schemas(read(DOCUMENT))
        with open(DOCUMENT, "w", encoding="utf-8") as asyncapi:
            asyncapi.write(TEXT)
    else:
        unittest.main()
