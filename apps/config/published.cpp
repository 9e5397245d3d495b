// What this build makes of a policy's text, and what the sources that play its roles have to
// publish for it.
#include "apps/config/policy_settings.h"
#include "apps/config/reading.h"
#include "apps/config/release_limits.h"
#include "apps/config/words.h"
#include "engine/ports/selector.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace trueup::config {

namespace {

using core::PlanField;

/// What this build makes of a text where the sources of `policy` play its roles, whatever its other
/// settings are.
Result<core::Plan> planned(const policy::Policy& text, const PolicyConfig& policy) {
    Settings settings = policies::usual_settings(Shared<policy::Policy>(text), Mode::kOff);
    for (const policy::Role& role : text.roles) {
        const Role number = policies::role_number(text, role.name);
        const std::vector<std::string>& sources = policy.sources_of(role.name);
        // One of each that is needed is there already.
        for (std::size_t i = role.optional ? 0 : 1; i < sources.size(); ++i) {
            settings.sources.push_back({sources[i], policies::topic_of(role.kind), number, {}});
        }
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

void complete_objects(SourceConfig& source, const policy::Role& role,
                      std::vector<policy::FieldPath>& paths, const std::vector<std::string>& read,
                      Problems& problems) {
    KubernetesSource& objects = std::get<KubernetesSource>(source.world);
    for (const std::string& field : read) {
        const policy::Field* placed = by_path(role, field);
        if (placed != nullptr) {
            Result<policy::FieldPath> path = policy::FieldPath::parse(field, placed->path);
            if (path) paths.push_back(std::move(*path));  // else that is said already
        }
        if (field.starts_with(kLabel)) add_once(objects.labels, field.substr(kLabel.size()));
        const bool chosen =
            placed != nullptr || field.starts_with(kLabel) || field == "node" || field == "created";
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

/// Does a field by path look like a secret, by its name or by where it stands?
bool looks_secret(const SourceConfig& source, const policy::Field& placed) {
    const bool secrets = source.kubernetes()->resource.plural == "secrets";
    if (secrets || ports::looks_secret(placed.name) || ports::looks_secret(placed.path))
        return true;
    const Result<policy::FieldPath> path = policy::FieldPath::parse(placed.name, placed.path);
    return path && std::any_of(path->steps.begin(), path->steps.end(), [](const auto& step) {
               return ports::looks_secret(step.name) || ports::looks_secret(step.value);
           });
}

/// Does the selector ask for this label? As a word of it: names of labels are words.
bool selects_by(const std::string& selector, const std::string& key) {
    for (std::size_t at = 0; (at = selector.find(key, at)) != std::string::npos; ++at) {
        constexpr std::string_view kEnds = ",=!() \t";
        const std::size_t end = at + key.size();
        const bool begins = at == 0 || kEnds.find(selector[at - 1]) != std::string_view::npos;
        const bool ends =
            end == selector.size() || kEnds.find(selector[end]) != std::string_view::npos;
        if (begins && ends) return true;
    }
    return false;
}

/// What looks like a secret is published only where somebody says so; what an object says at a
/// path, never.
void check_secrets(Section& section, const SourceConfig& source, const policy::Role& role,
                   const std::vector<std::string>& read, const PolicyConfig& policy) {
    const Fields& named =
        std::visit([](const auto& world) -> const Fields& { return world.fields; }, source.world);
    for (const std::string& field : read) {
        if (const policy::Field* placed = by_path(role, field)) {
            if (!looks_secret(source, *placed)) continue;
            section.problem(named_by(policy),
                            fmt::format("reads {} of {} (field {}), which looks like a secret, and "
                                        "would be published and kept; use another one",
                                        placed->path, role.name, field));
            continue;
        }
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

const policy::Template* part_of(const policy::Template* map, std::string_view key) {
    if (map == nullptr) return nullptr;
    const auto found = std::find_if(map->parts.begin(), map->parts.end(),
                                    [&](const policy::Template& part) { return part.key == key; });
    return found == map->parts.end() ? nullptr : &*found;
}

/// The labels that the selector asks for and the object would not have, for all that can be told
/// now.
std::vector<std::string> labels_missing(const KubernetesSource& objects,
                                        const policy::Template& object) {
    const policy::Template* labels = part_of(part_of(&object, "metadata"), "labels");
    const auto literal = [&](std::string_view key) -> std::optional<std::string_view> {
        const policy::Template* label = part_of(labels, key);
        if (label == nullptr) return std::nullopt;
        return label->text.empty() ? std::string_view() : label->text.front().literal;
    };
    const auto selector = ports::Selector::parse(objects.selector);
    std::vector<std::string> missing =
        selector ? selector->unmet(literal) : std::vector<std::string>();
    // What is filled in nobody knows yet; an executor asks once more.
    std::erase_if(missing, [&](const std::string& key) {
        const policy::Template* label = part_of(labels, key);
        return label != nullptr &&
               std::any_of(label->text.begin(), label->text.end(), [](const policy::Piece& piece) {
                   return piece.kind != policy::Piece::Kind::kLiteral;
               });
    });
    return missing;
}

/// What commands may create: no secret, as of what they write, and nothing that nobody would see.
void check_created(Section& section, const SourceConfig& source, const Writes& writes,
                   const std::string& rule, const PolicyConfig& policy) {
    const KubernetesSource& objects = *source.kubernetes();
    if (objects.resource.plural == "secrets" && !writes.creates.empty()) {
        section.problem(named_by(policy),
                        fmt::format("creates secrets in {}, and what it is made of would stand in "
                                    "commands; have them made by who knows them",
                                    rule));
    }
    for (const policy::Template* object : writes.creates) {
        for (const std::string& key : labels_missing(objects, *object)) {
            section.problem(
                named_by(policy),
                fmt::format("creates {} in {} without the label {} by which source {} selects its "
                            "objects ({}), so that nobody would see it; write it under "
                            "object.metadata.labels",
                            writes.role, rule, key, source.name, objects.selector));
        }
    }
}

/// What commands may write into an object: no secret, which would stand in them for everybody, and
/// not what says which objects are meant.
void check_written(Section& section, const SourceConfig& source, const policy::Role& role,
                   const PolicyConfig& policy) {
    const KubernetesSource& objects = *source.kubernetes();
    for (const RuleSettings& settings : policy.rules) {
        const std::string& rule = settings.rule;
        if (settings.mode == Mode::kOff) continue;
        for (const Writes& writes : writes_of(*policy.text, rule)) {
            if (writes.role != role.name) continue;
            check_created(section, source, writes, rule, policy);
            for (const std::string& at : writes.columns) {
                policy::Field placed;
                placed.name = placed.path = at;
                if (looks_secret(source, placed)) {
                    section.problem(named_by(policy),
                                    fmt::format("sets {} of {} in {}, which looks like a secret, "
                                                "and would stand in commands; set another one",
                                                at, role.name, rule));
                }
                const std::string key = at.substr(at.find('.') + 1);
                const bool label = at.starts_with(kLabel);
                const bool marked = label || at.starts_with("annotation.");
                const bool veto = marked && key == objects.veto_label;
                const bool made = marked && key.starts_with("trueup.io/");  // of our own
                if (veto || made || (label && selects_by(objects.selector, key))) {
                    section.problem(
                        named_by(policy),
                        fmt::format("sets {} of {} in {}, by which source {} {}; set another one",
                                    at, role.name, rule, source.name,
                                    veto   ? "knows a hold"
                                    : made ? "knows what commands created"
                                           : "selects its objects"));
                }
            }
        }
    }
}

}  // namespace

std::optional<core::Plan> plan_of(Section& section, const PolicyConfig& policy) {
    Result<core::Plan> plan = planned(*policy.text, policy);
    if (plan) return std::move(*plan);
    section.problem(named_by(policy), "cannot be run by this release: " + plan.error().what);
    return std::nullopt;
}

void complete_sources(Section& section, Config& config, PolicyConfig& policy, Problems& problems) {
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
            check_written(section, source, *role, policy);
            complete_objects(source, *role, policy.paths[source.name], read, problems);
        }
    }
}

}  // namespace trueup::config
