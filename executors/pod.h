// One live pod, or another object, as the API server just gave it, and what its refusals say.
//
// Only the words of the API server itself count: a 404 that does not name the object (a wrong path,
// a proxy's page) is not an absence (S3).
#pragma once

#include "engine/base/result.h"
#include "engine/model/field_path.h"
#include "engine/ports/selector.h"
#include "engine/world/field_at.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::executors {

struct Pod {
    std::string kind;  ///< as the server says it; empty: it does not
    std::string uid;
    std::string resource_version;
    std::string name;
    std::string name_space;
    std::string phase;
    std::string node;
    bool deleting = false;  ///< metadata.deletionTimestamp is set
    bool finalizers = false;
    bool held = false;  ///< somebody's hold holds (engine/world/hold.h)
    ports::Labels labels;
    /// By name: what stands at a path hides what an object has by that name.
    std::map<std::string, world::FieldAt, std::less<>> at;

    /// A field by the names of engine/model/object.h. The outer value is empty when a live GET
    /// cannot tell this field, the inner one when the field is null.
    std::optional<std::optional<std::string>> field(std::string_view name) const;
};

/// kSkip when the bytes are no object with name, uid and resourceVersion. `veto_label`: of the
/// label or annotation that holds it; empty: none does. `paths`: what is read of it beside.
Result<Pod> decode_pod(std::string_view body, std::string_view veto_label = {},
                       const std::vector<policy::FieldPath>& paths = {});

/// Who has the label with that value, by uid, as the API server lists them. An error where the
/// bytes are no list, not a whole one, or one of objects that do not show that label.
Result<std::vector<std::string>> decode_holders(std::string_view body, std::string_view label,
                                                std::string_view value);

/// Is this the body of a 404 by which the API server says that the object `name` of a resource
/// (`pods`) is not there?
bool says_not_found(std::string_view body, std::string_view name, std::string_view plural);

/// Is this the body of a 200 by which the API server says that it took a DELETE: the object, or a
/// Status of success? The page of a proxy is neither.
bool says_deleted(std::string_view body);

/// The message of a Status body in one line, shortened; the bytes' start when they are no Status.
std::string message_of(std::string_view body);

}  // namespace trueup::executors
