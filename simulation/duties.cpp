// Oracles of what must come to be and to an end: endings, promises, passes, what is refused again
// and again, and what nobody may order at all.
#include "simulation/instances.h"
#include "simulation/oracles.h"

#include <algorithm>

namespace trueup::simulation {

namespace {

constexpr std::size_t kMostRefusals = 2;

std::string name_in(const std::string& subject) { return subject.substr(subject.find('/') + 1); }

}  // namespace

void Oracles::ended(const Outcome& outcome) {
    const bool first = ended_commands_.emplace(outcome.command_id, scheduler_.steady_now()).second;
    const bool done =
        outcome.kind == OutcomeKind::kDone || outcome.kind == OutcomeKind::kAlreadyDone;
    if (first && done) done_.insert(outcome.command_id);
    // Both executors may say of one command how it ended.
    if (!first || outcome.kind != OutcomeKind::kRefused) return;
    const auto refused = drafts_.find(outcome.command_id);
    if (refused != drafts_.end()) endings_.refused(refused->second.target.object_id);
    // An operator's word may come again and again.
    const bool operators =
        outcome.retryable || outcome.detail.find("operator") != std::string::npos;
    for (const auto& [object, command] : last_) {
        if (command.id == outcome.command_id && !operators) return judge_loop(command);
    }
}

void Oracles::judge_loop(const Command& command) {
    if (law != nullptr && later_step(command)) return;  // it waits for what its source shows
    const std::string& object = command.draft.target.object_id;
    auto& [times, lists] = refused_[command.rule + " " + object];
    // When everything was listed anew, that may be worth another try.
    if (lists_[0] > lists[0] && lists_[1] > lists[1]) times.clear();
    lists = lists_;
    times.push_back(scheduler_.steady_now());
    if (times.size() <= kMostRefusals) return;
    // What an engine learns late is news as well.
    const SteadyTime news =
        history_.news(name_in(command.subject), object.substr(object.rfind('/') + 1)) +
        evidence_age;
    std::erase_if(times, [&](SteadyTime at) { return at <= news; });
    if (times.size() <= kMostRefusals) return;
    violate("loop", command.rule + " about " + command.subject + " was refused " +
                        std::to_string(times.size()) + " times, and there was no news of it");
    times.clear();
}

void Oracles::asks_wrongly(bool wrong) {
    // What it had sent is under way still.
    constexpr Millis kUnderWay{1'000};
    asks_wrongly_ = wrong;
    wrong_until_ = scheduler_.steady_now() + (wrong ? Millis{0} : kUnderWay);
}

void Oracles::wrote_elsewhere(const sandbox::Effect& effect) {
    if (effect.accepted) violate("first", "a write on row " + effect.pk + " of somebody else");
}

void Oracles::judge_duties(const std::function<bool(const std::string&, SteadyTime)>& served) {
    if (tail_lost) return;
    for (const auto& [name, ending] : endings_.begun()) {
        const std::string what = "the end of " + name + " was begun, and ";
        if (endings_.ends_still(name, ending.pk, history_.moment())) {
            violate("ending", what + "row " + ending.pk + " is live still");
        }
        const bool again = history_.pod(name, history_.moment()) != nullptr;
        if (ending.all_known && !again && served(name, ending.at))
            violate("ending", what + "something serves it still");
    }
    for (const std::string& subject : promises_.open()) {
        violate("granted", subject + " was to be ended, and nothing came of it");
    }
}

}  // namespace trueup::simulation
