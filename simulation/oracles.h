// What must never happen, held against the world's own history. Nothing here knows a rule, a
// finding or a facet: only pods, rows, what executors had read, and what the topics say.
//
//   O1 harm       no write on an object whose identity, veto or counterpart contradicted it when
//                 its executor last looked
//   O2 race       no write on what became right since; counted, and a violation only where the
//                 plan keeps people from acting in between
//   O3 once       a command has at most one effect; a second one is a race (O2) where somebody
//                 undid the first before anybody could know of it
//   O4 brakes     nobody writes, or orders, against a pause or a hold that all could see
//      approval   nobody orders unasked what somebody must have approved
//      window     nobody orders anything outside the times in which that may be
//   O5 budget     no rule orders more than its budget in any stretch of time
//   O6 lost       at rest the projection shows exactly what is in the world
//   O7 replay     the journal, folded again, gives the engines' rows, byte for byte
//   O8 repaired   at rest nothing is wrong in the world any more
//   O9 silence    and nobody orders anything
//   O10 evidence  what a command relies on was so when it was given, or not long before
//   O11 refused   no engine gives up, but for a full disk
#pragma once

#include "engine/base/id.h"
#include "engine/model/command.h"
#include "engine/model/settings.h"
#include "simulation/consent.h"
#include "simulation/disk.h"
#include "simulation/history.h"
#include "simulation/links.h"
#include "simulation/scheduler.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace trueup::simulation {

struct Violation {
    std::string oracle;  ///< `harm`, `race`, …
    std::string what;    ///< one sentence
};

class Oracles final : public Witness {
  public:
    Oracles(Scheduler& scheduler, History& history)
        : scheduler_(scheduler), history_(history), consent_(scheduler) {}

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
    /// From now on everybody can see it.
    void braked(const std::string& bound) { brakes_[bound] = scheduler_.steady_now(); }
    /// From now on nobody is bound by it any more.
    void released(const std::string& bound) { brakes_.erase(bound); }
    /// What a pause or a hold binds: `rule NAME`, a subject, or (empty) everything.
    static std::string bound_by(const RequestScope& scope);
    /// What people agreed to.
    Consent& consent() { return consent_; }

    void violate(const std::string& oracle, std::string what);
    /// In the order in which they were noticed; a run with none was good.
    const std::vector<Violation>& violations() const { return violations_; }
    std::uint64_t effects() const { return effects_; }
    std::uint64_t races() const { return races_; }
    bool races_forbidden = false;
    /// Every rule is in force, with windows and rules that ask; else G1 to G3.
    bool every_rule = false;

    /// O5: the commands of a rule, each once.
    void judge_budget(const std::vector<Command>& commands, const Budget& budget,
                      std::uint64_t population);
    /// O6: the ids of the objects that the projection has as present.
    void judge_projection(const std::set<std::string>& believed);
    /// O7: what an engine's disk holds, and what its journal makes up to the same record.
    void judge_replay(const std::string& engine, const Disk::Rows& held, const Disk::Rows& made);
    /// O9: the commands that were given since nothing is wrong any more.
    void judge_silence(const std::vector<Command>& since);
    /// O11: how many engines gave up, and why the last one did.
    void judge_refused(std::uint64_t refusals, const std::string& why);
    /// O8. `explain` says what an engine believes of a subject.
    void judge_world(const std::function<std::string(const std::string&)>& explain);

  private:
    /// A write on its way to its server.
    struct Sent {
        Knowledge known;
        Command command;
    };
    /// When its sender last looked at the pod, at the rows of the name, and at the row; 0: never.
    struct Looks {
        Moment pod = 0;
        Moment key = 0;
        Moment row = 0;
    };
    void judge(const sandbox::Effect& effect, Moment before);
    void judge_once(const Command& command, const std::string& what);
    std::string against_delete(const sandbox::Effect& effect, const std::string& pk,
                               const Looks& looks) const;
    std::string against_update(const sandbox::Effect& effect, const std::string& name,
                               const Looks& looks) const;
    std::string against_failing(const History::RowView& row, const std::string& name,
                                Moment pods) const;
    std::string against_stopping(const History::RowView& row, const std::string& name) const;
    std::string against_naming(const History::RowView& row, const std::string& pod,
                               Moment pods) const;
    void judge_row(const History::Row& row,
                   const std::function<void(const std::string&, const std::string&)>& wrong) const;
    bool bound(const Command& command, SteadyTime now) const;
    bool asks(const Command& command, SteadyTime issued) const;
    std::string against_evidence(const Command& command, SteadyTime issued) const;
    bool was_so(const Command& command, const Predicate& predicate, Moment from, Moment to) const;
    bool is_so(const Command& command, const Predicate& predicate, Moment as_of) const;

    Scheduler& scheduler_;
    History& history_;
    std::map<std::string, Command> ordered_;    ///< by target
    std::map<std::string, Sent> sent_;          ///< by target and version
    std::map<Hash128, SteadyTime> effects_of_;  ///< the first one
    Consent consent_;
    std::map<std::string, SteadyTime> brakes_;   ///< since when; by what they bind
    std::set<std::string> ended_;                ///< names of pods that ended, or were about to
    std::map<std::string, SteadyTime> written_;  ///< when an object last was, by id
    std::set<Hash128> given_;
    std::vector<Violation> violations_;
    SteadyTime looked_at_{};  ///< when an executor's read last reached its server
    std::uint64_t effects_ = 0;
    std::uint64_t races_ = 0;
};

}  // namespace trueup::simulation
