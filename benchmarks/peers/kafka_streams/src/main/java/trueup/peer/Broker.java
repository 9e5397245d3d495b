package trueup.peer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;

/** The questions that are put to the broker beside the measurement. */
final class Broker implements AutoCloseable {
    private final Admin admin;

    Broker(String bootstrap) {
        Properties settings = new Properties();
        settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        admin = Admin.create(settings);
    }

    @Override
    public void close() {
        admin.close();
    }

    private static <T> T of(KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new Arguments.Wrong("the broker answered: " + e.getCause().getMessage());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void make(List<String> topics, int partitions, Map<String, String> settings) {
        List<NewTopic> wanted = new ArrayList<>();
        for (String topic : topics) {
            wanted.add(new NewTopic(topic, partitions, (short) 1).configs(settings));
        }
        try {
            admin.createTopics(wanted).all().get();
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) throw new RuntimeException(e);
            throw new Arguments.Wrong(e.getCause().getMessage()
                    + " Take another name: each run has topics of its own.");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Those of the topics that are there. */
    void remove(Set<String> topics) {
        Set<String> there = new HashSet<>(of(admin.listTopics().names()));
        there.retainAll(topics);
        of(admin.deleteTopics(there).all());
    }

    /** Those whose names begin with the prefix; how many. */
    int removeAll(String prefix) {
        Set<String> there = new HashSet<>(of(admin.listTopics().names()));
        there.removeIf(name -> !name.startsWith(prefix));
        of(admin.deleteTopics(there).all());
        return there.size();
    }

    void removeGroup(String group) {
        of(admin.deleteConsumerGroups(List.of(group)).all());
    }

    /** All partitions of the topics, each of which must have `wanted`. */
    List<TopicPartition> partitions(List<String> topics, int wanted) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (TopicDescription topic : of(admin.describeTopics(topics).allTopicNames()).values()) {
            int size = topic.partitions().size();
            if (size != wanted) {
                throw new Arguments.Wrong(topic.name() + " has " + size
                        + " partitions; write --partitions " + size);
            }
            for (int i = 0; i < size; ++i) partitions.add(new TopicPartition(topic.name(), i));
        }
        return partitions;
    }

    Map<TopicPartition, Long> offsets(List<TopicPartition> partitions, OffsetSpec of) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        for (TopicPartition partition : partitions) asked.put(partition, of);
        Map<TopicPartition, Long> offsets = new HashMap<>();
        of(admin.listOffsets(asked).all()).forEach((p, found) -> offsets.put(p, found.offset()));
        return offsets;
    }

    /** How many records lie before the group's committed offsets. */
    long committed(String group, Map<TopicPartition, Long> earliest) {
        Map<TopicPartition, OffsetAndMetadata> offsets =
                of(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
        long records = 0;
        for (Map.Entry<TopicPartition, Long> first : earliest.entrySet()) {
            OffsetAndMetadata at = offsets.get(first.getKey());
            if (at != null) records += at.offset() - first.getValue();
        }
        return records;
    }
}
