// A connector on a scripted API server, with JSON builders and readable facts.
#pragma once

#include "connectors/kubernetes/connector.h"
#include "engine/model/fact.h"
#include "engine/model/object.h"
#include "tests/connectors/kubernetes/fake_cluster.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace trueup::testing {

/// A pod as the API server writes it.
struct Pod {
    std::string name;
    std::uint64_t version = 0;
    std::string uid = "";  ///< empty: `uid-<name>`
    std::string phase = "Running";
    std::string labels = R"("app":"w")";  ///< members of the labels object
    std::string more = "";                ///< more members of metadata, each with a leading comma

    std::string json() const {
        return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
               R"(","namespace":"graph","uid":")" + (uid.empty() ? "uid-" + name : uid) +
               R"(","resourceVersion":")" + std::to_string(version) +
               R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{)" + labels + "}" + more +
               R"(,"managedFields":[{"manager":"k","fieldsV1":{"f:spec":{}}}]},"spec":)" +
               R"({"nodeName":"n1"},"status":{"phase":")" + phase + R"("}})";
    }
};

inline std::string line(const std::string& type, const Pod& pod) {
    return R"({"type":")" + type + R"(","object":)" + pod.json() + "}\n";
}
inline std::string bookmark(std::uint64_t version) {
    return R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
           R"({"resourceVersion":")" +
           std::to_string(version) +
           R"(","creationTimestamp":null},"spec":{},"status":{}}})"
           "\n";
}
inline std::string status(int code, const std::string& reason, const std::string& metadata = "{}") {
    return R"({"kind":"Status","apiVersion":"v1","metadata":)" + metadata +
           R"(,"status":"Failure","message":"said )" + reason + R"(","reason":")" + reason +
           R"(","code":)" + std::to_string(code) + "}";
}
inline std::string not_found(const std::string& name) {
    return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods )" +
           name + R"( not found","reason":"NotFound","details":{"name":")" + name +
           R"(","kind":"pods"},"code":404})";
}
inline std::string error_line(int code, const std::string& reason) {
    return R"({"type":"ERROR","object":)" + status(code, reason) + "}\n";
}
/// For Pod::more: its deletion has begun.
inline constexpr const char* kEnding = R"(,"deletionTimestamp":"2026-01-02T00:00:00Z")";

inline std::string page(std::uint64_t version, const std::vector<Pod>& pods,
                        const std::string& token = "") {
    std::string items;
    for (const Pod& pod : pods) items += (items.empty() ? "" : ",") + pod.json();
    const std::string next = token.empty() ? "" : R"(,"continue":")" + token + R"(")";
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
           std::to_string(version) + R"(")" + next + R"(},"items":[)" + items + "]}";
}

/// One fact in one line: `upsert! g/w1@7 uid-w1` (`!`: in the epoch), with ` out` when out of
/// scope.
inline std::string show(const Fact& fact) {
    const std::string word =
        fact.version.lo == 0 ? std::string() : "." + std::to_string(fact.version.lo);
    const std::string version = "@" + std::to_string(fact.version.hi) + word;
    switch (fact.kind) {
        case Fact::Kind::kUpsert:
            return std::string("upsert") + (fact.in_epoch ? "! " : " ") + fact.subject_key +
                   version + " " + fact.object_id +
                   (ObjectView(fact.object).is("in_scope", "false") ? " out" : "");
        case Fact::Kind::kRemove:
            return "remove " + fact.subject_key + version + " " + fact.object_id;
        case Fact::Kind::kSnapshotBegin:
            return "begin" + version;
        case Fact::Kind::kSnapshotEnd:
            return "end" + version;
        case Fact::Kind::kMarker:
            return "marker";
        case Fact::Kind::kProgress:
            return "progress " + std::to_string(to_millis(fact.complete_as_of));
        case Fact::Kind::kAlive:
            return "alive";
        case Fact::Kind::kConfirm:
            return "confirm";
    }
    return "?";
}

using Lines = std::vector<std::string>;

class ConnectorFixture {
  public:
    enum class Begin {
        kAtTheStart,  ///< the list that it reads for itself, before its first epoch, is to come
        kAtTheEpoch,  ///< it has shown nothing, and the epoch's is asked for
    };
    explicit ConnectorFixture(connectors::KubernetesSettings settings = usual(),
                              Begin begin = Begin::kAtTheEpoch)
        : connector(cluster, std::move(settings)) {
        connector.restart(now);
        if (begin == Begin::kAtTheEpoch) read_first();
    }
    /// A stream begins: the machine reads a list for itself.
    void read_first(std::uint64_t version = 1, const std::vector<Pod>& pods = {}) {
        step();
        cluster.answer(list().call, 200, page(version, pods));
        step();
        if (listing()) return;
        connector.restart(now);  // the guard is off, and that was an epoch
        step();
    }

    static connectors::KubernetesSettings usual() {
        connectors::KubernetesSettings settings;
        settings.resource.name_space = "graph";
        settings.label_selector = "app=w";
        settings.subject_prefix = "g/";
        settings.source_name = "pods";
        settings.mapped_labels = {"app"};
        return settings;
    }

    /// The same, known by the label `id`.
    static connectors::KubernetesSettings by_label() {
        connectors::KubernetesSettings settings = usual();
        settings.key_label = "id";
        return settings;
    }

    /// One step after `passed`; what it wants published. Markers are answered only by the test.
    Lines step(Millis passed = Millis(0)) {
        now += passed;
        facts.clear();
        connector.step(now, Millis(1000), facts);
        Lines lines;
        for (const Fact& fact : facts) lines.push_back(show(fact));
        return lines;
    }
    /// The only open call of this kind.
    Asked only(Asked::Kind kind) {
        const std::vector<Asked> open = cluster.open(kind);
        EXPECT_EQ(open.size(), 1U);
        return open.empty() ? Asked{} : open.front();
    }
    Asked list() { return only(Asked::Kind::kList); }
    Asked watch() { return only(Asked::Kind::kWatch); }
    Asked get() { return only(Asked::Kind::kGet); }
    bool listing() const { return !cluster.open(Asked::Kind::kList).empty(); }
    bool watching() const { return !cluster.open(Asked::Kind::kWatch).empty(); }

    /// Through the first epoch to a live watch; the marker that follows is out and unanswered.
    void settle(std::uint64_t version, const std::vector<Pod>& pods) {
        step();
        cluster.answer(list().call, 200, page(version, pods));
        step();
        cluster.head(watch().call, 200);
        EXPECT_EQ(step(), Lines{"marker"});
    }
    /// A step that brings these bytes on the main watch.
    Lines say(const std::string& bytes) {
        cluster.data(watch().call, bytes);
        return step();
    }
    /// Steps until something of that kind is asked; the waits of backoffs pass meanwhile.
    void wait_for(Asked::Kind kind) {
        for (int i = 0; i < 1000 && cluster.open(kind).empty(); ++i) step(Millis(100));
        ASSERT_FALSE(cluster.open(kind).empty());
    }

    FakeCluster cluster;
    SteadyTime now{Millis(1'000'000)};
    connectors::KubernetesConnector connector;
    std::vector<Fact> facts;
};

}  // namespace trueup::testing
