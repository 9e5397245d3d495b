// Every setting that is not librdkafka's default, and why. Internal to connectors/kafka.
#pragma once

#include <array>

namespace trueup::connectors::kafka {

struct Pinned {
    const char* name;
    const char* value;
};

inline constexpr std::array kOfAll{
    // A broker that comes back is found within half a second and not within ten.
    Pinned{"reconnect.backoff.ms", "50"},
    Pinned{"reconnect.backoff.max.ms", "500"},
    Pinned{"retry.backoff.ms", "50"},
    // Small requests go at once (the default only from 2.10 on).
    Pinned{"socket.nagle.disable", "true"},
    Pinned{"socket.keepalive.enable", "true"},
    // Topics are made by `trueup topics create`; a typo in the prefix must not make others.
    Pinned{"allow.auto.create.topics", "false"},
    // A topic that was just made is known soon.
    Pinned{"topic.metadata.refresh.fast.interval.ms", "50"},
    Pinned{"topic.metadata.propagation.max.ms", "5000"},
    // Records of 8 MiB, their headers and the protocol around them.
    Pinned{"message.max.bytes", "9437184"},
};

inline constexpr std::array kOfProducers{
    // A retry inside the client neither doubles nor reorders, and what is acknowledged is on every
    // replica in sync.
    Pinned{"enable.idempotence", "true"},
    Pinned{"acks", "all"},
    // Batches are gathered before they get here (producer.h). Any other value costs a millisecond
    // an append: the network thread waits in whole ones.
    Pinned{"linger.ms", "0"},
    // The journal is kept long, on each replica. Measured, a million changes: lz4 50 MB and 0.4 s
    // of processor, zstd 30 MB and 1.4 s. Readers unpack either.
    Pinned{"compression.codec", "lz4"},
    Pinned{"batch.num.messages", "100000"},
    Pinned{"batch.size", "1048576"},
    // The bound is ours; librdkafka's is lifted.
    Pinned{"queue.buffering.max.messages", "10000000"},
    Pinned{"queue.buffering.max.kbytes", "2097151"},
    // An append has an answer within half a minute, also when no broker is there.
    Pinned{"delivery.timeout.ms", "30000"},
    Pinned{"request.timeout.ms", "10000"},
};

inline constexpr std::array kOfReaders{
    // An offset that is not there is an error, never a silent jump to either end.
    Pinned{"auto.offset.reset", "error"},
    Pinned{"enable.auto.commit", "false"},
    Pinned{"enable.auto.offset.store", "false"},
    // An empty answer means that the end was reached.
    Pinned{"enable.partition.eof", "true"},
    Pinned{"check.crcs", "true"},
    // A partition that is added waits for the fetch that is under way to come back.
    Pinned{"fetch.wait.max.ms", "50"},
    Pinned{"fetch.error.backoff.ms", "50"},
    // An answer of several MiB lies in memory that was never touched before, and clearing that cost
    // a sixth of the engine's processor time; one of this size finds room that was used just now.
    Pinned{"fetch.message.max.bytes", "1048576"},
    // When its queue reaches either limit, 2.0.2 stops fetching for up to a second. The bound is
    // ours: a stream that is not read is paused (streams.h).
    Pinned{"queued.min.messages", "10000000"},
    Pinned{"queued.max.messages.kbytes", "1048576"},
};

inline constexpr std::array kOfMembers{
    // One that died gives its partitions back after this. The broker allows no less than 6 s.
    Pinned{"session.timeout.ms", "10000"},
    Pinned{"heartbeat.interval.ms", "3000"},
};

}  // namespace trueup::connectors::kafka
