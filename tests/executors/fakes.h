// A cluster and a database for the executors' tests: small, deterministic, with hooks to change the
// world in the very middle of an execution.
//
// What they get wrong, on purpose. FakeCluster: any namespace holds the same pods, a DELETE never
// removes a pod at once (it only sets deletionTimestamp), lists are by one label, there are no
// watches, and each answer is ready at the next poll. FakeDatabase: a row's correlation key is its
// column `pod_name`, whatever the key expression says, unless it asks for the name in a column;
// there are no transactions, streams or copies. In both an empty uid, version or xmin is no
// precondition; only a mutant sends one.
#pragma once

#include "engine/ports/cluster.h"
#include "engine/ports/database.h"
#include "engine/world/row_text.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::executors::testing {

struct FakePod {
    std::string uid = "uid-a";
    int version = 1;
    std::string phase = "Running";
    bool deleting = false;
    bool finalizer = false;
    std::string label = {};       ///< key of a label that is set
    std::string annotation = {};  ///< key of an annotation that is set
    std::string says = "true";    ///< the value of both
    std::string made_as = {};     ///< the annotation trueup.io/created-as
    std::string kind = "Pod";
    std::map<std::string, std::string> spec = {};    ///< by name, as JSON
    std::map<std::string, std::string> status = {};  ///< likewise, beside the phase
};

/// What one call meets instead of the ordinary answer.
struct Upset {
    int status = 0;             ///< 0: the connection is lost
    std::string body = {};      ///< empty: a Status with that code
    bool carried_out = false;   ///< the write took effect all the same
    bool silent = false;        ///< no answer ever comes
    std::string sqlstate = {};  ///< databases only
};

class FakeCluster final : public ports::Cluster {
  public:
    std::map<std::string, FakePod> pods;
    std::vector<std::string> calls;  ///< `GET wrapper-a`, `DELETE wrapper-a uid=… rv=… grace=…`
    std::deque<Upset> upset_gets;
    std::deque<Upset> upset_lists;
    std::deque<Upset> upset_deletes;
    std::deque<Upset> upset_patches;
    std::deque<Upset> upset_creates;
    bool drops_spec = false;  ///< takes a patch of it, and keeps nothing
    std::function<void()> before_list;
    std::function<void()> before_get;  ///< runs as a call reaches the server
    std::function<void()> before_delete;
    std::function<void()> before_patch;
    std::function<void()> before_create;
    std::size_t effects = 0;     ///< deletes and patches that took effect
    Millis longest_wait{0};      ///< that somebody was ready for ...
    std::size_t waited_for = 0;  ///< ... and sockets of others beside it

    std::size_t count(const std::string& verb) const {
        std::size_t n = 0;
        for (const std::string& call : calls) n += call.rfind(verb, 0) == 0 ? 1U : 0U;
        return n;
    }
    std::vector<ports::CallId> cancelled;
    std::string last_body;  ///< of a POST

    /// By one label.
    void list_page(ports::CallId call, const ports::ListPage& request) override {
        calls.push_back("LIST " + request.label_selector);
        if (before_list) before_list();
        if (upset(call, upset_lists)) return;
        std::string items;
        for (const auto& [name, pod] : pods) {
            if (pod.label + '=' + pod.says != request.label_selector) continue;
            items += (items.empty() ? "" : ",") + json(name, pod);
        }
        answer(call, 200,
               R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[)" + items + "]}");
    }
    void watch(ports::CallId, const ports::WatchFrom&) override {}
    void get(ports::CallId call, const ports::GetObject& request) override {
        calls.push_back("GET " + request.name);
        if (before_get) before_get();
        if (upset(call, upset_gets)) return;
        const auto pod = pods.find(request.name);
        if (pod == pods.end()) return answer(call, 404, not_found(request.name));
        answer(call, 200, json(request.name, pod->second));
    }
    void erase(ports::CallId call, const ports::DeleteObject& request) override {
        calls.push_back("DELETE " + request.name + " uid=" + request.uid +
                        " rv=" + request.resource_version + " grace=" +
                        (request.grace_period_seconds
                             ? std::to_string(*request.grace_period_seconds)
                             : "its own") +
                        (request.propagation == "background" ? "" : ' ' + request.propagation));
        if (before_delete) before_delete();
        if (!upset_deletes.empty() && upset_deletes.front().carried_out) carry_out(request);
        if (upset(call, upset_deletes)) return;
        const auto pod = pods.find(request.name);
        if (pod == pods.end()) return answer(call, 404, not_found(request.name));
        if (!carry_out(request)) return answer(call, 409, status(409, "Conflict"));
        answer(call, 200, json(request.name, pod->second));
    }
    void patch(ports::CallId call, const ports::PatchObject& request) override {
        std::string said = "PATCH " + request.name;
        if (!request.subresource.empty()) said += '/' + request.subresource;
        said += " uid=" + request.uid + " rv=" + request.resource_version;
        for (const auto& set : request.sets) {
            said += ' ' + set.path.front() + '.' + set.path.back() + '=' + json_of(set);
        }
        calls.push_back(std::move(said));
        if (before_patch) before_patch();
        if (!upset_patches.empty() && upset_patches.front().carried_out) carry_out(request);
        if (upset(call, upset_patches)) return;
        const auto pod = pods.find(request.name);
        if (pod == pods.end()) return answer(call, 404, not_found(request.name));
        if (!carry_out(request)) return answer(call, 409, status(409, "Conflict"));
        answer(call, 200, json(request.name, pod->second));
    }
    void create(ports::CallId call, const ports::CreateObject& request) override {
        calls.push_back("POST " + request.name);
        last_body = request.body;
        if (before_create) before_create();
        if (!upset_creates.empty() && upset_creates.front().carried_out) carry_out(request);
        if (upset(call, upset_creates)) return;
        if (!carry_out(request)) return answer(call, 409, status(409, "AlreadyExists"));
        answer(call, 201, json(request.name, pods.at(request.name)));
    }
    void cancel(ports::CallId call) override { cancelled.push_back(call); }
    void poll(Millis max_wait, std::vector<ports::ClusterEvent>& out) override {
        poll_beside({}, max_wait, out);
    }
    void poll_beside(const ports::Interest& others, Millis max_wait,
                     std::vector<ports::ClusterEvent>& out) override {
        const Millis wait = std::min(max_wait, others.at_most);
        if (wait > longest_wait) waited_for = others.sockets.size();
        longest_wait = std::max(longest_wait, wait);
        for (ports::ClusterEvent& event : ready_) out.push_back(std::move(event));
        ready_.clear();
    }

    static std::string status(int code, const std::string& reason) {
        return R"({"kind":"Status","code":)" + std::to_string(code) + R"(,"reason":")" + reason +
               R"(","message":"the server says )" + reason + R"("})";
    }
    static std::string not_found(const std::string& name) {
        return R"({"kind":"Status","code":404,"reason":"NotFound","details":{"name":")" + name +
               R"(","kind":"pods"},"message":"pods \")" + name + R"(\" not found"})";
    }
    static std::string json(const std::string& name, const FakePod& pod) {
        const auto flag = [&pod](const std::string& key) {
            return key.empty() ? std::string("{}") : "{\"" + key + "\":\"" + pod.says + "\"}";
        };
        return R"({"kind":")" + pod.kind + R"(","metadata":{"name":")" + name +
               R"(","namespace":"graph","uid":")" + pod.uid + R"(","resourceVersion":")" +
               std::to_string(pod.version) + '"' +
               (pod.deleting ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "") +
               (pod.finalizer ? R"(,"finalizers":["trueup.io/test"])" : "") + R"(,"labels":)" +
               flag(pod.label) + R"(,"annotations":)" + annotations(pod) + R"(},"spec":{)" +
               members(pod.spec, "") + R"(},"status":{"phase":")" + pod.phase + '"' +
               members(pod.status, ",") + "}}";
    }
    static std::string annotations(const FakePod& pod) {
        std::string all =
            pod.annotation.empty() ? "" : '"' + pod.annotation + "\":\"" + pod.says + '"';
        if (pod.made_as.empty()) return '{' + all + '}';
        if (!all.empty()) all += ',';
        return '{' + all + R"("trueup.io/created-as":")" + pod.made_as + "\"}";
    }
    static std::string members(const std::map<std::string, std::string>& all,
                               std::string_view before) {
        std::string text;
        for (const auto& [name, value] : all) {
            text += text.empty() ? std::string(before) : ",";
            text.append("\"").append(name).append("\":").append(value);
        }
        return text;
    }
    static std::string json_of(const ports::PatchObject::Set& set) {
        if (!set.value) return "null";
        return set.bare ? *set.value : '"' + *set.value + '"';
    }

  private:
    /// nullptr: it is not there as it is meant.
    template <typename Request>
    FakePod* meant(const Request& request) {
        const auto pod = pods.find(request.name);
        if (pod == pods.end()) return nullptr;
        const std::string version = std::to_string(pod->second.version);
        if (!request.uid.empty() && pod->second.uid != request.uid) return nullptr;
        const bool same = request.resource_version.empty() || version == request.resource_version;
        return same ? &pod->second : nullptr;
    }
    /// One level of `spec` and of `status`, and the one annotation.
    bool carry_out(const ports::PatchObject& request) {
        FakePod* pod = meant(request);
        if (pod == nullptr) return false;
        for (const ports::PatchObject::Set& set : request.sets) {
            if (set.path.front() == "metadata") {
                pod->annotation = set.value ? set.path.back() : "";
                pod->says = set.value.value_or("");
                continue;
            }
            const bool spec = set.path.front() == "spec";
            // Each of the two endpoints passes the other one's part over.
            if (spec ? drops_spec : request.subresource != "status") continue;
            auto& members = spec ? pod->spec : pod->status;
            if (set.value) {
                members[set.path.back()] = json_of(set);
            } else {
                members.erase(set.path.back());
            }
        }
        ++pod->version;
        ++effects;
        return true;
    }
    /// Of what it says only the annotation by which it is known again is kept.
    bool carry_out(const ports::CreateObject& request) {
        constexpr std::string_view kMark = R"("trueup.io/command":")";
        const std::size_t at = request.body.find(kMark);
        FakePod made;
        made.uid = "uid-new";
        if (at != std::string::npos) {
            made.annotation = "trueup.io/command";
            made.says = request.body.substr(at + kMark.size(), 32);
        }
        const bool fresh = pods.emplace(request.name, std::move(made)).second;
        effects += fresh ? 1U : 0U;
        return fresh;
    }
    bool carry_out(const ports::DeleteObject& request) {
        FakePod* pod = meant(request);
        if (pod == nullptr) return false;
        pod->deleting = true;
        ++pod->version;
        ++effects;
        return true;
    }
    bool upset(ports::CallId call, std::deque<Upset>& upsets) {
        if (upsets.empty()) return false;
        const Upset what = upsets.front();
        upsets.pop_front();
        if (what.silent) return true;
        if (what.status == 0) {
            ports::ClusterEvent event;
            event.call = call;
            event.error = {Next::kRetry, Code::kUnavailable, "connection lost"};
            ready_.push_back(event);
        } else {
            answer(call, what.status, what.body.empty() ? status(what.status, "Upset") : what.body);
        }
        return true;
    }
    void answer(ports::CallId call, int code, const std::string& body) {
        ports::ClusterEvent event;
        event.call = call;
        event.kind = ports::ClusterEvent::Kind::kHead;
        event.status = code;
        ready_.push_back(event);
        event.kind = ports::ClusterEvent::Kind::kData;
        const std::size_t half = body.size() / 2;  // Cut anywhere.
        event.data = body.substr(0, half);
        ready_.push_back(event);
        event.data = body.substr(half);
        ready_.push_back(event);
        event.data.clear();
        event.kind = ports::ClusterEvent::Kind::kEnd;
        ready_.push_back(event);
    }
    std::vector<ports::ClusterEvent> ready_;
};

struct FakeRow {
    int xmin = 1;
    std::map<std::string, std::optional<std::string>> columns;
};

class FakeDatabase final : public ports::Database {
  public:
    std::map<std::string, FakeRow> rows;  ///< by pk
    std::vector<std::string> calls;       ///< `SELECT pk=7`, `SELECT key=…`, `UPDATE pk=7 …`
    std::deque<Upset> upset_reads;
    std::deque<Upset> upset_updates;
    std::function<void()> before_read;
    std::function<void()> before_update;
    Millis update_kept{0};  ///< how long the next update is kept before it is sent
    std::string last_key_expression;
    std::vector<ports::ColumnValue> last_guards;
    ports::InsertRow last_insert;
    bool other_key = false;  ///< a trigger changes the key of what is inserted
    bool keeps_out = false;  ///< an INSERT writes nothing, as where a trigger says so
    std::size_t effects = 0;
    std::string place = "7/1/graph";
    std::function<void()> in_poll;  ///< runs while somebody waits for answers
    Millis longest_wait{0};         ///< that somebody was ready for
    std::size_t wakes = 0;
    bool says_interest = true;  ///< one socket

    std::size_t count(const std::string& verb) const {
        std::size_t n = 0;
        for (const std::string& call : calls) n += call.rfind(verb, 0) == 0 ? 1U : 0U;
        return n;
    }

    void inspect(ports::CallId, const ports::Inspect&) override {}
    void ensure_slot(ports::CallId, const ports::EnsureSlot&) override {}
    void drop_slot(ports::CallId, const std::string&) override {}
    void copy(ports::CallId, const ports::CopyTable&) override {}
    void start_wal(ports::CallId, const ports::StartWal&) override {}
    void insert_lsn(ports::CallId, const ports::AskInsertLsn&) override {}
    void wal_status(ports::CallId, ports::Lsn, ports::Lsn, bool) override {}

    void read_rows(ports::CallId call, const ports::ReadRows& request) override {
        calls.push_back(request.pk ? "SELECT pk=" + *request.pk : "SELECT key=" + request.key);
        if (!request.pk) last_key_expression = request.key_expression;
        if (before_read) before_read();
        if (upset(call, upset_reads)) return;
        std::vector<ports::SqlRow> found;
        for (const auto& [pk, row] : rows) {
            const auto also = [&, &row = row](const ports::RowName& name) {
                return has_name(row, name);
            };
            const bool named = has_name(row, {request.key_expression, request.key}) ||
                               std::any_of(request.also.begin(), request.also.end(), also);
            if (request.pk ? *request.pk != pk : !named) continue;
            ports::SqlRow values{pk, std::to_string(row.xmin)};
            for (const std::string& column : request.columns) {
                const auto value = row.columns.find(column);
                values.push_back(value == row.columns.end() ? std::nullopt : value->second);
            }
            if (request.tell_place) values.emplace_back(place);
            found.push_back(std::move(values));
        }
        if (request.tell_place && found.empty()) found.push_back({place});
        answer(call, std::move(found));
    }
    void update_row(ports::CallId call, const ports::UpdateRow& request) override {
        calls.push_back("UPDATE pk=" + request.pk + " xmin=" + request.xmin);
        last_guards = request.guards;
        write(call, request, "1");
    }
    /// As a unique index on the key, and the look in the statement, would have it.
    void insert_row(ports::CallId call, const ports::InsertRow& request) override {
        calls.push_back("INSERT");
        last_insert = request;
        write(call, request, other_key ? ports::InsertRow::kOther : "1");
    }
    void cancel(ports::CallId) override {}
    void wake() override { ++wakes; }
    void poll(Millis max_wait, std::vector<ports::DatabaseEvent>& out) override {
        longest_wait = std::max(longest_wait, max_wait);
        if (in_poll) in_poll();
        for (ports::DatabaseEvent& event : ready_) out.push_back(std::move(event));
        ready_.clear();
    }

    bool interest(ports::Interest& all) const override {
        if (says_interest) all.sockets.push_back({-1, POLLIN, 0});
        return says_interest;
    }

  private:
    /// `done` is the answer where it is carried out.
    template <typename Request>
    void write(ports::CallId call, const Request& request, const char* done) {
        if (before_update) before_update();
        if (std::exchange(update_kept, Millis{0}) > request.send_within) {
            upset_updates.push_front({});
        }
        if (!upset_updates.empty() && upset_updates.front().carried_out) carry_out(request);
        if (upset(call, upset_updates)) return;
        if (!request.only_at.empty() && request.only_at != place) {
            return answer(call, {{"0", place}});
        }
        answer(call, {{carry_out(request) ? done : "0"}});
    }
    static bool has_name(const FakeRow& row, const ports::RowName& name) {
        const auto named_in = world::column_named_in(name.expression);
        const auto key = row.columns.find(named_in.value_or("pod_name"));
        if (key == row.columns.end() || !key->second) return false;
        return (named_in ? world::named_in(*key->second) : *key->second) == name.value;
    }
    bool carry_out(const ports::InsertRow& request) {
        if (keeps_out) return false;
        for (const auto& [pk, row] : rows) {
            for (const ports::RowName& name : request.none_of) {
                if (has_name(row, name)) return false;
            }
        }
        FakeRow made;
        for (const ports::ColumnValue& set : request.sets) made.columns[set.column] = set.value;
        rows["new-" + std::to_string(++effects)] = made;
        return true;
    }
    bool carry_out(const ports::UpdateRow& request) {
        const auto row = rows.find(request.pk);
        if (row == rows.end()) return false;
        const std::string xmin = std::to_string(row->second.xmin);
        if (!request.xmin.empty() && xmin != request.xmin) return false;
        for (const ports::ColumnValue& guard : request.guards) {
            if (row->second.columns[guard.column] != guard.value) return false;
        }
        for (const ports::ColumnValue& set : request.sets) {
            row->second.columns[set.column] = set.value;
        }
        ++row->second.xmin;
        ++effects;
        return true;
    }
    bool upset(ports::CallId call, std::deque<Upset>& upsets) {
        if (upsets.empty()) return false;
        const Upset what = upsets.front();
        upsets.pop_front();
        if (what.silent) return true;
        ports::DatabaseEvent event;
        event.call = call;
        event.sqlstate = what.sqlstate;
        event.error = {Next::kRetry, Code::kUnavailable,
                       what.sqlstate.empty() ? "connection lost" : "the server says no"};
        ready_.push_back(event);
        return true;
    }
    void answer(ports::CallId call, std::vector<ports::SqlRow> found) {
        ports::DatabaseEvent event;
        event.call = call;
        event.kind = ports::DatabaseEvent::Kind::kRows;
        event.rows = std::move(found);
        ready_.push_back(event);
        event.rows.clear();
        event.kind = ports::DatabaseEvent::Kind::kEnd;
        ready_.push_back(event);
    }
    std::vector<ports::DatabaseEvent> ready_;
};

}  // namespace trueup::executors::testing
