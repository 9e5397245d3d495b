// What an evaluation was seen to ask and to answer (core/evaluate.h). The evaluation itself tells
// it, on its way: there is no second reading of a policy that could say something else.
//
// Facts are loose until somebody takes them: a pattern, or the stage that is open. What is kept of
// them is what made the answer: of all that must hold and does not, those that do not.
//
// Not thread-safe. Plan, subject and settings of the judgement outlive it.
#pragma once

#include "engine/core/evaluate.h"
#include "engine/core/sides.h"
#include "engine/model/trace.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::core {

class Witness {
  public:
    explicit Witness(const Judgement& on) : on_(on) {}

    /// Loose facts from here on are those that are noted behind this call.
    std::size_t mark() const { return loose_.size(); }
    /// What the facts from `from` on came to, taken together.
    void say(std::size_t from, const Truth& truth);
    /// Only those that came to the same as the whole made it.
    void keep(std::size_t from, const Truth& whole);
    /// Those that came to this decided nothing.
    void leave_out(std::size_t from, const Truth& part);
    void forget(std::size_t from) { loose_.resize(from); }

    /// `truth` of a test and of a join is before it is negated.
    void test(const Seen& object, const PlanTest& test, bool negated, const Truth& truth);
    void join(const Seen& object, const PlanJoin& join, bool negated, const Seen* other,
              const Truth& truth);
    void field(const Seen& object, std::uint16_t field, std::string asked, const Truth& truth);
    /// One of an object that nothing was bound to: nothing is known of it.
    void unbound(const FieldAt& field, std::string asked);
    /// Said beside the others, whatever they come to: the name that something is looked up by.
    void beside(const Seen& object, std::uint16_t field, std::string asked);
    /// One that every object has, whatever its role declares, as `hold`.
    void built_in(const Facet& object, std::string_view name, std::string asked, bool holds);
    void object(const Seen& object, std::string asked, const Truth& truth);
    /// The sources show nothing of the role, or are not known to; of what is looked up: by `named`.
    void nobody(Role role, std::span<const SourceId> sources, std::string_view named,
                const Truth& truth);
    /// So many objects count, and that is not as it was `asked`, or is not known to be.
    void claims(Role role, std::size_t count, std::string asked, const Truth& truth);
    /// What `wait` waits for, of a source that is leaned on.
    void source(Reason why, const Wait& wait);
    void heard(SourceId source);
    void clock(SourceId source, SourceTime deadline, bool passed);
    void time(std::string_view name, std::string value, std::string asked, Millis left);
    void tally(TallyId tally, bool none);
    void kept(std::string_view name, std::string value, std::string asked, bool fine);

    /// Another case of the rule begins; `number` from 1, 0 where there is one.
    void begin_case(std::size_t number);
    /// The pattern came to this; takes the loose facts.
    void pattern(const PlanPattern& pattern, const Truth& truth);
    std::size_t patterns() const { return patterns_.size(); }
    /// Those in between were tried, and another one was found.
    void forget_patterns(std::size_t from, std::size_t upto);
    /// All patterns together came to this.
    void matched(const Truth& truth);
    /// The stage that was open is passed; takes the loose facts.
    void at(Stage stage);
    /// What was found about that is held back: our own write, the grace, a source; or nothing is.
    void not_yet(const std::optional<Verdict>& held, std::span<const Leaning> leanings,
                 Millis lasted);
    /// The case ended with this.
    void end(const Decision& decision);

    std::vector<StageAnswer> take() { return std::move(stages_); }

  private:
    struct Pattern {
        StageAnswer answer;
        Truth truth;
    };
    /// A fact, and what the facts around it came to so far.
    struct Loose {
        DecidingFact fact;
        DecidingFact::Answer came_to = DecidingFact::Answer::kYes;
        bool beside = false;
    };
    std::vector<DecidingFact> take_loose();
    DecidingFact of_field(const Seen& object, std::uint16_t field, std::string asked,
                          const Truth& truth) const;
    DecidingFact about(const Facet& facet, DecidingFact::Kind kind, const Truth& truth) const;
    bool unfilled(const Verdict& held, std::span<const Leaning> leanings);
    void as_of(SourceId by, const PlanAsOf& as_of, Reason why);
    DecidingFact of_source(SourceId source, DecidingFact::Kind kind) const;
    void add(DecidingFact fact, bool beside = false);
    void close(bool stopped);

    const Judgement& on_;
    std::vector<Loose> loose_;
    std::vector<Pattern> patterns_;
    std::vector<StageAnswer> stages_;
    std::optional<StageAnswer> open_;
    std::size_t case_ = 0;
};

/// A witness, or nobody: then each call is a comparison with null.
class Watch {
  public:
    explicit Watch(Witness* witness) : witness_(witness) {}

    explicit operator bool() const { return witness_ != nullptr; }
    Witness* operator->() const { return witness_; }

    std::size_t mark() const { return witness_ == nullptr ? 0 : witness_->mark(); }
    void say(std::size_t from, const Truth& truth) const {
        if (witness_ != nullptr) witness_->say(from, truth);
    }
    void keep(std::size_t from, const Truth& whole) const {
        if (witness_ != nullptr) witness_->keep(from, whole);
    }
    void leave_out(std::size_t from, const Truth& part) const {
        if (witness_ != nullptr) witness_->leave_out(from, part);
    }
    void forget(std::size_t from) const {
        if (witness_ != nullptr) witness_->forget(from);
    }
    void at(Stage stage) const {
        if (witness_ != nullptr) witness_->at(stage);
    }

  private:
    Witness* witness_;
};

}  // namespace trueup::core
