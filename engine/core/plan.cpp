#include "engine/core/plan.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace trueup::core {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;

/// The fields of one role that something asks for.
using Names = std::vector<std::set<std::string>>;

class Compiler {
  public:
    Compiler(const policy::Policy& policy, const Settings& settings)
        : policy_(policy), settings_(settings) {}

    Result<Plan> run() {
        name_fields();
        for (std::size_t i = 0; i < policy_.roles.size(); ++i) begin_role(static_cast<Role>(i));
        for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
            plan_.roles[i].live = node(policy_.roles[i].live, static_cast<Role>(i));
        }
        for (const policy::NamedCondition& condition : policy_.conditions) add(condition);
        for (const policy::Rule& rule : policy_.rules) add(rule);
        for (const PlanRole& role : plan_.roles) {
            if (role.tests.size() <= PlanRole::kMostTests) continue;
            return Error{Next::kStop, Code::kConfiguration,
                         "the policy asks " + std::to_string(role.tests.size()) +
                             " different things of " + role.name + "; this build has room for " +
                             std::to_string(PlanRole::kMostTests)};
        }
        return std::move(plan_);
    }

  private:
    Role number(const std::string& name) const {
        for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
            if (policy_.roles[i].name == name) return static_cast<Role>(i);
        }
        return kNoRole;
    }

    // ---------------------------------------------------------------- fields

    void want(const policy::FieldRef& field) {
        if (const Role role = number(field.role); role != kNoRole)
            wanted_[role].insert(field.field);
    }
    void want(const Condition& condition, const std::string& role) {
        if (condition.kind == Condition::Kind::kTest) {
            if (condition.test.op != Op::kIs) want({role, condition.test.field});
            if (!condition.test.other.role.empty()) want(condition.test.other);
        }
        for (const Condition& part : condition.parts) want(part, role);
    }
    void want(const std::vector<policy::Pattern>& patterns) {
        for (const policy::Pattern& pattern : patterns) {
            want(pattern.condition, pattern.role);
            want(pattern.named);
            want(pattern.in);
            for (const policy::Ranking& ranking : pattern.keep) {
                want(ranking.condition, pattern.role);
                if (!ranking.latest.empty()) want({pattern.role, ranking.latest});
            }
        }
    }
    void want(const policy::Case& found) {
        want(found.when);
        if (found.past) {
            want(found.past->from);
            if (const auto* field = std::get_if<policy::FieldRef>(&found.past->length))
                want(*field);
        }
    }

    /// What is read of each role, so that one walk over an object meets it all.
    void name_fields() {
        wanted_.resize(policy_.roles.size());
        for (const policy::Role& role : policy_.roles) {
            want(role.live, role.name);
        }
        for (const policy::NamedCondition& condition : policy_.conditions) {
            for (const auto& line : condition.lines) want(line.when);
        }
        for (const auto& [name, owner] : policy_.requests) want(owner);
        for (const policy::Rule& rule : policy_.rules) {
            for (const policy::Case& each : rule.cases) want(each);
        }
    }

    void begin_role(Role number) {
        const policy::Role& text = policy_.roles[number];
        PlanRole& role = plan_.roles.emplace_back();
        role.name = text.name;
        role.kind = text.kind;
        role.several = text.several;
        role.reference = text.reference;
        for (std::size_t id = 0; id < settings_.sources.size(); ++id) {
            if (settings_.sources[id].role == number) {
                role.sources.push_back(static_cast<SourceId>(id));
            }
        }
        for (const std::string& name : wanted_[number]) {
            PlanField& field = role.fields.emplace_back();
            field.name = name;
            if (const policy::Field* declared = policy::find_field(text, name)) {
                field.type = declared->type;
                field.words = declared->words;
                field.required = declared->required;
                field.null_unequal = declared->null_unequal;
                field.blank_is_value = declared->blank_is_value;
            } else if (role.kubernetes() && name == "deleting") {
                field.usual = PlanField::Usual::kFalse;
            } else if (role.kubernetes() && name == "in_scope") {
                field.usual = PlanField::Usual::kTrue;
            }
        }
    }

    std::uint16_t field_number(Role role, const std::string& name) const {
        const std::set<std::string>& names = wanted_[role];
        return static_cast<std::uint16_t>(std::distance(names.begin(), names.find(name)));
    }
    FieldAt at(const policy::FieldRef& field) const {
        const Role role = number(field.role);
        if (role == kNoRole || wanted_[role].count(field.field) == 0) return {};
        return {role, field_number(role, field.field)};
    }

    // ---------------------------------------------------------------- conditions

    PlanNode node(const Condition& condition, Role role) {
        PlanNode made;
        if (condition.kind == Condition::Kind::kTest) return leaf(condition.test, role);
        made.kind =
            condition.kind == Condition::Kind::kAll ? PlanNode::Kind::kAll : PlanNode::Kind::kAny;
        for (const Condition& part : condition.parts) made.parts.push_back(node(part, role));
        return made;
    }

    PlanNode leaf(const policy::Test& test, Role role) {
        PlanNode made;
        made.negated = test.negated;
        if (test.op == Op::kIs) {
            made.kind = PlanNode::Kind::kNamed;
            for (std::size_t i = 0; i < policy_.conditions.size(); ++i) {
                if (policy_.conditions[i].name == test.values.front()) {
                    made.index = static_cast<std::uint16_t>(i);
                }
            }
            return made;
        }
        PlanRole& of = plan_.roles[role];
        const std::uint16_t field = field_number(role, test.field);
        if (test.op == Op::kSame || test.op == Op::kBefore || test.op == Op::kAfter) {
            made.kind = PlanNode::Kind::kJoin;
            made.index = static_cast<std::uint16_t>(of.joins.size());
            of.joins.push_back({field, test.op, at(test.other)});
            return made;
        }
        PlanTest planned{field, test.op, test.values, 0};
        if (!test.values.empty()) {
            const std::string& first = test.values.front();
            std::from_chars(first.data(), first.data() + first.size(), planned.number);
        }
        made.kind = PlanNode::Kind::kTest;
        const auto known = std::find(of.tests.begin(), of.tests.end(), planned);
        made.index = static_cast<std::uint16_t>(known - of.tests.begin());
        if (known == of.tests.end()) of.tests.push_back(std::move(planned));
        return made;
    }

    PlanPattern planned(const policy::Pattern& text) {
        PlanPattern made;
        made.role = number(text.role);
        made.quantifier = text.quantifier;
        made.condition = node(text.condition, made.role);
        for (const policy::Ranking& ranking : text.keep) {
            PlanRanking rank{node(ranking.condition, made.role), std::nullopt};
            if (!ranking.latest.empty()) rank.latest = field_number(made.role, ranking.latest);
            made.keep.push_back(std::move(rank));
        }
        made.named = at(text.named);
        made.named_literal = text.named_literal;
        made.in = at(text.in);
        return made;
    }

    void add(const policy::NamedCondition& condition) {
        PlanCondition made;
        made.about = number(condition.about);
        for (const auto& line : condition.lines) {
            auto& planned_line = made.lines.emplace_back();
            planned_line.then = line.then;
            for (const policy::Pattern& pattern : line.when) {
                planned_line.when.push_back(planned(pattern));
            }
        }
        plan_.conditions.push_back(std::move(made));
    }

    // ---------------------------------------------------------------- rules

    void add(const policy::Rule& rule) {
        PlanRule made;
        made.name = rule.name;
        made.since_first_seen = rule.since_first_seen;
        made.keyless = rule.keyless;
        if (!rule.requested.empty()) made.owner = at(policy_.requests.at(rule.requested));
        for (const policy::Case& each : rule.cases) made.cases.push_back(planned(each));
        plan_.rules.push_back(std::move(made));
    }

    PlanCase planned(const policy::Case& text) {
        PlanCase made;
        made.duplicates = text.duplicates;
        for (const std::string& name : text.ask_while) {
            for (std::size_t i = 0; i < policy_.counts.size(); ++i) {
                if (policy_.counts[i].name == name) made.asks.push_back(static_cast<TallyId>(i));
            }
        }
        for (const policy::Pattern& pattern : text.when) {
            const Role role = number(pattern.role);
            if (std::find(made.roles.begin(), made.roles.end(), role) == made.roles.end()) {
                made.roles.push_back(role);
            }
        }
        for (const policy::Pattern* pattern : in_order(text.when)) {
            made.patterns.push_back(planned(*pattern));
        }
        if (text.past) {
            const auto* field = std::get_if<policy::FieldRef>(&text.past->length);
            made.past = PlanDeadline{at(text.past->from), Millis{0}};
            if (field != nullptr) {
                made.past->length = at(*field);
            } else {
                made.past->length = std::get<Millis>(text.past->length);
            }
        }
        for (const policy::Step& step : text.steps) {
            made.steps.push_back({step.verb, number(step.role)});
        }
        return made;
    }

    /// Each pattern behind those whose objects it asks for, and `none` last: the checks of the text
    /// know that there is such an order.
    std::vector<const policy::Pattern*> in_order(const std::vector<policy::Pattern>& all) const {
        std::vector<const policy::Pattern*> order;
        std::vector<const policy::Pattern*> open;
        std::set<std::string> bound;
        for (const policy::Pattern& pattern : all) {
            if (pattern.quantifier != Quantifier::kNone) open.push_back(&pattern);
        }
        while (!open.empty()) {
            auto next = std::find_if(open.begin(), open.end(), [&](const policy::Pattern* each) {
                const std::set<std::string> needs = leans_on(*each);
                return std::all_of(needs.begin(), needs.end(),
                                   [&](const std::string& role) { return bound.count(role) > 0; });
            });
            if (next == open.end()) next = open.begin();
            bound.insert((*next)->role);
            order.push_back(*next);
            open.erase(next);
        }
        for (const policy::Pattern& pattern : all) {
            if (pattern.quantifier == Quantifier::kNone) order.push_back(&pattern);
        }
        return order;
    }

    static std::set<std::string> leans_on(const policy::Pattern& pattern) {
        std::set<std::string> roles{pattern.named.role, pattern.in.role};
        add_others(pattern.condition, roles);
        for (const policy::Ranking& ranking : pattern.keep) add_others(ranking.condition, roles);
        roles.erase("");
        roles.erase(pattern.role);
        return roles;
    }
    static void add_others(const Condition& condition, std::set<std::string>& roles) {
        roles.insert(condition.test.other.role);
        for (const Condition& part : condition.parts) add_others(part, roles);
    }

    const policy::Policy& policy_;
    const Settings& settings_;
    Names wanted_;
    Plan plan_;
};

}  // namespace

Result<Plan> compile(const policy::Policy& policy, const Settings& settings) {
    return Compiler(policy, settings).run();
}

}  // namespace trueup::core
