#include "engine/model/trace.h"

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

}  // namespace

std::string_view name_of(Stage stage) { return kStages.at(static_cast<std::size_t>(stage)); }
std::string_view name_of(DecidingFact::Kind kind) {
    return kKinds.at(static_cast<std::size_t>(kind));
}
std::string_view name_of(DecidingFact::Read read) {
    return kReads.at(static_cast<std::size_t>(read));
}

const StageAnswer* RuleTrace::stop() const {
    return stages.empty() || !stages.back().stopped ? nullptr : &stages.back();
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
