// What must never happen, held against the world's own history. Nothing here knows a rule, a
// finding or a facet: only pods, rows, what executors had read, and what the topics say.
//
//   O1 harm       no write on an object whose identity, veto or counterpart contradicted it when
//                 its executor last looked
//   O2 race       no write on what became right since; counted, and a violation only where the
//                 plan keeps people from acting in between
//   O3 once       an id is of one finding or command, and a command has at most one effect; a
//                 second one is a race (O2) where somebody undid the first before anybody could
//                 know of it
//   O4 brakes     nobody writes, or orders, against a pause or a hold that all could see
//      approval   nobody orders unasked what somebody must have approved
//      window     nobody orders anything outside the times in which that may be
//      late       nobody writes after its command has expired, nor long after its last look;
//                 judged as it is sent, and as it arrives
//      order      nothing is ordered of an object before what was ordered of it has come to an end
//   O5 budget     no rule orders more than its budget in any stretch of time
//   O6 lost       at rest the projection shows exactly what is in the world, and each record of
//                 the topics was folded once
//   O7 replay     the journal, folded again, gives the engines' rows, byte for byte
//   O8 repaired   at rest nothing is wrong in the world any more
//   O9 silence    and nobody orders anything
//   O10 evidence  what a command relies on was so when it was given, or not long before
//   O11 refused   no engine gives up, but for a full disk
//   O12 proof     who has proven everything up to a moment shows what was so then, or since
//   O13 ending    what we began to end is not called a failure, and does end: its row says so, and
//                 nothing that served it is left (duties.cpp, as all that follow)
//   O14 granted   who was promised an end gets it, or is told what came of it
//   O15 loop      nothing is ordered again and again that a look at the world refuses, without news
//   O16 first     nothing is ordered while a source asks in the wrong place
//   O17 mode      nothing is carried out that was ordered before its rule ceased to act
//   O18 pass      passes come to an end while every source answers
//   O19 rewind    no source is taken for one that went back in time, and did not
//   O20 kept      nothing is forgotten before its time, by nobody's clock but ours
//   O21 enabled   nothing is ordered by a rule that nobody enabled, unless it was approved
//   O22 meant     under other policies: nothing is ordered that the text in force does not say of
//                 the world as each source showed it then; instead of O1, O8 and O13, their law
//                 says what is right (law.h)
#pragma once

#include "engine/base/id.h"
#include "engine/model/command.h"
#include "engine/model/finding_edge.h"
#include "engine/model/settings.h"
#include "simulation/approvals.h"
#include "simulation/disk.h"
#include "simulation/history.h"
#include "simulation/law.h"
#include "simulation/links.h"
#include "simulation/proofs.h"
#include "simulation/scheduler.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::simulation {

struct Violation {
    std::string oracle;  ///< `harm`, `race`, …
    std::string what;    ///< one sentence
};

class Oracles final : public Witness {
  public:
    Oracles(Scheduler& scheduler, History& history)
        : scheduler_(scheduler), history_(history), approvals_(scheduler) {}

    // What happens, as it happens.
    Moment moment() const override { return history_.moment(); }
    void looked() override { looked_at_ = scheduler_.steady_now(); }
    /// May an executor still write on the strength of its last look?
    bool may_write_still() const;
    void write_sent(const std::string& target, const std::string& version,
                    const Knowledge& known) override;
    /// An executor's last word before a write.
    void ordered(const Command& command);
    void act(const std::vector<sandbox::Record>& records);
    /// A command is in its topic; the journal had it then.
    void given(const Command& command, SteadyTime issued);
    /// An edge of a finding is in its topic.
    void found(const FindingEdge& edge);
    /// What came of a command is in its topic.
    void ended(const Outcome& outcome);
    /// Somebody asked for the end of an instance, and was told that it will be ended.
    void promised(const Request& request, Moment asked);
    /// From now on a source asks in the wrong place, or does so no more.
    void asks_wrongly(bool wrong);
    /// Where it asks there are objects of somebody else: a write reached one.
    void wrote_elsewhere(const sandbox::Effect& effect);
    /// Can engines know what serves an instance?
    void services_known(bool yes) { services_known_ = yes; }
    /// Did we end the instance of this row?
    bool closed_by_us(const std::string& name, const std::string& pk) const;
    /// The row of that primary key is another one from now on.
    void reinserted(const std::string& pk) { reinserted_[pk] = {scheduler_.steady_now()}; }
    bool any_reinserted() const { return !reinserted_.empty(); }
    /// A connector said that the row of that primary key is gone, or begins to list all rows.
    void told_gone(const std::string& pk);
    void list_begins();
    /// An engine said that the rule does not act from now on.
    void silenced(const std::string& rule) { silenced_[rule] = scheduler_.steady_now(); }
    /// Nobody has enabled any rule when it begins.
    void nobody_enabled() { begun_enabled_ = false; }
    /// Somebody asked that the rule be enabled: from now on it may be.
    void may_be_enabled(const std::string& rule);
    /// How often somebody asked for that.
    std::uint64_t enablings(const std::string& rule) const;
    /// It is not any more, and everybody can know that.
    void disabled(const std::string& rule);
    /// Settings enable whatever they say.
    void all_enabled() {
        disabled_.clear();
        ++enabled_at_once_;
    }
    /// From now on everybody can see it.
    void braked(const std::string& bound) { brakes_[bound] = scheduler_.steady_now(); }
    /// From now on nobody is bound by it any more.
    void released(const std::string& bound) { brakes_.erase(bound); }
    /// What a pause or a hold binds: `rule NAME`, a subject, or (empty) everything.
    static std::string bound_by(const RequestScope& scope);
    /// What people agreed to.
    Approvals& approvals() { return approvals_; }

    void violate(const std::string& oracle, std::string what);
    /// In the order in which they were noticed; a run with none was good.
    const std::vector<Violation>& violations() const { return violations_; }
    std::uint64_t effects() const { return effects_; }
    std::uint64_t races() const { return races_; }
    bool races_forbidden = false;
    /// Every rule is in force, with windows and rules that ask; else G1 to G3.
    bool every_rule = false;
    /// What is right under other policies than the shipped one; nullptr: that one is in force.
    Law* law = nullptr;
    std::int32_t shards = 1;
    /// A source may speak from the past, and believe that it is the present.
    bool proofs_may_lie = false;
    /// A journal lost its end: nobody knows any more what was ordered there.
    bool tail_lost = false;
    /// How long ago what a command relies on may have ceased to be so: a source is stale then.
    Millis evidence_age{60'000};

    /// O5: the commands of a rule, each once. `served`: since when something has served the
    /// instance of that name, which alone makes it one that is there.
    void judge_budget(const std::vector<Command>& commands, const Budget& budget,
                      const std::map<std::string, SteadyTime>& served = {});
    /// O6: how many records the fold of a journal took, how far it is in its topics, and how many
    /// records have been there for long.
    void judge_folded(PartitionNumber shard, std::uint64_t folded, std::uint64_t reached,
                      std::uint64_t settled);
    /// O19: a shard takes this source for one that went back in time.
    void judge_rewind(const std::string& source);
    /// O20: of a topic everything up to what was stored then is forgotten, and `after` should lie
    /// between.
    void judge_forgotten(std::string_view topic, SteadyTime stored, Millis after);
    /// This source went back in time, or may look so.
    void went_back(const std::string& source) { went_back_.insert(source); }
    /// O10: of commands, by when their journal knew that earlier ones were done, by id.
    void judge_own_writes(const std::vector<Command>& commands,
                          const std::map<CommandId, BrokerTime>& known);
    /// O6: the ids of the objects that the projection has as present.
    void judge_projection(const std::set<std::string>& believed);
    /// O7: what an engine's disk holds, and what its journal makes up to the same record.
    void judge_replay(const std::string& engine, const Disk::Rows& held, const Disk::Rows& made);
    /// O9: the commands that were given since nothing is wrong any more.
    void judge_silence(const std::vector<Command>& since);
    /// O11: how many engines gave up, and why the last one did.
    void judge_refused(std::uint64_t refusals, const std::string& why);
    /// O12; false: it is none.
    bool judge_proof(const core::State& state, const Proof& proof);
    /// O13, O14: at rest. `served` says whether anything serves the instance of that name that did
    /// so before then.
    void judge_duties(const std::function<bool(const std::string&, SteadyTime)>& served);
    /// O18: at rest; the passes that began before and are not over, one for each shard.
    void judge_passes(const std::vector<std::string>& open);
    /// O8. `explain` says what an engine believes of a subject.
    void judge_world(const std::function<std::string(const std::string&)>& explain);
    /// O8 under other policies: what engines have open is what their texts say of the world.
    void judge_open(const std::vector<OpenFinding>& open);

  private:
    /// A write on its way to its server.
    struct Sent {
        Knowledge known;
        Command command;
    };
    void judge(const sandbox::Effect& effect, Moment before);
    void judge_name(const Hash128& id, const std::string& what);
    void judge_once(const Command& command, const std::string& what);
    void follow_ending(const sandbox::Effect& effect, const std::string& name, Moment before,
                       const std::string& what);
    std::string against(const sandbox::Effect& effect, const Command& command,
                        const std::string& name, const std::string& pk, const Looks& looks) const;
    std::string against_delete(const sandbox::Effect& effect, const std::string& pk,
                               const Looks& looks) const;
    std::string against_update(const sandbox::Effect& effect, const std::string& name,
                               const Looks& looks) const;
    std::string against_failing(const History::RowView& row, const std::string& name,
                                Moment pods) const;
    std::string against_stopping(const History::RowView& row, const std::string& name,
                                 Moment pods) const;
    std::string against_naming(const History::RowView& row, const std::string& pod,
                               Moment pods) const;
    void judge_row(const History::Row& row,
                   const std::function<void(const std::string&, const std::string&)>& wrong) const;
    void judge_late(const Sent& sent, Millis on_its_way);
    void judge_order(const Command& command);
    void judge_meant(const Command& command, SteadyTime issued);
    static bool later_step(const Command& command);
    std::uint64_t most_allowed(const Budget& budget, SteadyTime now,
                               const std::map<std::string, SteadyTime>& served) const;
    bool bound(const Command& command, SteadyTime now) const;
    bool unlooked(const Command& command, SteadyTime issued) const;
    bool costs(const Command& command) const;
    bool asks(const Command& command, SteadyTime issued) const;
    std::string against_evidence(const Command& command, SteadyTime issued,
                                 SteadyTime written) const;
    void begin_ending(const std::string& name, const std::string& pk, const std::string& uid);
    bool ends_still(const std::string& name, const std::string& pk, Moment until) const;
    bool lives_again(const std::string& name, Moment looked) const;
    bool kept(const Request& request, Moment asked) const;
    void judge_loop(const Command& command);
    bool was_so(const Command& command, const Predicate& predicate, Moment from, Moment to) const;
    bool is_so(const Command& command, const Predicate& predicate, Moment as_of) const;

    Scheduler& scheduler_;
    History& history_;
    std::map<std::string, Command> ordered_;          ///< by target
    std::map<std::string, Sent> sent_;                ///< by target and version
    std::map<CommandId, SteadyTime> effects_of_;      ///< the first one
    std::map<std::string, Command> last_;             ///< that was given, by object
    std::map<CommandId, SteadyTime> ended_commands_;  ///< when their first outcome was there
    Approvals approvals_;
    std::map<std::string, SteadyTime> brakes_;  ///< since when; by what they bind
    bool begun_enabled_ = true;
    std::map<std::string, std::uint64_t> enablings_;  ///< by rule
    std::uint64_t enabled_at_once_ = 0;               ///< how often all of them were
    std::map<std::string, SteadyTime> disabled_;      ///< rules, since when
    std::set<std::string> ended_;            ///< names of pods that ended, or were about to
    std::map<CommandId, SteadyTime> given_;  ///< when they were issued
    std::map<CommandId, CommandDraft> drafts_;
    std::map<Hash128, std::string> named_;  ///< findings and commands: what each id is of
    /// The last end that we began, by the name of its pod.
    struct Ending {
        std::string pk;   ///< of its row
        std::string uid;  ///< of its pod
        Moment begun = 0;
        SteadyTime at{};
        bool all_known = false;  ///< when we said so in its row we could know what served it
    };
    std::map<std::string, Ending> endings_;
    std::set<std::string> end_ordered_;                     ///< names of pods
    std::set<std::pair<std::string, std::string>> closed_;  ///< by us: pods and their rows
    std::vector<std::pair<Request, Moment>> promised_;
    std::map<std::string, SteadyTime> told_;  ///< what came of a promise, by subject
    std::map<std::string, std::vector<SteadyTime>> refused_;  ///< by rule and object
    std::map<std::string, SteadyTime> silenced_;              ///< rules, since when
    /// A row that came in place of another one, in one commit.
    struct Reinserted {
        SteadyTime at{};
        std::optional<SteadyTime> told = {};  ///< since when it can be known to be another one
        bool listed = false;                  ///< before: what is told then is older than the list
    };
    std::map<std::string, Reinserted> reinserted_;  ///< by primary key
    std::set<std::string> went_back_;
    bool services_known_ = true;
    bool asks_wrongly_ = false;
    SteadyTime wrong_until_{};
    std::vector<Violation> violations_;
    /// What is sent is there by then: the slowest network takes three seconds.
    static constexpr Millis kOnItsWay{4'000};
    SteadyTime looked_at_{};  ///< when an executor's read last reached its server
    std::uint64_t effects_ = 0;
    std::uint64_t races_ = 0;
};

}  // namespace trueup::simulation
