package trueup.peer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes the topic (or the two), fills it, and prints as JSON the answer to expect. */
public final class Load {
    private final Arguments arguments;
    private final List<String> topics;
    private final int partitions;
    private final long items;
    private final long unchanged;
    private final World world;
    private long records;
    private long bytes;
    private volatile Exception failure;

    private Load(Arguments arguments) {
        this.arguments = arguments;
        topics = arguments.list("topic");
        if (topics.size() > 2) throw new Arguments.Wrong("write one --topic, or PODS,ROWS");
        partitions = arguments.small("partitions", 1);
        items = arguments.number("items", 1);
        unchanged = arguments.number("unchanged", 0);
        world = new World(arguments.small("subjects", 1), partitions,
                arguments.number("seed", Long.MIN_VALUE));
    }

    private static Arguments arguments(String[] words) {
        Map<String, String> known = new LinkedHashMap<>();
        known.put("bootstrap", "");
        known.put("topic", "");
        known.put("partitions", "1");
        known.put("items", "1000000");
        known.put("unchanged", "0");
        known.put("subjects", "100000");
        known.put("seed", "1");
        return new Arguments(words, known);
    }

    private Properties settings() {
        Properties settings = new Properties();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments.text("bootstrap"));
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 5);
        settings.put(ProducerConfig.BATCH_SIZE_CONFIG, 256 << 10);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 64L << 20);
        return settings;
    }

    private void send(KafkaProducer<byte[], byte[]> producer, World.Input input) {
        String topic = topics.get(topics.size() == 2 ? input.side() : 0);
        ++records;
        bytes += input.value().length;
        producer.send(new ProducerRecord<>(topic, input.partition(), input.key(), input.value()),
                (sent, e) -> {
                    if (e != null) failure = e;
                });
    }

    private void fill() {
        try (Broker broker = new Broker(arguments.text("bootstrap"))) {
            broker.make(topics, partitions, Map.of("message.timestamp.type", "LogAppendTime"));
        }
        try (var producer = new KafkaProducer<byte[], byte[]>(settings(),
                new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int partition = 0; partition < partitions; ++partition) {
                for (World.Input input : world.opening(partition)) send(producer, input);
            }
            for (long i = 0; i < items && failure == null; ++i) send(producer, world.change());
            for (long i = 0; i < unchanged && failure == null; ++i) {
                send(producer, world.unchanged());
            }
        }
        if (failure != null) throw new IllegalStateException("the broker took not all", failure);
    }

    private void run() {
        long start = System.nanoTime();
        fill();
        System.out.printf(Locale.ROOT, "{\"load\": \"pods and rows\", \"changes\": %d,"
                + " \"records\": %d, \"bytes_per_record\": %.1f, \"seconds\": %.3f,"
                + " \"answer\": %s}%n", items, records, (double) bytes / records,
                (System.nanoTime() - start) / 1e9, world.answer().json());
    }

    public static void main(String[] words) {
        try {
            new Load(arguments(words)).run();
        } catch (Arguments.Wrong wrong) {
            System.err.println("load: " + wrong.getMessage());
            System.exit(2);
        }
    }
}
