#include "apps/config/reading.h"
#include "apps/config/words.h"
#include "engine/ports/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace trueup::config {

namespace {

bool only(std::string_view text, std::string_view more) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [more](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               more.find(c) != std::string_view::npos;
    });
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == at) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

}  // namespace

std::optional<ports::Resource> parse_resource(std::string_view text) {
    const std::vector<std::string> parts = split(text, '/');
    const bool sound = std::all_of(parts.begin(), parts.end(),
                                   [](const std::string& part) { return only(part, "-."); });
    ports::Resource resource;
    if (text == "pods" || text == "v1/pods") return resource;
    if (!sound || parts.size() < 2 || parts.size() > 3) return std::nullopt;
    if ((parts.size() == 2) != (parts[0] == "v1")) return std::nullopt;
    if (parts.size() == 3) resource.api_path = fmt::format("/apis/{}/{}", parts[0], parts[1]);
    resource.plural = parts.back();
    return resource;
}

std::optional<ports::Table> parse_table(std::string_view text) {
    const std::vector<std::string> parts = split(text, '.');
    if (parts.size() > 2 || parts.front().empty() || parts.back().empty()) return std::nullopt;
    ports::Table table;
    if (parts.size() == 2) table.schema = parts[0];
    table.name = parts.back();
    return table;
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
    } else if (!only(resource.name_space, "-") || resource.name_space.size() > 63) {
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

void read_table(Section& section, ports::Table& table) {
    if (!section.require("table", "table: public.instances")) return;
    const std::string text = section.text("table");
    if (const auto read = parse_table(text)) {
        table = *read;
        return;
    }
    section.problem("table",
                    fmt::format("is '{}'; write schema.table, as in public.instances", text));
}

void read_slot(Section& section, const std::string& name, PostgresSource& source) {
    std::string fallback = "trueup_" + name;
    for (char& c : fallback) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '-' || c == '.') c = '_';
    }
    source.slot = section.text("slot", fallback.substr(0, 63));
    if (!only(source.slot, "_") || source.slot.size() > 63) {
        section.problem("slot", fmt::format("is '{}'; the name of a replication slot has 1 to 63 "
                                            "lower-case letters, digits and '_'",
                                            source.slot));
    }
    source.publication = section.text("publication", source.publication);
    if (is_blank(source.publication)) section.problem("publication", "is empty; write its name");
}

void read_columns(Section& section, PostgresSource& source) {
    source.columns = section.texts("columns");
    if (section.has("columns") && source.columns.empty()) {
        section.problem("columns",
                        "is empty; leave it out to use the columns that the policy reads");
    }
    std::vector<std::string> seen;
    for (const std::string& column : source.columns) {
        if (std::find(seen.begin(), seen.end(), column) != seen.end()) {
            section.problem("columns", fmt::format("has '{}' twice; leave one out", column));
        }
        seen.push_back(column);
    }
    source.fields = read_fields(section, source.known, nullptr, {"sslmode", "slot"});
    source.any_tls = contains(source.known, "sslmode");
    check_listed(section, "columns", source.columns, "", source.fields);
    source.veto_column = section.text("veto_column");
}

/// A slot of that name is made, taken over and, when it is of no use any more, dropped.
void check_slot_is_ours(Section& section, const PostgresSource& source) {
    const bool name = only(source.slot, "_");  // else that is said already
    if (!name || source.slot.starts_with("trueup") || contains(source.known, "slot")) return;
    section.problem(
        "slot",
        fmt::format(
            "is '{}', and a slot of that name would be taken over and dropped, even if it belongs "
            "to another program; write one that begins with trueup, or add acknowledge: [slot]",
            source.slot));
}

/// `query` and `primary_key`, in the place of a table with its publication and slot.
void read_query(Section& section, const std::string& name, PostgresSource& source) {
    constexpr std::size_t kMost = 8'192;
    source.publication.clear();
    source.table = {"query", name, section.text("query")};
    source.primary_key = section.texts("primary_key");
    std::string& query = source.table.query;
    query.erase(query.find_last_not_of(" \t\r\n;") + 1);
    std::string first = query.substr(0, query.find_first_of(" \t\r\n("));
    std::transform(first.begin(), first.end(), first.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (query.size() > kMost) {
        section.problem("query", fmt::format("has {} bytes, and at most {} are read; make a view, "
                                             "and write SELECT * FROM it",
                                             query.size(), kMost));
    } else if (first != "select" && first != "with") {
        section.problem("query",
                        "does not begin with SELECT or WITH; write one query, as in "
                        "SELECT id, data ->> 'state' AS state FROM public.users");
    }
    if (!section.require("primary_key", "primary_key: [COLUMN], what tells its rows apart")) return;
    if (source.primary_key.empty()) {
        section.problem("primary_key", "is empty; write the columns that tell its rows apart");
    }
    for (const char* const key : {"table", "publication", "slot", "emit_message"}) {
        if (!section.has(key)) continue;
        section.text(key);
        section.problem(key, "is of a table, and this is a query; leave one out");
    }
}

/// The key's text is in every object id and in every command.
void check_key_is_public(Section& section, const PostgresSource& source) {
    for (const std::string& column : source.primary_key) {
        const auto field = source.fields.find(column);
        const bool plain = field == source.fields.end()
                               ? !ports::looks_secret(column)
                               : field->second.treatment == ports::Treatment::kMap;
        if (plain) continue;
        section.problem("primary_key",
                        fmt::format("has '{0}', which is published in clear text and cannot be "
                                    "hashed or dropped; write another column, or fields: "
                                    "{{{0}: map}} if its text may be published",
                                    column));
    }
}

PostgresSource read_postgres(Section section, const std::string& name, const std::string& folder) {
    PostgresSource source;
    read_login(section, folder, source);
    if (section.has("query")) {
        read_query(section, name, source);
        read_columns(section, source);
        check_key_is_public(section, source);
        section.finish();
        return source;
    }
    if (section.has("primary_key")) {
        section.texts("primary_key");
        section.problem("primary_key", "is of a query, and a table has its own; leave it out");
    }
    read_table(section, source.table);
    read_slot(section, name, source);
    read_columns(section, source);
    source.emit_message = section.flag("emit_message", false);
    check_slot_is_ours(section, source);
    section.finish();
    return source;
}

/// A query proves progress whenever it is asked.
void read_pace(Section& section, SourceConfig& source) {
    if (source.only_read()) {
        source.idle = Millis(30'000);
        source.active = Millis(5'000);
    }
    Section heartbeat = section.section("heartbeat");
    source.idle = heartbeat.duration("idle", source.idle);
    source.active = heartbeat.duration("active", std::min(source.active, source.idle));
    if (source.active <= Millis(0)) {
        heartbeat.problem("active", "is 0s; write at least 500ms, as in 2s");
    } else if (source.active > source.idle) {
        heartbeat.problem("active",
                          fmt::format("{} is longer than idle {}; write at most that",
                                      duration_text(source.active), duration_text(source.idle)));
    }
    heartbeat.finish();
    source.relist_every = section.duration("relist_every", source.relist_every);
    if (source.relist_every <= Millis(0)) {
        section.problem("relist_every",
                        "is 0s; write how often the source is listed again, as in 6h");
    }
}

void read_expectation(Section expect, SourceConfig& source) {
    source.at_least = expect.count("at_least", source.at_least);
    expect.finish();
}

SourceConfig read_source(Section section, const std::string& folder) {
    SourceConfig source;
    source.name = section.key();
    source.line = section.line();
    const bool kubernetes = section.has("kubernetes");
    const bool postgres = section.has("postgres");
    Section pods = section.section("kubernetes");
    Section rows = section.section("postgres");
    if (kubernetes && postgres) {
        section.problem("postgres", "and kubernetes exclude each other; remove one of the two");
    } else if (!kubernetes && !postgres) {
        section.require("kubernetes", "kubernetes: {...} or postgres: {...}");
    }
    if (kubernetes) {
        source.world = read_kubernetes(std::move(pods), folder);
    } else if (postgres) {
        source.world = read_postgres(std::move(rows), source.name, folder);
    }
    read_pace(section, source);
    read_expectation(section.section("expect"), source);
    section.finish();
    return source;
}

}  // namespace

std::string read_path(Section& section, std::string_view key, std::string_view fallback,
                      const std::string& folder) {
    std::string text = section.text(key, fallback);
    if (!section.has(key) || text.empty()) return text;
    if (text.front() == '~') {
        section.problem(
            key,
            fmt::format("is '{}', but ~ is expanded by shells only; write the full path", text));
        return text;
    }
    return (std::filesystem::path(folder) / text).lexically_normal().string();
}

std::vector<SourceConfig> read_sources(Section sources, const std::string& folder) {
    std::vector<SourceConfig> all;
    for (Section& section : sources.entries()) {
        if (!is_name(section.key())) {
            sources.problem(section.key(),
                            "cannot be a name; write 1 to 63 letters, digits, '-', "
                            "'_' or '.', a letter or digit first");
        }
        SourceConfig source = read_source(section, folder);
        for (const SourceConfig& other : all) {
            const PostgresSource* mine = source.postgres();
            const PostgresSource* theirs = other.postgres();
            if (mine == nullptr || theirs == nullptr || mine->slot != theirs->slot) continue;
            if (mine->slot.empty()) continue;
            sources.problem(source.name,
                            fmt::format("uses the slot '{}' of sources.{}; write another slot, "
                                        "because two readers of one slot take each other's changes",
                                        mine->slot, other.name));
        }
        all.push_back(std::move(source));
    }
    return all;
}

}  // namespace trueup::config
