// Sources of Kubernetes in the configuration.
#include "apps/config/reading.h"
#include "apps/config/source_types.h"
#include "apps/config/words.h"
#include "engine/ports/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::config {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::optional<ports::Resource> parse_resource(std::string_view text) {
    const std::vector<std::string> parts = split(text, '/');
    const bool sound = std::all_of(parts.begin(), parts.end(),
                                   [](const std::string& part) { return only_of(part, "-."); });
    ports::Resource resource;
    if (text == "pods" || text == "v1/pods") return resource;
    if (!sound || parts.size() < 2 || parts.size() > 3) return std::nullopt;
    if ((parts.size() == 2) != (parts[0] == "v1")) return std::nullopt;
    if (parts.size() == 3) resource.api_path = fmt::format("/apis/{}/{}", parts[0], parts[1]);
    resource.plural = parts.back();
    return resource;
}

namespace {

void read_collection(Section& section, ports::Resource& resource) {
    const std::string text = section.text("resource", "pods");
    if (const auto read = parse_resource(text)) {
        resource = *read;
        return;
    }
    section.problem("resource",
                    fmt::format("is '{}'; write pods, v1/nodes for another one of the core, or "
                                "group/version/plural, as in apps/v1/deployments",
                                text));
}

/// Of the core and of Kubernetes' own groups. Whoever defines others says so of them.
bool lies_in_no_namespace(const ports::Resource& resource) {
    static const std::vector<std::string> kKnown{
        "/api/v1/namespaces",
        "/api/v1/nodes",
        "/api/v1/persistentvolumes",
        "/apis/storage.k8s.io/v1/storageclasses",
        "/apis/storage.k8s.io/v1/volumeattachments",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    };
    return contains(kKnown, resource.api_path + "/" + resource.plural);
}

void read_namespace(Section& section, ports::Resource& resource) {
    const bool all = section.flag("all_namespaces", false);
    const bool known = lies_in_no_namespace(resource);
    resource.cluster_scoped = section.flag("cluster_scoped", known);
    resource.name_space = section.text("namespace");
    if (!section.present()) return;
    // All others of these groups lie in namespaces.
    static const std::vector<std::string> kNamespaced{"/api/v1", "/apis/apps/v1", "/apis/batch/v1"};
    if (resource.cluster_scoped && !known && contains(kNamespaced, resource.api_path)) {
        section.problem("cluster_scoped",
                        fmt::format("is true, and {} lie in namespaces; write namespace: NAME",
                                    resource.plural));
        return;
    }
    if (resource.cluster_scoped) {
        if (all && !known) {
            section.problem(
                "all_namespaces",
                fmt::format("is true, and {} lie in no namespace; leave it out", resource.plural));
        }
        if (!section.has("namespace")) return;
        section.problem("namespace",
                        fmt::format("is '{}', and {} lie in no namespace; leave it out",
                                    resource.name_space, resource.plural));
        resource.name_space.clear();
        return;
    }
    if (known) {
        section.problem("cluster_scoped", fmt::format("is false, and {} lie in no namespace; leave "
                                                      "it out",
                                                      resource.plural));
        return;
    }
    if (!section.has("namespace")) {
        if (!all) section.require("namespace", "namespace: NAME, or all_namespaces: true");
        return;
    }
    if (all) {
        section.problem("all_namespaces", "and namespace exclude each other; leave one out");
    } else if (is_blank(resource.name_space)) {
        section.problem("namespace",
                        "is empty, which would mean every namespace of the cluster; write its "
                        "name, or all_namespaces: true if that is intended");
    } else if (!only_of(resource.name_space, "-") || resource.name_space.size() > 63) {
        const bool variable = resource.name_space.find("${") != std::string::npos;
        section.problem("namespace",
                        fmt::format("is '{}'; write a name of lower-case letters, digits and '-'{}",
                                    resource.name_space,
                                    variable ? "; variables are not replaced in this file" : ""));
    }
}

void read_selector(Section& section, KubernetesSource& source) {
    source.selector = section.text("selector");
    if (!ports::Selector::parse(source.selector)) {
        section.problem("selector", fmt::format("is '{}', which is not a label selector; write one "
                                                "as \"app=one\", \"app in (one, two), !test\"",
                                                source.selector));
        return;
    }
    const bool pods = source.resource.plural == "pods" && source.resource.api_path == "/api/v1";
    if (!section.present() || !pods || !is_blank(source.selector)) return;
    section.problem("selector",
                    fmt::format("is {}, and an empty selector would make every pod in the "
                                "namespace a candidate; write one, as in \"app in (one, two)\"",
                                section.has("selector") ? "empty" : "missing"));
}

/// The other fields of an object are what rules and executors read.
std::string flaw_of_field(std::string_view name) {
    const bool label = name.starts_with(kLabel) && name.size() > kLabel.size();
    if (label || name == "node" || name == "created") return "";
    return "is not a field that can be chosen; write label.KEY, node or created";
}

void read_labels(Section& section, KubernetesSource& source) {
    source.labels = section.texts("labels");
    source.fields = read_fields(section, source.known, flaw_of_field);
    check_listed(section, "labels", source.labels, kLabel, source.fields);
    source.key_label = section.text("key_label");
    for (const auto& [name, field] : source.fields) {
        if (!name.starts_with(kLabel) || field.treatment == ports::Treatment::kDrop) continue;
        const std::string label = name.substr(kLabel.size());
        if (!contains(source.labels, label)) source.labels.push_back(label);
    }
    if (source.key_label.empty()) return;
    const auto field = source.fields.find(std::string(kLabel) + source.key_label);
    const bool plain = field == source.fields.end()
                           ? !ports::looks_secret(source.key_label)
                           : field->second.treatment == ports::Treatment::kMap;
    if (plain) return;
    section.problem("key_label",
                    fmt::format("is '{}', which names each object in clear text, so it cannot be "
                                "hashed or dropped, or look like a secret; use another label",
                                source.key_label));
}

KubernetesSource read_kubernetes(Section section, const std::string& folder) {
    KubernetesSource source;
    read_access(section, folder, source);
    read_collection(section, source.resource);
    read_namespace(section, source.resource);
    read_selector(section, source);
    read_labels(section, source);
    source.veto_label = section.text("veto_label", source.veto_label);
    if (is_blank(source.veto_label)) {
        section.problem("veto_label",
                        "is empty; write the label or annotation that protects an object, as "
                        "in trueup.io/hold");
    }
    source.irreversible = section.flag("irreversible", false);
    section.finish();
    return source;
}

std::string resource_text(const ports::Resource& resource) {
    constexpr std::string_view kGroups = "/apis/";
    if (resource.api_path.starts_with(kGroups)) {
        return fmt::format("{}/{}", resource.api_path.substr(kGroups.size()), resource.plural);
    }
    return resource.plural == "pods" ? "pods" : "v1/" + resource.plural;
}

Json json_of(const KubernetesSource& source) {
    Json json;
    if (source.in_cluster) {
        json["in_cluster"] = true;
    } else {
        json["kubeconfig"] = source.kubeconfig;
    }
    if (!source.context.empty()) json["context"] = source.context;
    if (source.resource.cluster_scoped) {
        json["cluster_scoped"] = true;
    } else if (source.resource.name_space.empty()) {
        json["all_namespaces"] = true;
    } else {
        json["namespace"] = source.resource.name_space;
    }
    json["resource"] = resource_text(source.resource);
    json["selector"] = source.selector;
    json["labels"] = source.labels;
    add_fields(json, source.fields, source.known);
    json["veto_label"] = source.veto_label;
    if (!source.key_label.empty()) json["key_label"] = source.key_label;
    if (source.irreversible) json["irreversible"] = true;
    return json;
}

std::string text_of(const SourceConfig& source) {
    const KubernetesSource& kubernetes = *source.kubernetes();
    const ports::Resource& resource = kubernetes.resource;
    return fmt::format("{} in {}, selector \"{}\", at least {}", resource_text(resource),
                       ports::place_text(resource), kubernetes.selector, source.at_least);
}

}  // namespace

const SourceType kKubernetesType{
    "kubernetes",
    [](Section section, const std::string& folder, SourceConfig& source) {
        source.world = read_kubernetes(std::move(section), folder);
    },
    [](const SourceConfig& source) { return json_of(*source.kubernetes()); },
    text_of,
};

}  // namespace trueup::config
