// Journals of graph-instances as stories: stories/script.h with words for its pods and rows.
//
//     JournalScript s;                                       // genesis and settings at 0 s
//     s.all_known();                                         // both sources: owner, empty epoch
//     s.quiet_until(100s).pod({.name = "wrapper-7", .uid = "a", .version = 11});
//     s.quiet_until(160s);
//     EXPECT_EQ(s.news(), "100s suspected orphaned_pod wrapper-7 a: grace\n"
//                         "160s commanded orphaned_pod wrapper-7 a\n"
//                         "160s delete_pod wrapper-7 a\n");
//
// Not thread-safe.
#pragma once

#include "stories/script.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::testing {

using namespace std::chrono_literals;
using stories::begun_empty;
using stories::broker;
using stories::Manner;
using stories::news_of;
using stories::Owner;
using stories::Recorded;
using stories::Seen;
using stories::timestamp;

struct Pod {
    std::string name;
    std::string uid;
    std::uint64_t version = 1;
    std::string phase = "Running";
    bool deleting = false;
    bool in_scope = true;
    bool hold = false;
    bool unlabelled = false;  ///< its labels were not sent: a hold may be among them
    bool listed = false;      ///< an item of the open epoch
    std::string source = "pods";
};

struct Row {
    std::string pk;
    std::string name;  ///< of the pod that it means
    std::uint64_t version = 1;
    std::optional<std::string> status = "running";
    bool tracked = true;  ///< pod_name = name; false: NULL, only the slug tells
    bool toast = false;   ///< pod_name was not sent, because it did not change
    bool hold = false;    ///< a veto on the row
    std::optional<Millis> created =
        std::nullopt;  ///< since the start, by the database's clock; created_at
    std::optional<std::string> ttl = std::nullopt;      ///< as the column has it
    std::optional<Millis> active = std::nullopt;        ///< last_activity_at
    std::optional<std::string> timeout = std::nullopt;  ///< inactivity_timeout
    std::string owner = {};   ///< owner_username; empty: the column is not mapped
    bool listed = false;      ///< an item of the open epoch
    std::uint64_t order = 0;  ///< within its commit
};

/// Sources `pods` and `rows`, all rules in `mode`, G1 with 60 s grace and 30 s create window, G2
/// with no grace and 30 s, G3 with neither. The other rules are off until a story turns them on.
Settings graph_settings(Mode mode = Mode::kEnforce);

/// The same with sources of services and ingresses.
Settings served_settings();

/// The same with a second source of pods, `west`.
Settings two_clusters();

/// Settings whose policy is of that name, and says something that this build does not know.
Settings of_another_build(Settings settings, const std::string& policy);

class JournalScript : public stories::Script {
  public:
    explicit JournalScript(Settings settings = graph_settings(), std::uint64_t journal = 1,
                           Manner manner = {}, std::int32_t shards = 1)
        : Script(std::move(settings), journal, manner, shards) {}

    // As those of Script, to go on from.
    JournalScript& at(Millis since) { return Script::at(since), *this; }
    JournalScript& tick() { return Script::tick(), *this; }
    JournalScript& quiet_until(Millis until) { return Script::quiet_until(until), *this; }
    JournalScript& silent_until(Millis until) { return Script::silent_until(until), *this; }

    void pod(const Pod& pod);
    void row(const Row& row);
    void pod_gone(const std::string& name, const std::string& uid, std::uint64_t version);
    void row_gone(const std::string& name, const std::string& pk, std::uint64_t version);
    /// A complete epoch with these.
    void pods_listed(std::uint64_t as_of, std::vector<Pod> pods);
    void rows_listed(std::uint64_t as_of, std::vector<Row> rows);
};

/// Both sources known and heard until 100 s.
JournalScript quiet_world();
/// Both sources quiet, and wrapper-7 (uid a) an orphan since 100 s; now it is `until`.
JournalScript orphan_at(Millis until, Settings settings = graph_settings());
/// Both sources known; rules only observe.
JournalScript observed_world();

/// orphaned_pod waits for an approval, and wrapper-7 (uid a) and wrapper-8 (uid b) are such; 170 s.
JournalScript approving_world();

}  // namespace trueup::testing
