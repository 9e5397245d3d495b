// What happens between the steps of an instance's end, and how many of them end at once.
#include "simulation/staging.h"

#include <utility>

namespace trueup::simulation {

namespace {

constexpr const char* kFinalizer = "example.org/last-rites";
constexpr int kEnds = 5;

/// The pod was asked to stop, takes its time, and exits with an error.
void exits_badly(Stage& stage, const std::string& name, Millis takes) {
    stage.world.set_finalizers(name, {kFinalizer});
    later(stage, Millis{1'500}, [&stage, name] { stage.world.set_phase(name, "Failed"); });
    later(stage, takes, [&stage, name] { stage.world.set_finalizers(name, {}); });
}

/// Somebody makes another pod of that name as soon as it is free.
void comes_again(Stage& stage, const std::string& name, int tries) {
    constexpr Millis kEach{1'000};
    later(stage, kEach, [&stage, name, tries] {
        if (!has_pod(stage, name)) {
            stage.world.create_pod(name, labels(), "Running");
        } else if (tries > 0) {
            comes_again(stage, name, tries - 1);
        }
    });
}

/// Ten of them, and most have the same time left.
void ten_deadlines(Stage& stage, Random& random) {
    constexpr int kMany = 10;
    const std::uint64_t seconds = 20 + random.below(60);
    for (int i = 0; i < kMany; ++i) {
        const auto all = rows(stage);
        if (const auto* row = pick(all, random)) set_ttl(stage, *row, seconds);
    }
}

/// Two reasons to end, at once.
void two_deadlines(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    const std::string seconds = std::to_string(15 + random.below(60));
    const std::string now = database_time(stage);
    stage.world.update_row(row->pk, {{"created_at", now},
                                     {"ttl", seconds},
                                     {"last_activity_at", now},
                                     {"inactivity_timeout", seconds}});
    if (random.chance(700)) return;
    Request request;
    request.kind = RequestKind::kTerminate;
    request.scope = about(subject_of(*row));
    request.role = "ops";
    request.issued_by = "somebody";
    terminate(stage, std::move(request));
}

void wait_for_ends(Stage& stage, Random& random) {
    for (int i = 0; i < kEnds; ++i) stage.last_words.push_back(random.next());
}

}  // namespace

void last_word(Stage& stage, const Command& command, Random random) {
    const std::string name = command.subject.substr(command.subject.find('/') + 1);
    const std::uint64_t what = random.below(7);
    const Millis lasts = random.between(Millis{5'000}, Millis{60'000});
    if (what == 0) return exits_badly(stage, name, lasts);
    if (what == 1) return comes_again(stage, name, static_cast<int>(random.below(60)));
    later(stage, random.delay(Millis{8'000}), [&stage, name, what, draw = random.next()] {
        Random drawn(draw);
        const RequestScope subject = about("graph-instances/" + name);
        if (what == 2) return brake(stage, drawn, subject);
        if (what == 3) return brake(stage, drawn, {});
        if (what == 4) return void(ask(stage, RequestKind::kDismiss, subject));
        for (const History::Row& row : stage.history.rows_of(name, stage.history.moment())) {
            if (what == 5) {  // its last heartbeat
                stage.world.update_row(row.pk, {{"last_activity_at", database_time(stage)}});
            } else {
                stage.world.update_row(row.pk, {{"ttl", std::nullopt}});
            }
        }
    });
}

std::vector<ActKind> dying() {
    return {
        {"ten-deadlines", Actor::kOperators, 0, ten_deadlines},
        {"two-deadlines", Actor::kOperators, 0, two_deadlines},
        {"last-words", Actor::kOperators, 0, wait_for_ends},
    };
}

}  // namespace trueup::simulation
