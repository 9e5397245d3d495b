// From the API server's JSON to objects as the engine keeps them. Works for any resource: what an
// object has no place for (a phase, a node) is left out. Bytes from outside never stop the process.
#pragma once

#include "connectors/kubernetes/kube_object.h"
#include "engine/base/result.h"
#include "engine/model/field_path.h"
#include "engine/ports/fields.h"
#include "engine/ports/selector.h"
#include "engine/world/json.h"
#include "engine/world/kube_status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::connectors {

/// Which parts of an object are published, and how it is keyed.
struct Mapping {
    std::vector<std::string> labels;
    std::string veto_label;
    std::string key_label;
    /// An object in scope that comes without the labels it asks for was not sent whole.
    ports::Selector selector = {};
    /// For labels, paths, `created` and `node`; the rest is needed as is.
    ports::FieldPolicy fields = {};
    std::vector<policy::FieldPath> paths = {};  ///< in the place of what an object has by that name
};

using world::KubeStatus;

struct WatchEvent {
    enum class Type : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
    Type type = Type::kError;
    std::uint64_t version = 0;  ///< of the object or bookmark; 0 for an error
    KubeObject object;          ///< of kAdded, kModified, kDeleted
    KubeStatus status;          ///< of kError
};

/// One decoder serves one thread.
class Decoder {
  public:
    explicit Decoder(Mapping mapping);
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// A page of a list. Any flaw, be it in one item, makes the page worthless: what it lacks would
    /// be read as absent.
    Result<KubePage> page(std::string_view body);

    /// The version of a list, whatever it lists.
    Result<std::uint64_t> list_version(std::string_view body);

    /// One line of a watch. kSkip: JSON, but not an event that can be used; kRetry: not JSON.
    Result<WatchEvent> event(std::string_view line);

    /// The answer to a GET by name, encoded as an object that left the selector (`in_scope=false`).
    Result<KubeObject> out_of_scope(std::string_view body);

    /// nullopt when the body is not a Status.
    std::optional<KubeStatus> status(std::string_view body);

  private:
    struct List;
    Result<List> list(std::string_view body);

    Mapping mapping_;
    world::Json json_;
};

}  // namespace trueup::connectors
