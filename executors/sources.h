// What an executor may read and write: its own ports to the sources that commands name. A source
// that is missing here is out of the executor's reach, and a command that needs it is not carried
// out.
#pragma once

#include "engine/model/field_path.h"
#include "engine/ports/cluster.h"
#include "engine/ports/database.h"
#include "engine/ports/selector.h"

#include <map>
#include <string>
#include <vector>

namespace trueup::executors {

struct PodSource {
    ports::Cluster* cluster = nullptr;
    /// With an empty namespace a command's target says which one is meant.
    ports::Resource resource;
    /// A label or an annotation of this key is a veto (engine/world/hold.h).
    std::string veto_label = "trueup.io/hold";
    /// Of what the source sees: an object that it does not match is none of ours, and one that
    /// comes without any label was not sent whole. Nothing is done to either.
    ports::Selector selector = {};
    /// By which an object is known instead of by its name; empty: by its name.
    std::string key_label = {};
    /// Fields that are read by path; whatever else an object has by that name is not meant.
    std::vector<policy::FieldPath> paths = {};
    /// By what it is known here (SourceSettings::mapping); 0: nobody says.
    std::uint64_t mapping = 0;
    /// Why nothing may be asked of it yet (`Dispatcher::found`); empty: everything may.
    std::string doubt = {};
    /// To write through, where that is another account's; nullptr: `cluster`. The same server.
    ports::Cluster* writer = nullptr;
};

struct RowSource {
    ports::Database* database = nullptr;  ///< the primary, never a replica
    ports::Table table;
    std::vector<std::string> pk_columns;
    std::string key_expression;            ///< the correlation key as SQL over the row
    std::vector<std::string> key_columns;  ///< the columns that it reads
    std::string veto_column;               ///< a veto (engine/world/hold.h); empty: there is none
    std::uint64_t mapping = 0;             ///< as of pods
    std::string doubt = {};                ///< as of pods; the primary key is not known meanwhile
    /// To write through, where that is another role's; nullptr: `database`. Nothing is written
    /// unless it is the database that was read, which the statement itself asks.
    ports::Database* writer = nullptr;
    /// What a unique index must be over for a row to be inserted (ports::InsertRow::unique); empty:
    /// none is.
    std::string unique = {};
};

/// By source name. The ports outlive every user of this.
struct Sources {
    std::map<std::string, PodSource, std::less<>> pods;
    std::map<std::string, RowSource, std::less<>> rows;
    bool empty() const { return pods.empty() && rows.empty(); }
};

}  // namespace trueup::executors
