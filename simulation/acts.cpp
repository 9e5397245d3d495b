#include "simulation/acts.h"

#include "engine/codec/request_codec.h"
#include "simulation/staging.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

const sandbox::Labels& labels() {
    static const sandbox::Labels kLabels{{"app", "ryugraph-wrapper"}};
    return kLabels;
}

std::string fresh_name(Stage& stage) { return "wrapper-s" + std::to_string(++stage.names); }

sandbox::Row row_for(const std::string& name, const std::string& status) {
    return {{"name", "graph " + name},
            {"url_slug", name.substr(name.find('-') + 1)},
            {"status", status},
            {"pod_name", name}};
}

/// Something that follows later, unless everything is over by then.
void later(Stage& stage, Millis delay, std::function<void()> what) {
    stage.scheduler.after(delay, [&stage, what = std::move(what)] {
        if (!stage.over) what();
    });
}

std::vector<sandbox::PodPtr> pods(const Stage& stage) {
    return stage.history.pods(stage.history.moment());
}
std::vector<History::Row> rows(const Stage& stage) {
    return stage.history.rows(stage.history.moment());
}
bool has_row(const Stage& stage, const std::string& name) {
    return !stage.history.rows_of(name, stage.history.moment()).empty();
}
bool has_pod(const Stage& stage, const std::string& name) {
    return stage.history.pod(name, stage.history.moment()) != nullptr;
}

RequestScope about(const std::string& subject) {
    RequestScope scope;
    scope.subject = subject;
    return scope;
}

Hash128 ask(Stage& stage, RequestKind kind, const RequestScope& scope) {
    Request request;
    request.id = {1, ++stage.requests};
    request.kind = kind;
    request.scope = scope;
    request.issued_ms = to_millis(stage.broker.now());
    request.issued_by = "somebody";
    request.role = "ops";
    std::string bytes = codec::encode_request(request);
    stage.keys.sign(codec::kRequestSignature, bytes);
    std::vector<ports::Entry> entries;
    entries.push_back({scope.subject, bytes});
    // Whoever asks does so until it is known to be there.
    for (int i = 0; i < 20; ++i) {
        if (ports::append_now(stage.operators, {Topic::kRequests, 0}, entries)) break;
    }
    return request.id;
}

const std::vector<ActKind>& act_kinds() {
    static const std::vector<ActKind> kKinds = [] {
        std::vector<ActKind> all = people();
        const std::vector<ActKind> others = faults();
        all.insert(all.end(), others.begin(), others.end());
        return all;
    }();
    return kKinds;
}

const ActKind* find_act(std::string_view name) {
    const auto& kinds = act_kinds();
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const ActKind& kind) { return kind.name == name; });
    return found == kinds.end() ? nullptr : &*found;
}

void populate(Stage& stage, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string name = fresh_name(stage);
        stage.world.create_pod(name, labels(), "Running");
        stage.world.insert_row(row_for(name, "running"));
    }
}

void vouch(Stage& stage) {
    for (const std::string& name : stage.house.quarantined()) {
        RequestScope scope;
        scope.source = name;
        ask(stage, RequestKind::kRelease, scope);
    }
}

void make_peace(Stage& stage) {
    stage.over = true;
    stage.broker.troubles() = BrokerTroubles();
    stage.network.longest = Millis{10};
    stage.world.stall_watch(false);
    stage.world.fail_no_more();
    stage.house.heal();
    for (auto& [subject, asked] : stage.brakes) {
        ++asked;
        stage.oracles.released(subject);
        ask(stage, subject.empty() ? RequestKind::kResume : RequestKind::kRelease, about(subject));
    }
    for (const sandbox::PodPtr& pod : pods(stage)) {
        if (pod->labels != labels()) stage.world.set_labels(pod->name, labels());
    }
    std::vector<std::string> claimed;
    for (const History::Row& row : rows(stage)) {
        const std::string name = row.view.key();
        const bool twice = std::find(claimed.begin(), claimed.end(), name) != claimed.end();
        claimed.push_back(name);
        if (twice) {
            stage.world.delete_row(row.pk);
        } else if (row.view.null("pod_name")) {
            stage.world.update_row(row.pk, {{"pod_name", name}});
        }
    }
}

}  // namespace trueup::simulation
