// The stages of an evaluation, as its witness was told of them: each with the facts that were loose
// when it was passed.
#include "engine/core/witness.h"
#include "engine/core/words.h"

#include <utility>

namespace trueup::core {

void Witness::close(bool stopped) {
    if (!open_) return loose_.clear();
    open_->stopped = stopped;
    for (DecidingFact& fact : take_loose()) open_->facts.push_back(std::move(fact));
    stages_.push_back(*std::move(open_));
    open_.reset();
}

void Witness::at(Stage stage) {
    if (open_ && open_->stage == stage) return;
    close(false);
    open_ = StageAnswer{stage, case_, {}, false, {}};
}

void Witness::begin_case(std::size_t number) {
    close(false);
    case_ = number;
    patterns_.clear();
}

void Witness::pattern(const PlanPattern& pattern, const Truth& truth) {
    const Stage stage = on_.subject.reference() ? Stage::kKeyless : Stage::kPattern;
    StageAnswer answer{stage, case_, core::words_of(on_, pattern), false, take_loose()};
    patterns_.push_back({std::move(answer), truth});
}

void Witness::forget_patterns(std::size_t from, std::size_t upto) {
    const auto at = [&](std::size_t i) {
        return patterns_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    patterns_.erase(at(from), at(upto));
}

void Witness::matched(const Truth& truth) {
    std::vector<DecidingFact> unknown;
    for (Pattern& each : patterns_) {
        each.answer.stopped = truth.no() && each.truth.no();
        const bool told = each.truth.is == Truth::Is::kUnknown && each.truth.why == truth.why;
        if (told) {
            for (const DecidingFact& fact : each.answer.facts) {
                if (fact.answer == DecidingFact::Answer::kUnknown) unknown.push_back(fact);
            }
        }
        stages_.push_back(std::move(each.answer));
    }
    patterns_.clear();
    if (truth.is != Truth::Is::kUnknown) return;
    at(Stage::kKnown);
    for (DecidingFact& fact : unknown) add(std::move(fact));
}

void Witness::not_yet(const std::optional<Verdict>& held, std::span<const Leaning> leanings,
                      Millis lasted) {
    const Reason why = held ? held->reason : Reason::kNone;
    at(Stage::kOwnWrite);
    if (why == Reason::kOwnWrite) return source(why, held->wait);
    at(Stage::kGrace);
    const Millis grace = on_.settings.rules[on_.self.value()].grace;
    time("grace", core::words_of(lasted), core::words_of(grace), grace - lasted);
    if (why == Reason::kGrace) return;
    at(Stage::kHeard);
    if (held && !unfilled(*held, leanings)) return source(why, held->wait);
    if (held) return;
    for (const Leaning& each : leanings) heard(each.source);
}

void Witness::end(const Decision& decision) { close(decision.kind != Verdict::Kind::kAct); }

}  // namespace trueup::core
