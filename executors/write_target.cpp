#include "executors/write_target.h"

#include "executors/delete_pod.h"
#include "executors/update_row.h"

namespace trueup::executors {

std::unique_ptr<WriteTarget> make_write_target(const TargetAccess& access) {
    if (access.command.draft.action.kind == Action::Kind::kUpdateRow) return update_row(access);
    return delete_pod(access);
}

}  // namespace trueup::executors
