package trueup.peer;

import static org.apache.kafka.streams.CloseOptions.GroupMembershipOperation.LEAVE_GROUP;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * One application from nothing: the clock runs from before the Streams client exists until the
 * last input offset is committed, which under exactly_once_v2 is one transaction with the outputs
 * and the store's changelog. Its topics and state go when it is closed.
 */
final class Run implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(5);

    private final Shape shape;
    private final Broker broker;
    private final Counts counts = new Counts();
    private final FinalAnswer answer = new FinalAnswer();
    private final Map<TopicPartition, Long> earliest;
    private volatile Throwable failure;

    private double seconds;
    private double cpuSeconds;
    private double secondHalfSeconds;
    private long secondHalfItems;

    Run(Shape shape) {
        this.shape = shape;
        broker = new Broker(shape.bootstrap());
        try {
            List<TopicPartition> inputs = broker.partitions(shape.topics(), shape.partitions());
            earliest = broker.offsets(inputs, OffsetSpec.earliest());
            long there = -sum(earliest) + sum(broker.offsets(inputs, OffsetSpec.latest()));
            if (there < shape.items() || (shape.whole() && there != shape.items())) {
                throw new Arguments.Wrong("the topic holds " + there + " records, not "
                        + shape.items() + "; write --items " + there + ", or fill it first");
            }
            broker.make(List.of(shape.output()), shape.partitions(), Map.of());
        } catch (RuntimeException e) {
            broker.close();
            throw e;
        }
    }

    private static long sum(Map<TopicPartition, Long> offsets) {
        return offsets.values().stream().mapToLong(Long::longValue).sum();
    }

    // ---------------------------------------------------------------- settings
    private Topology topology() {
        var key = Serdes.Bytes();
        var value = Serdes.ByteArray();
        StoreBuilder<KeyValueStore<Bytes, byte[]>> store = Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(Judge.STORE), Serdes.Bytes(), value);
        if (shape.cacheBytes() > 0) store = store.withCachingEnabled();
        Topology topology = new Topology();
        topology.addSource("changes", key.deserializer(), value.deserializer(),
                shape.topics().toArray(String[]::new));
        topology.addProcessor("judge", () -> new Judge(counts), "changes");
        topology.addStateStore(store, "judge");
        topology.addSink("answers", shape.output(), key.serializer(), value.serializer(),
                "judge");
        return topology;
    }

    private Properties settings() {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, shape.name());
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, shape.bootstrap());
        settings.put(StreamsConfig.STATE_DIR_CONFIG, shape.states().toString());
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, shape.threads());
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, shape.cacheBytes());
        settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG),
                "earliest");
        Tuning.apply(settings);
        return settings;
    }

    // ---------------------------------------------------------------- the clock
    void measure() {
        var process = (com.sun.management.OperatingSystemMXBean)
                ManagementFactory.getOperatingSystemMXBean();
        long cpu = process.getProcessCpuTime();
        long start = System.nanoTime();
        KafkaStreams streams = new KafkaStreams(topology(), settings());
        try {
            streams.setUncaughtExceptionHandler(e -> {
                failure = e;
                return StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse
                        .SHUTDOWN_CLIENT;
            });
            streams.start();
            awaitCounted(start, shape.items() / 2);
            long half = System.nanoTime();
            secondHalfItems = shape.items() - counts.items();
            awaitCounted(start, shape.items());
            while (broker.committed(shape.name(), earliest) < shape.items()) pause(start);
            long end = System.nanoTime();
            cpuSeconds = (process.getProcessCpuTime() - cpu) / 1e9;
            seconds = (end - start) / 1e9;
            secondHalfSeconds = (end - half) / 1e9;
            readAnswer(streams);
        } finally {
            // By default its group would stay, with members, until their session has run out.
            streams.close(CloseOptions.groupMembershipOperation(LEAVE_GROUP));
        }
    }

    /** That nothing was processed twice, and that the output says what the store says. */
    void check() {
        if (counts.items() != shape.items()) {
            throw new IllegalStateException(counts.items() + " changes were processed instead of "
                    + shape.items() + ": some twice; run it again");
        }
        checkOutputs();
    }

    private void awaitCounted(long start, long items) {
        while (counts.items() < items) pause(start);
    }

    private void pause(long start) {
        if (failure != null) throw new IllegalStateException("Kafka Streams gave up", failure);
        if (System.nanoTime() - start > shape.seconds() * 1_000_000_000L) {
            throw new IllegalStateException("only " + counts.items() + " of " + shape.items()
                    + " changes in " + shape.seconds() + " s");
        }
        try {
            Thread.sleep(POLL.toMillis());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---------------------------------------------------------------- the answer
    private void readAnswer(KafkaStreams streams) {
        var store = streams.store(StoreQueryParameters.fromNameAndType(
                Judge.STORE, QueryableStoreTypes.<Bytes, byte[]>keyValueStore()));
        try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
            while (all.hasNext()) {
                var one = all.next();
                answer.add(one.key.get(), one.value);
            }
        }
    }

    /** Whoever reads the output committed must come to the answers that the store has. */
    private void checkOutputs() {
        Map<Bytes, String> last = new HashMap<>();
        long read = Outputs.read(shape, broker, (key, value) -> last.put(key, value));
        if (read != counts.outputs()) {
            throw new IllegalStateException(read + " answers are committed of " + counts.outputs());
        }
        for (byte which = Subject.ORPHANED_POD; which <= Subject.STATUS_DRIFT; ++which) {
            String name = Judge.name(which);
            long published = last.values().stream().filter(name::equals).count();
            if (published != answer.answered(which)) {
                throw new IllegalStateException(published + " subjects were last published as "
                        + name + ", the store has " + answer.answered(which));
            }
        }
    }

    String json() {
        return String.format(Locale.ROOT, "\"items\": %d, \"seconds\": %.3f,"
                + " \"items_per_second\": %.0f, \"second_half_items\": %d,"
                + " \"second_half_seconds\": %.3f, \"second_half_items_per_second\": %.0f,"
                + " \"cpu_seconds\": %.2f, \"cpu_us_per_item\": %.2f, \"outputs\": %d,"
                + " \"answer\": %s", shape.items(), seconds, shape.items() / seconds,
                secondHalfItems, secondHalfSeconds, secondHalfItems / secondHalfSeconds, cpuSeconds,
                cpuSeconds * 1e6 / shape.items(), counts.outputs(), answer.json());
    }

    @Override
    public void close() {
        try {
            broker.remove(Set.of(shape.output(), shape.changelog()));
            broker.removeGroup(shape.name());
        } finally {
            broker.close();
        }
    }
}
