// What the people of a run do by themselves: they let a source ask wrongly at first, look at what
// rules would do, and vouch for what nobody believes.
#include "simulation/instances.h"
#include "simulation/one_run.h"
#include "simulation/run_settings.h"
#include "simulation/staging.h"

#include <utility>

namespace trueup::simulation {

void Run::ask_wrongly(Random random) {
    constexpr int kOthers = 20;
    constexpr int kRestored = 5;
    oracles_.asks_wrongly(true);
    for (const char* source : {"pods", kWest, "rows"}) oracles_.went_back(source);  // elsewhere
    asks_wrongly_ = random.chance(250) ? "pods" : "rows";
    if (asks_wrongly_ == "pods") {
        around_.asked.selector = "app=ryugraph-wraper";
    } else {
        elsewhere_ =
            std::make_unique<sandbox::World>(random.next(), scheduler_, world_settings(plan_));
        elsewhere_->observe([this](const std::vector<sandbox::Record>& act) {
            for (const sandbox::Record& record : act) {
                const auto* effect = std::get_if<sandbox::Effect>(&record);
                if (effect != nullptr) oracles_.wrote_elsewhere(*effect);
            }
        });
        // Empty, another one's, or one that is being restored.
        const std::uint64_t what = random.below(3);
        for (int i = 1; i <= (what == 0 ? 0 : what == 1 ? kOthers : kRestored); ++i) {
            elsewhere_->insert_row(row_for(
                (what == 1 ? "wrapper-other" : "wrapper-s") + std::to_string(i), "running"));
        }
        around_.asked.rows = elsewhere_.get();
    }
    scheduler_.after(random.between(Millis{100'000}, Millis{240'000}), [this] {
        without_race(stage_, [this] {
            if (asks_wrongly_) ask_rightly();
        });
    });
}

namespace {

Topic topic_of(const std::string& source) {
    return of_pods(source) ? Topic::kChangesPods : Topic::kChangesRows;
}

}  // namespace

void Run::ask_rightly() {
    const std::string source = *std::exchange(asks_wrongly_, std::nullopt);
    oracles_.asks_wrongly(false);
    around_.asked = {.rows = &world_, .services = services_.get()};
    fleet_.ask_elsewhere(source);
    // Every claim of whoever asked wrongly is of before this, also one that no engine has read yet.
    const std::size_t claims = broker_.records({topic_of(source), PartitionNumber(0)}).size();
    vouch_later(source, Offset(static_cast<std::int64_t>(claims) - 1));
}

void Run::enable_later(Random random) {
    oracles_.restraints().nobody_enabled();
    later(stage_, random.between(Millis{30'000}, Millis{200'000}), [this] { enable_again(); });
}
void Run::enable_again() {
    enable(stage_);
    later(stage_, kVouchEvery / 2, [this] { enable_again(); });
}

void Run::vouch_again() {
    later(stage_, kVouchEvery / 3, [this] {
        vouch(stage_, false);
        vouch_again();
    });
}

void Run::vouch_later(const std::string& source, Incarnation before) {
    later(stage_, kVouchEvery / 4, [this, source, before] {
        const Topic topic = topic_of(source);
        // There is nothing to look at before that, and what comes may be a lie.
        const bool looked = fleet_.owner(source) > before;
        if (looked && listed_[topic] > before) vouch(stage_, false);
        vouch_later(source, before);
    });
}

}  // namespace trueup::simulation
