// What people do in the world: most of it is right, some of it is what Trueup is there for.
#include "simulation/instances.h"
#include "simulation/staging.h"

#include <memory>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kCreateWindow{15'000};  // half of what the rules allow

void start_row_first(Stage& stage, Random& random) {
    const std::string name = fresh_name(stage);
    sandbox::Row row = row_for(name, "starting");
    if (random.chance(300)) row["pod_name"] = std::nullopt;  // only its slug tells
    const std::string pk = stage.world.insert_row(row);
    later(stage, random.delay(kCreateWindow), [&stage, name, pk] {
        if (!has_pod(stage, name)) stage.world.create_pod(name, labels(), "Pending");
        later(stage, Millis{1'000}, [&stage, name, pk] {
            stage.world.set_phase(name, "Running");
            stage.world.update_row(pk, {{"status", "running"}, {"pod_name", name}});
        });
    });
}

void start_pod_first(Stage& stage, Random& random) {
    const std::string name = fresh_name(stage);
    stage.world.create_pod(name, labels(), "Running");
    later(stage, random.delay(kCreateWindow), [&stage, name] {
        if (!has_row(stage, name)) stage.world.insert_row(row_for(name, "running"));
    });
}

void stop_instance(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    const std::string name = row->view.key();
    stage.world.update_row(row->pk, {{"status", "stopping"}});
    later(stage, random.delay(Millis{5'000}), [&stage, name] { stage.world.delete_pod(name, 10); });
    later(stage, random.delay(Millis{40'000}),
          [&stage, pk = row->pk] { stage.world.delete_row(pk); });
}

void make_orphan(Stage& stage, Random& /*random*/) {
    stage.world.create_pod(fresh_name(stage), labels(), "Running");
}

void fail_pod(Stage& stage, Random& random) {
    const auto all = pods(stage);
    if (const auto* pod = pick(all, random)) stage.world.set_phase((*pod)->name, "Failed");
}

void recover_pod(Stage& stage, Random& random) {
    for (const sandbox::PodPtr& pod : pods(stage)) {
        if (pod->phase == "Failed" && random.chance(500)) {
            stage.world.set_phase(pod->name, "Running");
        }
    }
}

void recreate_pod(Stage& stage, Random& random) {
    const auto all = pods(stage);
    if (const auto* pod = pick(all, random)) stage.world.recreate_pod((*pod)->name);
}

/// A row for a pod that has none.
void adopt_pod(Stage& stage, Random& random) {
    for (const sandbox::PodPtr& pod : pods(stage)) {
        if (has_row(stage, pod->name) || random.chance(300)) continue;
        stage.world.insert_row(row_for(pod->name, "running"));
        return;
    }
}

/// A pod for a row that wants one.
void give_pod(Stage& stage, Random& random) {
    for (const History::Row& row : rows(stage)) {
        const std::string name = row.view.key();
        if (has_pod(stage, name) || odd_name(name) || random.chance(300)) continue;
        stage.world.create_pod(name, labels(), "Running");
        return;
    }
}

/// Somebody says on the pod that it is not to be touched.
void hold_pod(Stage& stage, Random& random) {
    const auto all = pods(stage);
    const auto* pod = pick(all, random);
    if (pod == nullptr) return;
    sandbox::Labels changed = (*pod)->labels;
    changed[kHoldLabel] = "yes";
    stage.world.set_labels((*pod)->name, changed);
    later(stage, random.between(Millis{1'000}, Millis{120'000}), [&stage, name = (*pod)->name] {
        if (const sandbox::PodPtr now = stage.history.pod(name, stage.history.moment())) {
            sandbox::Labels back = now->labels;
            back.erase(kHoldLabel);
            stage.world.set_labels(name, back);
        }
    });
}

/// The pod leaves the selector, with other labels or with none at all, and comes back.
void relabel_pod(Stage& stage, Random& random) {
    const auto all = pods(stage);
    const auto* pod = pick(all, random);
    if (pod == nullptr) return;
    const Millis lasts = random.delay(Millis{60'000});
    const sandbox::Labels other{{"of", "somebody else"}};
    stage.world.set_labels((*pod)->name, random.chance(500) ? other : sandbox::Labels{});
    later(stage, lasts, [&stage, name = (*pod)->name] { stage.world.set_labels(name, labels()); });
}

/// A pod of the second cluster.
sandbox::Pod west_pod(const std::string& name) {
    sandbox::Pod pod;
    pod.name_space = kWestSpace;
    pod.name = name;
    pod.labels = labels();
    pod.phase = "Running";
    pod.node = "node-1";
    return pod;
}

void start_west(Stage& stage, Random& random) {
    const std::string name = fresh_name(stage);
    stage.world.create_pod(west_pod(name));
    if (random.chance(200)) return;  // nobody's
    later(stage, random.delay(kCreateWindow), [&stage, name] {
        if (!has_row(stage, name)) stage.world.insert_row(row_for(name, "running"));
    });
}

/// To its sources a pod is gone from one cluster and new in the other, in whatever order they tell.
void recreate_in_other(Stage& stage, Random& random) {
    const auto all = pods(stage);
    const auto* pod = pick(all, random);
    if (pod == nullptr) return;
    const std::string name = (*pod)->name;
    const bool west = (*pod)->name_space == kWestSpace;
    stage.world.delete_pod(name, 0);
    const Millis until = random.chance(500) ? Millis{0} : random.delay(Millis{2'000});
    later(stage, until, [&stage, name, west] {
        if (has_pod(stage, name)) return;
        if (west) {
            stage.world.create_pod(name, labels(), "Running");
        } else {
            stage.world.create_pod(west_pod(name));
        }
    });
}

/// A row means another pod from now on.
void move_row(Stage& stage, Random& random) {
    const auto all_rows = rows(stage);
    const auto all_pods = pods(stage);
    const auto* row = pick(all_rows, random);
    const auto* pod = pick(all_pods, random);
    if (row == nullptr || pod == nullptr || has_row(stage, (*pod)->name)) return;
    stage.world.update_row(row->pk, {{"pod_name", (*pod)->name}});
}

void change_pk(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    stage.world.change_row_pk(row->pk, std::to_string(10'000 + ++stage.names));
}

void touch_row(Stage& stage, Random& random) {
    const auto all = rows(stage);
    if (const auto* row = pick(all, random)) {
        stage.world.update_row(row->pk, {{"memory_usage_bytes", std::to_string(random.below(99))}});
    }
}

void pause(Stage& stage, Random& random) { brake(stage, random, {}); }

void hold_subject(Stage& stage, Random& random) {
    const auto all = pods(stage);
    const auto* pod = pick(all, random);
    if (pod == nullptr) return;
    brake(stage, random, about("graph-instances/" + (*pod)->name));
}

/// A transaction that has begun and is not visible yet.
void slow_commit(Stage& stage, Random& random) {
    auto open = std::make_shared<sandbox::Transaction>(stage.world.begin());
    for (const sandbox::PodPtr& pod : pods(stage)) {
        if (has_row(stage, pod->name)) continue;
        open->insert_row(row_for(pod->name, "running"));
        break;
    }
    stage.open.push_back(open);
    later(stage, random.delay(Millis{20'000}), [&stage, open] { commit(stage, open); });
}

void elsewhere(Stage& stage, Random& random) {
    stage.world.write_elsewhere();
    stage.world.write_wal_elsewhere(random.below(10'000));
}

}  // namespace

void lose_row(Stage& stage, Random& random) {
    const auto all = rows(stage);
    if (const auto* row = pick(all, random)) stage.world.delete_row(row->pk);
}

void lose_pod(Stage& stage, Random& random) {
    const auto all = pods(stage);
    if (const auto* pod = pick(all, random)) stage.world.delete_pod((*pod)->name, 0);
}

std::vector<ActKind> workload() {
    return {
        {"start-row-first", Actor::kWorkload, 3, start_row_first},
        {"start-pod-first", Actor::kWorkload, 3, start_pod_first},
        {"stop", Actor::kWorkload, 3, stop_instance},
        {"orphan", Actor::kWorkload, 3, make_orphan},
        {"lose-row", Actor::kWorkload, 3, lose_row},
        {"lose-pod", Actor::kWorkload, 3, lose_pod},
        {"fail-pod", Actor::kWorkload, 2, fail_pod},
        {"recover-pod", Actor::kWorkload, 1, recover_pod},
        {"recreate-pod", Actor::kWorkload, 3, recreate_pod},
        {"adopt-pod", Actor::kWorkload, 4, adopt_pod},
        {"give-pod", Actor::kWorkload, 4, give_pod},
        {"hold-pod", Actor::kWorkload, 2, hold_pod},
        {"relabel-pod", Actor::kWorkload, 2, relabel_pod},
        {"move-row", Actor::kWorkload, 2, move_row},
        {"change-pk", Actor::kWorkload, 1, change_pk},
        {"touch-row", Actor::kWorkload, 2, touch_row},
        {"elsewhere", Actor::kWorkload, 1, elsewhere},
        {"slow-commit", Actor::kWorkload, 2, slow_commit},
        {"pause", Actor::kWorkload, 1, pause},
        {"hold-subject", Actor::kWorkload, 2, hold_subject},
        {"start-west", Actor::kWorkload, 0, start_west},
        {"recreate-in-other", Actor::kWorkload, 0, recreate_in_other},
    };
}

}  // namespace trueup::simulation
