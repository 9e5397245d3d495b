package trueup.peer;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.BytesDeserializer;
import org.apache.kafka.common.utils.Bytes;

/** Reads what a run published, as anybody would who wants committed records only. */
final class Outputs {
    private static final Duration POLL = Duration.ofMillis(200);

    private Outputs() {}

    /** Gives each committed record, in the order of its partition, and returns how many. */
    static long read(Shape shape, Broker broker, BiConsumer<Bytes, String> take) {
        Properties settings = new Properties();
        settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, shape.bootstrap());
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        List<TopicPartition> partitions =
                broker.partitions(List.of(shape.output()), shape.partitions());
        Map<TopicPartition, Long> ends = broker.offsets(partitions, OffsetSpec.latest());
        long read = 0;
        try (var consumer = new KafkaConsumer<Bytes, byte[]>(settings, new BytesDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (var record : consumer.poll(POLL)) {
                    take.accept(record.key(), new String(record.value(), StandardCharsets.UTF_8));
                    ++read;
                }
            }
        }
        return read;
    }
}
