// What the sandbox's tests share: clients that gather answers, and a
// minimal reader of pgoutput.
#pragma once

#include "sandbox/world.h"
#include "tests/support/manual_clock.h"

#include <simdjson.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace trueup::sandbox::testing {

/// It is 4 March 2026, 10:00:05.
struct ManualClock final : trueup::testing::ManualClock {
    ManualClock() : trueup::testing::ManualClock(1'772'618'405'000) {}
};

/// Everything that came for one call.
struct Answer {
    int status = 0;
    std::int64_t retry_after_ms = 0;
    std::string body;
    bool ended = false;
    bool failed = false;
};

/// A cluster port and what came in on it.
class ClusterClient {
  public:
    explicit ClusterClient(World& world, bool second = false) : port(world.cluster(second)) {}

    /// Polls once and returns what this call has got so far.
    Answer& answer(ports::CallId call) {
        poll();
        return answers_[call];
    }
    void poll() {
        std::vector<ports::ClusterEvent> events;
        port->poll(Millis(0), events);
        for (const ports::ClusterEvent& event : events) {
            Answer& answer = answers_[event.call];
            switch (event.kind) {
                case ports::ClusterEvent::Kind::kHead:
                    answer.status = event.status;
                    answer.retry_after_ms = event.retry_after_ms;
                    break;
                case ports::ClusterEvent::Kind::kData:
                    answer.body += event.data;
                    break;
                case ports::ClusterEvent::Kind::kEnd:
                    answer.ended = true;
                    break;
                case ports::ClusterEvent::Kind::kFailed:
                    answer.failed = true;
                    break;
            }
        }
    }
    Answer list(const ports::ListPage& request) {
        port->list_page(++last_, request);
        return answer(last_);
    }
    Answer erase(const std::string& name, const std::string& uid, std::uint64_t version) {
        port->erase(++last_, {graph_pods(), name, uid, std::to_string(version), 30});
        return answer(last_);
    }
    Answer get(const std::string& name) {
        port->get(++last_, {graph_pods(), name});
        return answer(last_);
    }
    ports::CallId watch(std::uint64_t from, const std::string& selector = {},
                        std::uint32_t timeout_seconds = 290) {
        port->watch(++last_, {graph_pods(), selector, std::to_string(from), timeout_seconds, true});
        return last_;
    }
    /// The watch's complete lines as "TYPE name@version" since the last call; the body is taken.
    std::vector<std::string> lines(ports::CallId call);

    static ports::Resource graph_pods() { return {"/api/v1", "graph", "pods"}; }

    std::unique_ptr<ports::Cluster> port;

  private:
    ports::CallId last_ = 0;
    std::map<ports::CallId, Answer> answers_;
};

/// One JSON document and the text that it points into.
struct Json {
    explicit Json(const std::string& text) : root(parser.parse(text)) {}
    std::string text(const char* pointer) const {
        const auto at = root.at_pointer(pointer);
        if (at.error() != simdjson::SUCCESS) return "<none>";
        return std::string(std::string_view(at));
    }
    bool has(const char* pointer) const {
        return root.at_pointer(pointer).error() == simdjson::SUCCESS;
    }
    std::int64_t number(const char* pointer) const { return root.at_pointer(pointer); }
    std::size_t count(const char* pointer) const {
        return simdjson::dom::array(root.at_pointer(pointer)).size();
    }

    simdjson::dom::parser parser;
    simdjson::dom::element root;
};

inline std::vector<std::string> ClusterClient::lines(ports::CallId call) {
    std::vector<std::string> out;
    std::string& body = answer(call).body;
    for (std::size_t end = body.find('\n'); end != std::string::npos; end = body.find('\n')) {
        const Json line(body.substr(0, end));
        body.erase(0, end + 1);
        std::string said = line.text("/type") + " ";
        if (line.has("/object/metadata/name")) said += line.text("/object/metadata/name");
        if (line.text("/type") == "ERROR") {
            said += std::to_string(line.number("/object/code"));
        } else {
            said += "@" + line.text("/object/metadata/resourceVersion");
        }
        out.push_back(std::move(said));
    }
    return out;
}

struct DatabaseAnswer {
    std::vector<ports::SqlRow> rows;
    ports::Lsn snapshot = 0;
    std::vector<std::string> wal;
    bool ended = false;
    bool failed = false;
    std::string sqlstate;
};

class DatabaseClient {
  public:
    explicit DatabaseClient(World& world) : port(world.database()) {}

    DatabaseAnswer& answer(ports::CallId call) {
        std::vector<ports::DatabaseEvent> events;
        port->poll(Millis(0), events);
        for (ports::DatabaseEvent& event : events) {
            DatabaseAnswer& answer = answers_[event.call];
            for (ports::SqlRow& row : event.rows) answer.rows.push_back(std::move(row));
            using Kind = ports::DatabaseEvent::Kind;
            if (event.kind == Kind::kSnapshot) answer.snapshot = event.lsn;
            if (event.kind == Kind::kWal) answer.wal.push_back(std::move(event.data));
            if (event.kind == Kind::kEnd) answer.ended = true;
            if (event.kind != Kind::kFailed) continue;
            answer.failed = true;
            answer.sqlstate = event.sqlstate;
        }
        return answers_[call];
    }
    DatabaseAnswer ensure_slot(const std::string& name = "s") {
        port->ensure_slot(++last_, {name, "trueup"});
        return answer(last_);
    }
    ports::CallId stream(ports::Lsn from = 0) {
        port->start_wal(++last_, {"s", "trueup", from});
        return last_;
    }
    ports::CallId copy(const std::vector<std::string>& columns, const std::string& key) {
        port->copy(++last_, {{"public", "instances"}, columns, key});
        return last_;
    }
    DatabaseAnswer read(const std::string& pk) {
        port->read_rows(++last_, {{"public", "instances"}, {"id"}, {"status"}, pk, {}, {}});
        return answer(last_);
    }
    DatabaseAnswer update(const std::string& pk, const std::string& xmin,
                          const std::vector<ports::ColumnValue>& guards,
                          const std::vector<ports::ColumnValue>& sets) {
        port->update_row(++last_, {{"public", "instances"}, {"id"}, pk, xmin, guards, sets});
        return answer(last_);
    }

    std::unique_ptr<ports::Database> port;

  private:
    ports::CallId last_ = 0;
    std::map<ports::CallId, DatabaseAnswer> answers_;
};

/// One replication message, taken apart.
struct WalMessage {
    char envelope = '?';  ///< w or k
    ports::Lsn start = 0;
    ports::Lsn end = 0;
    bool reply_now = false;  ///< of a k
    char kind = '?';         ///< of a w: B C R I U D T
    ports::Lsn commit_lsn = 0;
    ports::Lsn end_lsn = 0;
    std::uint32_t xid = 0;
    std::string relation;  ///< of an R: schema.table
    std::vector<std::string> columns;
    char old_kind = '-';  ///< O, K
    std::vector<std::string> before;
    std::vector<std::string> after;
};

/// Reads a message; values are texts, "NULL" or "UNCHANGED". Throws on a short one.
WalMessage read_wal(const std::string& bytes);

/// "B R I(1) C" of a stream's messages; the value in parentheses is the key after (or before).
std::string outline(const std::vector<std::string>& wal);

inline Row instance(const std::string& slug, const std::string& status) {
    return {{"url_slug", slug}, {"status", status}, {"pod_name", "wrapper-" + slug}};
}

}  // namespace trueup::sandbox::testing
