// Deletes one pod, or another object of a cluster, exactly that one (design §4.12, S1, S2, S24,
// S38, S39).
//
// The other sides of the read set are read live, then the pod by its name. Its uid must be the
// target's, nobody may have put a hold on it, and the DELETE carries that uid and the
// resourceVersion of this very GET, so that any change in between is a 409.
//
//   gone, or terminating already      already_done
//   another uid, a hold, a predicate  refused
//   to be retracted, and not made by a command, or with finalizers
//                                     refused
//   accepted, finalizers keep it      done, "accepted; held by finalizers": the finding stays open
//   409, same uid                     the whole round again
//   time-out, cut answer, 5xx         read back
#pragma once

#include "executors/write_target.h"

#include <memory>

namespace trueup::executors {

/// The command's action is kDeletePod, kDeleteObject or kRetractRecord, and its target's source is
/// one of `access.sources.pods`.
std::unique_ptr<WriteTarget> delete_pod(const TargetAccess& access);

}  // namespace trueup::executors
