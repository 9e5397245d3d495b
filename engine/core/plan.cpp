#include "engine/core/plan.h"

#include "engine/core/bytes.h"
#include "engine/core/facts.h"
#include "engine/core/rule_text.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace trueup::core {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;
using policy::Verb;

/// The fields of one role that something asks for.
using Names = std::vector<std::set<std::string>>;
using Mentions = std::vector<std::set<std::uint16_t>>;

/// What an object keeps for all its life, or what its source alone knows.
constexpr std::size_t kMostConditions = 64;
constexpr std::size_t kMostRules = 254;  // over the life of a journal, those that left included
constexpr std::size_t kMostDeep = 4;     // conditions that ask for others
constexpr std::array<std::string_view, 8> kNotLookedAt{
    "created", "failures", "id", "in_scope", "namespace", "scope", "succeeded", "uid"};

class Compiler {
  public:
    Compiler(const policy::Policy& policy, const Settings& settings)
        : policy_(policy), settings_(settings) {}

    Result<Plan> run() {
        if (const Status fits = check_text(); !fits) return fits.error();
        name_fields();
        for (std::size_t i = 0; i < policy_.roles.size(); ++i) begin_role(static_cast<Role>(i));
        for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
            PlanNode live = node(policy_.roles[i].live, static_cast<Role>(i));
            plan_.roles[i].claims = bit_of(live, static_cast<Role>(i), false);
            plan_.roles[i].live = std::move(live);
        }
        for (const policy::NamedCondition& condition : policy_.conditions) add(condition);
        if (policy_.ledger) add(*policy_.ledger);
        for (const policy::Count& count : policy_.counts) add(count);
        for (const RuleSettings& rule : settings_.rules) add(rule);
        check_roles();
        for (PlanRole& role : plan_.roles) {
            for (std::size_t i = 0; i < std::min(role.tests.size(), PlanRole::kMostTests); ++i) {
                role.fields[role.tests[i].field].tests |= std::uint64_t{1} << i;
            }
            if (flaw_.empty()) tell_apart(role);
        }
        check_totals();
        count_unknown_words();
        if (!flaw_.empty()) return refusal(std::move(flaw_));
        return std::move(plan_);
    }

  private:
    static Error refusal(std::string what) {
        return {Next::kStop, Code::kConfiguration, std::move(what)};
    }
    /// The first is told.
    void flaw(std::string what) {
        if (flaw_.empty()) flaw_ = std::move(what);
    }

    /// What no plan has room for, or could tell apart.
    Status check_text() const {
        if (policy_.roles.empty() || policy_.roles.size() > kMostRoles) {
            return refusal("the policy has " + std::to_string(policy_.roles.size()) +
                           " roles; this build has room for 1 to " + std::to_string(kMostRoles));
        }
        for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
            if (number(policy_.roles[i].name) != i) {
                return refusal("the policy has two roles '" + policy_.roles[i].name + "'");
            }
        }
        if (policy_.conditions.size() > kMostConditions || settings_.rules.size() > kMostRules) {
            return refusal("the policy has " + std::to_string(policy_.conditions.size()) +
                           " conditions and " + std::to_string(settings_.rules.size()) +
                           " rules; this build has room for " + std::to_string(kMostConditions) +
                           " and " + std::to_string(kMostRules));
        }
        return Done{};
    }

    void check_roles() {
        for (const PlanRole& role : plan_.roles) {
            if (role.fields.size() > PlanRole::kMostFields) {
                flaw("the policy reads " + std::to_string(role.fields.size()) + " fields of " +
                     role.name + "; this build has room for " +
                     std::to_string(PlanRole::kMostFields));
            }
            if (role.tests.size() > PlanRole::kMostTests) {
                flaw("the policy asks " + std::to_string(role.tests.size()) +
                     " different things of " + role.name + "; this build has room for " +
                     std::to_string(PlanRole::kMostTests));
            }
        }
    }

    void check_totals() {
        if (next_bit_ > Bits::kMost) {
            flaw("the policy has " + std::to_string(next_bit_) +
                 " different conditions; this build has room for " + std::to_string(Bits::kMost));
        }
        if (plan_.tallies.size() > kMostTallies) {
            flaw("the policy counts " + std::to_string(plan_.tallies.size()) +
                 " things; this build has room for " + std::to_string(kMostTallies));
        }
    }

    /// kNoRole: there is none of that name.
    Role number(const std::string& name) const {
        for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
            if (policy_.roles[i].name == name) return static_cast<Role>(i);
        }
        return kNoRole;
    }
    /// The same where there must be one.
    Role named(const std::string& name) {
        const Role role = number(name);
        if (role != kNoRole) return role;
        flaw("the policy has no role '" + name + "'");
        return 0;
    }

    // ---------------------------------------------------------------- fields

    void want(const policy::FieldRef& field) {
        if (field.field.empty()) return;
        const Role role = number(field.role);
        if (role == kNoRole) return;
        wanted_[role].insert(field.field);
        if (compared_) news_[role].insert(field.field);
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
    void want(const policy::Text& text) {
        for (const policy::Piece& piece : text) want(piece.field);
    }
    void want(const policy::Case& found) {
        want(found.when);
        compared_ = false;
        if (found.past) {
            want(found.past->from);
            if (const auto* field = std::get_if<policy::FieldRef>(&found.past->length))
                want(*field);
        }
        for (const policy::Step& step : found.steps) {
            want(step.name);
            for (const policy::Assigned& set : step.sets) {
                if (set.value) want(*set.value);
            }
            for (const policy::FieldRef& field : step.reads) want(field);
        }
        compared_ = true;
    }

    /// What is read of each role, so that one walk over an object meets it all.
    void name_fields() {
        wanted_.resize(policy_.roles.size());
        news_.resize(policy_.roles.size());
        for (const policy::Role& role : policy_.roles) {
            want(role.live, role.name);
            for (const std::string& field : policy::fields_of(role.key)) want({role.name, field});
        }
        for (const policy::NamedCondition& condition : policy_.conditions) {
            for (const auto& line : condition.lines) want(line.when);
        }
        compared_ = false;
        for (const policy::Count& count : policy_.counts) {
            for (const auto& subjects : count.subjects) want(subjects);
            want(count.objects, count.role);
            want({count.role, count.by});
        }
        compared_ = true;
        if (policy_.ledger) {
            const policy::Ledger& ledger = *policy_.ledger;
            want(ledger.of);
            for (const Condition* each : {&ledger.belongs, &ledger.failed, &ledger.succeeded}) {
                want(*each, ledger.objects);
            }
            want(ledger.known);
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
        role.optional = text.optional;
        for (std::size_t id = 0; id < settings_.sources.size(); ++id) {
            if (settings_.sources[id].role == number) {
                role.sources.push_back(static_cast<SourceId>(id));
            }
        }
        for (const std::string& name : wanted_[number]) {
            role.fields.push_back(field_of(text, role, name));
        }
        const bool name_is_key = text.key.op == policy::Key::Op::kField;
        if (text.kind == policy::Kind::kRow) role.keys.emplace_back("key");
        if (text.kind == policy::Kind::kRow || name_is_key) {
            for (const auto& fields : {policy::alone_in(text.key), text.also}) {
                for (const std::string& field : fields) {
                    const auto known = std::find(role.keys.begin(), role.keys.end(), field);
                    if (known == role.keys.end()) role.keys.push_back(field);
                }
            }
        }
        if (role.keys.empty()) role.keys.emplace_back("key");
        std::set<std::string> claim;
        add_fields(text.live, claim);
        for (const std::string& field : policy::fields_of(text.key)) claim.insert(field);
        role.claim.assign(claim.begin(), claim.end());
    }

    static void add_fields(const Condition& condition, std::set<std::string>& names) {
        const bool test = condition.kind == Condition::Kind::kTest;
        if (test && condition.test.op != Op::kIs) names.insert(condition.test.field);
        for (const Condition& part : condition.parts) add_fields(part, names);
    }

    PlanField field_of(const policy::Role& text, const PlanRole& role, const std::string& name) {
        PlanField field;
        field.name = name;
        const bool declared = policy::find_field(text, name) != nullptr;
        const std::vector<std::string> key = policy::fields_of(text.key);
        field.in_key = std::find(key.begin(), key.end(), name) != key.end();
        field.is_news = news_[number(text.name)].count(name) > 0;
        // Any column may be called so.
        field.looked_at =
            declared || role.kind == policy::Kind::kRow ||
            std::find(kNotLookedAt.begin(), kNotLookedAt.end(), name) == kNotLookedAt.end();
        // A pod's or an object's name is its identity beside the uid.
        if (role.kubernetes() && name == "name") field.looked_at = false;
        if (const policy::Field* known = policy::find_field(text, name)) {
            field.type = known->type;
            field.words = known->words;
            field.required = known->required;
            field.null_unequal = known->null_unequal;
            field.blank_is_value = known->blank_is_value;
            field.zone = policy::parse_zone(known->zone);
            const bool needed = field.type == policy::Field::Type::kDate;
            if (!field.zone && (needed || !known->zone.empty())) {
                flaw("the zone of " + text.name + "." + name + " is '" + known->zone +
                     "', which is neither UTC nor an offset as +01:00");
            }
            return field;
        }
        const bool ledger = policy_.ledger && policy_.ledger->of.role == text.name;
        if (ledger && name == "failures") field.from = PlanField::From::kFailures;
        if (ledger && name == "succeeded") field.from = PlanField::From::kSucceeded;
        if (field.from != PlanField::From::kSent) field.looked_at = false;
        if (name == "scope" && !text.scope.empty()) field.from = PlanField::From::kScope;
        if (name == "created" && role.kind != policy::Kind::kRow) {
            field.type = policy::Field::Type::kTimestamp;
        }
        if (!role.kubernetes()) return field;
        if (name == "deleting") field.from = PlanField::From::kFalseUnlessSent;
        if (name == "in_scope") field.from = PlanField::From::kTrueUnlessSent;
        if (name == "uid") field.from = PlanField::From::kUid;
        return field;
    }

    std::uint16_t field_number(Role role, const std::string& name) const {
        const std::set<std::string>& names = wanted_[role];
        return static_cast<std::uint16_t>(std::distance(names.begin(), names.find(name)));
    }
    /// kNoRole where nothing is meant.
    FieldAt at(const policy::FieldRef& field) {
        if (field.role.empty() && field.field.empty()) return {};
        const Role role = named(field.role);
        if (wanted_[role].count(field.field) == 0) {
            flaw("the policy has no field '" + field.role + "." + field.field + "'");
            return {role, 0};
        }
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
    void join(const policy::Test& test, std::uint16_t field, PlanRole& of, PlanNode& made) {
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
    void ask(const policy::Test& test, std::uint16_t field, PlanRole& of, PlanNode& made) {
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
    std::uint16_t condition_number(const std::string& name, Role about) {
        for (std::size_t i = 0; i < plan_.conditions.size(); ++i) {
            if (policy_.conditions[i].name != name || plan_.conditions[i].about != about) continue;
            depth_ = std::max(depth_, plan_.conditions[i].depth);
            return static_cast<std::uint16_t>(i);
        }
        flaw("the policy has no condition '" + name + "' of " + plan_.roles[about].name +
             " above its use");
        return 0;
    }

    std::size_t bit_of(const PlanNode& condition, Role number, bool in_scope) {
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

    /// False: it is not only tests of which all must be so.
    static bool plain(const PlanNode& node, PlanAsked& asked) {
        if (node.kind == PlanNode::Kind::kTest) {
            if (node.index >= PlanRole::kMostTests) return false;  // the plan is refused
            (node.negated ? asked.none : asked.all) |= std::uint64_t{1} << node.index;
            return true;
        }
        return node.kind == PlanNode::Kind::kAll &&
               std::all_of(node.parts.begin(), node.parts.end(),
                           [&](const PlanNode& part) { return plain(part, asked); });
    }

    PlanPattern planned(const policy::Pattern& text) {
        PlanPattern made;
        made.role = named(text.role);
        made.quantifier = text.quantifier;
        made.condition = node(text.condition, made.role);
        made.bit = bit_of(made.condition, made.role, made.quantifier != Quantifier::kNone);
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

    void add(const policy::NamedCondition& condition) {
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
            flaw("the condition " + condition.name + " asks for others " +
                 std::to_string(made.depth) + " deep; this build goes " +
                 std::to_string(kMostDeep) + " deep");
        }
        plan_.conditions.push_back(std::move(made));
    }

    void add(const policy::Ledger& text) {
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

    PlanCount::Part part_of(const policy::Pattern& pattern) {
        PlanCount::Part part{named(pattern.role), pattern.quantifier, 0};
        part.bit = bit_of(node(pattern.condition, part.role), part.role,
                          part.quantifier != Quantifier::kNone);
        return part;
    }

    void add(const policy::Count& text) {
        if (text.name == kUnknownWords) {
            flaw("the count " + text.name + " has the name of what is counted in any case");
        }
        PlanCount count;
        count.first = static_cast<TallyId>(plan_.tallies.size());
        for (const auto& subjects : text.subjects) {
            auto& parts = count.any.emplace_back();
            for (const policy::Pattern& pattern : subjects) parts.push_back(part_of(pattern));
        }
        if (!text.role.empty()) {
            const Role role = named(text.role);
            count.objects = PlanCount::Part{role, Quantifier::kSome,
                                            bit_of(node(text.objects, role), role, false)};
        }
        if (text.by.empty()) {
            plan_.tallies.push_back({text.name, {}, {}});
        } else {
            const Role role = named(text.role);
            const PlanField field = plan_.roles[role].fields[field_number(role, text.by)];
            if (field.words.empty()) {
                flaw("the count " + text.name + " has a number for each word of " + text.role +
                     "." + text.by + ", which lists none");
            }
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
    void count_unknown_words() {
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

    // ---------------------------------------------------------------- rules

    /// One that left the text keeps its number.
    void add(const RuleSettings& settings) {
        PlanRule made;
        made.name = settings.rule;
        const auto text =
            std::find_if(policy_.rules.begin(), policy_.rules.end(),
                         [&](const policy::Rule& rule) { return rule.name == settings.rule; });
        if (text == policy_.rules.end()) {
            made.unable = "the policy has no such rule any more";
            plan_.rules.push_back(std::move(made));
            return;
        }
        RuleText means = rule_text(policy_, settings_.sources, settings.rule);
        made.text = means.text;
        made.roles = std::move(means.roles);
        made.finds = text->finds;
        made.does = told(text->cases);
        made.since_first_seen = text->since_first_seen;
        made.keyless = text->keyless;
        made.backoff = text->backoff;
        request(text->requested, made);
        for (const policy::Case& each : text->cases) {
            made.cases.push_back(planned(each));
            mask(made.cases.back(), made);
            if (made.cases.back().ends()) end_by(made, made.cases.back());
            for (const policy::Step& step : each.steps) {
                if (made.unable.empty()) made.unable = unable(step);
            }
        }
        for (PlanCase& each : made.cases) {
            each.by_ledger = plan_.ledger && (!made.backoff.empty() || asks_ledger(each));
        }
        if (made.cases.size() == 1) made.mask = made.cases.front().mask;
        plan_.rules.push_back(std::move(made));
    }

    /// Who may ask for what the rule does; empty: it needs no request.
    void request(const std::string& name, PlanRule& made) {
        if (name.empty()) return;
        if (name != "terminate") made.unable = "this build has no request '" + name + "'";
        const auto found = policy_.requests.find(name);
        if (found == policy_.requests.end()) {
            flaw("the policy has no request '" + name + "'");
        } else {
            made.owner = at(found->second);
        }
    }

    bool asks_ledger(const PlanCase& found) const {
        for (std::size_t role = 0; role < found.mentions.size(); ++role) {
            for (const std::uint16_t field : found.mentions[role]) {
                const PlanField::From from = plan_.roles[role].fields[field].from;
                if (from == PlanField::From::kFailures || from == PlanField::From::kSucceeded) {
                    return true;
                }
            }
        }
        return false;
    }

    /// `delete pods, delete services, update rows`
    static std::string told(const std::vector<policy::Case>& cases) {
        std::string text;
        for (const policy::Case& each : cases) {
            for (const policy::Step& step : each.steps) {
                if (step.verb == Verb::kReport) continue;
                const std::string one = std::string(policy::name_of(step.verb)) + ' ' + step.role;
                if (text.find(one) != std::string::npos) continue;
                text += text.empty() ? one : ", " + one;
            }
        }
        return text;
    }

    /// Which step there is no executor for.
    std::string unable(const policy::Step& step) const {
        const Role role = number(step.role);
        const policy::Kind kind = role == kNoRole ? policy::Kind::kRow : policy_.roles[role].kind;
        const bool pod = kind == policy::Kind::kPod;
        const bool kubernetes = pod || kind == policy::Kind::kObject;
        bool able = false;
        switch (step.verb) {
            case Verb::kReport:
            case Verb::kVerify:
            case Verb::kRetract:
                able = true;
                break;
            case Verb::kDelete:
            case Verb::kCreate:
                able = kubernetes && !step.object;
                break;
            case Verb::kUpdate:
                able = kind == policy::Kind::kRow;
                break;
            case Verb::kInsert:
            case Verb::kStop:
            case Verb::kFollow:
                break;
        }
        if (able) return {};
        return "nothing in this build can " + std::string(policy::name_of(step.verb)) + ' ' +
               step.role;
    }

    void end_by(PlanRule& rule, const PlanCase& found) {
        std::string bytes;
        ByteWriter out(bytes);
        for (const PlanStep& step : found.steps) {
            out.number(static_cast<std::uint64_t>(step.verb));
            out.text(plan_.roles[step.role].name);
            out.number(step.sets.size());
            for (const PlanAssigned& set : step.sets) {
                out.text(set.field);
                out.flag(set.value.has_value());
                if (!set.value) continue;
                out.number(set.value->size());
                for (const PlanPiece& piece : *set.value) {
                    out.number(static_cast<std::uint64_t>(piece.kind));
                    out.text(piece.literal);
                    if (piece.field.role == kNoRole) continue;
                    out.text(plan_.roles[piece.field.role].name);
                    out.text(plan_.roles[piece.field.role].fields[piece.field.field].name);
                }
            }
            if (plan_.roles[step.role].sources.size() > 1) {
                rule.unable = "nothing in this build can end what has several sources, " +
                              plan_.roles[step.role].name;
            }
            if (step.verb == Verb::kUpdate || step.verb == Verb::kDelete) continue;
            rule.unable = "nothing in this build can " + std::string(policy::name_of(step.verb)) +
                          " on the way to an end";
        }
        const Hash128 hash = hash128(bytes);
        if (!rule.ending.empty() && rule.ending_hash != hash) {
            flaw(rule.name + " ends things in two ways; write two rules");
        }
        rule.ending = found.steps;
        rule.ending_hash = hash;
    }

    PlanText planned(const policy::Text& text) {
        PlanText made;
        for (const policy::Piece& piece : text) {
            if (piece.kind == policy::Piece::Kind::kNow) {
                flaw("this build does not know {now}");
            }
            made.push_back({piece.kind, piece.literal, at(piece.field)});
        }
        return made;
    }

    PlanStep planned(const policy::Step& text) {
        PlanStep step;
        step.verb = text.verb;
        step.role = text.verb == Verb::kReport ? kNoRole : named(text.role);
        step.name = planned(text.name);
        step.grace_period = text.grace_period;
        for (const policy::Assigned& set : text.sets) {
            PlanAssigned assigned{set.field, std::nullopt};
            if (set.value) assigned.value = planned(*set.value);
            step.sets.push_back(std::move(assigned));
        }
        return step;
    }

    PlanCase planned(const policy::Case& text) {
        PlanCase made;
        made.duplicates = text.duplicates;
        for (const std::string& name : text.ask_while) made.asks.push_back(tally(name));
        for (const policy::Pattern& pattern : text.when) {
            const Role role = named(pattern.role);
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
        hold_bound(text, made);
        if (text.steps.empty()) flaw("a rule says nothing of what is to be done");
        for (const policy::Step& step : text.steps) {
            made.steps.push_back(planned(step));
            for (const policy::FieldRef& field : step.reads) made.reads.push_back(at(field));
        }
        mention(made);
        hold_sources(made);
        return made;
    }

    /// What a case asks for, and what its steps are about, somebody must have.
    void hold_sources(const PlanCase& made) {
        for (const auto* patterns : {&made.patterns, &made.looked_up}) {
            for (const PlanPattern& pattern : *patterns) {
                const PlanRole& role = plan_.roles[pattern.role];
                if (!role.sources.empty()) continue;
                flaw("a rule asks for " + role.name + ", and no source has any");
            }
        }
        for (const PlanStep& step : made.steps) {
            // What is to be deleted where nobody has any is gone.
            if (step.role == kNoRole || step.verb == Verb::kDelete) continue;
            const PlanRole& role = plan_.roles[step.role];
            if (!role.sources.empty()) continue;
            flaw("a rule would " + std::string(policy::name_of(step.verb)) + ' ' + role.name +
                 ", and no source has any");
        }
    }

    /// What a deadline and a step speak of is what a pattern bound.
    void hold_bound(const policy::Case& text, const PlanCase& found) {
        const auto bound = [&](const std::string& role) {
            return std::any_of(found.patterns.begin(), found.patterns.end(),
                               [&](const PlanPattern& pattern) {
                                   return pattern.quantifier != Quantifier::kNone &&
                                          plan_.roles[pattern.role].name == role;
                               });
        };
        const auto need = [&](const std::string& role, std::string_view what) {
            if (!bound(role)) flaw("no pattern binds " + role + ", which " + std::string(what));
        };
        if (text.past) {
            need(text.past->from.role, "a deadline begins at");
            const auto* length = std::get_if<policy::FieldRef>(&text.past->length);
            if (length != nullptr) need(length->role, "a deadline is as long as");
        }
        for (const policy::Step& step : text.steps) {
            const bool writes = step.verb == Verb::kUpdate || step.verb == Verb::kRetract;
            if (writes) need(step.role, "is to be written");
        }
    }

    TallyId tally(const std::string& name) {
        for (std::size_t i = 0; i < policy_.counts.size(); ++i) {
            if (policy_.counts[i].name != name) continue;
            if (!plan_.counts[i].words.empty())
                flaw("a rule asks while " + name + ", which has many numbers");
            return plan_.counts[i].first;
        }
        flaw("the policy has no count '" + name + "'");
        return 0;
    }

    /// The bits without which the case cannot be anything but healthy. What a request waits for may
    /// be missing.
    void mask(PlanCase& found, const PlanRule& rule) const {
        if (found.duplicates) return;
        const Role taken = found.steps.empty() ? kNoRole : found.steps.front().role;
        for (const PlanPattern& pattern : found.patterns) {
            if (plan_.roles[pattern.role].reference || pattern.bit >= Bits::kMost) continue;
            if (pattern.quantifier == Quantifier::kNone) {
                found.mask.never.set(pattern.bit);
            } else if (!rule.on_request() || pattern.role != taken) {
                found.mask.may.set(pattern.bit);
            }
        }
    }

    // ---------------------------------------------------------------- what is mentioned

    void mention(PlanCase& found) {
        Mentions all(plan_.roles.size());
        for (const PlanPattern& pattern : found.patterns) {
            mention(pattern, all, found);
            mention(plan_.roles[pattern.role].live, pattern.role, all, found);
            for (const std::string& field : policy::fields_of(policy_.roles[pattern.role].key)) {
                all[pattern.role].insert(field_number(pattern.role, field));
            }
        }
        if (found.past) {
            mention(found.past->from, all);
            if (const auto* field = std::get_if<FieldAt>(&found.past->length)) mention(*field, all);
        }
        for (const FieldAt& field : found.reads) mention(field, all);
        for (const PlanStep& step : found.steps) {
            mention(step.name, all, found);
            for (const PlanAssigned& set : step.sets) {
                if (set.value) mention(*set.value, all, found);
            }
        }
        for (const std::set<std::uint16_t>& fields : all) {
            found.mentions.emplace_back(fields.begin(), fields.end());
        }
    }
    static void mention(const FieldAt& field, Mentions& all) {
        if (field.role != kNoRole) all[field.role].insert(field.field);
    }
    static void mention(const PlanText& text, Mentions& all, PlanCase& found) {
        for (const PlanPiece& piece : text) {
            if (piece.field.role == kNoRole) continue;
            mention(piece.field, all);
            found.texts.push_back(piece.field);
        }
    }
    void mention(const PlanPattern& pattern, Mentions& all, PlanCase& found) const {
        mention(pattern.condition, pattern.role, all, found);
        for (const PlanRanking& ranking : pattern.keep) {
            mention(ranking.condition, pattern.role, all, found);
            if (ranking.latest) mention(FieldAt{pattern.role, *ranking.latest}, all);
        }
        mention(pattern.named, all);
        mention(pattern.in, all);
    }
    static void look_up(const PlanPattern& pattern, PlanCase& found) {
        const bool known = std::any_of(
            found.looked_up.begin(), found.looked_up.end(), [&](const PlanPattern& each) {
                return each.role == pattern.role && each.named == pattern.named &&
                       each.named_literal == pattern.named_literal && each.in == pattern.in;
            });
        if (!known) found.looked_up.push_back(pattern);
    }

    void mention(const PlanNode& node, Role role, Mentions& all, PlanCase& found) const {
        const PlanRole& of = plan_.roles[role];
        if (node.kind == PlanNode::Kind::kTest && node.index < of.tests.size()) {
            mention(FieldAt{role, of.tests[node.index].field}, all);
        } else if (node.kind == PlanNode::Kind::kJoin) {
            mention(FieldAt{role, of.joins[node.index].field}, all);
            mention(of.joins[node.index].other, all);
        } else if (node.kind == PlanNode::Kind::kNamed) {
            if (node.index >= plan_.conditions.size()) return;  // the plan is refused
            for (const PlanCondition::Line& line : plan_.conditions[node.index].lines) {
                for (const PlanPattern& pattern : line.when) {
                    mention(pattern, all, found);
                    const bool own = pattern.role == plan_.conditions[node.index].about;
                    if (!own) look_up(pattern, found);
                }
            }
        }
        for (const PlanNode& part : node.parts) mention(part, role, all, found);
    }

    // ---------------------------------------------------------------- order

    /// Each pattern behind those whose objects it asks for, and `none` last: the checks of the text
    /// know that there is such an order.
    static std::vector<const policy::Pattern*> in_order(const std::vector<policy::Pattern>& all) {
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
    Names news_;            ///< those of them that patterns, claims, keys and the ledger mention
    bool compared_ = true;  ///< what is wanted now is mentioned by one of these
    Plan plan_;
    std::size_t next_bit_ = 0;
    std::size_t depth_ = 0;  ///< of the conditions that the one being read asks for
    std::string flaw_;
};

}  // namespace

RuleNumber Plan::rule(std::string_view name) const {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].name == name) return RuleNumber(static_cast<std::uint8_t>(i));
    }
    return kEveryRule;
}

Result<Plan> compile(const policy::Policy& policy, const Settings& settings) {
    return Compiler(policy, settings).run();
}

}  // namespace trueup::core
