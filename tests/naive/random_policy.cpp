#include "tests/naive/random_policy.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace trueup::testing::naive {

namespace {

using policy::Condition;
using policy::Kind;
using policy::Op;
using policy::Quantifier;
using policy::Verb;
using Type = policy::Field::Type;
using Texts = std::vector<std::string>;

bool in_kubernetes(const policy::Role& role) {
    return role.kind == Kind::kPod || role.kind == Kind::kObject;
}

Condition leaf(policy::Test test) {
    Condition condition;
    condition.kind = Condition::Kind::kTest;
    condition.test = std::move(test);
    return condition;
}

/// How many conditions deep a condition may ask for others.
constexpr std::size_t kDeepest = 4;

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : dice_(seed) {}

    policy::Policy run() {
        policy_.name = "p";
        policy_.subject = "whatever there is";
        add_roles();
        const bool counts_ends = dice_.chance(3);
        if (counts_ends) {
            policy_.ledger = policy::Ledger{};
            policy_.ledger->of.role = any_own().name;
        }
        for (policy::Role& role : policy_.roles) {
            if (dice_.chance(2)) role.live = condition(role, {}, 1);
        }
        for (std::size_t left = dice_.below(5); left > 0; --left) add_condition();
        if (counts_ends) end_ledger();
        for (std::size_t left = dice_.below(4); left > 0; --left) add_count();
        add_request();
        for (std::size_t left = 2 + dice_.below(3); left > 0; --left) add_rule();
        return std::move(policy_);
    }

  private:
    bool asks_for_names_ = false;  ///< named conditions exist, and may be asked for

    // ---------------------------------------------------------------- roles

    void add_roles() {
        const std::size_t own = 2 + dice_.below(3);
        const std::size_t all = own + dice_.below(3);
        for (std::size_t i = 0; i < all; ++i) {
            policy::Role role;
            role.name = std::string(1, static_cast<char>('a' + i));
            role.kind = dice_.of(std::vector<Kind>{Kind::kRow, Kind::kRow, Kind::kRow, Kind::kPod,
                                                   Kind::kPod, Kind::kObject, Kind::kEc2});
            role.reference = i >= own;
            role.several = !role.reference && dice_.chance(4);
            role.optional = !role.reference && i >= 2 && dice_.chance(4);
            if (!role.reference && dice_.chance(4)) role.scope = "zone";
            add_fields(role);
            add_key(role);
            policy_.roles.push_back(std::move(role));
        }
        for (policy::Role& role : policy_.roles) {
            if (!role.reference && dice_.chance(3)) mirror(role);
        }
    }

    /// As of when it is, is said by a row that is looked up.
    void mirror(policy::Role& role) {
        for (const policy::Role& by : policy_.roles) {
            if (!by.reference || by.kind != Kind::kRow || role.kind != Kind::kRow) continue;
            if (policy::find_field(by, "f_time") == nullptr) continue;
            role.as_of = {by.name, "f_time"};
            role.as_of_field = by.name + ".f_time";
            role.as_of_at = "n-1";
        }
    }

    void add_fields(policy::Role& role) {
        static const std::vector<std::pair<std::string, Type>> kFields{
            {"f_bool", Type::kBoolean},   {"f_ends", Type::kEnds},
            {"f_lasts", Type::kDuration}, {"f_num", Type::kNumber},
            {"f_sum", Type::kNumber},     {"f_text", Type::kText},
            {"f_time", Type::kTimestamp}, {"f_until", Type::kTimestamp},
            {"f_word", Type::kText},      {"f_zone", Type::kText}};
        for (const auto& [name, type] : kFields) {
            if (name != "f_text" && dice_.chance(3)) continue;
            policy::Field field;
            field.name = name;
            field.type = type;
            if (name == "f_word") {
                field.words = dice_.chance(2) ? Texts{"down", "odd", "up"} : Texts{"down", "up"};
            }
            flag(role, field);
            role.fields.push_back(std::move(field));
        }
        if (!dice_.chance(12)) return;
        // What a role declares hides what is built in.
        policy::Field field;
        field.name = dice_.of(Texts{"failures", "name", "uid"});
        flag(role, field);
        role.fields.push_back(std::move(field));
        std::sort(role.fields.begin(), role.fields.end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
    }

    void flag(const policy::Role& role, policy::Field& field) {
        if (role.kind == Kind::kRow) {
            field.null_unequal = dice_.chance(5);
            field.blank_is_value = dice_.chance(6);
        } else {
            field.required = dice_.chance(4);
        }
    }

    void add_key(policy::Role& role) {
        using KeyOp = policy::Key::Op;
        role.key = {KeyOp::kField, in_kubernetes(role) ? "name" : "id", {}};
        if (role.kind == Kind::kRow) role.key.text = "f_text";
        if (in_kubernetes(role) && dice_.chance(3)) role.key.text = "label.app";
        if (role.kind != Kind::kRow || dice_.chance(2)) return;
        // coalesce(f_text, 'x-' || f_word)
        policy::Key other{KeyOp::kField, "f_num", {}};
        if (policy::find_field(role, "f_num") == nullptr) return;
        policy::Key joined{KeyOp::kConcat, {}, {{KeyOp::kLiteral, "x-", {}}, std::move(other)}};
        role.key = {KeyOp::kCoalesce, {}, {role.key, std::move(joined)}};
    }

    /// One that is no reference.
    const policy::Role& any_own() {
        for (;;) {
            const policy::Role& role = dice_.of(policy_.roles);
            if (!role.reference && !role.optional) return role;
        }
    }

    // ---------------------------------------------------------------- conditions

    /// `beside`: roles whose objects may be compared with.
    Condition condition(const policy::Role& role, const Texts& beside, std::size_t deep) {
        Condition made;
        made.kind = dice_.chance(4) ? Condition::Kind::kAny : Condition::Kind::kAll;
        const bool any = made.kind == Condition::Kind::kAny;
        const std::size_t tests = any ? 2 : deep == 0 ? 1 : dice_.below(3);
        for (std::size_t i = 0; i < tests; ++i) {
            if (deep > 0 && dice_.chance(5)) {
                made.parts.push_back(condition(role, beside, deep - 1));
            } else {
                made.parts.push_back(leaf(test(role, beside)));
            }
        }
        if (made.parts.size() == 1) return Condition(made.parts.front());
        return made;
    }

    policy::Test test(const policy::Role& role, const Texts& beside) {
        if (asks_for_names_ && dice_.chance(3)) {
            const std::size_t all = policy_.conditions.size();
            const std::size_t first = dice_.below(all);
            for (std::size_t i = 0; i < all; ++i) {
                const policy::NamedCondition& each = policy_.conditions[(first + i) % all];
                if (each.about != role.name || depth_of(each.name) > most_deep_) continue;
                return {{}, Op::kIs, dice_.chance(2), {each.name}, {}};
            }
        }
        const std::vector<Askable> fields = askable(policy_, role);
        const Askable& field = dice_.of(fields);
        policy::Test test{field.name, Op::kSet, dice_.chance(3), {}, {}};
        if (dice_.chance(6)) return test;
        if (dice_.chance(4) && compare(role, field, beside, test)) return test;
        constants(field, test);
        return test;
    }

    void constants(const Askable& field, policy::Test& test) {
        static const Texts kNumbers{"-3", "0", "1", "5", "9", "10"};
        switch (field.type) {
            case Type::kBoolean:
                test.op = Op::kIn;
                test.values = {dice_.chance(2) ? "true" : "false"};
                return;
            case Type::kNumber:
                test.op = dice_.of(
                    std::vector<Op>{Op::kIn, Op::kOver, Op::kUnder, Op::kAtLeast, Op::kAtMost});
                test.values = {dice_.of(kNumbers)};
                return;
            case Type::kText:
                break;
            default:
                return;  // no constant equals a time: whether it is there
        }
        const Texts& known = field.words.empty() ? usual_texts() : field.words;
        test.op = dice_.chance(5) ? (dice_.chance(2) ? Op::kStarts : Op::kLike) : Op::kIn;
        if (test.op == Op::kStarts) test.values = {dice_.of(Texts{"x", "y-", "u"})};
        if (test.op == Op::kLike) test.values = {dice_.of(Texts{"x*", "*-1", "*", "x*1", "u*p"})};
        if (test.op != Op::kIn) return;
        std::set<std::string> values{dice_.of(known)};
        if (dice_.chance(2)) values.insert(dice_.of(known));
        test.values.assign(values.begin(), values.end());
    }

    /// False: there is nothing of that type to compare it with.
    bool compare(const policy::Role& role, const Askable& field, const Texts& beside,
                 policy::Test& test) {
        Texts roles = beside;
        roles.push_back(role.name);
        const std::string& other = dice_.of(roles);
        std::vector<Askable> fit = askable(policy_, *policy::find_role(policy_, other));
        std::erase_if(fit, [&](const Askable& each) { return each.type != field.type; });
        if (fit.empty()) return false;
        const bool ordered = field.type == Type::kNumber || field.type == Type::kTimestamp;
        test.op = !ordered || dice_.chance(2) ? Op::kSame
                  : dice_.chance(2)           ? Op::kBefore
                                              : Op::kAfter;
        test.other = {other, dice_.of(fit).name};
        return true;
    }

    std::size_t depth_of(const std::string& name) const { return depth_.at(name); }

    void add_condition() {
        policy::NamedCondition made;
        made.name = "c" + std::to_string(policy_.conditions.size());
        const policy::Role& about = any_own();
        made.about = about.name;
        most_deep_ = kDeepest - 1;  // so that it is kDeepest deep itself at most
        for (std::size_t left = 1 + dice_.below(3); left > 0; --left) {
            policy::NamedCondition::Line line;
            line.then = static_cast<policy::NamedCondition::Line::Then>(1 + dice_.below(3));
            if (dice_.chance(3)) line.when = others(about);
            if (line.when.empty() || dice_.chance(2)) {
                policy::Pattern own;
                own.role = about.name;
                own.condition = condition(about, {}, 1);
                line.when.insert(line.when.begin(), std::move(own));
            }
            made.lines.push_back(std::move(line));
        }
        using Then = policy::NamedCondition::Line::Then;
        made.lines.push_back({{}, dice_.chance(2) ? Then::kTrue : Then::kFalse, {}});
        most_deep_ = kDeepest;
        std::size_t deepest = 0;
        for (const auto& line : made.lines) {
            for (const auto& pattern : line.when) add_depth(pattern.condition, deepest);
        }
        depth_[made.name] = deepest + 1;
        policy_.conditions.push_back(std::move(made));
        asks_for_names_ = true;
    }
    void add_depth(const Condition& condition, std::size_t& deepest) const {
        if (condition.kind == Condition::Kind::kTest && condition.test.op == Op::kIs) {
            deepest = std::max(deepest, depth_of(condition.test.values.front()));
        }
        for (const Condition& part : condition.parts) add_depth(part, deepest);
    }

    /// Of others, in a line about an object of `about`.
    std::vector<policy::Pattern> others(const policy::Role& about) {
        const policy::Role& other = dice_.of(policy_.roles);
        if (other.name == about.name || other.optional) return {};
        policy::Pattern made = pattern(other, {about.name}, any_quantifier());
        if (!usable(made)) return {};
        return {std::move(made)};
    }

    // ---------------------------------------------------------------- patterns

    Quantifier any_quantifier() {
        return dice_.of(std::vector<Quantifier>{Quantifier::kOne, Quantifier::kOne,
                                                Quantifier::kNone, Quantifier::kSome,
                                                Quantifier::kSurplus});
    }

    /// A text of one of these roles.
    policy::FieldRef text_of(const Texts& roles, const char* wanted) {
        if (roles.empty()) return {};
        const std::string& role = dice_.of(roles);
        const bool has = policy::find_field(*policy::find_role(policy_, role), wanted) != nullptr;
        return has ? policy::FieldRef{role, wanted} : policy::FieldRef{};
    }

    policy::Pattern pattern(const policy::Role& role, const Texts& bound, Quantifier quantifier) {
        policy::Pattern made;
        made.role = role.name;
        made.quantifier = quantifier;
        made.condition = condition(role, bound, 2);
        if (quantifier == Quantifier::kSurplus) {
            for (std::size_t left = 1 + dice_.below(2); left > 0; --left) {
                made.keep.push_back(ranking(role, bound));
            }
        }
        if (role.reference) {
            if (!dice_.chance(4)) made.named = text_of(bound, "f_text");
            if (made.named.role.empty()) made.named_literal = dice_.of(usual_texts());
        }
        if (!role.scope.empty() && dice_.chance(2)) made.in = text_of(bound, "f_zone");
        return made;
    }

    policy::Ranking ranking(const policy::Role& role, const Texts& bound) {
        policy::Ranking made;
        if (dice_.chance(3)) {
            std::vector<Askable> fields = askable(policy_, role);
            std::erase_if(fields, [](const Askable& each) {
                return each.type != Type::kNumber && each.type != Type::kTimestamp;
            });
            if (!fields.empty()) made.latest = dice_.of(fields).name;
        }
        if (made.latest.empty()) made.condition = condition(role, bound, 1);
        return made;
    }

    /// A reference that nobody names cannot be asked.
    bool usable(const policy::Pattern& pattern) const {
        const bool reference = policy::find_role(policy_, pattern.role)->reference;
        return !reference || pattern.quantifier != Quantifier::kSurplus;
    }

    // ---------------------------------------------------------------- the rest

    void end_ledger() {
        policy::Ledger& ledger = *policy_.ledger;
        const policy::Role& of = *policy::find_role(policy_, ledger.of.role);
        const policy::Role& objects = any_own();
        if (dice_.chance(2)) ledger.of.field = "f_text";
        ledger.objects = objects.name;
        const Texts beside = of.name == objects.name ? Texts{} : Texts{of.name};
        if (dice_.chance(2)) ledger.belongs = condition(objects, beside, 1);
        ledger.failed = condition(objects, beside, 1);
        ledger.succeeded = condition(objects, beside, 1);
        if (dice_.chance(2)) ledger.succeeded = {Condition::Kind::kAny, {}, {}};  // never
        ledger.gone_failed = dice_.chance(2);
        if (policy::find_field(of, "f_ends") != nullptr && dice_.chance(2)) {
            ledger.known = {of.name, "f_ends"};
        }
    }

    void add_count() {
        policy::Count count;
        count.name = "n" + std::to_string(policy_.counts.size());
        const policy::Role& role = any_own();
        if (dice_.chance(3)) {
            count.role = role.name;
            count.objects = condition(role, {}, 1);
            const policy::Field* word = policy::find_field(role, "f_word");
            const bool listed = word != nullptr && policy_.counts.size() < 2;
            if (listed && dice_.chance(2)) count.by = word->name;
        } else {
            for (std::size_t left = 1 + dice_.below(2); left > 0; --left) {
                auto& when = count.subjects.emplace_back();
                for (std::size_t some = 1 + dice_.below(2); some > 0; --some) {
                    policy::Pattern part;
                    const policy::Role& of = any_own();
                    part.role = of.name;
                    part.quantifier = any_quantifier();
                    if (part.quantifier == Quantifier::kOne) part.quantifier = Quantifier::kSome;
                    part.condition = condition(of, {}, 1);
                    when.push_back(std::move(part));
                }
            }
        }
        policy_.counts.push_back(std::move(count));
    }

    void add_request() {
        if (!dice_.chance(3)) return;
        policy_.requests["terminate"] = {any_own().name, "f_text"};
        if (dice_.chance(2)) policy_.requests["restart"] = {any_own().name, "f_text"};
    }

    void add_rule() {
        policy::Rule rule;
        rule.name = "r" + std::to_string(policy_.rules.size());
        rule.finds = "something";
        rule.since_first_seen = dice_.chance(4);
        rule.keyless = dice_.chance(4);
        if (policy_.ledger && dice_.chance(2)) {
            rule.backoff = {Millis{0}, Millis{30'000}, Millis{90'000}};
        }
        if (!policy_.requests.empty() && dice_.chance(4)) {
            rule.requested = dice_.chance(2) ? policy_.requests.begin()->first
                                             : policy_.requests.rbegin()->first;
        }
        if (dice_.chance(15)) {
            policy::Case twice;
            twice.duplicates = true;
            twice.steps.emplace_back();
            rule.cases = {std::move(twice)};
        } else {
            ends_ = false;
            for (std::size_t left = dice_.chance(4) ? 2 : 1; left > 0; --left) {
                rule.cases.push_back(any_case());
            }
        }
        policy_.rules.push_back(std::move(rule));
    }

    policy::Case any_case() {
        policy::Case made;
        Texts bound;
        std::vector<const policy::Role*> open;
        for (const policy::Role& role : policy_.roles) {
            if (!role.optional) open.push_back(&role);
        }
        for (std::size_t left = 1 + dice_.below(3); left > 0 && !open.empty(); --left) {
            const std::size_t at = dice_.below(open.size());
            const policy::Role& role = *open[at];
            if (role.reference && bound.empty()) continue;  // who would name it, and be written?
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
            policy::Pattern next = pattern(role, bound, binding());
            if (!usable(next)) next.quantifier = Quantifier::kOne, next.keep.clear();
            made.when.push_back(std::move(next));
            bound.push_back(role.name);
        }
        for (std::size_t left = dice_.below(3); left > 0; --left) {
            const policy::Role& role = dice_.of(policy_.roles);
            const bool again = std::find(bound.begin(), bound.end(), role.name) != bound.end();
            if (role.optional || (again && !dice_.chance(3))) continue;
            made.when.push_back(pattern(role, bound, Quantifier::kNone));
        }
        for (std::size_t i = made.when.size(); i > 1; --i) {
            std::swap(made.when[i - 1], made.when[dice_.below(i)]);
        }
        if (bound.empty()) return any_case();
        add_deadline(bound, made);
        for (const policy::Count& count : policy_.counts) {
            if (count.by.empty() && dice_.chance(3)) made.ask_while.push_back(count.name);
        }
        add_steps(bound, made);
        return made;
    }

    Quantifier binding() {
        return dice_.of(std::vector<Quantifier>{Quantifier::kOne, Quantifier::kOne,
                                                Quantifier::kSome, Quantifier::kSurplus});
    }

    void add_deadline(const Texts& bound, policy::Case& made) {
        if (!dice_.chance(3)) return;
        const auto has = [&](const char* field) -> policy::FieldRef {
            return text_of(bound, field);
        };
        const policy::FieldRef from = has("f_time");
        if (from.role.empty()) return;
        policy::Deadline past{from, Millis{60'000}};
        const policy::FieldRef length = has("f_lasts");
        if (!length.role.empty() && dice_.chance(2)) past.length = length;
        made.past = std::move(past);
    }

    // ---------------------------------------------------------------- steps

    policy::Text text(const Texts& bound) {
        policy::Text made{{policy::Piece::Kind::kLiteral, "n-", {}}};
        if (dice_.chance(2)) return made;
        const policy::FieldRef field = text_of(bound, "f_text");
        if (field.role.empty()) made.push_back({policy::Piece::Kind::kSubject, {}, {}});
        if (!field.role.empty()) made.push_back({policy::Piece::Kind::kField, {}, field});
        return made;
    }

    policy::Step update(const std::string& role, const Texts& bound) {
        policy::Step step;
        step.verb = Verb::kUpdate;
        step.role = role;
        step.sets.push_back(
            {"f_text", dice_.chance(4) ? std::nullopt : std::optional(text(bound))});
        return step;
    }
    static policy::Step plain(Verb verb, const std::string& role) {
        policy::Step step;
        step.verb = verb;
        step.role = role;
        return step;
    }

    void add_steps(const Texts& bound, policy::Case& made) {
        Texts own = bound;
        std::erase_if(own, [&](const std::string& name) {
            return policy::find_role(policy_, name)->reference;
        });
        const std::string& target = dice_.of(own);
        const policy::Role& role = *policy::find_role(policy_, target);
        const policy::Role& other = dice_.of(policy_.roles);
        const std::size_t what = dice_.below(12);
        if (dice_.chance(3) && (add_insert(made) || add_create(bound, made))) return;
        if (what == 0 || ((other.reference || other.optional) && what > 6 && what < 9)) {
            made.steps.emplace_back();
        } else if (what < 4) {
            made.steps.push_back(plain(Verb::kDelete, target));
        } else if (what < 7) {
            made.steps.push_back(role.kind == Kind::kRow ? update(target, bound)
                                                         : plain(Verb::kDelete, target));
        } else if (what == 7) {
            policy::Step step = plain(Verb::kCreate, other.name);
            step.name = text(bound);
            const policy::FieldRef read = text_of(bound, "f_word");
            if (!read.role.empty() && dice_.chance(2)) step.reads.push_back(read);
            made.steps.push_back(std::move(step));
        } else if (what == 8) {
            made.steps.push_back(
                plain(dice_.of(std::vector<Verb>{Verb::kRetract, Verb::kStop}), target));
        } else {
            add_list(target, any_own(), bound, made);
        }
    }

    /// Of a row that the case says there is none of; false: it says so of none.
    bool add_insert(policy::Case& made) {
        for (policy::Pattern& none : made.when) {
            const policy::Role& role = *policy::find_role(policy_, none.role);
            const bool fits =
                none.quantifier == Quantifier::kNone && role.kind == Kind::kRow && !role.reference;
            if (!fits) continue;
            none.condition = {};
            policy::Step step = plain(Verb::kInsert, role.name);
            const bool first = role.key.op == policy::Key::Op::kCoalesce;
            const policy::Text subject{{policy::Piece::Kind::kSubject, {}, {}}};
            step.sets.push_back({(first ? role.key.parts.front() : role.key).text, subject});
            made.steps.push_back(std::move(step));
            return true;
        }
        return false;
    }

    /// Likewise of an object, from a template.
    bool add_create(const Texts& bound, policy::Case& made) {
        using Part = policy::Template;
        for (policy::Pattern& none : made.when) {
            const policy::Role& role = *policy::find_role(policy_, none.role);
            const bool fits = none.quantifier == Quantifier::kNone && in_kubernetes(role) &&
                              !role.reference && policy::is_name(role.key);
            if (!fits) continue;
            none.condition = {};
            policy::Step step = plain(Verb::kCreate, role.name);
            step.name = {{policy::Piece::Kind::kSubject, {}, {}}};
            Part spec{Part::Kind::kMap, "spec", {}, {}};
            spec.parts.push_back({Part::Kind::kText, "text", text(bound), {}});
            for (const char* name : {"f_num", "f_bool"}) {
                const policy::FieldRef field = text_of(bound, name);
                if (field.role.empty()) continue;
                spec.parts.push_back(
                    {Part::Kind::kText, name, {{policy::Piece::Kind::kField, {}, field}}, {}});
            }
            step.object = Part{};
            step.object->parts.push_back(std::move(spec));
            made.steps.push_back(std::move(step));
            return true;
        }
        return false;
    }

    /// Several steps: one list of those that begin by taking something away a rule.
    void add_list(const std::string& target, const policy::Role& other, const Texts& bound,
                  policy::Case& made) {
        const bool first_takes = !std::exchange(ends_, true) && !dice_.chance(4);
        made.steps.push_back(plain(first_takes ? Verb::kDelete : Verb::kVerify, other.name));
        if (dice_.chance(3)) {
            const policy::Role& more = dice_.of(policy_.roles);
            if (!more.reference) made.steps.push_back(plain(Verb::kDelete, more.name));
        }
        made.steps.push_back(dice_.chance(5) ? plain(Verb::kDelete, target)
                                             : update(target, bound));
    }

    Dice dice_;
    policy::Policy policy_;
    std::map<std::string, std::size_t> depth_;  ///< of named conditions
    std::size_t most_deep_ = kDeepest;
    bool ends_ = false;  ///< a case of the rule has a list already
};

}  // namespace

std::vector<Askable> askable(const policy::Policy& policy, const policy::Role& role) {
    std::vector<Askable> all;
    for (const policy::Field& field : role.fields) {
        all.push_back({field.name, field.type, field.words});
    }
    const auto built_in = [&](const char* name, Type type) {
        if (policy::find_field(role, name) == nullptr) all.push_back({name, type, {}});
    };
    if (policy.ledger && policy.ledger->of.role == role.name) {
        built_in("failures", Type::kNumber);
        built_in("succeeded", Type::kBoolean);
    }
    if (role.kind == Kind::kRow) return all;
    if (!role.scope.empty()) built_in("scope", Type::kText);
    built_in("created", Type::kTimestamp);
    if (role.kind == Kind::kEc2) {
        built_in("id", Type::kText);
        built_in("tag.app", Type::kText);
        return all;
    }
    built_in("deleting", Type::kBoolean);
    built_in("in_scope", Type::kBoolean);
    built_in("label.app", Type::kText);
    built_in("name", Type::kText);
    built_in("namespace", Type::kText);
    built_in("uid", Type::kText);
    return all;
}

const Texts& usual_texts() {
    static const Texts kTexts{"x", "x-1", "y", "y-1"};
    return kTexts;
}
const Texts& usual_scopes() {
    static const Texts kScopes{"eu", "us"};
    return kScopes;
}

policy::Policy random_policy(std::uint64_t seed) { return Maker(seed).run(); }

}  // namespace trueup::testing::naive
