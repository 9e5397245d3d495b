// Which policy is meant, which sources play its roles, by which key their objects are told apart,
// and what of them has to be published for it.
#include "apps/config/policy_file.h"
#include "apps/config/policy_settings.h"
#include "apps/config/reading.h"
#include "connectors/postgres/correlation.h"
#include "engine/base/suggest.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <variant>

namespace trueup::config {

namespace {

using connectors::postgres::Correlation;
using core::PlanField;
using policy::Kind;

constexpr std::string_view kLabel = "label.";

/// Of objects, beside labels.
bool is_published(std::string_view field) {
    constexpr std::array<std::string_view, 8> kAll{"created",   "deleting", "in_scope", "name",
                                                   "namespace", "node",     "phase",    "uid"};
    return field.starts_with(kLabel) || std::find(kAll.begin(), kAll.end(), field) != kAll.end();
}

/// What the role needs and no source of this release has; empty: nothing.
std::string lack(const policy::Role& role) {
    if (role.kind == Kind::kEc2) return "EC2 instances";
    if (role.reference) return "objects that are looked up by name";
    if (!role.scope.empty()) return "sources that say which " + role.scope + " they are of";
    if (!role.as_of_field.empty()) return "tables that say as of when they are";
    return {};
}

/// The same of a field that is read.
std::string lack(const policy::Role& role, const std::string& field) {
    // It would be taken for the veto.
    if (field == "hold" && role.kind == Kind::kRow) return "a column of the name hold";
    if (!policy::in_kubernetes(role.kind)) return {};
    const policy::Field* declared = policy::find_field(role, field);
    if (declared != nullptr && !declared->path.empty()) {
        return fmt::format("{} of objects (field {})", declared->path, field);
    }
    // What every object has is said in a way of its own, which a declaration takes away.
    constexpr std::array<std::string_view, 5> kBuiltIn{"created", "deleting", "in_scope",
                                                       "namespace", "uid"};
    if (declared != nullptr &&
        std::find(kBuiltIn.begin(), kBuiltIn.end(), field) != kBuiltIn.end()) {
        return fmt::format(
            "a field {} besides the one that every object has (leave it out of "
            "fields)",
            field);
    }
    return is_published(field) ? std::string() : fmt::format("the field {} of objects", field);
}

/// The key under which the policy's text is named.
const char* named_by(const PolicyConfig& policy) { return policy.file.empty() ? "use" : "file"; }

/// Empty: there is none that could be read, which is noted.
Shared<policy::Policy> shipped_text(Section& section) {
    section.take_tree("file");  // known where it is not there, too
    if (!section.require("use", "use: graph-instances, or file: FILE with a policy of your own")) {
        return {};
    }
    const std::string use = section.text("use");
    Shared<policy::Policy> text = policies::shipped(use);
    if (text) return text;
    section.problem("use", fmt::format("is '{}', which this release does not carry; {}; or write "
                                       "file: FILE with a policy of your own",
                                       use, did_you_mean(use, policies::shipped_names())));
    return {};
}

/// The same.
Shared<policy::Policy> text_in_file(Section& section, const std::string& folder, Config& config,
                                    PolicyConfig& policy) {
    if (section.has("use")) {
        section.text("use");
        section.problem("file", "and use exclude each other; leave one out");
        return {};
    }
    policy.file = read_path(section, "file", "", folder);
    if (section.text("file").empty()) {
        section.problem("file", "is empty; write the path of a policy's file");
        return {};
    }
    Result<PolicyFile> read = load_policy(policy.file);
    if (!read) {
        std::istringstream flaws(read.error().what);
        for (std::string flaw; std::getline(flaws, flaw);) {
            section.problem("file", "is wrong: " + flaw);
        }
        return {};
    }
    config.digest = hash128(to_hex(config.digest) + to_hex(read->digest));
    std::istringstream warnings(read->warnings);
    for (std::string warning; std::getline(warnings, warning);) {
        policy.warnings.push_back(std::move(warning));
    }
    return Shared<policy::Policy>(std::move(read->policy));
}

/// Which column or label is the key of what.
void check_key(Section& keys, const policy::Role& role, int line, Problems& problems) {
    if (!policy::in_kubernetes(role.kind)) {
        const Result<Correlation> made = Correlation::of(role.key);
        if (!made) {
            problems.add(line, fmt::format("{} is {}: {}", keys.path_of(role.name),
                                           policy::key_text(role.key), made.error().what));
        }
        return;
    }
    const bool plain = role.key.op == policy::Key::Op::kField &&
                       (role.key.text == "name" || role.key.text.starts_with(kLabel));
    if (plain) return;
    problems.add(line,
                 fmt::format("{} is {}, and this release knows objects of Kubernetes by their name "
                             "or by one label; write name or label.KEY",
                             keys.path_of(role.name), policy::key_text(role.key)));
}

Result<policy::Key> parse_key(const policy::Role& role, const std::string& text) {
    if (policy::in_kubernetes(role.kind)) return policy::parse_key(text);
    const Result<Correlation> parsed = Correlation::parse(text);
    if (!parsed) return parsed.error();
    return parsed->key();
}

/// Gives the role the key that the configuration says, if it says one.
void read_key(Section& keys, policy::Role& role, Problems& problems) {
    const std::string text = keys.text(role.name);
    if (!keys.has(role.name)) return;
    if (text.empty()) {
        keys.problem(role.name,
                     "is empty; write which subject an object belongs to, as in rows: "
                     "\"coalesce(pod_name, 'wrapper-' || url_slug)\", or leave it out");
        return;
    }
    const Result<policy::Key> key = parse_key(role, text);
    if (!key) {
        problems.add(keys.line_of(role.name), key.error().what);
        return;
    }
    // What names a row by itself does so under another expression, too.
    if (*key != role.key && role.kind == Kind::kRow) role.also = policy::alone_in(role.key);
    role.key = *key;
}

void read_keys(Section& section, PolicyConfig& policy, Problems& problems) {
    Section keys = section.section("keys");
    policy::Policy text = *policy.text;
    for (policy::Role& role : text.roles) {
        const std::size_t before = problems.count();
        read_key(keys, role, problems);
        if (problems.count() != before || policy.source_of(role.name).empty()) continue;
        const bool said = keys.has(role.name);
        check_key(keys, role, said ? keys.line_of(role.name) : section.line_of(named_by(policy)),
                  problems);
    }
    keys.finish();
    policy.text = std::move(text);
}

/// What this build makes of a text where the sources of `policy` play its roles, whatever its other
/// settings are.
Result<core::Plan> planned(const policy::Policy& text, const PolicyConfig& policy) {
    Settings settings = policies::usual_settings(Shared<policy::Policy>(text), Mode::kOff);
    for (const policy::Role& role : text.roles) {
        const std::string source = policy.source_of(role.name);
        if (!role.optional || source.empty()) continue;
        const Role number = policies::role_number(text, role.name);
        settings.sources.push_back({source, policies::topic_of(role.kind), number, {}});
    }
    return core::compile(text, settings);
}

using FieldsRead = std::map<std::string, std::vector<std::string>, std::less<>>;

/// What keys, claims, counts and the rules that are not off read of each role.
FieldsRead fields_read(const PolicyConfig& policy) {
    policy::Policy judged = *policy.text;
    std::set<std::string> off;
    for (const RuleSettings& rule : policy.rules) {
        if (rule.mode == Mode::kOff) off.insert(rule.rule);
    }
    std::erase_if(judged.rules, [&](const auto& rule) { return off.count(rule.name) != 0; });
    std::erase_if(judged.requests, [&](const auto& request) {
        return std::none_of(judged.rules.begin(), judged.rules.end(),
                            [&](const auto& rule) { return rule.requested == request.first; });
    });
    const Result<core::Plan> plan = planned(judged, policy);
    FieldsRead read;
    if (!plan) return read;  // nor could the whole of it be, which was noted
    for (const core::PlanRole& role : plan->roles) {
        for (const PlanField& field : role.fields) {
            if (field.from == PlanField::From::kSent) read[role.name].push_back(field.name);
        }
    }
    return read;
}

/// The columns that are its key, and those that its text's own key reads.
std::vector<std::string> key_columns(const policy::Role& role) {
    std::vector<std::string> columns = policy::fields_of(role.key);
    for (const std::string& column : role.also) add_once(columns, column);
    return columns;
}

void complete_columns(SourceConfig& source, const policy::Role& role, const PolicyConfig& policy,
                      const std::vector<std::string>& read, Problems& problems) {
    PostgresSource& rows = std::get<PostgresSource>(source.world);
    for (const std::string& column : read) {
        const policy::Field* field = policy::find_field(role, column);
        rows.types[column] = field == nullptr ? policy::Field{} : *field;
    }
    const std::vector<std::string> keys = key_columns(role);
    if (rows.columns.empty()) rows.columns = read;
    std::vector<std::string> used = read;
    for (const std::string& column : keys) add_once(used, column);
    settle_columns(source, rows, used, problems);
    for (const std::string& column : keys) add_once(rows.columns, column);
    for (const std::string& column : read) {
        if (contains(rows.columns, column)) continue;
        problems.add(source.line,
                     fmt::format("sources.{}.postgres.columns lacks '{}', which {} reads; add it",
                                 source.name, column, policy.text->name));
    }
}

void complete_labels(SourceConfig& source, const std::vector<std::string>& read,
                     Problems& problems) {
    KubernetesSource& objects = std::get<KubernetesSource>(source.world);
    for (const std::string& field : read) {
        if (field.starts_with(kLabel)) add_once(objects.labels, field.substr(kLabel.size()));
        const bool chosen = field.starts_with(kLabel) || field == "node" || field == "created";
        if (!chosen) continue;
        const auto treated = objects.fields.find(field);
        if (treated == objects.fields.end() || treated->second.treatment == ports::Treatment::kMap)
            continue;
        problems.add(treated->second.line,
                     fmt::format("sources.{}.kubernetes.fields.{} is {}, but the policy needs its "
                                 "text; write map",
                                 source.name, field, name_of(treated->second.treatment)));
    }
}

/// What no source says would be unknown for ever, or not there.
void check_published(Section& section, const policy::Role& role,
                     const std::vector<std::string>& read, const PolicyConfig& policy) {
    for (const std::string& field : read) {
        const std::string what = lack(role, field);
        if (what.empty()) continue;
        section.problem(named_by(policy),
                        fmt::format("reads {} for its role {}, and no source of this release says "
                                    "that; set the rules that ask for it to mode: off, or use a "
                                    "policy without",
                                    what, role.name));
    }
}

/// What looks like a secret is published only where somebody says so.
void check_secrets(Section& section, const SourceConfig& source, const policy::Role& role,
                   const std::vector<std::string>& read, const PolicyConfig& policy) {
    const Fields& named =
        std::visit([](const auto& world) -> const Fields& { return world.fields; }, source.world);
    for (const std::string& field : read) {
        if (!ports::looks_secret(field) || named.count(field) != 0) continue;
        section.problem(section.has("keys") && contains(policy::fields_of(role.key), field)
                            ? "keys"
                            : named_by(policy),
                        fmt::format("reads '{}' of {}, which looks like a secret, and would be "
                                    "published and kept; use another one, or name it under "
                                    "sources.{} in fields and acknowledge",
                                    field, role.name, source.name));
    }
}

}  // namespace

bool read_text(Section& section, const std::string& folder, Config& config, PolicyConfig& policy) {
    policy.text =
        section.has("file") ? text_in_file(section, folder, config, policy) : shipped_text(section);
    if (!policy.text) return false;
    const Tree* roles = section.take_tree("roles");
    bool able = true;
    for (const policy::Role& role : policy.text->roles) {
        const bool played = roles != nullptr && roles->child(role.name) != nullptr;
        const std::string what = role.optional && !played ? "" : lack(role);
        if (what.empty()) continue;
        able = false;
        section.problem(named_by(policy),
                        fmt::format("needs {} for its role {}, and this release has no source of "
                                    "such; use a policy without",
                                    what, role.name));
    }
    return able;
}

std::optional<core::Plan> plan_of(Section& section, const PolicyConfig& policy) {
    Result<core::Plan> plan = planned(*policy.text, policy);
    if (plan) return std::move(*plan);
    section.problem(named_by(policy), "cannot be run by this release: " + plan.error().what);
    return std::nullopt;
}

void read_roles(Section& section, const Config& config, PolicyConfig& policy, Problems& problems) {
    for (const char* former : {"pods", "rows", "services", "ingresses"}) {
        section.refuse(former, fmt::format("is written under roles: {{{}: SOURCE}}", former));
    }
    section.refuse("correlate",
                   "is written under keys: {rows: EXPRESSION}, if it is not the "
                   "policy's own key");
    std::vector<std::string> needed;
    for (const policy::Role& role : policy.text->roles) {
        if (!role.optional) needed.push_back(role.name + ": SOURCE");
    }
    section.require("roles", fmt::format("roles: {{{}}}", fmt::join(needed, ", ")));
    Section roles = section.section("roles");
    for (const policy::Role& role : policy.text->roles) {
        const Topic topic = policies::topic_of(role.kind);
        if (!role.optional && !roles.has(role.name)) {
            read_source_name(roles, role.name, config, topic);
            continue;
        }
        std::string source =
            check_source_name(roles, role.name, roles.text(role.name), config, topic);
        if (source.empty()) continue;
        if (const policy::Role* other = policy.role_of(source)) {
            roles.problem(role.name,
                          fmt::format("names '{}', which plays {} already; write another "
                                      "source",
                                      source, other->name));
            continue;
        }
        policy.roles.emplace(role.name, std::move(source));
    }
    roles.finish();
    read_keys(section, policy, problems);
}

void complete_sources(Section& section, Config& config, const PolicyConfig& policy,
                      Problems& problems) {
    FieldsRead all = fields_read(policy);
    for (SourceConfig& source : config.sources) {
        const policy::Role* role = policy.role_of(source.name);
        if (role == nullptr) continue;
        const std::vector<std::string>& read = all[role->name];
        check_published(section, *role, read, policy);
        check_secrets(section, source, *role, read, policy);
        if (source.postgres() != nullptr) {
            complete_columns(source, *role, policy, read, problems);
        } else {
            complete_labels(source, read, problems);
        }
    }
}

std::string PolicyConfig::source_of(std::string_view role) const {
    const auto found = roles.find(role);
    return found == roles.end() ? std::string() : found->second;
}

const policy::Role* PolicyConfig::role_of(std::string_view source) const {
    for (const auto& [role, player] : roles) {
        if (player == source) return policy::find_role(*text, role);
    }
    return nullptr;
}

std::string key_label_of(const PolicyConfig& policy, const SourceConfig& source) {
    const KubernetesSource* objects = source.kubernetes();
    if (objects == nullptr) return {};
    const policy::Role* role = policy.role_of(source.name);
    const bool by_label = role != nullptr && role->key.text.starts_with(kLabel);
    return by_label ? role->key.text.substr(kLabel.size()) : objects->key_label;
}

}  // namespace trueup::config
