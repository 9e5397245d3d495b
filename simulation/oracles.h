// What must never happen, held against the world's own history. Nothing here knows a rule, a
// finding or a facet: only pods, rows, what executors had read, and what the topics say. O6, O7,
// O9, O11, O18, O20 and O24 are in plain_oracles.h, O8 in repaired.h. Not thread-safe.
//
//   O1 harm       no write on an object whose identity, veto or counterpart contradicted it when
//                 its executor last looked
//   O2 race       no write on what became right since; counted, and a violation only where the
//                 plan keeps people from acting in between
//   O3 once       an id is of one finding or command, and a command has at most one effect; a
//                 second one is a race (O2) where somebody undid the first before anybody could
//                 know of it. An executor creates nothing twice by one command, whoever undid it
//   O4 brakes     nobody writes, or orders, against a pause or a hold that all could see
//      approval   nobody orders unasked what somebody must have approved
//      window     nobody orders anything outside the times in which that may be
//      late       nobody writes after its command has expired, nor long after its last look;
//                 judged as it is sent, and as it arrives
//      order      nothing is ordered of an object before what was ordered of it has come to an end
//   O5 budget     no rule orders more than its budget in any stretch of time
//   O10 evidence  what a command relies on was so when it was given, or not long before
//   O12 proof     who has proven everything up to a moment shows what was so then, or since
//   O13 ending    what we began to end is not called a failure, and does end: its row says so, and
//                 nothing that served it is left (duties.cpp, as all that follow)
//   O14 granted   who was promised an end gets it, or is told what came of it
//   O15 loop      nothing is ordered again and again that a look at the world refuses, without news
//   O16 first     nothing is ordered while a source asks in the wrong place
//   O17 mode      nothing is carried out that was ordered before its rule ceased to act
//   O19 rewind    no source is taken for one that went back in time, and did not
//   O21 enabled   nothing is ordered by a rule that nobody enabled, unless it was approved
//   O22 meant     under other policies: nothing is ordered that the text in force does not say of
//                 the world as each source showed it then; instead of O1, O8 and O13, their law
//                 says what is right (law.h)
//   O23 recurring no rule does the same for one subject a third time that nobody approved
#pragma once

#include "engine/base/id.h"
#include "engine/model/command.h"
#include "engine/model/finding_edge.h"
#include "engine/model/rule_settings.h"
#include "engine/model/topic.h"
#include "simulation/allowances.h"
#include "simulation/approvals.h"
#include "simulation/endings.h"
#include "simulation/evidence.h"
#include "simulation/harm.h"
#include "simulation/history.h"
#include "simulation/law.h"
#include "simulation/plain_oracles.h"
#include "simulation/promises.h"
#include "simulation/proofs.h"
#include "simulation/reinsertions.h"
#include "simulation/repaired.h"
#include "simulation/restraints.h"
#include "simulation/scheduler.h"
#include "simulation/violations.h"
#include "simulation/witness.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {

class Oracles final : public Witness, public Allowances {
  public:
    Oracles(Scheduler& scheduler, History& history) : scheduler_(scheduler), history_(history) {}

    // What happens, as it happens.
    Moment moment() const override { return history_.moment(); }
    void looked() override { looked_at_ = scheduler_.steady_now(); }
    /// May an executor still write on the strength of its last look?
    bool may_write_still() const;
    void write_sent(const std::string& target, const std::string& version,
                    const Knowledge& known) override;
    void arrives(const std::string& word) override { arriving_ = word; }
    /// An executor's last word before a write. `by`: which one, and of which life.
    void ordered(const Command& command, const std::string& by = {});
    void act(const std::vector<sandbox::Record>& records);
    /// A command is in its topic; the journal had it then.
    void given(const Command& command, SteadyTime issued);
    /// O24. Was its rule off in the settings of every engine, and of this shard's journal, by then?
    void judge_configured(PartitionNumber shard, const Command& command);
    /// An edge of a finding is in its topic.
    void found(const FindingEdge& edge);
    /// What came of a command is in its topic.
    void ended(const Outcome& outcome);
    /// A list of everything that a source has is in its topic, to its end.
    void listed(Topic topic) { ++lists_[topic == Topic::kChangesPods ? 0 : 1]; }
    /// From now on a source asks in the wrong place, or does so no more.
    void asks_wrongly(bool wrong);
    /// Where it asks there are objects of somebody else: a write reached one.
    void wrote_elsewhere(const sandbox::Effect& effect);

    // What they know, and who hears of it.
    Approvals& approvals() { return approvals_; }
    Restraints& restraints() { return restraints_; }
    Reinsertions& reinsertions() { return reinsertions_; }
    Endings& endings() { return endings_; }
    Promises& promises() { return promises_; }
    // Other oracles.
    PlainOracles& plain() { return plain_; }
    Repaired& repaired() { return repaired_; }

    void violate(const std::string& oracle, std::string what) {
        violations_.violate(oracle, std::move(what));
    }
    const std::vector<Violation>& violations() const { return violations_.all(); }
    std::uint64_t effects() const { return effects_; }
    std::uint64_t races() const { return races_; }

    /// O5: the commands of a rule, each once. `served`: since when something has served the
    /// instance of that name, which alone makes it one that is there.
    void judge_budget(const std::vector<Command>& commands, const Budget& budget,
                      const std::map<std::string, SteadyTime>& served = {});
    /// O19: a shard takes this source for one that went back in time.
    void judge_rewind(const std::string& source);
    /// This source went back in time, or may look so.
    void went_back(const std::string& source) { went_back_.insert(source); }
    /// O10: of commands, by when their journal knew that earlier ones were done, by id.
    void judge_own_writes(const std::vector<Command>& commands,
                          const std::map<CommandId, BrokerTime>& known);
    /// O12; false: it is none.
    bool judge_proof(const core::State& state, const Proof& proof);
    /// O13, O14: at rest. `served` says whether anything serves the instance of that name that did
    /// so before then.
    void judge_duties(const std::function<bool(const std::string&, SteadyTime)>& served);

    /// O23. `known`: when its journal knew that a command was done, or found done.
    void judge_recurring(const std::vector<Command>& commands,
                         const std::map<CommandId, BrokerTime>& known);

  private:
    using Lists = std::array<std::uint64_t, 2>;  ///< of pods, of rows: how many there were

    /// A write on its way to its server.
    struct Sent {
        Knowledge known;
        Command command;
        std::string by;  ///< whom
    };
    Looks looks_of(const Sent& sent, const std::string& name, const std::string& pk) const;
    void judge(const sandbox::Effect& effect, Moment before);
    void judge_name(const Hash128& id, const std::string& what);
    void judge_once(const Sent& sent, const std::string& what);
    void judge_wanted(const std::string& name, Moment before, const std::string& what);
    void follow_ending(const sandbox::Effect& effect, const std::string& name, Moment before,
                       const std::string& what);
    std::string against(const sandbox::Effect& effect, const Command& command,
                        const std::string& name, const std::string& pk, const Looks& looks) const;
    void judge_late(const Sent& sent, Millis on_its_way);
    void judge_order(const Command& command);
    void judge_meant(const Command& command, SteadyTime issued);
    std::uint64_t most_allowed(const Budget& budget, SteadyTime now,
                               const std::map<std::string, SteadyTime>& served) const;
    bool unlooked(const Command& command, SteadyTime issued) const;
    bool costs(const Command& command) const;
    bool asks(const Command& command, SteadyTime issued) const;
    void judge_loop(const Command& command);

    Scheduler& scheduler_;
    History& history_;
    Violations violations_{scheduler_};
    Approvals approvals_{scheduler_};
    Restraints restraints_{scheduler_};
    Reinsertions reinsertions_{scheduler_};
    Endings endings_{scheduler_, history_, reinsertions_, *this};
    Promises promises_{history_, approvals_};
    Evidence evidence_{history_, reinsertions_, *this};
    Harm harm_{history_, approvals_, endings_, *this};
    PlainOracles plain_{scheduler_, history_, violations_};
    Repaired repaired_{scheduler_, history_, approvals_, endings_, *this, violations_};
    std::map<std::string, std::pair<Command, std::string>> ordered_;  ///< by target; by whom
    std::string arriving_;                               ///< the last creation that did
    std::map<std::string, Sent> sent_;                   ///< by target and version
    std::map<CommandId, SteadyTime> effects_of_;         ///< the first one
    std::map<CommandId, std::set<std::string>> makers_;  ///< who made something by it
    std::map<std::string, Command> last_;                ///< that was given, by object
    std::map<CommandId, SteadyTime> ended_commands_;     ///< when their first outcome was there
    std::set<CommandId> done_;               ///< those of which that said that it was done
    std::map<CommandId, SteadyTime> given_;  ///< when they were issued
    std::map<CommandId, CommandDraft> drafts_;
    std::map<Hash128, std::string> named_;  ///< findings and commands: what each id is of
    /// Refusals of what was ordered again, and what had been listed by the last one.
    struct Refused {
        std::vector<SteadyTime> times;
        Lists lists{};
    };
    std::map<std::string, Refused> refused_;  ///< by rule and object
    Lists lists_{};
    std::map<std::string, SteadyTime> ordered_for_;  ///< last; by rule and subject
    std::set<CommandId> agreed_;  ///< somebody approved something of it since the one before
    std::set<std::string> went_back_;
    bool asks_wrongly_ = false;
    SteadyTime wrong_until_{};
    /// What is sent is there by then: the slowest network takes three seconds.
    static constexpr Millis kOnItsWay{4'000};
    SteadyTime looked_at_{};  ///< when an executor's read last reached its server
    std::uint64_t effects_ = 0;
    std::uint64_t races_ = 0;
};

}  // namespace trueup::simulation
