// The incidents of the demo's script, and the owner who removes rows that failed.
#include "sandbox/drama.h"

#include <map>
#include <string>
#include <utility>

namespace trueup::sandbox {

namespace {

constexpr std::size_t kMost = 14;
constexpr std::size_t kMostLoose = 5;
/// How long an owner looks at a failed row before removing it.
constexpr Millis kTidyAfter{15'000};

}  // namespace

bool Drama::arrive_row_first(const Scene& scene, SteadyTime now) {
    if (scene.pods >= kMost) return false;
    const std::string name = fresh_name();
    const std::string pk = world_.insert_row(new_row(name, "starting"));
    note("a new instance: row " + pk + " first, " + name + " follows");
    later(now + Millis(800 + draw(800)),
          [=, this](SteadyTime) { world_.create_pod(name, wrapper_labels(), "Pending"); });
    later(now + Millis(2'000 + draw(500)), [=, this](SteadyTime) {
        world_.set_phase(name, "Running");
        world_.update_row(pk, {{"status", "running"}});
    });
    return true;
}

bool Drama::arrive_pod_first(const Scene& scene, SteadyTime now) {
    if (scene.pods >= kMost) return false;
    const std::string name = fresh_name();
    world_.create_pod(name, wrapper_labels(), "Running");
    note("a new instance: " + name + " first, its row follows");
    const Row row = new_row(name, "running");
    later(now + Millis(1'000 + draw(1'500)), [=, this](SteadyTime) { world_.insert_row(row); });
    return true;
}

bool Drama::leave(const Scene& scene, SteadyTime now) {
    if (scene.healthy.size() <= kFewest) return false;
    const Instance one = pick(scene.healthy);
    world_.update_row(one.pk, {{"status", "stopping"}});
    note("the owner stopped " + one.pod_name);
    later(now + Millis(700), [=, this](SteadyTime) { world_.delete_pod(one.pod_name, 30); });
    later(now + Millis(4'000), [=, this](SteadyTime) { world_.delete_row(one.pk); });
    return true;
}

bool Drama::orphan(const Scene& scene, SteadyTime) {
    if (scene.healthy.size() <= kFewest / 2 || scene.loose.size() >= kMostLoose) return false;
    const Instance one = pick(scene.healthy);
    world_.delete_row(one.pk);
    note("somebody deleted the row of " + one.pod_name + "; its pod still runs");
    return true;
}

bool Drama::vanish(const Scene& scene, SteadyTime) {
    if (scene.healthy.size() <= kFewest / 2) return false;
    const Instance one = pick(scene.healthy);
    world_.delete_pod(one.pod_name, 0);
    note(one.pod_name + " vanished; row " + one.pk + " still says running");
    return true;
}

bool Drama::fail(const Scene& scene, SteadyTime) {
    if (scene.healthy.size() <= kFewest / 2) return false;
    const Instance one = pick(scene.healthy);
    world_.set_phase(one.pod_name, "Failed");
    note(one.pod_name + " failed; row " + one.pk + " still says running");
    return true;
}

bool Drama::recreate(const Scene& scene, SteadyTime) {
    const bool loose = !scene.loose.empty();
    if (!loose && scene.healthy.empty()) return false;
    const std::string name =
        loose ? scene.loose[draw(scene.loose.size())] : pick(scene.healthy).pod_name;
    world_.recreate_pod(name);
    note(name + " was replaced by another pod of the same name");
    return true;
}

bool Drama::cut_watch(const Scene&, SteadyTime) {
    world_.cut_watch();
    note("the API server cut all watches");
    return true;
}

bool Drama::api_errors(const Scene&, SteadyTime) {
    world_.fail_next(Op::kList, Failure::http(500), 2);
    world_.fail_next(Op::kGet, Failure::http(503), 1);
    world_.fail_next(Op::kDelete, Failure::http(429, 1000), 1);
    world_.cut_watch();
    world_.fail_next(Op::kWatch, Failure::http(503), 2);
    note("the API server fails some calls (500, 503, 429)");
    return true;
}

bool Drama::compact(const Scene&, SteadyTime) {
    world_.compact();
    world_.cut_watch();
    note(
        "the API server compacted its history: clients that missed something must list again "
        "(410)");
    return true;
}

bool Drama::cut_stream(const Scene&, SteadyTime) {
    world_.kill_walsender();
    note("the database ended the replication connection");
    return true;
}

void Drama::tidy(const Scene& scene, SteadyTime now) {
    std::map<std::string, SteadyTime> still;
    for (const Instance& one : scene.failed) {
        const auto known = failed_since_.find(one.pk);
        const SteadyTime since = known == failed_since_.end() ? now : known->second;
        if (now - since < kTidyAfter) {
            still[one.pk] = since;
            continue;
        }
        world_.delete_pod(one.pod_name, 0);
        world_.delete_row(one.pk);
        note("the owner of " + one.pod_name + " removed its failed row");
    }
    failed_since_ = std::move(still);
}

}  // namespace trueup::sandbox
