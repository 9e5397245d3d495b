// Rows that want a pod, which is created from a template: who asks for one and takes that back, who
// has its name meanwhile, and what becomes of what was just made.
#include "simulation/instances.h"
#include "simulation/staging.h"

#include <utility>
#include <variant>

namespace trueup::simulation {

namespace {

constexpr Millis kAtOnce{3'000};  // before anybody could have been told of it
constexpr int kCreations = 3;

/// The rows that want a pod, and have one or not.
std::vector<History::Row> wanting_rows(const Stage& stage, bool served) {
    std::vector<History::Row> all = rows(stage);
    std::erase_if(all, [&](const History::Row& row) {
        const std::string name = row.view.key();
        return !wanted(row.view) || odd_name(name) || has_pod(stage, name) != served;
    });
    return all;
}

std::vector<sandbox::PodPtr> made_pods(const Stage& stage) {
    std::vector<sandbox::PodPtr> all = pods(stage);
    std::erase_if(all, [](const sandbox::PodPtr& pod) { return noted(*pod, kMadeBy).empty(); });
    return all;
}

void want_pod(Stage& stage, Random& random) {
    sandbox::Row row = row_for(fresh_name(stage), kWanted);
    if (random.chance(200)) row["pod_name"] = std::nullopt;  // only its slug tells
    stage.world.insert_row(row);
}

/// A row that there is already wants one from now on.
void want_again(Stage& stage, Random& random) {
    std::vector<History::Row> all = rows(stage);
    std::erase_if(all, [&](const History::Row& row) { return has_pod(stage, row.view.key()); });
    if (const auto* row = pick(all, random)) {
        stage.world.update_row(row->pk, {{"status", kWanted}});
    }
}

void start_wanted(Stage& stage, Random& random) {
    const auto all = wanting_rows(stage, true);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    stage.world.set_phase(row->view.key(), "Running");
    stage.world.update_row(row->pk, {{"status", "running"}});
}

void take_back(Stage& stage, const History::Row& row, Random& random) {
    if (random.chance(400)) {
        stage.world.delete_row(row.pk);
    } else {
        stage.world.update_row(row.pk, {{"status", random.chance(500) ? "hibernated" : "failed"}});
    }
}

void unwant(Stage& stage, Random& random) {
    const auto all = wanting_rows(stage, random.chance(300));
    if (const auto* row = pick(all, random)) take_back(stage, *row, random);
}

/// Somebody else makes one of the name; now and then one that its source does not select.
void take_name(Stage& stage, Random& random) {
    const auto all = wanting_rows(stage, false);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    const std::string name = row->view.key();
    const sandbox::Labels other{{"of", "somebody else"}};
    stage.world.create_pod(name, random.chance(500) ? labels() : other, "Running");
    later(stage, random.between(Millis{500}, Millis{60'000}),
          [&stage, name] { stage.world.delete_pod(name, 0); });
}

void undo_created(Stage& stage, Random& random) {
    const auto all = made_pods(stage);
    if (const auto* pod = pick(all, random)) stage.world.delete_pod((*pod)->name, 0);
}

/// Somebody waits for the next ones that are created; who made them may hear no answer.
void wait_for_creations(Stage& stage, Random& random) {
    for (int i = 0; i < kCreations; ++i) stage.undoings.push_back(random.next());
    if (random.chance(500)) return;
    stage.world.fail_next(sandbox::Op::kDelete,
                          sandbox::Failure::of(sandbox::Failure::Kind::kLostReply),
                          1 + static_cast<int>(random.below(3)));
}

}  // namespace

void undo(Stage& stage, const std::string& name, Random random) {
    const std::uint64_t what = random.below(6);
    if (what < 2) {  // who made it dies before telling
        for (Process* process : stage.fleet.processes()) {
            const bool makes = process->name().starts_with("executor");
            if (makes && random.chance(700)) process->crash_at(1, random.delay(Millis{20'000}));
        }
    }
    later(stage, random.delay(kAtOnce), [&stage, name, what, draw = random.next()] {
        Random drawn(draw);
        if (what == 4) {
            if (has_pod(stage, name)) stage.world.recreate_pod(name);
        } else if (what == 5) {
            for (const History::Row& row : stage.history.rows_of(name, stage.history.moment())) {
                take_back(stage, row, drawn);
            }
        } else if (what != 0) {
            stage.world.delete_pod(name, 0);
        }
    });
}

std::vector<ActKind> wanting() {
    return {
        {"want-pod", Actor::kWorkload, 0, want_pod},
        {"want-again", Actor::kWorkload, 0, want_again},
        {"start-wanted", Actor::kWorkload, 0, start_wanted},
        {"unwant", Actor::kWorkload, 0, unwant},
        {"take-name", Actor::kWorkload, 0, take_name},
        {"undo-created", Actor::kWorkload, 0, undo_created},
        {"undo-creations", Actor::kWorkload, 0, wait_for_creations},
    };
}

}  // namespace trueup::simulation
