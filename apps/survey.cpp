#include "apps/survey.h"

#include "apps/config/words.h"
#include "apps/noun.h"
#include "connectors/postgres/settings.h"
#include "engine/base/check.h"
#include "engine/model/object.h"
#include "engine/model/own_column.h"
#include "engine/world/field_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

using config::Config;
using config::contains;
using config::KubernetesSource;
using config::PolicyConfig;
using config::SourceConfig;

std::string counted(std::uint64_t count, const std::string& what) {
    if (count == 0) return "no " + what;
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// `pod`, `service`: one object of what the source watches.
std::string noun_of(const SourceConfig& source) {
    return source.kubernetes() == nullptr ? "row" : one_of(source.kubernetes()->resource.plural);
}

/// What a source has, in a few words: `15 rows, 12 live (failed 3, running 12)`.
std::string figure(const SourceConfig& source, const Surveyed& asked, const Settings& settings) {
    std::string text = counted(asked.look.objects(), noun_of(source));
    if (source.kubernetes() != nullptr || asked.look.objects() == 0) return text;
    const Statuses statuses = statuses_of(asked.look, settings);
    std::vector<std::string> parts;
    for (const auto& [status, count] : statuses.count) {
        parts.push_back(fmt::format("{} {}", status, count));
    }
    text += fmt::format(", {} live", statuses.live);
    return parts.empty() ? text : text + fmt::format(" ({})", fmt::join(parts, ", "));
}

class Judge {
  public:
    Judge(const Config& config, const std::string& file, const std::vector<Surveyed>& all)
        : config_(config), policy_(config.policies.front()), file_(file), all_(all) {}

    Judged take(const Rehearsed& rehearsed) {
        const Settings settings = config::policy_settings(config_);
        for (const Surveyed& asked : all_) {
            const SourceConfig& source = source_of(asked);
            judged_.asked.push_back(
                fmt::format("{}: {}", source.name, figure(source, asked, settings)));
            if (!judge_namespace(source, asked)) continue;
            judge_number(source, asked);
            judge_rights(source, asked);
            if (source.kubernetes() != nullptr) judge_paths(source, asked);
            for (const std::string& remark : asked.remarks) {
                judged_.warnings.push_back(fmt::format("source {}: {}", source.name, remark));
            }
        }
        judged_.finds = finds(rehearsed);
        for (const Rehearsed::UnknownWords& unknown : rehearsed.unknown_words) {
            judged_.warnings.push_back(unknown.text());
        }
        if (rehearsed.mostly_wrong()) {
            judged_.warnings.push_back(
                fmt::format("{} of {} subjects would be wrong, so the configuration is probably "
                            "wrong: such a first list is quarantined until `trueup unquarantine "
                            "NAME`; `trueup plan` lists them",
                            rehearsed.wrong, rehearsed.subjects));
        }
        return std::move(judged_);
    }

  private:
    const SourceConfig& source_of(const Surveyed& asked) const {
        const SourceConfig* source = config_.source(asked.name);
        TRUEUP_CHECK(source != nullptr);
        return *source;
    }

    void wrong(const SourceConfig& source, const std::string& sentence) {
        judged_.wrong.push_back(
            fmt::format("{}:{}: source {}: {}", file_, source.line, source.name, sentence));
    }

    /// What the policy's other side has: of a table the objects, of objects the table.
    std::string other_side(const SourceConfig& source) const {
        for (const policy::Role& role : policy_.text->roles) {
            const std::vector<std::string>& players = policy_.sources_of(role.name);
            for (const Surveyed& asked : all_) {
                if (!contains(players, asked.name)) continue;
                const SourceConfig& there = source_of(asked);
                const bool same_side =
                    (there.postgres() == nullptr) == (source.postgres() == nullptr);
                if (same_side) continue;
                return fmt::format("{} has {}", asked.name,
                                   figure(there, asked, config::policy_settings(config_)));
            }
        }
        return "no other source tells what to expect";
    }

    /// What the rule does to that source's objects; empty: nothing.
    config::Writes writes_to(const SourceConfig& source, const std::string& rule) const {
        const policy::Role* role = policy_.role_of(source.name);
        for (config::Writes& each : config::writes_of(*policy_.text, rule)) {
            if (role != nullptr && each.role == role->name) return std::move(each);
        }
        return {};
    }

    /// False: there is none, and nothing more is said of the source.
    bool judge_namespace(const SourceConfig& source, const Surveyed& asked) {
        const KubernetesSource* kubernetes = source.kubernetes();
        if (kubernetes == nullptr || kubernetes->resource.name_space.empty()) return true;
        const std::string& name = kubernetes->resource.name_space;
        if (!asked.namespace_exists) {
            judged_.asked.push_back(
                fmt::format("{}: cannot tell whether namespace {} exists (needs get on namespaces)",
                            source.name, name));
        }
        if (asked.namespace_exists.value_or(true)) return true;
        wrong(source,
              fmt::format("there is no namespace '{}', and {}; write the namespace of the {}s",
                          name, other_side(source), noun_of(source)));
        return false;
    }

    void judge_number(const SourceConfig& source, const Surveyed& asked) {
        const std::uint64_t there = asked.look.objects();
        if (there >= source.at_least) return;
        const KubernetesSource* kubernetes = source.kubernetes();
        if (there > 0) {
            return wrong(
                source,
                fmt::format(
                    "it has {}, but expect.at_least is {}; write at most {} if that is correct",
                    counted(there, noun_of(source)), source.at_least, there));
        }
        if (kubernetes != nullptr) {
            const ports::Resource& resource = kubernetes->resource;
            const bool any = resource.name_space.empty() && !resource.cluster_scoped;
            return wrong(
                source,
                fmt::format("no {} in {} matches the selector \"{}\", and {}; correct the "
                            "selector, or write expect: {{at_least: 0}} if none is correct",
                            noun_of(source), any ? "any namespace" : ports::place_text(resource),
                            kubernetes->selector, other_side(source)));
        }
        wrong(source,
              fmt::format("table {} has no row, and {}; is it the wrong database, or is it being "
                          "restored? write expect: {{at_least: 0}} if empty is correct",
                          connectors::postgres::table_text(source.postgres()->table),
                          other_side(source)));
    }

    /// A path with a typing mistake looks like one that no object has.
    void judge_paths(const SourceConfig& source, const Surveyed& asked) {
        for (const policy::FieldPath& path : policy_.paths_of(source.name)) {
            std::uint64_t there = 0;
            std::uint64_t unreadable = 0;
            for (const Fact& fact : asked.look.facts) {
                const auto field = ObjectView(fact.object).find(path.name);
                if (!field) continue;
                (field->unchanged ? unreadable : there) += 1;
            }
            if (there > 0 || asked.look.objects() == 0) continue;
            const policy::Role& role = *policy_.role_of(source.name);
            const policy::Field* field = policy::find_field(role, path.name);
            if (unreadable == 0 && is_set(source, field->path)) continue;
            const std::string what =
                unreadable == 0 ? fmt::format("no {} has", noun_of(source))
                                : fmt::format(
                                      "nobody can compare {} (an object, a list, or more "
                                      "than {} bytes) at",
                                      counted(unreadable, "value"), world::FieldAt::kMostText);
            judged_.warnings.push_back(
                fmt::format("source {}: {} {}, which the policy reads as {}.{}; correct the path "
                            "if it is meant to be there",
                            source.name, what, field->path, role.name, path.name));
        }
    }

    /// Does some rule set what stands there? It may be there only once that was done.
    bool is_set(const SourceConfig& source, const std::string& path) const {
        return std::any_of(policy_.rules.begin(), policy_.rules.end(),
                           [&](const RuleSettings& rule) {
                               return rule.mode != Mode::kOff &&
                                      contains(writes_to(source, rule.rule).columns, path);
                           });
    }

    /// The rules that are judged: those that act, or the others.
    std::vector<std::string> rules(bool acting) const {
        std::vector<std::string> names;
        for (const RuleSettings& rule : policy_.rules) {
            if (rule.mode != Mode::kOff && acts(rule.mode) == acting) names.push_back(rule.rule);
        }
        return names;
    }

    /// Wrong where a rule acts that needs it; else a word for the day when it does.
    void lacks(const SourceConfig& source, bool acting, const std::string& sentence) {
        if (acting) return wrong(source, sentence);
        judged_.warnings.push_back(
            fmt::format("source {}: {} before the rule acts", source.name, sentence));
    }

    void judge_rights(const SourceConfig& source, const Surveyed& asked) {
        for (const bool acting : {true, false}) {
            if (source.postgres() != nullptr) {
                judge_columns(source, asked, acting);
                judge_inserts(source, asked, acting);
            } else {
                judge_verbs(source, asked, acting);
            }
        }
    }

    void judge_columns(const SourceConfig& source, const Surveyed& asked, bool acting) {
        if (!config_.has_executor("update_row")) return;
        for (const std::string& rule : rules(acting)) {
            std::vector<std::string> missing;
            for (const std::string& column : writes_to(source, rule).columns) {
                if (!contains(asked.table.updatable, column) && !contains(said_, column)) {
                    missing.push_back(column);
                }
            }
            if (missing.empty()) continue;
            said_.insert(said_.end(), missing.begin(), missing.end());
            lacks(source, acting,
                  fmt::format("no right to update {0}, which {1} sets (or no such column); GRANT "
                              "UPDATE ({0}) ON {2} TO the role",
                              fmt::join(missing, ", "), rule,
                              connectors::postgres::quoted_table(source.postgres()->table)));
        }
    }

    void judge_inserts(const SourceConfig& source, const Surveyed& asked, bool acting) {
        if (!config_.has_executor("insert_row")) return;
        const std::string table = connectors::postgres::quoted_table(source.postgres()->table);
        for (const std::string& rule : rules(acting)) {
            const std::vector<std::string> columns = writes_to(source, rule).inserts;
            if (columns.empty() || contains(said_, "insert " + rule)) continue;
            const auto not_in = [](const std::vector<std::string>& all,
                                   const std::vector<std::string>& some) {
                std::vector<std::string> rest;
                std::copy_if(all.begin(), all.end(), std::back_inserter(rest),
                             [&](const std::string& one) { return !contains(some, one); });
                return rest;
            };
            const std::size_t before = judged_.wrong.size() + judged_.warnings.size();
            const auto missing = not_in(columns, asked.table.insertable);
            if (!missing.empty()) {
                lacks(source, acting,
                      fmt::format("no right to insert {0}, which {1} sets (or no such column); "
                                  "GRANT INSERT ({0}) ON {2} TO the role",
                                  fmt::join(missing, ", "), rule, table));
            }
            const auto needed = not_in(asked.table.required, columns);
            if (!needed.empty()) {
                judged_.warnings.push_back(
                    fmt::format("source {}: {} inserts rows without {}, which cannot be NULL and "
                                "has no default; set it, unless a trigger does",
                                source.name, rule, fmt::join(needed, ", ")));
            }
            if (!asked.table.sequences.empty()) {
                lacks(source, acting,
                      fmt::format("{1} inserts rows, and no right to use {0}, which fills a column "
                                  "of them; GRANT USAGE ON SEQUENCE {0} TO the role",
                                  fmt::join(asked.table.sequences, ", "), rule));
            }
            const std::string key = policy::own_column(policy_.role_of(source.name)->key);
            const auto type = asked.table.types.find(key);
            const bool other = type != asked.table.types.end() && type->second != "text" &&
                               type->second != "character varying";
            if (other) {
                judged_.warnings.push_back(
                    fmt::format("source {}: {} sets {}, of type {}, which may spell a name "
                                "otherwise; such a row is not inserted",
                                source.name, rule, key, type->second));
            }
            if (!asked.index.empty()) {
                const std::string make =
                    asked.table.partitioned
                        ? "a partitioned table cannot, unless its partitions are made by that key"
                        : fmt::format("CREATE UNIQUE INDEX CONCURRENTLY ON {} ({})", table,
                                      asked.index);
                lacks(source, acting,
                      fmt::format("nothing keeps two rows of one key apart, so that {} can insert "
                                  "none; {}",
                                  rule, make));
            }
            if (judged_.wrong.size() + judged_.warnings.size() > before) {
                said_.push_back("insert " + rule);
            }
        }
    }

    void judge_verbs(const SourceConfig& source, const Surveyed& asked, bool acting) {
        const bool acts = std::any_of(
            config_.executors.begin(), config_.executors.end(),
            [&](const auto& executor) { return contains(executor.sources, source.name); });
        if (!acts) return;
        if (!asked.missing_verbs) {
            if (!acting) return;
            judged_.asked.push_back(
                fmt::format("{}: cannot tell whether it may be written", source.name));
            return;
        }
        for (const std::string& rule : rules(acting)) {
            for (const policy::Use* use : writes_to(source, rule).uses) {
                judge_verb(source, asked, acting, rule, right_of(*use));
            }
        }
    }

    /// `patch/status`: of the subresource.
    void judge_verb(const SourceConfig& source, const Surveyed& asked, bool acting,
                    const std::string& rule, const std::string& right) {
        const std::string once = source.name + ' ' + right;
        if (!contains(*asked.missing_verbs, right) || contains(said_, once)) return;
        said_.push_back(once);
        const std::size_t slash = std::min(right.find('/'), right.size());
        const std::string verb = right.substr(0, slash);
        lacks(source, acting,
              fmt::format("no right to {0} {1}{2}, which {3} does; grant the verb {0}", verb,
                          source.kubernetes()->resource.plural, right.substr(slash), rule));
    }

    std::string finds(const Rehearsed& rehearsed) const {
        std::vector<std::string> parts;
        for (const RuleSettings& rule : policy_.rules) {
            const std::uint64_t count = rehearsed.of_rule(rule.rule);
            if (count > 0) parts.push_back(fmt::format("{} {}", rule.rule, count));
        }
        if (parts.empty()) return "nothing";
        return fmt::format(
            "{}; something would be done about {} of {} subjects (`trueup plan` says what)",
            fmt::join(parts, ", "), rehearsed.wrong, rehearsed.subjects);
    }

    const Config& config_;
    const PolicyConfig& policy_;
    const std::string& file_;
    const std::vector<Surveyed>& all_;
    std::vector<std::string> said_;  ///< columns and sources whose rights were told of
    Judged judged_;
};

}  // namespace

std::string right_of(const policy::Use& use) {
    return std::string(use.right) + (use.way == policy::Way::kStatus ? "/status" : "");
}

Judged judge(const Config& config, const std::string& file, const std::vector<Surveyed>& all,
             const Rehearsed& rehearsed) {
    return Judge(config, file, all).take(rehearsed);
}

}  // namespace trueup::apps
