// Creates one object of a cluster from the parts that the command has (docs/adr/0056).
//
// The other sides of the read set are read live, then whatever has the object's name. A server has
// one object of a name at most, so that of two executors that have the command one creates it; an
// annotation with the command's id tells the other one that it is done.
//
//   one is there with the command's id   already_done
//   any other of that name               refused
//   accepted                             done
//   409                                  the whole round again
//   400, 422                             failed, with what the server says
//   time-out, cut answer, 5xx            read back; what is not there then may have been made, and
//                                        deleted since: failed, and ordered again if it is wanted
#pragma once

#include "executors/write_target.h"

#include <memory>

namespace trueup::executors {

/// The command's action is kCreateObject, and its target's source is one of `access.sources.pods`.
std::unique_ptr<WriteTarget> create_object(const TargetAccess& access);

}  // namespace trueup::executors
