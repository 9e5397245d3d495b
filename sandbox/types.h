// The values of the sandbox: pods, rows, and the effects of what its clients write.
#pragma once

#include "engine/ports/selector.h"
#include "engine/ports/sql.h"
#include "sandbox/world_settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::sandbox {

using ports::Labels;

/// One version of a pod, as stored at `resource_version`.
struct Pod {
    std::string name_space;
    std::string name;
    std::string uid;
    Labels labels;
    Labels annotations;
    std::vector<std::string> finalizers;
    std::string phase;
    std::string node;                         ///< empty: not scheduled
    std::int64_t created_ms = 0;              ///< wall clock, ms since 1970
    std::optional<std::int64_t> deletion_ms;  ///< set: terminating; when the grace is over
    std::int64_t grace_seconds = 0;           ///< of a terminating pod; 0: the kubelet is done
    std::int64_t own_grace_seconds = 30;      ///< its terminationGracePeriodSeconds
    std::uint64_t resource_version = 0;
};

/// A write that came through a port and reached the server, accepted or refused.
struct Effect {
    enum class Kind : std::uint8_t { kDelete, kUpdate, kPatch, kInsert, kCreate };
    Kind kind = Kind::kDelete;
    bool accepted = false;
    std::string why;  ///< of a refusal: "404", "409 uid", "409 resourceVersion", "xmin" …
    std::int64_t wall_ms = 0;
    // A DELETE or a PATCH: its name, its preconditions, and of a DELETE its grace.
    std::string name;
    std::string uid;
    std::string resource_version;
    std::optional<std::uint32_t> grace_seconds;
    // Of a POST its name and, once it is accepted, the new uid.
    // An UPDATE: its key, its preconditions and what it set; a PATCH, too, by path. An INSERT: the
    // key that the row got, its name, and what was set.
    std::string pk;
    std::string xmin;
    std::vector<ports::ColumnValue> guards;
    std::vector<ports::ColumnValue> sets;
};

struct RowTruth {
    std::string pk;
    Row columns;
    std::string xmin;
};

/// What is so, whatever any client believes.
struct Truth {
    std::uint64_t resource_version = 0;
    ports::Lsn lsn = 0;
    std::vector<Pod> pods;       ///< by namespace and name
    std::vector<RowTruth> rows;  ///< by primary key text
};

}  // namespace trueup::sandbox
