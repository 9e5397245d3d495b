#!/usr/bin/env python3
"""Prints where each partition of topics ends, as one JSON object {topic: [end…]}.

    offsets.py BOOTSTRAP TOPIC…

Run it with the interpreter of consumer.py, which has the packages.
"""

import json
import sys

from confluent_kafka import Consumer, TopicPartition

SECONDS = 30


def main():
    bootstrap, *topics = sys.argv[1:]
    # Nothing is committed; the client library wants a group all the same.
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "offsets", "log_level": 2})
    ends = {}
    for topic in topics:
        count = len(consumer.list_topics(topic, SECONDS).topics[topic].partitions)
        places = [TopicPartition(topic, partition) for partition in range(count)]
        ends[topic] = [consumer.get_watermark_offsets(place, SECONDS)[1] for place in places]
    consumer.close()
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
