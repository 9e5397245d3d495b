package trueup.peer;

import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.Options;

/** What differs from Kafka Streams' defaults for speed; README.md has what each is worth. */
final class Tuning {
    private static final int BATCH_BYTES = 256 << 10;
    private static final int FETCH_BYTES = 8 << 20;
    private static final int RECORDS = 10_000;

    private Tuning() {}

    static void apply(Properties settings) {
        settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), RECORDS);
        settings.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG),
                FETCH_BYTES);
        settings.put(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, RECORDS);
        // Its own linger of 100 ms is as good as any: each commit sends what there is.
        settings.put(StreamsConfig.producerPrefix(ProducerConfig.BATCH_SIZE_CONFIG), BATCH_BYTES);
        settings.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, Rocks.class);
    }

    /** Rows are written again and again: a larger memtable sees fewer of its versions to disk. */
    public static final class Rocks implements RocksDBConfigSetter {
        private static final long MEMTABLE_BYTES = 64L << 20;

        @Override
        public void setConfig(String store, Options options, Map<String, Object> settings) {
            options.setWriteBufferSize(MEMTABLE_BYTES);
        }

        @Override
        public void close(String store, Options options) {}
    }
}
