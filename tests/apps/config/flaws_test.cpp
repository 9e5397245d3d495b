// Proves that whatever is wrong with a configuration is said in one sentence, with its line and
// what to write (apps/config/config.h): the shape of the file, its words, and what bus and files
// need.
#include "tests/apps/config/support.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace trueup::config {
namespace {

/// The flaws of the sound file with these lines before its last one, that is from line 18 on.
std::string flaws_of_policy(const std::string& lines) {
    return flaws_with("executors:", lines + "executors:");
}
/// The same from line 2 on.
std::string flaws_at_top(const std::string& lines) {
    return flaws_with("version: 1\n", "version: 1\n" + lines);
}

TEST(ConfigFlaws, TheSupportsFileIsSound) { EXPECT_EQ(flaws(sound()), "(sound)"); }

TEST(ConfigFlaws, NotYaml) {
    EXPECT_EQ(flaws("version: 1\nbus: [\n"),
              "trueup.yaml:3: not YAML: end of sequence flow not "
              "found");
    EXPECT_EQ(flaws(""),
              "trueup.yaml:1: the file is empty; begin a configuration with version: 1, a policy "
              "with policy: NAME");
    EXPECT_EQ(flaws("# nothing\n"),
              "trueup.yaml:1: the file is empty; begin a configuration with version: 1, a policy "
              "with policy: NAME");
    EXPECT_EQ(flaws("- version: 1\n"), "trueup.yaml:1: the file is a list; write a map of keys");
    EXPECT_EQ(flaws("version: 1\n---\nversion: 1\n"),
              "trueup.yaml:2: the file has a second YAML document here; write one document, and "
              "check the indentation of this line");
    // A text in which yaml-cpp finds documents without end.
    EXPECT_EQ(flaws(","),
              "trueup.yaml:1: the file has a second YAML document here; write one document, and "
              "check the indentation of this line");
    EXPECT_EQ(flaws("? [1]\n: 2\n"), "trueup.yaml:1: the file has a key that is not a plain word");
}

TEST(ConfigFlaws, AliasesCannotExhaustTheReader) {
    EXPECT_EQ(flaws("a: &a {b: *a}\n"),
              "trueup.yaml:1: the file is nested more than 32 levels deep");
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 8; ++i) {
        const std::string below = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below;
        for (int k = 1; k < 10; ++k) bomb += ", " + below;
        bomb += "]\n";
    }
    EXPECT_NE(flaws(bomb).find("the file has more than 20000 values"), std::string::npos);
}

TEST(ConfigFlaws, HowLongTheLogIsKept) {
    const auto retention = [](const std::string& said) {
        return flaws_at_top("bus: {retention: {" + said + "}}\n");
    };
    EXPECT_EQ(retention("journal: forever, topics: 7d"), "(sound)");
    EXPECT_EQ(retention("journal: 30d"), "(sound)");
    EXPECT_EQ(retention("journal: 20GiB"), "(sound)");
    EXPECT_EQ(
        retention("journal: never"),
        "trueup.yaml:2: bus.retention.journal is 'never'; write forever, an age as in 30d, or "
        "the size of the log as in 20GiB");
    EXPECT_EQ(retention("journal: 6h"),
              "trueup.yaml:2: bus.retention.journal is 6h; write at least 1d: what is deleted can "
              "no longer be explained");
    EXPECT_EQ(retention("journal: 64MiB"),
              "trueup.yaml:2: bus.retention.journal is 64MiB; write at least 1GiB: it is the limit "
              "for the whole log");
    EXPECT_EQ(flaws_at_top("bus: {retention: {journal: 30d}}\ncheckpoints: {keep: 1}\n"),
              "trueup.yaml:3: checkpoints.keep is 1; write at least 2: bus.retention deletes only "
              "what is older than the older of two checkpoints");
    EXPECT_EQ(retention("topics: 24h"),
              "trueup.yaml:2: bus.retention.topics is 1d; write at least 2d: a command may live "
              "for a day");
    EXPECT_EQ(flaws_at_top("bus: {kafka: {bootstrap: 'b:9092'}, retention: {journal: 20GiB}}\n"),
              "trueup.yaml:2: bus.retention.journal is a size, which brokers do not report; write "
              "an age, as in 30d, or forever");
    EXPECT_NE(flaws_at_top("bus: {kafka: {bootstrap: 'b:9092'}, retention: {topics: 7d}}\n")
                  .find("bus.retention.topics is set on the brokers"),
              std::string::npos);
}

// Whoever answered was believed to be the broker, without a word from anybody.
TEST(ConfigFlaws, BrokersAreVerifiedUnlessSomebodyIsSure) {
    const auto kafka = [](const std::string& rest) {
        return flaws_at_top("bus: {kafka: {bootstrap: 'b:9092', " + rest + "}}\n");
    };
    const std::string whoever = "so any server could pose as the broker; write ";
    const std::string off = "client: {enable.ssl.certificate.verification: 'false'}";
    EXPECT_NE(kafka(off).find("enable.ssl.certificate.verification: false, " + whoever +
                              "true or remove it, and name the authority in ssl.ca.location, or "
                              "write acknowledge: [verification]"),
              std::string::npos);
    EXPECT_NE(kafka("client: {ssl.endpoint.identification.algorithm: none}").find(whoever),
              std::string::npos);
    // Symptom: the client takes any of these for false and none, and they were let through.
    for (const char* value : {"False", "FALSE", "f", "F", "0", "no", "' false'", "''"}) {
        const std::string client =
            "client: {enable.ssl.certificate.verification: " + std::string(value) + "}";
        EXPECT_NE(kafka(client).find(whoever), std::string::npos) << value;
    }
    for (const char* value : {"NONE", "None", "''"}) {
        const std::string client =
            "client: {ssl.endpoint.identification.algorithm: " + std::string(value) + "}";
        EXPECT_NE(kafka(client).find(whoever), std::string::npos) << value;
    }
    EXPECT_EQ(kafka("client: {enable.ssl.certificate.verification: 'true'}").find(whoever),
              std::string::npos);
    EXPECT_EQ(kafka(off + ", acknowledge: [verification]").find(whoever), std::string::npos);
    EXPECT_NE(
        kafka("acknowledge: [everything]").find("for kafka only verification can be acknowledged"),
        std::string::npos);
    EXPECT_EQ(kafka("client: {ssl.endpoint.identification.algorithm: https}").find(whoever),
              std::string::npos);
}

TEST(ConfigFlaws, UnknownKeys) {
    EXPECT_EQ(flaws_of_policy("    rules: {orphaned_pod: {gracee: 60s}}\n"),
              "trueup.yaml:18: unknown key 'gracee' under rules.orphaned_pod; did you mean "
              "'grace'?");
    EXPECT_EQ(flaws_of_policy("    rules: {orphan_pod: {}}\n"),
              "trueup.yaml:18: unknown key 'orphan_pod' under rules; did you mean 'orphaned_pod'?");
    EXPECT_EQ(
        flaws_at_top("source: {}\n"),
        "trueup.yaml:2: unknown key 'source' at the top of the file; did you mean 'sources'?");
    EXPECT_EQ(
        flaws_at_top("http: {colour: red}\n"),
        "trueup.yaml:2: unknown key 'colour' under http; known are listen, acknowledge and tls");
    EXPECT_EQ(flaws_of_policy("    shards: 3\n"),
              "trueup.yaml:18: unknown key 'shards' under policies[0]; known are name, file, use, "
              "roles, keys, rules, enabled, stale_after, command_ttl, max_drop, reconcile_every, "
              "max_clock_skew, windows and acknowledge");
}

// Design §4.10: a brake that anybody could loosen in passing is none.
TEST(ConfigFlaws, BudgetsThatAreNone) {
    const auto flaw = [](const std::string& budget) {
        return flaws_of_policy("    rules: {orphaned_pod: {budget: {" + budget + "}}}\n");
    };
    const std::string where = "trueup.yaml:18: rules.orphaned_pod.budget.";
    EXPECT_EQ(flaw("max: 0"), where +
                                  "max is 0; write 1 to 1000: the number of commands that the rule "
                                  "may always issue in one window");
    EXPECT_EQ(flaw("max: 5000"), where +
                                     "max is 5000; write 1 to 1000: the number of commands that "
                                     "the rule may always issue in one window");
    EXPECT_EQ(flaw("max: many"), where + "max is 'many'; write a whole number");
    EXPECT_EQ(flaw("percent: 60%"),
              where +
                  "percent is 60%; write at most 50%: a rule that acts on more of the world at "
                  "once is more likely to be wrong than the world");
    EXPECT_EQ(flaw("window: 5s"), where + "window is 5s; write 1m or more");
    EXPECT_EQ(flaw("most: 5"),
              "trueup.yaml:18: unknown key 'most' under rules.orphaned_pod.budget; "
              "known are max, percent and window");
}

TEST(ConfigFlaws, AllOfThemAreSaidInTheOrderOfTheFile) {
    EXPECT_EQ(
        flaws(with(with(sound(), "namespace: graph", "namespce: graph"), "use: graph-", "use: x-")),
        "trueup.yaml:4: sources.pods.kubernetes needs the key 'namespace'; write namespace: "
        "NAME, or all_namespaces: true\n"
        "trueup.yaml:6: unknown key 'namespce' under sources.pods.kubernetes; did you mean "
        "'namespace'?\n"
        "trueup.yaml:14: policies[0].use is 'x-instances', which this release does not carry; "
        "known are ec2-workers, ephemeral-runners, graph-instances, processors and "
        "storage-instances; or write file: FILE with a policy of your own");
}

// A quote that was left open had a flaw's sentence run over several lines, of which all but the
// first named no file.
TEST(ConfigFlaws, ATextOfSeveralLinesIsQuotedInOne) {
    const std::string said = flaws_with("namespace: graph", "namespace: \"graph\n\n  more\"");
    EXPECT_EQ(said.find("trueup.yaml:6: "), 0U) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST(ConfigFlaws, KeysThatComeTwice) {
    EXPECT_EQ(
        flaws_with("table: public.instances\n", "table: a\n      table: b\n"),
        "trueup.yaml:12: sources.rows.postgres.table comes twice, first in line 11; leave one "
        "out");
    EXPECT_EQ(flaws_with("  rows:\n    postgres:", "  pods: {}\n  rows:\n    postgres:"),
              "trueup.yaml:8: sources.pods comes twice, first in line 3; leave one out");
}

TEST(ConfigFlaws, MissingKeys) {
    EXPECT_EQ(flaws_with("version: 1\n", ""),
              "trueup.yaml:1: the file needs the key 'version'; write version: 1");
    EXPECT_EQ(flaws("version: 1\n"),
              "trueup.yaml:1: the file needs the key 'sources'; write sources: {pods: {kubernetes: "
              "...}, rows: {postgres: ...}}\n"
              "trueup.yaml:1: the file needs the key 'policies'; write policies: [{name: "
              "graph-instances, use: graph-instances, ...}]");
    EXPECT_EQ(flaws_with("      table: public.instances\n", ""),
              "trueup.yaml:9: sources.rows.postgres needs the key 'table'; write table: "
              "public.instances");
    EXPECT_EQ(
        flaws_with("{pods: pods, ", "{"),
        "trueup.yaml:15: policies[0].roles needs the key 'pods'; write pods: NAME of a source "
        "of pods of kubernetes");
    EXPECT_EQ(
        flaws_with("{source: pods}", "{}"),
        "trueup.yaml:18: executors.delete_pod needs the key 'source'; write source: NAME of a "
        "source of pods of kubernetes");
}

TEST(ConfigFlaws, WrongKindsOfValue) {
    EXPECT_EQ(flaws_at_top("memory: [1]\n"),
              "trueup.yaml:2: memory is a list; write a single value");
    EXPECT_EQ(flaws_at_top("memory:\n"),
              "trueup.yaml:2: memory is empty; write a value or leave the key out");
    EXPECT_EQ(flaws_at_top("bus: embedded\n"),
              "trueup.yaml:2: bus is a single value; write a map of keys");
    EXPECT_EQ(flaws_at_top("bus:\n"), "trueup.yaml:2: bus is empty; write a map of keys");
    EXPECT_EQ(flaws_at_top("bus: {embedded: {fsync: yes}}\n"),
              "trueup.yaml:2: bus.embedded.fsync is 'yes'; write true or false");
    EXPECT_EQ(flaws_with("table: public.instances", "table: a\n      columns: status"),
              "trueup.yaml:12: sources.rows.postgres.columns is a single value; write a list");
    EXPECT_EQ(
        flaws_with("table: public.instances", "table: a\n      columns: [status, [x], pod_name]"),
        "trueup.yaml:12: sources.rows.postgres.columns has an item that is not text; write a list "
        "of names, as in [one, two]");
    EXPECT_EQ(flaws_at_top("log: {level: loud}\n"),
              "trueup.yaml:2: log.level is 'loud'; write debug, info, warn or error");
}

TEST(ConfigFlaws, Units) {
    EXPECT_EQ(flaws_of_policy("    stale_after: 60\n"),
              "trueup.yaml:18: policies[0].stale_after has no unit; write 60s, not 60");
    EXPECT_EQ(flaws_of_policy("    stale_after: 1w\n"),
              "trueup.yaml:18: policies[0].stale_after is '1w', which is not a duration; write it "
              "as 500ms, 30s, 5m, 6h or 30d, at most 366d");
    EXPECT_EQ(flaws_at_top("memory: 512\n"),
              "trueup.yaml:2: memory has no unit; write 512MiB, not 512");
    EXPECT_EQ(
        flaws_at_top("memory: 512MB\n"),
        "trueup.yaml:2: memory is '512MB', which is not a size; write it as 64KiB, 512MiB or 2GiB");
    EXPECT_EQ(flaws_of_policy("    max_drop: 50\n"),
              "trueup.yaml:18: policies[0].max_drop has no unit; write 50%, not 50");
    for (const char* wrong : {"0.5", "0%", "100%", "200"}) {
        EXPECT_EQ(flaws_of_policy("    max_drop: " + std::string(wrong) + "\n"),
                  "trueup.yaml:18: policies[0].max_drop is '" + std::string(wrong) +
                      "'; write a whole percentage from 1% to 99%");
    }
}

// A tab was answered with `end of map not found`, a merge key with `unknown key '<<'`.
TEST(ConfigFlaws, WhatYamlKnowsAndThisFileDoesNotIsNamed) {
    EXPECT_EQ(flaws_at_top("http:\n\tlisten: off\n"),
              "trueup.yaml:3: not YAML: the indentation has a tab; write spaces");
    EXPECT_EQ(flaws_at_top("bus: &b {max_clock_step: 10s}\nhttp:\n  <<: *b\n"),
              "trueup.yaml:4: the file has a YAML merge key ('<<') here; write the keys out");
}

TEST(ConfigFlaws, VersionsOfOtherReleases) {
    EXPECT_EQ(flaws_with("version: 1", "version: 2"),
              "trueup.yaml:1: version is '2', which this release does not know; write 1");
}

TEST(ConfigFlaws, BusStateAndHttp) {
    EXPECT_EQ(
        flaws_at_top("bus: {embedded: {}, kafka: {bootstrap: x}}\n"),
        "trueup.yaml:2: bus.embedded cannot be used together with kafka; remove one of the two");
    EXPECT_EQ(flaws_at_top("bus: {max_clock_step: 0s}\n"),
              "trueup.yaml:2: bus.max_clock_step is shorter than 100ms, so journal time would "
              "hardly advance; write 10s");
    EXPECT_EQ(flaws_at_top("memory: 1MiB\n"),
              "trueup.yaml:2: memory 1MiB is too little; write at least 16MiB");
    for (const char* wrong : {"59s", "25h"}) {
        const std::string text(wrong);
        EXPECT_EQ(flaws_at_top("checkpoints: {every: " + text + "}\n"),
                  "trueup.yaml:2: checkpoints.every is " + text + "; write 1m to 24h");
    }
    EXPECT_EQ(flaws_at_top("checkpoints: {keep: 0}\n"),
              "trueup.yaml:2: checkpoints.keep is 0; write 1 to 100");
    EXPECT_EQ(flaws_at_top("checkpoints: off\n"),
              "trueup.yaml:2: checkpoints is a single value; write a map of keys");
    EXPECT_EQ(flaws_at_top("state_dir: \"\"\n"),
              "trueup.yaml:2: state_dir is empty; write the folder that keeps the journal, as in "
              "/var/lib/trueup");
    EXPECT_EQ(flaws_at_top("state_dir: ~/state\n"),
              "trueup.yaml:2: state_dir is '~/state', but ~ is expanded by shells only; write the "
              "full path");
    EXPECT_EQ(flaws_at_top("http: {listen: localhost}\n"),
              "trueup.yaml:2: http.listen is 'localhost'; write HOST:PORT with a port up to 65535, "
              "as in 127.0.0.1:9464, or "
              "off");
}

TEST(ConfigFlaws, AnAddressThatOthersReachTakesTlsOrSaysThatItIsMeant) {
    for (const std::string address : {"0.0.0.0:9464", "[::]:9464", "127.evil.example:9464"}) {
        const std::string listen = "http: {listen: \"" + address + "\"";
        EXPECT_EQ(flaws_at_top(listen + "}\n"),
                  "trueup.yaml:2: http.listen is " + address +
                      ", which other machines can reach, and tokens would be sent unencrypted; add "
                      "tls: {cert_file: FILE, key_file: FILE}, or acknowledge: [plain_http] if the "
                      "network is trusted");
        EXPECT_EQ(flaws_at_top(listen + ", acknowledge: [plain_http]}\n"), "(sound)");
        EXPECT_EQ(flaws_at_top(listen + ", tls: {cert_file: a.pem, key_file: b.pem}}\n"),
                  "(sound)");
    }
    EXPECT_EQ(flaws_at_top("http: {tls: {cert_file: a.pem}}\n"),
              "trueup.yaml:2: http.tls needs both; write {cert_file: FILE, key_file: FILE}");
    EXPECT_EQ(flaws_at_top("http: {acknowledge: [tls]}\n"),
              "trueup.yaml:2: http.acknowledge names 'tls'; for http only plain_http can be "
              "acknowledged");
}

/// `text` with a few bytes dropped, changed, or lines swapped and doubled.
std::string spoiled(std::string text, std::mt19937_64& random) {
    const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    constexpr std::string_view kBytes = " \n:{}[]'\"-&*#|>%!,~0a\t\xff";
    for (std::size_t changes = 1 + below(4); changes > 0 && text.size() > 2; --changes) {
        const std::size_t at = below(text.size());
        switch (below(4)) {
            case 0:
                text.erase(at, 1 + below(8));
                break;
            case 1:
                text[at] = kBytes[below(kBytes.size())];
                break;
            case 2:
                text.insert(at, 1, kBytes[below(kBytes.size())]);
                break;
            default:
                text.insert(at, text.substr(below(text.size()), below(30)));
        }
    }
    return text;
}

TEST(ConfigFlaws, ASpoiledFileIsReadOrRefusedWithALine) {
    const std::uint64_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (int i = 0; i < 3000; ++i) {
        const std::string text = spoiled(sound(), random);
        const std::string said = flaws(text);
        if (said == "(sound)") continue;
        ASSERT_TRUE(said.starts_with("trueup.yaml:")) << said << "\n" << text;
        ASSERT_TRUE(said[12] >= '1' && said[12] <= '9') << said << "\n" << text;
    }
}

}  // namespace
}  // namespace trueup::config
