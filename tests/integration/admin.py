#!/usr/bin/env python3
"""Looks at and changes topics of a real broker, as somebody with its tools may.

    admin.py BOOTSTRAP < orders

A line is one order, a JSON object; its answer is a line, JSON too. Run it with the interpreter of
consumer.py, which has the packages, and with the generated code of schemas/ in PYTHONPATH.

  {"do": "make", "topic": …, "partitions": 1, "settings": {…}}
  {"do": "grow", "topic": …, "partitions": 2}
  {"do": "remove", "topic": …}
  {"do": "alter", "topic": …, "settings": {…}}
  {"do": "delete_records", "topic": …, "before": OFFSET}   -1: all of them
  {"do": "extent", "topic": …}                             [first offset, next offset]
  {"do": "time", "topic": …}                               of its newest record, ms since 1970
  {"do": "append", "topic": …, "records": […]}             the offsets
  {"do": "read", "topic": …, "message": "JournalRecord"}   [{"offset": …, "record": {…}}…]

All but the first three are about `partition`, 0 where it is not said. A record is {"hex": …} or
{"message": "Change", "fields": {…}}, as protobuf's JSON has it.
"""

import importlib
import json
import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin import NewPartitions, NewTopic
from google.protobuf import json_format

SECONDS = 30
FILES = {"JournalRecord": "journal", "Change": "change", "Request": "request"}


def made(name):
    """An empty message of that name."""
    module = importlib.import_module(f"trueup.v1.{FILES[name]}_pb2")
    return getattr(module, name)()


class Broker:
    def __init__(self, bootstrap):
        self.bootstrap = {"bootstrap.servers": bootstrap}
        self.admin = AdminClient(self.bootstrap)

    def answer(self, order):
        return getattr(self, order.pop("do"))(**order)

    def make(self, topic, partitions, settings):
        wanted = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=settings)
        self.admin.create_topics([wanted])[topic].result(SECONDS)
        # A broker says that it is made before every broker says that it is there.
        self.wait(lambda topics: topic in topics and len(topics[topic].partitions) == partitions)

    def grow(self, topic, partitions):
        self.admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(SECONDS)
        self.wait(lambda topics: len(topics[topic].partitions) == partitions)

    def remove(self, topic):
        self.admin.delete_topics([topic])[topic].result(SECONDS)
        self.wait(lambda topics: topic not in topics)

    def wait(self, seen):
        until = time.monotonic() + SECONDS
        while not seen(self.admin.list_topics(timeout=SECONDS).topics):
            if time.monotonic() > until:
                sys.exit(f"admin.py: the topics are not as they were made after {SECONDS} s")
            time.sleep(0.05)

    def alter(self, topic, settings):
        operation = AlterConfigOpType.SET
        entries = [
            ConfigEntry(name, value, incremental_operation=operation)
            for name, value in settings.items()
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        self.admin.incremental_alter_configs([resource])[resource].result(SECONDS)

    def delete_records(self, topic, before, partition=0):
        end = TopicPartition(topic, partition, before)
        self.admin.delete_records([end])[end].result(SECONDS)

    def extent(self, topic, partition=0):
        consumer = self.consumer()
        found = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=SECONDS)
        consumer.close()
        return found

    def time(self, topic, partition=0):
        last = self.extent(topic, partition)[1] - 1
        consumer = self.consumer()
        consumer.assign([TopicPartition(topic, partition, last)])
        record = consumer.poll(SECONDS)
        consumer.close()
        return record.timestamp()[1]

    def append(self, topic, records, partition=0):
        offsets = []

        def delivered(error, record):
            if error:
                sys.exit(f"admin.py: {topic}: {error.str()}")
            offsets.append(record.offset())

        limits = {"enable.idempotence": True, "message.max.bytes": 16 << 20}
        producer = Producer(self.bootstrap | limits)
        for record in records:
            if "hex" in record:
                value = bytes.fromhex(record["hex"])
            else:
                parsed = json_format.ParseDict(record["fields"], made(record["message"]))
                value = parsed.SerializeToString(deterministic=True)
            producer.produce(topic, value=value, partition=partition, on_delivery=delivered)
        if producer.flush(SECONDS):
            sys.exit(f"admin.py: {topic} took no records within {SECONDS} s")
        return offsets

    def read(self, topic, message, partition=0):
        first, end = self.extent(topic, partition)
        consumer = self.consumer()
        consumer.assign([TopicPartition(topic, partition, first)])
        found = []
        until = time.monotonic() + SECONDS
        while first + len(found) < end:
            if time.monotonic() > until:
                sys.exit(f"admin.py: {topic} was not read within {SECONDS} s")
            record = consumer.poll(0.1)
            if record is None or record.error():
                continue
            parsed = made(message)
            parsed.ParseFromString(record.value())
            fields = json_format.MessageToDict(parsed, preserving_proto_field_name=True)
            found.append({"offset": record.offset(), "record": fields})
        consumer.close()
        return found

    def consumer(self):
        return Consumer(self.bootstrap | {"group.id": "nobody", "enable.auto.commit": False})


def main():
    broker = Broker(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(broker.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
