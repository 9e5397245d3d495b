#include "executors/write_target.h"

#include "executors/create_object.h"
#include "executors/delete_pod.h"
#include "executors/insert_row.h"
#include "executors/update_object.h"
#include "executors/update_row.h"

namespace trueup::executors {

std::unique_ptr<WriteTarget> make_write_target(const TargetAccess& access) {
    const Action::Kind kind = access.command.draft.action.kind;
    if (kind == Action::Kind::kUpdateRow) return update_row(access);
    if (kind == Action::Kind::kInsertRow) return insert_row(access);
    if (kind == Action::Kind::kCreateObject) return create_object(access);
    return updates(kind) ? update_object(access) : delete_pod(access);
}

}  // namespace trueup::executors
