// The inside of one evaluation (core/evaluate.h), split by subject over several source files. Not
// for other users.
#pragma once

#include "engine/base/few.h"
#include "engine/core/evaluate.h"
#include "engine/core/sides.h"
#include "engine/core/witness.h"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trueup::core {

using Found = std::array<const Seen*, kMostRoles>;  ///< by role
using Patterns = std::span<const PlanPattern>;
// As a rule there are one or two of each.
using Objects = Few<const Seen*, 6>;
using Sources = Few<SourceId, 4>;
using Leanings = Few<Leaning, 4>;

class Evaluation {
  public:
    /// `witness` is told what is asked on the way, and changes nothing; nullptr: nobody looks.
    explicit Evaluation(const Judgement& on, Witness* witness = nullptr)
        : on_(on), rule_(on.rule()), facts_(on.facts.seen), watch_(witness) {}

    Decision run();

  private:
    struct Shown {
        std::vector<Seen> looked_up;  ///< of a reference
        Objects all;
        Sources sources;         ///< that must prove what is said of them
        std::string_view named;  ///< what a reference was looked up by
        bool known = true;
        bool asked = true;  ///< false: what to look up is not known
    };

    struct Match {
        Truth truth = Truth::of(true);
        Found bound;
    };

    /// What a pattern comes to by itself, and what it binds; nullptr: nothing.
    struct One {
        Truth truth;
        const Seen* object = nullptr;
    };

    // evaluate.cpp: a case, stage by stage
    bool is_looked_up() const;
    void show(const PlanCase& each) const;
    bool asked_for() const;
    bool all_known(Role number) const;
    Decision duplicates() const;
    const Facet* second_of(Role number) const;
    Decision judge(const PlanCase& found) const;
    Decision judge_alone(const PlanCase& found) const;
    Decision reported(const Facet& about) const;
    Truth owned(const Found& bound) const;
    Decision report(const Facet& about) const;
    Decision answer(const PlanCase& found, Decision decision) const;
    bool told(const PlanCase& found, const Found& bound) const;
    bool fits(const PlanStep& step, const Found& bound) const;
    const Seen* object_of(const PlanCase& found, const Found& bound) const;

    // deadline.cpp: whether it is passed
    Decision without_key(const PlanCase& found, const Found& bound, const Facet& about) const;
    std::optional<Decision> before(const PlanDeadline& past, const Found& bound) const;
    void note_deadline(const PlanDeadline& past, const Found& bound, const Truth& begins,
                       const PlanValue& length, const std::optional<Millis>& lasts) const;
    void note_clock(const std::optional<Verdict>& early, SourceId source,
                    SourceTime deadline) const;

    // shown.cpp: the objects that a pattern is about
    Shown objects_of(const PlanPattern& pattern, const Found& bound) const;
    std::optional<std::string_view> looked_up(const PlanPattern& pattern, const Found& bound) const;
    Sources sources_of(const PlanPattern& pattern, const Found& bound) const;
    std::optional<std::string_view> scope_of(const PlanPattern& pattern, const Found& bound) const;
    Truth watched(const PlanPattern& pattern, const Found& bound) const;
    Truth nobody(const PlanPattern& pattern, const Shown& objects, bool none) const;

    // patterns.cpp: what a pattern comes to, and what it binds
    Truth none(const PlanPattern& pattern, const Found& bound) const;
    Truth alone(const PlanPattern& pattern, const Found& bound) const;
    std::optional<One> plainly(const PlanPattern& pattern) const;
    Truth both(std::size_t from, const Truth& a, std::size_t behind, const Truth& b) const;
    Match match(Patterns patterns, const Found& bound) const;
    Match match_first(Patterns patterns, const Found& bound) const;
    Match of_others(Patterns patterns, const Found& bound, const One& chosen, const Match& first,
                    std::size_t before) const;
    Truth doubt(const PlanPattern& pattern, const Shown& objects, const Found& bound,
                const One& chosen, const Seen& other) const;
    One one_of(const PlanPattern& pattern, const Found& bound) const;
    Objects fit_of(const PlanPattern& pattern, const Shown& objects, const Found& bound) const;
    Truth nobody_fits(const PlanPattern& pattern, const Shown& objects) const;
    const Seen* keep(const Seen* seen) const;
    Match also(const Truth& truth, Patterns patterns, const Found& bound) const;
    One bind(const PlanPattern& pattern, const Seen& object, const Found& bound, std::size_t from,
             const Truth& alone) const;
    Match some(Patterns patterns, const Found& bound) const;
    Truth single(const PlanPattern& pattern, const Objects& all, const Found& bound) const;
    Truth several(const PlanPattern& pattern, const Objects& claim, const Truth& truth,
                  std::size_t from) const;

    // surplus.cpp: which of two or more is worth least
    One least_of(const PlanPattern& pattern, const Objects& fit, const Found& bound,
                 std::size_t from) const;
    Truth surely_least(const PlanPattern& pattern, const Seen& least, const Objects& fit,
                       const Found& bound, std::size_t from) const;
    Truth below(const PlanPattern& pattern, const Seen& a, const Seen& b, const Found& bound) const;
    Truth ranked(const PlanPattern& pattern, const PlanRanking& rank, const Seen& object,
                 const Found& bound) const;
    static bool seen_before(const Seen& a, const Seen& b);
    bool better(const PlanPattern& pattern, const Seen& a, const Seen& b, const Found& bound) const;

    // steps.cpp: what is to be done now
    JournalTime next_try() const;
    Objects left(const PlanStep& step, const Found& bound) const;
    std::optional<std::size_t> next_step(const PlanCase& found, const Found& bound,
                                         const Seen& about) const;
    void note_done(const PlanStep& step) const;
    bool vetoes(const Seen& object) const;
    bool vetoes(const Facet& object) const;
    bool crowded(const PlanStep& step, const Found& bound, const Facet* target) const;
    bool vetoed_in(const PlanCase& found, const Found& bound) const;
    bool elsewhere(const Seen* bound, const Seen& seen) const;
    BrokerTime said_beside(SourceId source, Role number, std::span<const SourceId> sources) const;
    Leanings leanings_of(const PlanCase& found, std::size_t step, const Found& bound,
                         const Facet& object) const;
    std::optional<Decision> not_yet_by(const PlanCase& found, std::size_t step, const Found& bound,
                                       const Seen& about) const;
    const Facet* target_of(const PlanCase& found, std::size_t step, const Found& bound) const;
    Decision act(const PlanCase& found, const Found& bound, const Seen& about,
                 std::size_t step) const;
    SourceId source_for(const PlanCase& found, const PlanStep& step, const Found& bound) const;

    // evaluation_asked.h: what is asked of one object, and what a witness is told of it
    void note(std::string_view name, std::string_view value, std::string_view asked) const;
    void note(const FieldAt& field, std::string_view asked, const Found& bound,
              const Truth& truth) const;
    void note_time(std::string_view name, Millis lasted, Millis of) const;
    void say_of(const Seen& object, std::size_t from, const Truth& truth, bool unwanted) const;
    void begin(const PlanCase& each) const;
    Decision ended(Decision decision) const;
    std::span<const Seen* const> of_roles(const Found& bound) const;
    const PlanRole& role(Role number) const { return on_.plan.roles[number]; }
    bool goes(const Seen& object) const;
    bool ours(const Seen& object) const;
    bool shows(Role number) const;
    Truth holds(const PlanNode& node, const Seen& object, const Found& bound) const;
    Truth test(const PlanNode& asked, const Seen& object) const;
    Truth join(const PlanNode& asked, const Seen& object, const Found& bound) const;
    Truth named(const PlanCondition& condition, const Seen& about) const;
    Truth wanted(const PlanPattern& pattern, const Seen& object, const Found& bound) const;

    const Judgement& on_;
    const PlanRule& rule_;
    const std::vector<Seen>& facts_;
    const Watch watch_;
    mutable std::vector<std::unique_ptr<Seen>> kept_;
};

}  // namespace trueup::core
