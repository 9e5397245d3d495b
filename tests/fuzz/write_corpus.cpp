// Writes what the corpus begins with: sound messages, one a file, as the product and the servers of
// the sandbox write them.
//
//   fuzz_corpus tests/fuzz/corpus
#include "connectors/embedded/block.h"
#include "engine/codec/change_codec.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/settings_codec.h"
#include "engine/codec/signature.h"
#include "engine/core/row.h"
#include "sandbox/pod_json.h"
#include "stories/replay.h"
#include "tests/engine/codec/samples.h"
#include "tests/support/graph_script.h"
#include "tests/support/pgoutput_bytes.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

namespace trueup::fuzz {
namespace {

namespace samples = codec::samples;
using namespace test_support;

/// One folder for each target.
class Corpus {
  public:
    explicit Corpus(std::filesystem::path root) : root_(std::move(root)) {}

    void add(const std::string& target, const std::string& name, const std::string& bytes) {
        const std::filesystem::path folder = root_ / target;
        std::filesystem::create_directories(folder);
        std::ofstream file(folder / name, std::ios::binary | std::ios::trunc);
        file << bytes;
        good_ = good_ && file.good();
    }
    bool good() const { return good_; }

  private:
    std::filesystem::path root_;
    bool good_ = true;
};

void add_messages(Corpus& corpus) {
    corpus.add("change", "upsert", codec::encode_change(samples::upsert()));
    corpus.add("change", "progress", codec::encode_change(samples::progress()));
    corpus.add("journal", "record", samples::journal_record());
    corpus.add("journal", "tick", codec::JournalRecordBuilder().take());
    corpus.add("command", "command", codec::encode_command(samples::command()));
    Command in_its_time = samples::command();
    in_its_time.draft.action.grace_seconds.reset();
    corpus.add("command", "in-its-time", codec::encode_command(in_its_time));
    corpus.add("finding", "finding", codec::encode_finding(samples::finding()));
    corpus.add("outcome", "outcome", codec::encode_outcome(samples::outcome()));
    corpus.add("request", "request", codec::encode_request(samples::request()));
    corpus.add("request", "enable", codec::encode_request(samples::enabling()));
    corpus.add("settings", "settings", '\0' + codec::encode_settings(samples::settings()));
    corpus.add("settings", "genesis", '\1' + codec::encode_genesis(samples::genesis()));
    std::string signed_one = codec::encode_command(samples::command());
    codec::KeyRing({codec::Key{"stranger", "a key that is not of the ring..."}})
        .sign(codec::kCommandSignature, signed_one);
    corpus.add("signature", "stranger", std::string(2, '\0') + signed_one);
    corpus.add("signature", "empty", std::string(2, '\7'));
}

void add_rows(Corpus& corpus) {
    testing::JournalScript script = testing::approving_world();
    stories::Replay replay;
    replay.fold(script.records(), 0, script.records().size());
    const auto row_of = [&](const std::string& key) {
        const core::SubjectTable::Entry* entry = replay.state().subjects.find(key);
        std::string row(1, static_cast<char>(key.size()));
        core::encode_subject(entry->subject, row += key);
        return row;
    };
    corpus.add("row", "subject", row_of("graph-instances/wrapper-7"));
    std::string meta(1, '\0');
    core::encode_meta(replay.settled_meta(), meta);
    corpus.add("row", "meta", meta);
    std::vector<ports::Entry> entries{{"key", "value", {{"ce_id", "1"}}}, {"", "", {}}};
    corpus.add("block", "two",
               connectors::seal(connectors::pack(entries), Offset(5), BrokerTime{})->bytes);
}

sandbox::Pod pod(std::string name) {
    sandbox::Pod pod;
    pod.name_space = "graph";
    pod.name = std::move(name);
    pod.uid = "0b0c7ab2-57a3-4f52-8d0b-54c0c2b1a111";
    pod.labels = {{"app", "wrapper"}, {"trueup.io/hold", "true"}};
    pod.annotations = {{"a", "b"}};
    pod.phase = "Running";
    pod.node = "node-1";
    pod.created_ms = 1'700'000'000'000;
    pod.resource_version = 17;
    return pod;
}

void add_kubernetes(Corpus& corpus) {
    const std::string one = sandbox::pod_json(pod("wrapper-7f3a"), true);
    const sandbox::StatusObject gone = sandbox::not_found("wrapper-7f3a");
    std::string lines = sandbox::watch_line("ADDED", one) + sandbox::watch_line("DELETED", one);
    lines += sandbox::bookmark_line(18) + sandbox::watch_line("ERROR", sandbox::status_json(gone));
    corpus.add("watch", "events", '\x10' + lines);
    sandbox::Pod nameless = pod("x");
    nameless.labels.clear();
    corpus.add("watch", "without-labels",
               '\x02' + sandbox::watch_line("MODIFIED", sandbox::pod_json(nameless, true)));
    const auto shared = std::make_shared<const sandbox::Pod>(pod("wrapper-7f3a"));
    corpus.add("list", "page", sandbox::pod_list_json({shared, shared}, 17, "token", 3));
    corpus.add("list", "object", one);
    corpus.add("list", "status", sandbox::status_json(gone));
    corpus.add("live_object", "pod", "\x0cwrapper-7f3a" + one);
    corpus.add("live_object", "not-found", "\x0cwrapper-7f3a" + sandbox::status_json(gone));
    corpus.add("exec_credential", "token",
               R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
               R"("status":{"token":"t","clientCertificateData":"c","clientKeyData":"k",)"
               R"("expirationTimestamp":"2026-01-31T23:59:59.5+02:00"}})");
}

/// With the length before each, as replication.cpp reads them.
std::string stream_of(const std::vector<std::string>& messages) {
    std::string bytes;
    for (const std::string& message : messages) {
        bytes += static_cast<char>(message.size() / 256);
        bytes += static_cast<char>(message.size() % 256);
        bytes += message;
    }
    return bytes;
}

void add_postgres(Corpus& corpus) {
    const std::string relation =
        pg_relation(9, "public", "instances", 'f',
                    {{"id", true}, {"url_slug"}, {"pod_name"}, {"status"}, {"keep"}});
    const PgTuple row{pg_text("1"), pg_text("7f3a"), pg_null(), pg_text("running"), pg_text("f")};
    const PgTuple toast{pg_text("1"), pg_text("x"), pg_unchanged(), pg_null(), pg_null()};
    const std::vector<std::pair<std::string, std::string>> all{
        {"begin", pg_begin(0x500, 5)},
        {"commit", pg_commit(0x500, 0x530)},
        {"relation", relation},
        {"type", PgBytes('Y').number(3, 4).text("public").text("mood").take()},
        {"insert", pg_insert(9, row)},
        {"update", pg_update(9, 'O', row, toast)},
        {"delete", pg_delete(9, 'K', row)},
        {"truncate", pg_truncate({9, 10})},
        {"origin", PgBytes('O').number(5, 8).text("origin").take()},
        {"message",
         PgBytes('M').number(1, 1).number(5, 8).text("trueup").number(2, 4).raw("hi").take()}};
    for (const auto& [name, payload] : all) corpus.add("pgoutput", name, pg_wal(payload));
    corpus.add("pgoutput", "keepalive", pg_keepalive(0x600, true));
    const std::string begin = pg_begin(0x500, 5);
    corpus.add("replication", "changes",
               stream_of({begin, relation, pg_insert(9, row), pg_update(9, 'O', row, toast),
                          pg_delete(9, 'O', row), pg_commit(0x500, 0x530), pg_begin(0x600),
                          pg_truncate({9}), pg_commit(0x600, 0x630)}));
    corpus.add("replication", "another-shape",
               stream_of({begin, pg_relation(9, "public", "instances", 'd', {{"id", true}}),
                          pg_insert(9, {pg_text("1")}), pg_commit(0x500, 0x530)}));
}

void add_texts(Corpus& corpus) {
    corpus.add("correlation", "coalesce", "coalesce(pod_name, 'wrapper-' || url_slug)");
    corpus.add("correlation", "quoted", R"(("Pod ""Name""" || 'it''s' || a) || coalesce(b, 'c'))");
    corpus.add("copy", "row", "1\t\\N\ta \\t tab, a \\n line, a \\\\ and a \\q\t\n");
    corpus.add("copy", "cut", "1\t\\");
    corpus.add("times", "timestamp", "2026-11-21 18:57:48.123456+05:30");
    corpus.add("times", "rfc3339", "2026-01-31T23:59:59.5+02:00");
    corpus.add("times", "interval", "2 days 03:04:05.6");
    corpus.add("times", "iso", "P1DT24H30M5S");
    corpus.add("times", "configured", "500ms");
    corpus.add("selector", "all",
               "\x01x"
               "app=x,a==b,c!=d,e in (x, y),f notin (z),g,!h");
    corpus.add("http", "request",
               "POST /v1/requests\nBearer oooooooooooooooooooo\n"
               R"({"kind": "approve", "rule": "orphaned_pod", "finding": )"
               R"("00000000000000010000000000000002", "seen": 17, "comment": "looked"})");
    corpus.add("http", "query",
               "HEAD /v1/findings?rule=a%20b&limit=1\nBearer vvvvvvvvvvvvvvvvvvvv\n{}");
    corpus.add("http", "answer",
               "GET /v1/requests/0123\n\n{\"kind\": \"dismiss\", \"drop\": true}");
    corpus.add("tokens", "two",
               "Bearer oooooooooooooooooooo\n# NAME ROLE TOKEN [EXPIRES]\n"
               "olga ops oooooooooooooooooooo\n"
               "old admin xxxxxxxxxxxxxxxxxxxx 2020-01-01T00:00:00Z\n");
    corpus.add("config", "smallest",
               "version: 1\nsources:\n  pods: {kubernetes: {namespace: n, selector: a=b}}\n"
               "  rows: {postgres: {conninfo: host=h dbname=d user=u, table: public.t}}\n"
               "policies:\n  - {name: p, use: graph-instances, roles: {pods: pods, rows: rows}, "
               "keys: {rows: pod_name}}\n"
               "executors: {delete_pod: {source: pods}, update_row: {source: rows}}\n");
    corpus.add("scenario", "short",
               "# A story\nuse processors\n0s known all\n5s pod a id=b\n=> x\n");
}

}  // namespace
}  // namespace trueup::fuzz

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "fuzz_corpus FOLDER\n";
        return 2;
    }
    trueup::fuzz::Corpus corpus(arguments[1]);
    trueup::fuzz::add_messages(corpus);
    trueup::fuzz::add_rows(corpus);
    trueup::fuzz::add_kubernetes(corpus);
    trueup::fuzz::add_postgres(corpus);
    trueup::fuzz::add_texts(corpus);
    return corpus.good() ? 0 : 1;
}
