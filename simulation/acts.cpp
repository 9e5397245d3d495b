#include "simulation/acts.h"

#include "engine/base/id.h"
#include "engine/codec/request_codec.h"
#include "simulation/instances.h"
#include "simulation/staging.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kLookAgain{500};

}  // namespace

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

std::string meant_by(const History::Row& row) {
    const std::string made_with = row.view.text("name");
    return made_with.substr(made_with.find(' ') + 1);
}

void without_race(Stage& stage, std::function<void()> what) {
    const bool wait = stage.oracles.races_forbidden && stage.oracles.may_write_still();
    if (!wait) return what();
    stage.scheduler.after(kLookAgain,
                          [&stage, what = std::move(what)] { without_race(stage, what); });
}

std::string any_rule(const Stage& stage, Random& random,
                     std::initializer_list<const char*> shipped) {
    if (stage.creates && random.chance(400)) return kWantedRule;
    if (stage.texts.empty()) return shipped.begin()[random.below(shipped.size())];
    const std::vector<RuleSettings>& rules = stage.texts.at(stage.text).rules;
    return rules[random.below(rules.size())].rule;
}

/// Something that follows later, unless everything is over by then.
void later(Stage& stage, Millis delay, std::function<void()> what) {
    stage.scheduler.after(delay, [&stage, what = std::move(what)] {
        without_race(stage, [&stage, what] {
            if (!stage.over) what();
        });
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

void put(Stage& stage, const std::string& subject, const std::string& request) {
    std::vector<ports::Entry> entries;
    entries.push_back({subject, request});
    const std::int32_t shards = stage.fleet.shards();
    for (std::int32_t number = 0; number < shards; ++number) {
        const PartitionNumber shard(number);
        const bool concerned = subject.empty() || partition_of(subject, shards) == shard;
        for (int i = 0; concerned && i < 20; ++i) {
            if (ports::append_now(stage.operators, {Topic::kRequests, shard}, entries)) break;
        }
    }
}

RequestId ask(Stage& stage, Request request, bool sign) {
    if (request.id.none()) request.id = RequestId({kMeant, ++stage.requests});
    if (request.issued_ms == 0) {
        request.issued_ms = to_millis(stage.broker.now() + stage.host_ahead);
    }
    std::string bytes = codec::encode_request(request);
    if (sign) stage.keys.sign(codec::kRequestSignature, bytes);
    put(stage, request.scope.subject, bytes);
    stage.said.push_back(std::move(bytes));
    return request.id;
}

RequestId ask(Stage& stage, RequestKind kind, const RequestScope& scope) {
    Request request;
    request.kind = kind;
    request.scope = scope;
    request.issued_by = "somebody";
    request.role = "ops";
    return ask(stage, std::move(request));
}

void unbind(Stage& stage, const std::string& bound) {
    ++stage.brakes[bound].asked;
    stage.oracles.restraints().released(bound);
}

namespace {

/// How long everybody may take to see a pause.
constexpr Millis kBrakeSeen{10'000};

void release(Stage& stage, const std::string& bound) {
    const Brake& brake = stage.brakes[bound];
    unbind(stage, bound);
    ask(stage, brake.scope.subject.empty() ? RequestKind::kResume : RequestKind::kRelease,
        brake.scope);
}

}  // namespace

namespace {

/// Have engines of every shard that it concerns read it, whatever they think of it?
bool seen(const Stage& stage, const RequestId& request, const RequestScope& scope) {
    const auto placed = stage.placed.find(request);
    if (placed == stage.placed.end()) return false;
    const std::size_t concerned =
        scope.subject.empty() ? static_cast<std::size_t>(stage.fleet.shards()) : 1;
    const auto read = [&](const Place& place) {
        return stage.fleet.has_read(place.shard, place.offset);
    };
    const std::vector<Place>& places = placed->second;
    return places.size() >= concerned && std::all_of(places.begin(), places.end(), read);
}

}  // namespace

void brake(Stage& stage, Random& random, const RequestScope& scope) {
    const std::string bound = Restraints::bound_by(scope);
    const RequestId request =
        ask(stage, scope.subject.empty() ? RequestKind::kPause : RequestKind::kHold, scope);
    const Millis lasts = random.between(2 * kBrakeSeen, Millis{60'000});
    // Somebody else may ask for the opposite in the meantime.
    stage.brakes[bound].scope = scope;
    const std::uint64_t asked = ++stage.brakes[bound].asked;
    later(stage, kBrakeSeen, [&stage, bound, asked, request, scope] {
        if (seen(stage, request, scope) && stage.brakes[bound].asked == asked) {
            stage.oracles.restraints().braked(bound);
        }
    });
    stage.scheduler.after(lasts, [&stage, bound] { release(stage, bound); });
}

void disable(Stage& stage, const std::string& rule) {
    Request disabling;
    disabling.kind = RequestKind::kDisable;
    disabling.issued_by = "somebody";
    disabling.role = "ops";
    disabling.rules = {{rule, {}}};
    const RequestId request = ask(stage, std::move(disabling));
    const std::uint64_t enabled = stage.oracles.restraints().enablings(rule);
    later(stage, kBrakeSeen, [&stage, rule, request, enabled] {
        const bool still = stage.oracles.restraints().enablings(rule) == enabled;
        if (still && seen(stage, request, {})) stage.oracles.restraints().disabled(rule);
    });
}

void set_database_clock(Stage& stage, Millis ahead) {
    stage.world.set_database_clock(ahead);
    stage.oracles.approvals().database_clock(ahead);
}

const std::vector<ActKind>& act_kinds() {
    static const std::vector<ActKind> kKinds = [] {
        std::vector<ActKind> all = workload();
        for (const std::vector<ActKind>& others :
             {meddlers(), operators(), odd_workload(), dying(), faults(), wanting()}) {
            all.insert(all.end(), others.begin(), others.end());
        }
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

void commit(Stage& stage, const std::shared_ptr<sandbox::Transaction>& open) {
    if (std::erase(stage.open, open) != 0) open->commit();
}

void vouch(Stage& stage, bool of_drops) {
    for (const std::string& name : stage.fleet.quarantined(of_drops)) {
        RequestScope scope;
        scope.source = name;
        ask(stage, RequestKind::kRelease, scope);
    }
}

void put_away(Stage& stage) {
    for (const History::Row& row : rows(stage)) {
        const std::string name = row.view.key();
        if (has_pod(stage, name)) continue;
        const bool closed = row.view.text("status") == "stopping" &&
                            stage.oracles.endings().closed_by_us(name, row.pk);
        const bool left = stage.oracles.approvals().dismissed(subject_of(row));
        if (closed || left) stage.world.delete_row(row.pk);
    }
}

void approve(Stage& stage) {
    for (const Reason because : {Reason::kApproval, Reason::kUncorrelatedRows}) {
        approve_reason(stage, because);
    }
}

void approve_reason(Stage& stage, Reason because) {
    RequestScope scope;
    scope.reason = name_of(because);
    ask(stage, approval(stage, std::move(scope)));
}

Request approval(Stage& stage, RequestScope scope) {
    Request request;
    request.kind = RequestKind::kApprove;
    request.scope = std::move(scope);
    request.seen = stage.fleet.seen();
    return request;
}

void enable(Stage& stage) {
    const std::vector<NamedRule> rules = stage.fleet.not_enabled();
    if (rules.empty()) return;
    for (const NamedRule& rule : rules) {
        Request request;
        request.kind = RequestKind::kEnable;
        request.issued_by = "admin";
        request.role = "admin";
        request.rules = {rule};
        request.seen = stage.fleet.seen();
        ask(stage, std::move(request));
    }
    ask(stage, RequestKind::kReconcile, {});
}

void quiesce(Stage& stage) {
    stage.over = true;
    stage.broker.troubles() = BrokerTroubles();
    stage.network.longest = Millis{10};
    stage.network.page = Millis{0};
    stage.world.stall_watch(false);
    stage.world.publish_table(true);
    stage.world.leave_second_behind(false);
    stage.world.fail_no_more();
    stage.host_ahead = Millis{0};
    stage.formerly = false;
    for (const char* each : kMayBeFormer) stage.fleet.configure_formerly(each, false);
    if (stage.reconfigured) stage.fleet.configure(settings_now(stage), Millis{0});
    stage.fleet.heal();
    for (const auto& [bound, brake] : stage.brakes) release(stage, bound);
    for (const auto& open : std::vector(stage.open)) commit(stage, open);
    for (const sandbox::PodPtr& pod : pods(stage)) {
        if (!pod->finalizers.empty()) stage.world.set_finalizers(pod->name, {});
        if (pod->labels != labels()) stage.world.set_labels(pod->name, labels());
        if (pod->phase == "Succeeded") stage.world.set_phase(pod->name, "Running");
    }
    settle_deadlines(stage);
    std::vector<std::string> claimed;
    for (const History::Row& row : rows(stage)) {
        if (!row.view.null(kHoldColumn)) stage.world.update_row(row.pk, {{kHoldColumn, {}}});
        const bool unclear = row.view.untracked() || odd_name(row.view.key());
        const std::string name = unclear ? meant_by(row) : row.view.key();
        const bool twice = std::find(claimed.begin(), claimed.end(), name) != claimed.end();
        claimed.push_back(name);
        if (twice) {
            stage.world.delete_row(row.pk);
        } else if (unclear) {
            stage.world.update_row(row.pk, {{"pod_name", name}});
        }
    }
}

}  // namespace trueup::simulation
