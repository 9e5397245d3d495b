// What a command on one object of a cluster finds out before it writes, whatever it writes: that it
// is the very one, that nobody put a hold on it, and that it still is what the rule saw.
#pragma once

#include "executors/pod.h"
#include "executors/write_target.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::executors {

class ObjectTarget : public WriteTarget {
  public:
    /// The target's source is one of `access.sources.pods`.
    explicit ObjectTarget(const TargetAccess& access)
        : access_(access), source_(access.sources.pods.find(target().source)->second) {}

    StepResult read(SteadyTime now) override;

  protected:
    const Target& target() const { return access_.command.draft.target; }
    const Action& action() const { return access_.command.draft.action; }
    const TargetAccess& access() const { return access_; }
    const PodSource& source() const { return source_; }
    /// Through which is written.
    ports::Cluster& writer() const {
        return source_.writer != nullptr ? *source_.writer : *source_.cluster;
    }
    /// `GET pod wrapper-a`
    std::string what(std::string_view verb) const;
    /// The server's own word that it is not there.
    bool not_found(const Answer& answer) const;
    /// Where it is. It was read, so that the source says where.
    ports::GetObject place() const;
    bool is_pod() const;
    /// Where an object says by which command it was created, and as which object.
    static const policy::FieldPath& made_by();
    static const policy::FieldPath& made_as();

    /// kNext: the answer to `read` is the object of the target's uid, put into `pod`. `paths`: what
    /// is read of it beside.
    StepResult look(const Answer& answer, const std::vector<policy::FieldPath>& paths,
                    Pod& pod) const;
    /// kNext: whoever may forbid it lets it be written, and what the command relies on holds.
    StepResult may_write(const Pod& pod) const;

  private:
    StepResult vetoes(const Pod& pod) const;

    const TargetAccess access_;
    const PodSource& source_;
};

}  // namespace trueup::executors
