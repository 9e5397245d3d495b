#include "executors/async_calls.h"

#include "engine/base/check.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trueup::executors {
namespace {

// One pod is some kilobytes; whatever is larger than this is not the answer to our question.
constexpr std::size_t kMaxBody = 4U << 20U;

std::string object_of(const ports::Resource& resource, const std::string& name) {
    return resource.api_path + "/" + resource.name_space + "/" + resource.plural + "/" + name;
}

}  // namespace

AsyncCalls::Open& AsyncCalls::open(Owner owner, SteadyTime now) {
    const ports::CallId call = next_++;
    Open& entry = open_[call];
    entry.answer.owner = owner;
    entry.answer.call = call;
    entry.due = now + timeout_;
    return entry;
}

ports::CallId AsyncCalls::open(Owner owner, ports::Database& database, SteadyTime now) {
    Open& entry = open(owner, now);
    entry.database = &database;
    return entry.answer.call;
}

ports::CallId AsyncCalls::open(Owner owner, Asked asked, SteadyTime now) {
    Open& entry = open(owner, now);
    entry.asked = std::move(asked);
    return entry.answer.call;
}

ports::CallId AsyncCalls::get(Owner owner, ports::Cluster& cluster, const ports::GetObject& request,
                              SteadyTime now) {
    const ports::CallId call =
        open(owner, Asked{&cluster, false, object_of(request.resource, request.name)}, now);
    cluster.get(call, request);
    return call;
}

ports::CallId AsyncCalls::list(Owner owner, ports::Cluster& cluster, const ports::ListPage& request,
                               SteadyTime now) {
    const std::string what = object_of(request.resource, "?" + request.label_selector);
    const ports::CallId call = open(owner, Asked{&cluster, false, what}, now);
    cluster.list_page(call, request);
    return call;
}

ports::CallId AsyncCalls::erase(Owner owner, ports::Cluster& cluster,
                                const ports::DeleteObject& request, SteadyTime now) {
    const ports::CallId call =
        open(owner, Asked{&cluster, true, object_of(request.resource, request.name)}, now);
    cluster.erase(call, request);
    return call;
}

ports::CallId AsyncCalls::patch(Owner owner, ports::Cluster& cluster,
                                const ports::PatchObject& request, SteadyTime now) {
    const ports::CallId call =
        open(owner, Asked{&cluster, true, object_of(request.resource, request.name)}, now);
    cluster.patch(call, request);
    return call;
}

ports::CallId AsyncCalls::create(Owner owner, ports::Cluster& cluster,
                                 const ports::CreateObject& request, SteadyTime now) {
    const ports::CallId call =
        open(owner, Asked{&cluster, true, object_of(request.resource, request.name)}, now);
    cluster.create(call, request);
    return call;
}

ports::CallId AsyncCalls::read_rows(Owner owner, ports::Database& database,
                                    const ports::ReadRows& request, SteadyTime now) {
    const ports::CallId call = open(owner, database, now);
    database.read_rows(call, request);
    return call;
}

ports::CallId AsyncCalls::update_row(Owner owner, ports::Database& database,
                                     const ports::UpdateRow& request, SteadyTime now) {
    const ports::CallId call = open(owner, database, now);
    database.update_row(call, request);
    return call;
}

ports::CallId AsyncCalls::insert_row(Owner owner, ports::Database& database,
                                     const ports::InsertRow& request, SteadyTime now) {
    const ports::CallId call = open(owner, database, now);
    database.insert_row(call, request);
    return call;
}

void AsyncCalls::Open::cancel() const {
    if (asked.cluster != nullptr) asked.cluster->cancel(answer.call);
    if (database != nullptr) database->cancel(answer.call);
}

void AsyncCalls::cancel_all(Owner owner) {
    for (auto it = open_.begin(); it != open_.end();) {
        if (it->second.answer.owner == owner) {
            it->second.cancel();
            it = open_.erase(it);
        } else {
            ++it;
        }
    }
    complete_.erase(std::remove_if(complete_.begin(), complete_.end(),
                                   [&](const auto& each) { return each.first.owner == owner; }),
                    complete_.end());
}

void AsyncCalls::close(std::map<ports::CallId, Open>::iterator which) {
    complete_.emplace_back(std::move(which->second.answer), std::move(which->second.asked));
    open_.erase(which);
}

std::optional<SteadyTime> AsyncCalls::due() const {
    // In the order of their starts, and all wait for as long.
    if (open_.empty()) return std::nullopt;
    return open_.begin()->second.due;
}

void AsyncCalls::poll(Millis max_wait) {
    std::set<ports::Cluster*> clusters;
    std::set<ports::Database*> databases;
    for (const auto& [call, entry] : open_) {
        if (entry.asked.cluster != nullptr) clusters.insert(entry.asked.cluster);
        if (entry.database != nullptr) databases.insert(entry.database);
    }
    // One port waits for all: a cluster, which cannot always say what it waits for, else a
    // database. The others send what is to be sent first, and are looked at afterwards.
    ports::Cluster* const cluster = clusters.empty() ? nullptr : *clusters.begin();
    clusters.erase(cluster);
    ports::Database* const database =
        cluster != nullptr || databases.empty() ? nullptr : *databases.begin();
    databases.erase(database);
    const auto look = [&] {
        for (ports::Cluster* each : clusters) poll_cluster(*each, {}, Millis(0));
        for (ports::Database* each : databases) poll_database(*each, {}, Millis(0));
    };
    look();
    ports::Interest others;
    bool known = true;
    for (const ports::Cluster* each : clusters) known = each->interest(others) && known;
    for (const ports::Database* each : databases) known = each->interest(others) && known;
    if (!known) {
        const auto ports = static_cast<Millis::rep>(1 + clusters.size() + databases.size());
        others.at_most = std::min(others.at_most, ports * ports::kLookAgain);
    }
    const Millis wait = complete_.empty() ? max_wait : Millis(0);
    if (cluster != nullptr) poll_cluster(*cluster, others, wait);
    if (database != nullptr) poll_database(*database, others, wait);
    look();
}

void AsyncCalls::poll_cluster(ports::Cluster& cluster, const ports::Interest& others,
                              Millis max_wait) {
    cluster_events_.clear();
    cluster.poll_beside(others, max_wait, cluster_events_);
    for (const ports::ClusterEvent& event : cluster_events_) handle(event);
}

void AsyncCalls::poll_database(ports::Database& database, const ports::Interest& others,
                               Millis max_wait) {
    database_events_.clear();
    database.poll_beside(others, max_wait, database_events_);
    for (ports::DatabaseEvent& event : database_events_) handle(event);
}

void AsyncCalls::handle(const ports::ClusterEvent& event) {
    const auto found = open_.find(event.call);
    if (found == open_.end() || found->second.asked.cluster == nullptr) return;
    Answer& answer = found->second.answer;
    switch (event.kind) {
        case ports::ClusterEvent::Kind::kHead:
            answer.status = event.status;
            return;
        case ports::ClusterEvent::Kind::kData:
            answer.body += event.data;
            if (answer.body.size() <= kMaxBody) return;
            found->second.cancel();
            answer.failed = true;
            answer.error = {Next::kSkip, Code::kTooLarge, "the answer is larger than 4 MiB"};
            break;
        case ports::ClusterEvent::Kind::kEnd:
            // A body without a status line is no answer.
            answer.failed = answer.status == 0;
            if (answer.failed) {
                answer.error = {Next::kRetry, Code::kInvalid, "the answer has no status"};
            }
            break;
        case ports::ClusterEvent::Kind::kFailed:
            answer.failed = true;
            answer.error = event.error;
            break;
    }
    close(found);
}

void AsyncCalls::handle(ports::DatabaseEvent& event) {
    const auto found = open_.find(event.call);
    if (found == open_.end() || found->second.database == nullptr) return;
    Answer& answer = found->second.answer;
    switch (event.kind) {
        case ports::DatabaseEvent::Kind::kRows:
            for (ports::SqlRow& row : event.rows) answer.rows.push_back(std::move(row));
            return;
        case ports::DatabaseEvent::Kind::kSnapshot:
        case ports::DatabaseEvent::Kind::kWal:
            return;
        case ports::DatabaseEvent::Kind::kEnd:
            break;
        case ports::DatabaseEvent::Kind::kFailed:
            answer.failed = true;
            answer.sqlstate = event.sqlstate;
            answer.error = event.error;
            break;
    }
    close(found);
}

std::vector<Answer> AsyncCalls::take(SteadyTime now) {
    for (auto it = open_.begin(); it != open_.end();) {
        const auto current = it++;
        if (current->second.due > now) continue;
        current->second.cancel();
        current->second.answer.failed = true;
        current->second.answer.error = {Next::kRetry, Code::kTimeout, "no answer in time"};
        close(current);
    }
    std::vector<Answer> answers;
    for (auto& [answer, asked] : std::exchange(complete_, {})) {
        judge_rights(answer, asked, now);
        answers.push_back(std::move(answer));
    }
    return answers;
}

void AsyncCalls::judge_rights(Answer& answer, const Asked& asked, SteadyTime now) {
    if (asked.cluster == nullptr || answer.failed) return;
    // Of one that was not asked again for so long nobody knows whether it was mended meanwhile.
    std::erase_if(refused_,
                  [now](const auto& each) { return now - each.second.last > 2 * kRightsComeUp; });
    if (answer.status != 403) {
        refused_.erase(asked);
        return;
    }
    Refused& refused = refused_.try_emplace(asked, Refused{now, now}).first->second;
    refused.last = now;
    answer.for_good = now - refused.since >= kRightsComeUp;
}

}  // namespace trueup::executors
