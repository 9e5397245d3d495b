// Sets fields of one object of a cluster, of exactly that one (S24, S38, S39; docs/adr/0050).
//
// The other sides of the read set are read live, then the object by its name. Its uid must be the
// target's, nobody may have put a hold on it, and the PATCH carries that uid and the
// resourceVersion of this very GET, so that any change in between is a 409.
//
//   the object says all of it already    already_done
//   gone, another uid, a hold, a predicate, no plain value where one is to be set
//                                        refused
//   accepted, and the answer says so     done
//   accepted, and the answer does not    failed: the server drops what the schema does not have
//   409, 404                             the whole round again
//   time-out, cut answer, 5xx            read back
#pragma once

#include "executors/write_target.h"

#include <memory>

namespace trueup::executors {

/// The command's action is kUpdateObject or kUpdateStatus, and its target's source is one of
/// `access.sources.pods`.
std::unique_ptr<WriteTarget> update_object(const TargetAccess& access);

}  // namespace trueup::executors
