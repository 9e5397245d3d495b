#include "executors/write_target.h"

#include "engine/base/check.h"
#include "executors/create_object.h"
#include "executors/delete_pod.h"
#include "executors/insert_row.h"
#include "executors/update_object.h"
#include "executors/update_row.h"

#include <algorithm>
#include <array>

namespace trueup::executors {

namespace {

struct Carrier {
    Action::Kind kind;
    bool row;  ///< of a database; else an object of a cluster
    std::unique_ptr<WriteTarget> (*make)(const TargetAccess& access);
};
constexpr std::array<Carrier, 8> kCarriers{{
    {Action::Kind::kDeletePod, false, delete_pod},
    {Action::Kind::kDeleteObject, false, delete_pod},
    {Action::Kind::kRetractRecord, false, delete_pod},
    {Action::Kind::kUpdateObject, false, update_object},
    {Action::Kind::kUpdateStatus, false, update_object},
    {Action::Kind::kCreateObject, false, create_object},
    {Action::Kind::kUpdateRow, true, update_row},
    {Action::Kind::kInsertRow, true, insert_row},
}};

const Carrier* carrier_of(Action::Kind kind) {
    const auto* const found = std::find_if(kCarriers.begin(), kCarriers.end(),
                                           [&](const Carrier& each) { return each.kind == kind; });
    return found == kCarriers.end() ? nullptr : found;
}

}  // namespace

bool carried_out(Action::Kind kind) { return carrier_of(kind) != nullptr; }

bool has_target(const Sources& sources, const Command& command) {
    const Carrier* carrier = carrier_of(command.draft.action.kind);
    if (carrier == nullptr) return false;
    const std::string& source = command.draft.target.source;
    return carrier->row ? sources.rows.count(source) != 0 : sources.pods.count(source) != 0;
}

std::unique_ptr<WriteTarget> make_write_target(const TargetAccess& access) {
    TRUEUP_CHECK(has_target(access.sources, access.command));
    return carrier_of(access.command.draft.action.kind)->make(access);
}

}  // namespace trueup::executors
