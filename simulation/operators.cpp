// What owners do with their instances beyond starting and stopping them, and what operators ask:
// all that the rules G4 to G8, modes, approvals and windows are there for. Some of it is forged,
// late or said twice, and must come to nothing.
#include "engine/model/intake.h"
#include "simulation/staging.h"

#include <iterator>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr const char* kPolicy = "graph-instances/";
constexpr std::int64_t kKeptBack = 600'000;  // ms; twice as long as a request is timely

/// Most of them come to be while the run lasts.
void set_deadline(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    const std::string seconds = std::to_string(10 + random.below(90));
    const bool ttl = random.chance(500);
    stage.world.update_row(row->pk,
                           {{"owner_username", "owner-" + std::to_string(random.below(3))},
                            {ttl ? "created_at" : "last_activity_at", database_time(stage)},
                            {ttl ? "ttl" : "inactivity_timeout", seconds}});
}

/// What is no deadline, or none that anybody could read.
void odd_deadline(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    const char* const odd[] = {"", " ", "0", "-60", "soon", "1 month"};
    stage.world.update_row(row->pk, {{"created_at", database_time(stage)},
                                     {"ttl", odd[random.below(std::size(odd))]}});
}

/// Somebody still needs the instance.
void extend(Stage& stage, Random& random) {
    for (const History::Row& row : rows(stage)) {
        const bool deadline = !row.view.null("ttl") || !row.view.null("inactivity_timeout");
        if (!deadline || random.chance(500)) continue;
        stage.world.update_row(row.pk, {{"ttl", random.chance(500) ? "36000" : ""},
                                        {"last_activity_at", database_time(stage)}});
    }
}

/// A record of which pod it is gets lost; its slug still tells.
void untrack(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr || row->view.key() != "wrapper-" + row->view.text("url_slug")) return;
    stage.world.update_row(row->pk, {{"pod_name", std::nullopt}});
}

/// A row that never had a pod, and names none.
void start_without_pod(Stage& stage, Random& /*random*/) {
    sandbox::Row row = row_for(fresh_name(stage), "starting");
    row["pod_name"] = std::nullopt;
    stage.world.insert_row(row);
}

void finish_pod(Stage& stage, Random& random) {
    const auto all = pods(stage);
    if (const auto* pod = pick(all, random)) stage.world.set_phase((*pod)->name, "Succeeded");
}

/// By an operator, by its owner, or by somebody who may not.
void ask_for_end(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    Request request;
    request.kind = RequestKind::kTerminate;
    request.scope = about(subject_of(*row));
    request.role = random.chance(300) ? "ops" : "viewer";
    request.issued_by = random.chance(500) ? row->view.text("owner_username") : "stranger";
    terminate(stage, std::move(request));
}

/// Everything that waits for an approval, as it was looked at now.
void approve_all(Stage& stage, Random& random) {
    approve_reason(stage, random.chance(500) ? Reason::kApproval : Reason::kUncorrelatedRows);
}

/// Of one subject; now and then as it was looked at some time ago.
void approve_one(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    Request request = approval(stage, about(subject_of(*row)));
    later(stage, random.delay(Millis{20'000}), [&stage, request] { ask(stage, request); });
}

void dismiss(Stage& stage, Random& random) {
    for (const std::string& subject : stage.fleet.found()) {
        if (random.chance(700)) continue;
        ask(stage, RequestKind::kDismiss, about(subject));
        return;
    }
}

void pause_rule(Stage& stage, Random& random) {
    RequestScope scope;
    scope.rule = any_rule(stage, random,
                          {"orphaned_pod", "missing_pod", "status_drift", "ttl_expired",
                           "untracked_record", "inactive", "stuck_transition"});
    brake(stage, random, scope);
}

/// Now and then somebody looks again at once.
void disable_rule(Stage& stage, Random& random) {
    disable(stage, any_rule(stage, random,
                            {"orphaned_pod", "missing_pod", "status_drift", "ttl_expired"}));
    later(stage, random.between(Millis{15'000}, Millis{90'000}), [&stage] { enable(stage); });
}

/// What would let something happen, or end a pause, if it counted.
Request mischief(Stage& stage, Random& random) {
    const RequestKind kinds[] = {RequestKind::kApprove, RequestKind::kTerminate,
                                 RequestKind::kResume, RequestKind::kRelease,
                                 RequestKind::kDismiss};
    Request request;
    request.id = RequestId({kMischief, ++stage.requests});
    request.kind = kinds[random.below(std::size(kinds))];
    request.issued_by = "mischief";
    request.role = "admin";
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    const bool one = request.kind != RequestKind::kResume && row != nullptr;
    if (one) request.scope = about(subject_of(*row));
    if (request.kind == RequestKind::kApprove) request.seen = stage.fleet.seen();
    if (!one) request.scope.reason = "approval";
    return request;
}

void forge_request(Stage& stage, Random& random) { ask(stage, mischief(stage, random), false); }

void late_request(Stage& stage, Random& random) {
    Request request = mischief(stage, random);
    if (only_restricts(request.kind)) return;  // it counts, however late
    request.issued_ms = to_millis(stage.broker.now()) - kKeptBack;
    ask(stage, std::move(request));
}

void repeat_request(Stage& stage, Random& random) {
    const std::vector<std::string> said = stage.said;
    if (const auto* request = pick(said, random)) put(stage, {}, *request);
}

void look_again(Stage& stage, Random& random) {
    ask(stage, random.chance(500) ? RequestKind::kReconcile : RequestKind::kRelist, {});
}

}  // namespace

std::string database_time(const Stage& stage) {
    return to_timestamp(stage.oracles.approvals().database_millis());
}

std::string subject_of(const History::Row& row) { return kPolicy + row.view.key(); }

void set_ttl(Stage& stage, const History::Row& row, std::uint64_t seconds) {
    stage.world.update_row(
        row.pk, {{"created_at", database_time(stage)}, {"ttl", std::to_string(seconds)}});
}

void terminate(Stage& stage, Request request) {
    const Moment asked = stage.history.moment();
    request.id = ask(stage, request);
    stage.ends_asked.emplace_back(std::move(request), asked);
}

void hear_answers(Stage& stage) {
    std::erase_if(stage.ends_asked, [&](const auto& waits) {
        const auto& [request, asked] = waits;
        const bool granted = stage.fleet.granted(request.id, request.scope);
        if (granted) stage.oracles.promises().promised(request, asked);
        return granted;
    });
}

void settle_deadlines(Stage& stage) {
    std::vector<History::Row> with = rows(stage);
    std::erase_if(with, [](const History::Row& row) {
        return row.view.null("ttl") && row.view.null("inactivity_timeout");
    });
    if (with.empty()) return;
    set_database_clock(
        stage, stage.broker.now().time_since_epoch() - Millis(stage.scheduler.wall_millis()));
    for (const History::Row& row : with) {
        // One that is to be ended goes by itself, unless somebody said that it shall stay.
        Approvals& approvals = stage.oracles.approvals();
        if (approvals.overdue(row.view) && !approvals.dismissed(subject_of(row))) continue;
        stage.world.update_row(row.pk,
                               {{"ttl", std::nullopt}, {"inactivity_timeout", std::nullopt}});
    }
}

std::vector<ActKind> operators() {
    return {
        {"set-deadline", Actor::kOperators, 5, set_deadline},
        {"odd-deadline", Actor::kOperators, 1, odd_deadline},
        {"extend", Actor::kOperators, 2, extend},
        {"untrack", Actor::kOperators, 3, untrack},
        {"start-without-pod", Actor::kOperators, 2, start_without_pod},
        {"finish-pod", Actor::kOperators, 1, finish_pod},
        {"terminate", Actor::kOperators, 4, ask_for_end},
        {"approve-all", Actor::kOperators, 4, approve_all},
        {"approve-one", Actor::kOperators, 3, approve_one},
        {"dismiss", Actor::kOperators, 1, dismiss},
        {"pause-rule", Actor::kOperators, 3, pause_rule},
        {"disable-rule", Actor::kOperators, 2, disable_rule},
        {"forge-request", Actor::kOperators, 3, forge_request},
        {"late-request", Actor::kOperators, 2, late_request},
        {"repeat-request", Actor::kOperators, 3, repeat_request},
        {"look-again", Actor::kOperators, 1, look_again},
    };
}

}  // namespace trueup::simulation
