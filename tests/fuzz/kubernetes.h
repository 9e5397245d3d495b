// What both Kubernetes targets claim of an object that was read.
#pragma once

#include "connectors/kubernetes/decode.h"
#include "connectors/kubernetes/object_cache.h"
#include "engine/model/fact.h"
#include "engine/model/object.h"
#include "tests/fuzz/fact.h"

#include <string>
#include <vector>

namespace trueup::fuzz {

inline const connectors::Mapping& mapping() {
    static const connectors::Mapping mapping{
        {"app", "a"}, "trueup.io/hold", "app", *ports::Selector::parse("app")};
    return mapping;
}

inline connectors::KubernetesSettings kubernetes_settings() {
    connectors::KubernetesSettings settings;
    settings.label_selector = "app";
    settings.subject_prefix = "graph-instances/";
    settings.source_name = "pods";
    settings.key_label = "app";
    return settings;
}

/// It has an identity, its fields ascend, and the facts that follow from it can be published.
inline void check_object(const connectors::KubeObject& object) {
    TRUEUP_CHECK(!object.uid.empty());
    TRUEUP_CHECK(!object.name.empty());
    TRUEUP_CHECK(object.version > 0);
    TRUEUP_CHECK(ObjectView(object.encoded).valid());
    std::string last;
    ObjectView(object.encoded).each([&](const Field& field) {
        TRUEUP_CHECK(last < field.name);
        last = field.name;
    });
    const connectors::KubernetesSettings settings = kubernetes_settings();
    connectors::ObjectCache cache(settings);
    std::vector<Fact> facts;
    cache.changed(object, facts);
    TRUEUP_CHECK(facts.size() == 1);
    cache.deleted(object, facts);
    for (const Fact& fact : facts) check_publishable(fact);
}

}  // namespace trueup::fuzz
