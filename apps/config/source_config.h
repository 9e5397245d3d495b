// The sources of the configuration: a cluster's objects or a table, how they are reached, and what
// of them is published.
#pragma once

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/model/role.h"
#include "engine/model/topic.h"
#include "engine/ports/fields.h"
#include "engine/ports/resource.h"
#include "engine/ports/sql.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trueup::config {

/// What the key `fields` of a source says of one field.
struct FieldConfig {
    ports::Treatment treatment = ports::Treatment::kHash;
    int line = 0;  ///< where it stands in the file, from 1
};
using Fields = std::map<std::string, FieldConfig, std::less<>>;

/// An API server, and as whom.
struct ClusterLogin {
    bool in_cluster = false;
    std::string kubeconfig;  ///< a file; empty: `in_cluster`
    std::string context;     ///< of the kubeconfig; empty: its current one
    bool operator==(const ClusterLogin&) const = default;
};

struct KubernetesSource : ClusterLogin {
    ports::Resource resource;
    std::string selector;             ///< never empty for pods (S31)
    std::vector<std::string> labels;  ///< published with each object
    Fields fields;                    ///< how, where not as it is; by published name
    std::vector<std::string> known;   ///< fields that look secret and are published (`acknowledge`)
    std::string veto_label = "trueup.io/hold";
    std::string key_label;      ///< empty: the object's name is its key
    bool irreversible = false;  ///< what is deleted from it does not come back
};

/// Where the connection string of a database is.
enum class Conninfo : std::uint8_t { kText, kFile, kEnvironment };

/// A database, and as whom.
struct DatabaseLogin {
    Conninfo from = Conninfo::kText;
    std::string conninfo;            ///< the text itself, the file's path, or the variable's name
    std::vector<std::string> known;  ///< `acknowledge`: `sslmode`; of a source more
    bool any_tls = false;            ///< connects without knowing who answers
    bool operator==(const DatabaseLogin&) const = default;
};

/// `known` has fields that look secret and are published, `sslmode` and `slot`.
struct PostgresSource : DatabaseLogin {
    ports::Table table;                    ///< or a query, which needs no publication and no slot
    std::vector<std::string> primary_key;  ///< of a query: what tells its rows apart
    std::string publication = "trueup";
    std::string slot;                            ///< default: `trueup_<source>`
    std::vector<std::string> columns;            ///< what the policy reads, and more
    std::map<std::string, policy::Field> types;  ///< as what the policy reads columns
    Fields fields;                               ///< how, where not as it is; by column
    std::string veto_column;                     ///< empty: there is none
    bool emit_message = false;
};

struct SourceConfig {
    std::string name;
    std::variant<KubernetesSource, PostgresSource> world;
    Millis idle{15'000};   ///< between proofs of progress
    Millis active{2'000};  ///< the same while a finding waits for one
    Millis relist_every = std::chrono::hours(6);
    std::uint32_t at_least = 1;  ///< objects, or the first snapshot proves nothing
    int line = 0;                ///< where it stands in the file, from 1

    const KubernetesSource* kubernetes() const { return std::get_if<KubernetesSource>(&world); }
    const PostgresSource* postgres() const { return std::get_if<PostgresSource>(&world); }
    /// What a query answers, which nobody can write.
    bool only_read() const { return postgres() != nullptr && !postgres()->table.query.empty(); }
    Topic topic() const;
};

/// `pods`, `v1/services` or `group/version/plural`, as the key `resource` has it, without a
/// namespace.
std::optional<ports::Resource> parse_resource(std::string_view text);
/// `schema.table`, or a table of `public`.
std::optional<ports::Table> parse_table(std::string_view text);

/// The connection string itself, from the file or the environment where the source says so; reading
/// it anew each time lets a password be changed. Holds secrets: never logged.
Result<std::string> read_conninfo(const SourceConfig& source);
/// The same; `key` is what it stands under, as executors.update_row.
Result<std::string> read_conninfo(const DatabaseLogin& login, const std::string& key);

}  // namespace trueup::config
