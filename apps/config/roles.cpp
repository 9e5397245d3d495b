// Which policy is meant, which sources play its roles, and by which key their objects are told
// apart.
#include "apps/config/policy_file.h"
#include "apps/config/policy_settings.h"
#include "apps/config/reading.h"
#include "apps/config/release_limits.h"
#include "connectors/postgres/correlation.h"
#include "connectors/postgres/settings.h"
#include "engine/base/suggest.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace trueup::config {

namespace {

using connectors::postgres::Correlation;
using policy::Kind;

/// Empty: there is none that could be read, which is noted.
Shared<policy::Policy> shipped_text(Section& section, PolicyConfig& policy) {
    section.take_tree("file");  // known where it is not there, too
    if (!section.require("use", "use: graph-instances, or file: FILE with a policy of your own")) {
        return {};
    }
    const std::string use = section.text("use");
    Shared<policy::Policy> text = policies::shipped(use);
    policy.exports = policies::shipped_exports(use);
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
    policy.exports = std::move(read->exports);
    return Shared<policy::Policy>(std::move(read->policy));
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
        if (problems.count() != before || policy.sources_of(role.name).empty()) continue;
        const std::string flaw = flaw_of_key(role);
        if (flaw.empty()) continue;
        const bool said = keys.has(role.name);
        problems.add(
            said ? keys.line_of(role.name) : section.line_of(named_by(policy)),
            fmt::format("{} is {}{}", keys.path_of(role.name), policy::key_text(role.key), flaw));
    }
    keys.finish();
    policy.text = std::move(text);
}

}  // namespace

const char* named_by(const PolicyConfig& policy) { return policy.file.empty() ? "use" : "file"; }

/// Of several sources of a role each has objects of its own.
void check_apart(Section& roles, const policy::Role& role, const std::string& name,
                 const PolicyConfig& policy, const Config& config) {
    const SourceConfig& source = *config.source(name);
    for (const std::string& before : policy.sources_of(role.name)) {
        const SourceConfig& other = *config.source(before);
        if (overlap(other, source)) {
            roles.problem(role.name,
                          fmt::format("has '{}' and '{}', which look at the same place, so that "
                                      "an object would be there twice; write one of them",
                                      before, name));
        } else if (source.postgres() != nullptr &&
                   connectors::postgres::table_text(source.postgres()->table) ==
                       connectors::postgres::table_text(other.postgres()->table)) {
            roles.problem(role.name,
                          fmt::format("has '{}' and '{}', tables of one name in two databases, "
                                      "whose rows nobody could tell apart; write one of them, or "
                                      "a policy for each",
                                      before, name));
        }
    }
}

bool read_text(Section& section, const std::string& folder, Config& config, PolicyConfig& policy) {
    policy.text = section.has("file") ? text_in_file(section, folder, config, policy)
                                      : shipped_text(section, policy);
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
        const std::vector<std::string> names = roles.one_or_more_texts(role.name);
        if (names.empty() && !role.optional) {
            roles.problem(role.name, "is empty; write the source that plays it, or a list of them");
        }
        for (const std::string& name : names) {
            std::string source = check_source_name(roles, role.name, name, config, topic);
            if (source.empty()) continue;
            if (const policy::Role* other = policy.role_of(source)) {
                roles.problem(role.name,
                              fmt::format("names '{}', which plays {} already; write another "
                                          "source",
                                          source, other->name));
                continue;
            }
            check_apart(roles, role, source, policy, config);
            policy.roles[role.name].push_back(std::move(source));
        }
    }
    roles.finish();
    read_keys(section, policy, problems);
}

}  // namespace trueup::config
