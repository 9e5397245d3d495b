// What is right and wrong in a run under other policies than the shipped one: said by somebody who
// reads their texts, from the world's own history and nothing that engines believe.
#pragma once

#include "engine/model/command.h"
#include "engine/model/settings.h"
#include "simulation/history.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace trueup::simulation {

/// When an executor last looked at the pod, at the rows of the name, and at the row; 0: never.
struct Looks {
    Moment pod = 0;
    Moment key = 0;
    Moment row = 0;
    std::string pk = {};  ///< of that row
    /// The same of other rows that the command names, by primary key: each is read by itself.
    std::map<std::string, Moment> others = {};
};

/// What an engine has open.
struct OpenFinding {
    std::string subject;
    std::string rule;
    std::string object_id;
    bool halted = false;      ///< an ending that nobody but an operator goes on with
    std::string writes = {};  ///< the object that the last step of its subject's ending is about
    bool operator<(const OpenFinding& other) const {
        return std::tie(subject, rule, object_id) <
               std::tie(other.subject, other.rule, other.object_id);
    }
};

/// Called by one run at a time.
class Law {
  public:
    virtual ~Law() = default;
    /// A shard's journal has them from then on.
    virtual void in_force(const Settings& settings, SteadyTime since) = 0;
    /// Why this should not have been ordered then by anyone who knew each source as it was at some
    /// time of the last `age`; empty: it was right.
    virtual std::string against_order(const Command& command, const History& history,
                                      SteadyTime issued, Millis age) = 0;
    /// Why this should not have been carried out, as the world was by these looks. What its
    /// executor did not look at was as at some time since `age` before the order.
    virtual std::string against_write(const Command& command, const History& history,
                                      SteadyTime issued, Millis age, const Looks& looks) const = 0;
    /// Must somebody have approved it, by whatever is counted?
    virtual bool asks(const Command& command, const History& history, SteadyTime issued,
                      Millis age) const = 0;
    /// Something that is still to be done; empty: there is nothing.
    virtual std::string to_do(const History& history, SteadyTime now) const = 0;
    /// What is open, and should not be, and the other way round: a sentence each.
    virtual std::vector<std::string> wrong(const std::vector<OpenFinding>& open,
                                           const History& history, SteadyTime now) const = 0;
};

/// Instead of the shipped one.
struct OtherPolicies {
    /// The first is in force when the run begins; the act `change-text` puts others in force. All
    /// are of the roles `pods` and `rows`, with the keys of the shipped one.
    std::vector<Settings> settings;
    Law* law = nullptr;  ///< outlives the run
};

}  // namespace trueup::simulation
