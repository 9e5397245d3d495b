#include "engine/core/rule_text.h"

#include "engine/base/id.h"
#include "engine/core/tagged.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace trueup::core {

namespace {

using policy::Condition;
using policy::FieldRef;
using policy::Op;

/// One rule, with all that it uses as it comes to be known.
class Reading {
  public:
    Reading(const policy::Policy& policy, const std::vector<SourceSettings>& sources)
        : policy_(policy), sources_(sources) {}

    std::string read(const policy::Rule& rule) {
        Tagged all;
        all.number(1, policy_.language);
        all.element(2, of(rule));
        if (!rule.requested.empty()) {
            const auto owner = policy_.requests.find(rule.requested);
            if (owner != policy_.requests.end()) all.element(3, of(owner->second));
        }
        // What is read of one may name others: until nothing new is named.
        while (conditions_.more() || counts_.more() || roles_.more() || ledger_due()) {
            while (const std::string* name = conditions_.next()) add_condition(all, *name);
            while (const std::string* name = counts_.next()) add_count(all, *name);
            while (const std::string* name = roles_.next()) add_role(all, *name);
            if (ledger_due()) add_ledger(all);
        }
        std::sort(numbers_.begin(), numbers_.end());
        return all.bytes();
    }
    std::vector<Role> roles() && { return std::move(numbers_); }

  private:
    /// Names in the order in which they came up, each once.
    class Named {
      public:
        void want(const std::string& name) {
            if (!name.empty() && known_.insert(name).second) open_.push_back(name);
        }
        bool more() const { return at_ < open_.size(); }
        const std::string* next() {
            if (!more()) return nullptr;
            taken_ = open_[at_++];
            return &taken_;
        }

      private:
        std::set<std::string> known_;
        std::vector<std::string> open_;
        std::size_t at_ = 0;
        std::string taken_;
    };

    bool ledger_due() const { return asks_ledger_ && !ledger_read_ && policy_.ledger.has_value(); }

    Tagged of(const FieldRef& field) {
        roles_.want(field.role);
        const bool ends = field.field == "failures" || field.field == "succeeded";
        if (ends && policy_.ledger && policy_.ledger->of.role == field.role) asks_ledger_ = true;
        Tagged out;
        out.text(1, field.role);
        out.text(2, field.field);
        return out;
    }

    Tagged of(const policy::Test& test, const std::string& role) {
        Tagged out;
        if (test.op == Op::kIs) {
            for (const std::string& name : test.values) conditions_.want(name);
        } else {
            out.part(1, of(FieldRef{role, test.field}));
        }
        out.number(2, static_cast<std::uint64_t>(test.op));
        out.number(3, test.negated ? 1 : 0);
        out.words(4, test.values);
        out.part(5, of(test.other));
        return out;
    }

    Tagged of(const Condition& condition, const std::string& role) {
        Tagged out;
        out.number(1, static_cast<std::uint64_t>(condition.kind));
        if (condition.kind == Condition::Kind::kTest) out.element(2, of(condition.test, role));
        out.list(3, condition.parts, [&](const Condition& part) { return of(part, role); });
        return out;
    }

    Tagged of(const policy::Pattern& pattern) {
        roles_.want(pattern.role);
        Tagged out;
        out.text(1, pattern.role);
        out.number(2, static_cast<std::uint64_t>(pattern.quantifier));
        out.element(3, of(pattern.condition, pattern.role));
        out.list(4, pattern.keep, [&](const policy::Ranking& ranking) {
            Tagged kept;
            kept.element(1, of(ranking.condition, pattern.role));
            kept.text(2, ranking.latest);
            return kept;
        });
        out.part(5, of(pattern.named));
        out.text(6, pattern.named_literal);
        out.part(7, of(pattern.in));
        return out;
    }
    Tagged of(const std::vector<policy::Pattern>& patterns) {
        Tagged out;
        out.list(1, patterns, [&](const policy::Pattern& pattern) { return of(pattern); });
        return out;
    }

    Tagged of(const policy::Text& text) {
        Tagged out;
        out.list(1, text, [&](const policy::Piece& piece) {
            Tagged part;
            part.number(1, static_cast<std::uint64_t>(piece.kind));
            part.text(2, piece.literal);
            part.part(3, of(piece.field));
            return part;
        });
        return out;
    }

    Tagged of(const policy::Template& object) {
        Tagged out;
        out.number(1, static_cast<std::uint64_t>(object.kind));
        out.text(2, object.key);
        out.part(3, of(object.text));
        out.list(4, object.parts, [&](const policy::Template& part) { return of(part); });
        return out;
    }

    Tagged of(const policy::Step& step) {
        roles_.want(step.role);
        Tagged out;
        out.number(1, static_cast<std::uint64_t>(step.verb));
        out.text(2, step.role);
        out.part(3, of(step.name));
        out.list(4, step.sets, [&](const policy::Assigned& set) {
            Tagged assigned;
            assigned.text(1, set.field);
            if (set.value) assigned.element(2, of(*set.value));
            return assigned;
        });
        out.text(5, step.from);
        if (step.object) out.element(6, of(*step.object));
        if (step.grace_period) out.element(7, std::to_string(*step.grace_period));
        out.text(8, step.propagation);
        out.text(9, step.subresource);
        out.list(10, step.reads, [&](const FieldRef& field) { return of(field); });
        return out;
    }

    Tagged of(const policy::Case& found) {
        Tagged out;
        out.number(1, found.duplicates ? 1 : 0);
        out.part(2, of(found.when));
        if (found.past) {
            out.element(3, of(found.past->from));
            const auto* field = std::get_if<FieldRef>(&found.past->length);
            if (field != nullptr) {
                out.element(4, of(*field));
            } else {
                out.element(5, std::to_string(std::get<Millis>(found.past->length).count()));
            }
        }
        for (const std::string& count : found.ask_while) counts_.want(count);
        out.words(6, found.ask_while);
        out.list(7, found.steps, [&](const policy::Step& step) { return of(step); });
        return out;
    }

    Tagged of(const policy::Rule& rule) {
        asks_ledger_ = asks_ledger_ || !rule.backoff.empty();
        Tagged out;
        out.text(1, rule.name);
        out.list(2, rule.cases, [&](const policy::Case& each) { return of(each); });
        out.number(3, rule.since_first_seen ? 1 : 0);
        out.number(4, rule.keyless ? 1 : 0);
        for (const Millis step : rule.backoff) out.element(5, std::to_string(step.count()));
        out.text(6, rule.requested);
        out.words(7, rule.acknowledge);
        return out;
    }

    static Tagged of(const policy::Key& key) {
        Tagged out;
        out.number(1, static_cast<std::uint64_t>(key.op));
        out.text(2, key.text);
        out.list(3, key.parts, [](const policy::Key& part) { return of(part); });
        return out;
    }

    static Tagged of(const policy::Field& field) {
        Tagged out;
        out.text(1, field.name);
        out.number(2, static_cast<std::uint64_t>(field.type));
        out.words(3, field.words);
        out.text(4, field.path);
        out.text(5, field.zone);
        out.number(6, field.required ? 1 : 0);
        out.number(7, field.null_unequal ? 1 : 0);
        out.number(8, field.blank_is_value ? 1 : 0);
        return out;
    }

    void add_role(Tagged& all, const std::string& name) {
        const policy::Role* role = policy::find_role(policy_, name);
        if (role == nullptr) return;
        Tagged out;
        out.text(1, role->name);
        out.number(2, static_cast<std::uint64_t>(role->kind));
        out.element(3, of(role->key));
        out.words(4, role->also);
        out.list(5, role->fields, [](const policy::Field& field) { return of(field); });
        out.element(6, of(role->live, role->name));
        out.number(7, role->several ? 1 : 0);
        out.number(8, role->optional ? 1 : 0);
        out.number(9, role->reference ? 1 : 0);
        out.text(10, role->scope);
        out.text(11, role->as_of_field);
        out.part(12, of(role->as_of));
        out.text(13, role->as_of_at);
        const auto number = static_cast<Role>(role - policy_.roles.data());
        numbers_.push_back(number);
        std::vector<std::string> looks;  // in an order that is not that of their names
        for (const SourceSettings& source : sources_) {
            if (source.role != number) continue;
            Tagged look;
            look.text(1, source.scope);
            look.text(2, source.selects);
            looks.push_back(look.bytes());
        }
        std::sort(looks.begin(), looks.end());
        out.words(14, looks);
        all.element(4, out);
    }

    void add_condition(Tagged& all, const std::string& name) {
        for (const policy::NamedCondition& condition : policy_.conditions) {
            if (condition.name != name) continue;
            roles_.want(condition.about);
            Tagged out;
            out.text(1, condition.name);
            out.text(2, condition.about);
            out.list(3, condition.lines, [&](const policy::NamedCondition::Line& line) {
                Tagged one;
                one.element(1, of(line.when));
                one.number(2, static_cast<std::uint64_t>(line.then));
                one.text(3, line.because);
                return one;
            });
            all.element(5, out);
        }
    }

    void add_count(Tagged& all, const std::string& name) {
        for (const policy::Count& count : policy_.counts) {
            if (count.name != name) continue;
            roles_.want(count.role);
            Tagged out;
            out.text(1, count.name);
            out.list(2, count.subjects, [&](const auto& subjects) { return of(subjects); });
            out.text(3, count.role);
            out.element(4, of(count.objects, count.role));
            out.text(5, count.by);
            out.text(6, count.reason);
            all.element(6, out);
        }
    }

    void add_ledger(Tagged& all) {
        ledger_read_ = true;
        const policy::Ledger& ledger = *policy_.ledger;
        roles_.want(ledger.objects);
        Tagged out;
        out.element(1, of(ledger.of));
        out.text(2, ledger.objects);
        out.element(3, of(ledger.belongs, ledger.objects));
        out.element(4, of(ledger.failed, ledger.objects));
        out.element(5, of(ledger.succeeded, ledger.objects));
        out.number(6, ledger.gone_failed ? 1 : 0);
        out.part(7, of(ledger.known));
        all.element(7, out);
    }

    const policy::Policy& policy_;
    const std::vector<SourceSettings>& sources_;
    Named conditions_;
    Named counts_;
    Named roles_;
    std::vector<Role> numbers_;
    bool asks_ledger_ = false;
    bool ledger_read_ = false;
};

}  // namespace

RuleText rule_text(const policy::Policy& policy, const std::vector<SourceSettings>& sources,
                   std::string_view rule) {
    for (const policy::Rule& each : policy.rules) {
        if (each.name != rule) continue;
        Reading reading(policy, sources);
        const Hash128 text = hash128(reading.read(each));
        return {text, std::move(reading).roles()};
    }
    return {};
}

std::set<std::string> stopped_rules(const Settings& before, const Settings& now) {
    std::set<std::string> stopped;
    const auto means = [](const Settings& settings, const std::string& rule) {
        return settings.text ? rule_text(*settings.text, settings.sources, rule).text : Hash128{};
    };
    for (const RuleSettings& rule : now.rules) {
        if (!acts(rule.mode)) stopped.insert(rule.rule);
    }
    if (!before.text) return stopped;
    for (const Settings* settings : {&before, &now}) {
        for (const RuleSettings& rule : settings->rules) {
            if (means(before, rule.rule) != means(now, rule.rule)) stopped.insert(rule.rule);
        }
    }
    return stopped;
}

}  // namespace trueup::core
