#include "engine/model/trace.h"

#include <algorithm>
#include <array>

namespace trueup {

namespace {

constexpr std::array<std::string_view, 26> kStages{
    "asked",     "pattern", "keyless", "known",   "deadline", "steps",     "veto",
    "own_write", "grace",   "heard",   "backoff", "count",    "under_way", "dismissed",
    "hold",      "mode",    "pause",   "window",  "doubt",    "refused",   "approval",
    "retry",     "busy",    "outbox",  "budget",  "act"};
constexpr std::array<std::string_view, 10> kKinds{
    "", "field", "object", "no_object", "claims", "source", "clock", "time", "tally", "kept"};
constexpr std::array<std::string_view, 5> kReads{"", "text", "null", "not_there", "not_sent"};

bool waits_for_deadline(const StageAnswer& each) {
    if (each.stage != Stage::kDeadline || !each.stopped) return false;
    return std::any_of(each.facts.begin(), each.facts.end(), [](const DecidingFact& fact) {
        return fact.kind == DecidingFact::Kind::kClock && fact.answer == DecidingFact::Answer::kNo;
    });
}

}  // namespace

std::string_view name_of(Stage stage) { return kStages.at(static_cast<std::size_t>(stage)); }
std::string_view name_of(DecidingFact::Kind kind) {
    return kKinds.at(static_cast<std::size_t>(kind));
}
std::string_view name_of(DecidingFact::Read read) {
    return kReads.at(static_cast<std::size_t>(read));
}

const StageAnswer* RuleTrace::stop() const {
    if (stages.empty() || !stages.back().stopped) return nullptr;
    if (kind == Verdict::Kind::kHealthy) {
        const auto due = std::find_if(stages.begin(), stages.end(), waits_for_deadline);
        if (due != stages.end()) return &*due;
    }
    return &stages.back();
}

std::string_view RuleTrace::verdict() const {
    switch (kind) {
        case Verdict::Kind::kHealthy:
            return "healthy";
        case Verdict::Kind::kAbstain:
            return "abstains";
        case Verdict::Kind::kWaiting:
            return "waits";
        case Verdict::Kind::kAct:
            break;
    }
    return "acts";
}

}  // namespace trueup
