// Proves the decision tree of storage instances, every branch and its edges (L1 to L5, L7, L15).
#include "engine/core/rules/storage_instances/policy.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace trueup::core::storage_instances {
namespace {

using Fields = std::initializer_list<std::pair<const char*, const char*>>;

Facet facet_of(SourceId source, const std::string& id, Fields fields) {
    ObjectBuilder object;
    for (const auto& [name, text] : fields) object.add(name, text);
    Facet facet;
    facet.source = source;
    facet.object_id = id;
    facet.object = object.take();
    return facet;
}

/// One instance, in manager `m` on node `n`, and what else there is.
struct World {
    Settings settings = usual_settings("storage-instances", Mode::kEnforce);
    std::vector<SourceState> sources{5};
    Subject subject;
    Subject manager;
    Subject node;

    World() {
        subject.key = "storage-instances/e";
        for (SourceState& source : sources) source.known = true;
        manager.facets = {facet_of(kManagers, "m", {{"state", "running"}})};
        node.facets = {facet_of(kNodes, "n", {{"ready", "true"}})};
        runs("running", "u");
    }

    void runs(const char* state, const char* uuid) {
        subject.facets = {
            facet_of(kInstances, "m/e",
                     {{"manager", "m"}, {"node", "n"}, {"state", state}, {"uuid", uuid}})};
    }
    void object(const char* desire, const char* current, const char* owner, const char* where) {
        subject.facets.insert(subject.facets.begin(), facet_of(kObjects, "cr",
                                                               {{"current_state", current},
                                                                {"desire_state", desire},
                                                                {"manager", where},
                                                                {"node", "n"},
                                                                {"owner", owner}}));
    }

    std::string standing() const {
        const References references{
            sources,
            BrokerTime{},
            BrokerTime{},
            {},
            false,
            [this](SourceId source, std::string_view name) -> const Subject& {
                EXPECT_EQ(name, source == kManagers ? "m" : "n");
                return source == kManagers ? manager : node;
            }};
        const Facet& instance = subject.facets.back();
        const Standing found = standing_of(subject, references, settings, instance);
        if (found.kind == Standing::Kind::kOrphaned) return "orphaned";
        if (found.kind == Standing::Kind::kOurs) return "ours";
        return std::string(name_of(found.why));
    }
};

TEST(StorageInstance, WithoutACustomResourceIsOrphaned_L1) {
    World world;
    EXPECT_EQ(world.standing(), "orphaned");
    world.sources[kObjects].known = false;
    EXPECT_EQ(world.standing(), "unproven");
}

TEST(StorageInstance, StandsByTheStateOfItsCustomResource_L2_L3_L4_L5) {
    struct Case {
        const char* desire;
        const char* current;
        const char* owner;
        const char* manager;
        const char* standing;
    };
    const Case cases[]{
        {"stopped", "running", "n", "m", "transition"},  // L2
        {"running", "stopped", "n", "other", "transition"},
        {"running", "starting", "n", "other", "transition"},
        {"running", "running", "n", "m", "ours"},  // L3
        {"running", "running", "n", "other", "orphaned"},
        {"running", "running", "n", "", "orphaned"},
        {"running", "running", "elsewhere", "m", "transition"},
        {"running", "running", "elsewhere", "other", "transition"},
        {"running", "running", "", "other", "transition"},
        {"stopped", "stopped", "n", "m", "ours"},  // L4
        {"stopped", "stopped", "n", "other", "orphaned"},
        {"stopped", "stopped", "n", "", "orphaned"},
        {"stopped", "stopped", "elsewhere", "other", "orphaned"},
        {"error", "error", "n", "other", "transition"},  // L5
        {"unknown", "unknown", "n", "m", "transition"},
        {"", "", "n", "other", "transition"},
    };
    for (const Case& each : cases) {
        World world;
        world.object(each.desire, each.current, each.owner, each.manager);
        EXPECT_EQ(world.standing(), each.standing)
            << each.desire << '/' << each.current << " owner " << each.owner << " in "
            << each.manager;
    }
}

TEST(StorageInstance, OfACustomResourceThatWasNotSentWholeIsUndecided) {
    World world;
    world.subject.facets.insert(world.subject.facets.begin(),
                                facet_of(kObjects, "cr", {{"desire_state", "running"}}));
    EXPECT_EQ(world.standing(), "incomplete");
}

TEST(StorageInstance, OfTwoCustomResourcesIsUndecided) {
    World world;
    world.object("running", "running", "n", "other");
    world.subject.facets.insert(world.subject.facets.begin(), facet_of(kObjects, "cr0", {}));
    EXPECT_EQ(world.standing(), "duplicate_claim");
}

TEST(StorageInstance, ThatStartsOrStopsOrHasNoUuidIsNoCandidate_L15) {
    for (const char* state : {"starting", "stopping", "stopped"}) {
        World world;
        world.runs(state, "u");
        EXPECT_EQ(world.standing(), "ours") << state;
    }
    World world;
    world.runs("running", "");
    EXPECT_EQ(world.standing(), "ours");
}

TEST(StorageInstance, IsNobodysOrphanWhereItsManagerOrNodeIsGone_L7) {
    World stopped;
    stopped.manager.facets = {facet_of(kManagers, "m", {{"state", "error"}})};
    EXPECT_EQ(stopped.standing(), "ours");
    World gone;
    gone.manager.facets.clear();
    EXPECT_EQ(gone.standing(), "ours");
    World evicted;
    evicted.node.facets = {facet_of(kNodes, "n", {{"evicted", "true"}})};
    EXPECT_EQ(evicted.standing(), "ours");
    World deleted;
    deleted.node.facets.clear();
    EXPECT_EQ(deleted.standing(), "ours");
}

TEST(StorageInstance, IsUndecidedWhileItsManagerOrNodeIsUnknown_L7) {
    for (const SourceId source : {SourceId{kManagers}, SourceId{kNodes}}) {
        World world;
        world.manager.facets.clear();
        world.node.facets.clear();
        world.sources[source].known = false;
        EXPECT_EQ(world.standing(), "unproven");
    }
}

}  // namespace
}  // namespace trueup::core::storage_instances
