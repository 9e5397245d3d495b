#!/usr/bin/env python3
"""Appends records to a topic of a real broker; makes the topic if it is not there.

    publish.py BOOTSTRAP TOPIC PARTITIONS < records

A line is a JSON object {"key": …, "headers": [[name, value]…], "value": hex, "partition": 0}. Run it
with the interpreter of consumer.py, which has the packages.
"""

import json
import sys

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

SECONDS = 30


def make(bootstrap, topic, partitions):
    settings = {"message.timestamp.type": "LogAppendTime"}
    wanted = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=settings)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    try:
        admin.create_topics([wanted], operation_timeout=SECONDS)[topic].result(SECONDS)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def main():
    bootstrap, topic, partitions = sys.argv[1:]
    make(bootstrap, topic, int(partitions))
    failed = []
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 2}
    )
    for line in sys.stdin:
        record = json.loads(line)
        producer.produce(
            topic,
            value=bytes.fromhex(record["value"]),
            key=record["key"],
            headers=[(name, value.encode()) for name, value in record["headers"]],
            partition=record.get("partition", 0),
            on_delivery=lambda error, _: error and failed.append(error.str()),
        )
    left = producer.flush(SECONDS)
    if left or failed:
        sys.exit(f"publish.py: {left} records were not taken within {SECONDS} s; {failed}")


if __name__ == "__main__":
    main()
