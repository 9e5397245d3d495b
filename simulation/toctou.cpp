// What somebody does to the object of a command in the moments in which its executor looks at it
// and writes: all that an executor must notice by itself.
#include "simulation/instances.h"
#include "simulation/staging.h"

#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kLatest{120};  // mostly before the executor's look, seldom behind its write
constexpr Millis kLasts{40'000};
constexpr int kCommands = 3;

void relabel(Stage& stage, const std::string& name, const sandbox::Labels& changed) {
    if (!stage.world.set_labels(name, changed)) return;
    later(stage, kLasts, [&stage, name] { stage.world.set_labels(name, labels()); });
}

void give_or_take_pod(Stage& stage, const std::string& name) {
    if (odd_name(name)) return;  // no pod can be called that
    if (!has_pod(stage, name)) {
        stage.world.create_pod(name, labels(), "Running");
    } else {
        stage.world.delete_pod(name, 0);
    }
}

void change_pod(Stage& stage, const std::string& name, std::uint64_t how) {
    switch (how) {
        case 0:
            return relabel(stage, name, {{"app", labels().at("app")}, {kHoldLabel, "yes"}});
        case 1:
            return relabel(stage, name, {{"of", "somebody else"}});
        case 2:
            if (has_pod(stage, name)) stage.world.recreate_pod(name);
            return;
        case 3:
            stage.world.set_phase(name, "Running");
            return;
        default:
            return give_or_take_pod(stage, name);
    }
}

void change_row(Stage& stage, const std::string& name, std::uint64_t how) {
    const auto all = stage.history.rows_of(name, stage.history.moment());
    if (all.empty()) {
        stage.world.insert_row(row_for(name, "running"));
        return;
    }
    const std::string pk = all.front().pk;
    switch (how) {
        case 0:
            stage.world.update_row(pk, {{"status", "stopping"}});
            return;
        case 1:
            stage.world.update_row(pk, {{"status", "running"}});
            return;
        case 2:
            stage.world.update_row(pk, {{"pod_name", fresh_name(stage)}});
            return;
        case 3:
            stage.world.change_row_pk(pk, std::to_string(20'000 + ++stage.names));
            return;
        default:
            stage.world.update_row(pk, {{"memory_usage_bytes", "1"}});
            return;
    }
}

void lie_in_wait(Stage& stage, Random& random) {
    for (int i = 0; i < kCommands; ++i) stage.toctous.push_back(random.next());
}

}  // namespace

void toctou(Stage& stage, const Command& command, Random random) {
    const std::string name = command.subject.substr(command.subject.find('/') + 1);
    const bool pod = random.chance(500);
    const std::uint64_t how = random.below(5);
    later(stage, random.delay(kLatest), [&stage, name, pod, how] {
        if (pod) {
            change_pod(stage, name, how);
        } else {
            change_row(stage, name, how);
        }
    });
}

std::vector<ActKind> meddlers() { return {{"toctou", Actor::kWorkload, 0, lie_in_wait}}; }

}  // namespace trueup::simulation
