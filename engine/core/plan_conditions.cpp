// What a plan asks of objects: tests, conditions with their bits, patterns, the ledger and counts.
#include "engine/core/plan_compiler.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trueup::core {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;

constexpr std::size_t kMostDeep = 4;  // conditions that ask for others

/// False: it is not only tests of which all must be so.
bool plain(const PlanNode& node, PlanAsked& asked) {
    if (node.kind == PlanNode::Kind::kTest) {
        if (node.index >= PlanRole::kMostTests) return false;  // the plan is refused
        (node.negated ? asked.none : asked.all) |= std::uint64_t{1} << node.index;
        return true;
    }
    return node.kind == PlanNode::Kind::kAll &&
           std::all_of(node.parts.begin(), node.parts.end(),
                       [&](const PlanNode& part) { return plain(part, asked); });
}

/// Does the object decide it by itself, as its bits have it?
bool of_tests(const PlanNode& node) {
    if (node.kind == PlanNode::Kind::kJoin || node.kind == PlanNode::Kind::kNamed) return false;
    return std::all_of(node.parts.begin(), node.parts.end(), of_tests);
}

}  // namespace

PlanNode PlanCompiler::node(const Condition& condition, Role role) {
    PlanNode made;
    if (condition.kind == Condition::Kind::kTest) return leaf(condition.test, role);
    made.kind =
        condition.kind == Condition::Kind::kAll ? PlanNode::Kind::kAll : PlanNode::Kind::kAny;
    for (const Condition& part : condition.parts) made.parts.push_back(node(part, role));
    return made;
}

PlanNode PlanCompiler::leaf(const policy::Test& test, Role role) {
    PlanNode made;
    made.negated = test.negated;
    if (test.op == Op::kIs) {
        made.kind = PlanNode::Kind::kNamed;
        made.index = condition_number(test.values.empty() ? "" : test.values.front(), role);
        return made;
    }
    PlanRole& of = plan_.roles[role];
    if (wanted_[role].count(test.field) == 0) {
        flaw("a test of " + of.name + " asks for no field");
        return made;
    }
    const std::uint16_t field = field_number(role, test.field);
    const bool joins = test.op == Op::kSame || test.op == Op::kBefore || test.op == Op::kAfter;
    if (joins) {
        join(test, field, of, made);
    } else {
        ask(test, field, of, made);
    }
    return made;
}

/// With a field of another role.
void PlanCompiler::join(const policy::Test& test, std::uint16_t field, PlanRole& of,
                        PlanNode& made) {
    const PlanJoin join{field, test.op, at(test.other)};
    if (join.other.role == kNoRole) {
        flaw("a test of " + of.name + "." + test.field + " compares with nothing");
        return;
    }
    made.kind = PlanNode::Kind::kJoin;
    const auto known = std::find(of.joins.begin(), of.joins.end(), join);
    made.index = static_cast<std::uint16_t>(known - of.joins.begin());
    if (known == of.joins.end()) of.joins.push_back(join);
}

/// With what the text says.
void PlanCompiler::ask(const policy::Test& test, std::uint16_t field, PlanRole& of,
                       PlanNode& made) {
    if (test.values.empty() && test.op != Op::kSet) {
        flaw("a test of " + of.name + "." + test.field + " compares with nothing");
        return;
    }
    const std::vector<std::string>& words = of.fields[field].words;
    if (!std::is_sorted(words.begin(), words.end()) ||
        (test.op == Op::kIn && !std::is_sorted(test.values.begin(), test.values.end()))) {
        flaw("the words of " + of.name + "." + test.field + " do not ascend");
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
}

/// Only those above may be asked, about the same role: so there is no circle.
std::uint16_t PlanCompiler::condition_number(const std::string& name, Role about) {
    for (std::size_t i = 0; i < plan_.conditions.size(); ++i) {
        if (policy_.conditions[i].name != name || plan_.conditions[i].about != about) continue;
        depth_ = std::max(depth_, plan_.conditions[i].depth);
        return static_cast<std::uint16_t>(i);
    }
    flaw("the policy has no condition '" + name + "' of " + plan_.roles[about].name +
         " above its use");
    return 0;
}

std::size_t PlanCompiler::bit_of(const PlanNode& condition, Role number, bool in_scope) {
    PlanRole& role = plan_.roles[number];
    PlanAsked asked;
    asked.condition = condition;
    asked.in_scope = in_scope && role.kubernetes();
    asked.plain = plain(condition, asked);
    for (const PlanAsked& known : role.asked) {
        asked.bit = known.bit;
        if (known == asked) return known.bit;
    }
    if (next_bit_ > Bits::kMost) return Bits::kMost;  // the plan is refused
    asked.bit = next_bit_++;
    if (asked.bit < Bits::kMost) role.bits.set(asked.bit);
    role.asked.push_back(std::move(asked));
    return next_bit_ - 1;
}

PlanPattern PlanCompiler::planned(const policy::Pattern& text) {
    PlanPattern made;
    made.role = named(text.role);
    made.quantifier = text.quantifier;
    made.condition = node(text.condition, made.role);
    made.bit = bit_of(made.condition, made.role, made.quantifier != Quantifier::kNone);
    made.by_bit = made.bit < Bits::kMost && of_tests(made.condition);
    for (const policy::Ranking& ranking : text.keep) {
        PlanRanking rank{node(ranking.condition, made.role), std::nullopt};
        if (!ranking.latest.empty()) rank.latest = field_number(made.role, ranking.latest);
        made.keep.push_back(std::move(rank));
    }
    made.named = at(text.named);
    made.named_literal = text.named_literal;
    made.in = at(text.in);
    if (plan_.roles[made.role].reference && made.named.role == kNoRole &&
        made.named_literal.empty()) {
        flaw("nothing says which of " + text.role + " is meant");
    }
    return made;
}

void PlanCompiler::add(const policy::NamedCondition& condition) {
    PlanCondition made;
    made.about = named(condition.about);
    depth_ = 0;
    for (const auto& line : condition.lines) {
        auto& planned_line = made.lines.emplace_back();
        planned_line.then = line.then;
        for (const policy::Pattern& pattern : line.when) {
            planned_line.when.push_back(planned(pattern));
        }
    }
    made.depth = depth_ + 1;
    if (made.depth > kMostDeep) {
        flaw("the condition " + condition.name + " asks for others " + std::to_string(made.depth) +
             " deep; this build goes " + std::to_string(kMostDeep) + " deep");
    }
    plan_.conditions.push_back(std::move(made));
}

void PlanCompiler::add(const policy::Ledger& text) {
    PlanLedger ledger;
    ledger.role = named(text.of.role);
    ledger.by_identity = text.of.field.empty();
    if (!ledger.by_identity) ledger.of = at(text.of);
    ledger.objects = named(text.objects);
    ledger.belongs = node(text.belongs, ledger.objects);
    ledger.failed = node(text.failed, ledger.objects);
    ledger.succeeded = node(text.succeeded, ledger.objects);
    ledger.gone_failed = text.gone_failed;
    ledger.known = at(text.known);
    plan_.ledger = std::move(ledger);
}

/// What is looked up is nobody's, so that it counts for none.
Role PlanCompiler::counted(const std::string& name) {
    const Role role = named(name);
    if (plan_.roles[role].reference) flaw("a count is of " + name + ", which is a reference");
    return role;
}

/// What makes a subject count. Nothing is set where a bit is one too many: the plan is refused.
void PlanCompiler::count_by(const std::vector<policy::Pattern>& subjects, PlanCount& count) {
    Mask& mask = count.any.emplace_back();
    for (const policy::Pattern& pattern : subjects) {
        const Role role = counted(pattern.role);
        const bool none = pattern.quantifier == Quantifier::kNone;
        const std::size_t bit = bit_of(node(pattern.condition, role), role, !none);
        if (bit >= Bits::kMost) continue;
        if (none) {
            mask.never.set(bit);
            continue;
        }
        (pattern.quantifier == Quantifier::kSurplus ? mask.pairs : mask.may).set(bit);
        if (plan_.roles[role].kind == policy::Kind::kRow) {
            count.keyless.set(plan_.roles[role].claims);
        }
    }
}

void PlanCompiler::add(const policy::Count& text) {
    if (text.name == kUnknownWords) {
        flaw("the count " + text.name + " has the name of what is counted in any case");
    }
    PlanCount count;
    count.first = static_cast<TallyId>(plan_.tallies.size());
    for (const auto& subjects : text.subjects) count_by(subjects, count);
    const auto number = static_cast<std::uint16_t>(plan_.counts.size());
    if (text.role.empty()) {
        plan_.of_subjects.push_back(number);
    } else {
        const Role role = counted(text.role);
        count.objects = bit_of(node(text.objects, role), role, false);
        plan_.roles[role].counted.push_back(number);
    }
    if (text.by.empty()) {
        plan_.tallies.push_back(
            {text.name, {}, {}, {}, text.reason.empty() ? text.name : text.reason});
    } else {
        const Role role = named(text.role);
        const PlanField field = plan_.roles[role].fields[field_number(role, text.by)];
        if (field.words.empty()) {
            flaw("the count " + text.name + " has a number for each word of " + text.role + "." +
                 text.by + ", which lists none");
        }
        // Two texts may be one number.
        count.one_word =
            field.type != policy::Field::Type::kNumber &&
            std::adjacent_find(field.words.begin(), field.words.end()) == field.words.end();
        for (const std::string& word : field.words) {
            plan_.tallies.push_back({text.name, field.name, word});
            policy::Test has;
            has.field = text.by;
            has.values = {word};
            count.words.push_back(bit_of(leaf(has, role), role, false));
        }
    }
    plan_.counts.push_back(std::move(count));
}

/// As far as there is room: the reason of a finding is there in any case.
void PlanCompiler::count_unknown_words() {
    for (std::size_t role = 0; role < plan_.roles.size(); ++role) {
        const std::vector<PlanField>& fields = plan_.roles[role].fields;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].words.empty() || fields[i].tests == 0) continue;
            if (plan_.tallies.size() >= kMostTallies) return;
            const FieldAt field{static_cast<Role>(role), static_cast<std::uint16_t>(i)};
            plan_.tallies.push_back(
                {std::string(kUnknownWords), plan_.roles[role].name, fields[i].name, field});
        }
    }
}

}  // namespace trueup::core
