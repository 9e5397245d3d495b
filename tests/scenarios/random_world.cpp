#include "tests/scenarios/random_world.h"

#include "engine/model/object.h"
#include "engine/model/object_builder.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace trueup::testing {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;
using Type = policy::Field::Type;
using Texts = std::vector<std::string>;

bool in_kubernetes(const policy::Role& role) {
    return role.kind == policy::Kind::kPod || role.kind == policy::Kind::kObject;
}

std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Of its declared field or the one that is built in.
Type type_of(const policy::Policy& policy, const policy::Role& role, const std::string& name) {
    for (const naive::Askable& each : naive::askable(policy, role)) {
        if (each.name == name) return each.type;
    }
    return Type::kText;
}

/// A minute behind one of them is just before, at, or just behind what a source's clock shows.
const Texts& past_times() {
    static const Texts kTimes{"2025-11-20 18:57:48+00", "2025-11-24 15:58:58.5+00",
                              "2025-11-24 15:58:59+00", "2025-11-24 15:59:00+00",
                              "2025-11-22T01:00:00+02:00"};
    return kTimes;
}

/// Of a filling: less the skew of the clocks it is not older than a source may be silent.
std::string just_now() { return "2025-11-24 15:59:55+00"; }

const Texts& odd_texts() {
    static const Texts kOdd{"",
                            " ",
                            "odd",
                            "w",
                            "n-1",
                            "5",
                            "6",
                            "10",
                            "9",
                            "-1",
                            "true",
                            "60",
                            "x",
                            "x-1",
                            "eu",
                            "1 d",
                            "1 day",
                            "+5",
                            "false",
                            "up",
                            "t",
                            "1.0",
                            "2026-11-21 18:57:48+00",
                            "2026-11-25 08:00:00+00",
                            "2025-11-24 15:59:30+00"};
    return kOdd;
}

}  // namespace

core::References RandomWorld::beside() const {
    return {sources,
            from_millis<BrokerTime>(kWorldNow),
            from_millis<BrokerTime>(kWorldNow - 500'000),
            counts,
            sweeping,
            [this](SourceId source, std::string_view name) -> const Subject& {
                const auto found = references.find({source, std::string(name)});
                return found == references.end() ? nobody : found->second;
            }};
}

std::string encoded(const Saying& saying) {
    ObjectBuilder fields;
    for (const auto& [name, said] : saying) {
        switch (said.kind) {
            case Said::Kind::kText:
                fields.add(name, said.text);
                break;
            case Said::Kind::kNull:
                fields.add_null(name);
                break;
            case Said::Kind::kUnsent:
                fields.add_unchanged(name);
                break;
            case Said::Kind::kNotThere:
                break;
        }
    }
    return fields.take();
}

// ------------------------------------------------------------------ values

Values::Values(const policy::Policy& policy) : policy_(policy) {
    for (const policy::Role& role : policy.roles) {
        add(role.live, role.name);
        for (const policy::Field& field : role.fields) {
            fields_[role.name].insert(field.name);
            auto& known = constants_[role.name][field.name];
            known.insert(known.end(), field.words.begin(), field.words.end());
        }
        for (const std::string& field : policy::fields_of(role.key)) add({role.name, field});
    }
    for (const policy::NamedCondition& condition : policy.conditions) {
        for (const auto& line : condition.lines) add(line.when);
    }
    for (const policy::Count& count : policy.counts) {
        for (const auto& subjects : count.subjects) add(subjects);
        add(count.objects, count.role);
    }
    if (policy.ledger) {
        add(policy.ledger->of);
        for (const Condition* each :
             {&policy.ledger->belongs, &policy.ledger->failed, &policy.ledger->succeeded}) {
            add(*each, policy.ledger->objects);
        }
    }
    for (const policy::Rule& rule : policy.rules) {
        for (const policy::Case& each : rule.cases) {
            add(each.when);
            for (const policy::Step& step : each.steps) {
                policy::each_text(step, [this](const policy::Text& text) { add(text); });
                for (const policy::FieldRef& read : step.reads) add(read);
            }
        }
    }
}

void Values::add(const policy::FieldRef& field) {
    if (!field.role.empty() && !field.field.empty()) fields_[field.role].insert(field.field);
}
void Values::add(const policy::Text& text) {
    for (const policy::Piece& piece : text) add(piece.field);
}

void Values::add(const Condition& condition, const std::string& role) {
    const policy::Test& test = condition.test;
    if (condition.kind == Condition::Kind::kTest && test.op != Op::kIs) {
        add(policy::FieldRef{role, test.field});
        add(test.other);
        auto& known = constants_[role][test.field];
        for (const std::string& value : test.values) {
            known.push_back(value);
            const auto is = number(value);
            if (!is) continue;
            known.push_back(std::to_string(*is + 1));
            known.push_back(std::to_string(*is - 1));
        }
    }
    for (const Condition& part : condition.parts) add(part, role);
}

void Values::add(const std::vector<policy::Pattern>& patterns) {
    for (const policy::Pattern& pattern : patterns) {
        add(pattern.condition, pattern.role);
        add(pattern.named);
        add(pattern.in);
        if (!pattern.in.role.empty()) {
            auto& known = constants_[pattern.in.role][pattern.in.field];
            known.insert(known.end(), naive::usual_scopes().begin(), naive::usual_scopes().end());
        }
        for (const policy::Ranking& ranking : pattern.keep) {
            add(ranking.condition, pattern.role);
            if (!ranking.latest.empty()) add({pattern.role, ranking.latest});
        }
    }
}

const std::set<std::string>& Values::fields(const policy::Role& role) const {
    static const std::set<std::string> kNone;
    const auto found = fields_.find(role.name);
    return found == fields_.end() ? kNone : found->second;
}

const Texts& Values::of(const std::string& role, const std::string& name) const {
    static const Texts kNone;
    const auto fields = constants_.find(role);
    if (fields == constants_.end()) return kNone;
    const auto found = fields->second.find(name);
    return found == fields->second.end() ? kNone : found->second;
}

std::string Values::draw(const policy::Role& role, const std::string& name, bool calm,
                         naive::Dice& dice) const {
    const Texts& known = of(role.name, name);
    if (!calm && dice.chance(3)) return dice.of(odd_texts());
    switch (type_of(policy_, role, name)) {
        case Type::kTimestamp:
        case Type::kDate:
            return dice.of(past_times());
        case Type::kDuration:
            return dice.of(Texts{"60", "59", "0", "1 day"});
        case Type::kBoolean:
            return dice.of(Texts{"true", "false", "t", "f"});  // PostgreSQL's own, too
        case Type::kNumber:
            if (dice.chance(8)) return dice.of(Texts{"05", "1.0"});
            return known.empty() ? std::to_string(dice.below(11)) : dice.of(known);
        case Type::kEnds:
            return dice.of(Texts{"u1=1 u2=2", "u1=1", "u3=7  u4=", "=5"});
        case Type::kText:
            break;
    }
    const policy::Field* field = policy::find_field(role, name);
    const bool open = field == nullptr || field->words.empty();
    if (open && dice.chance(4)) return dice.chance(2) ? "w" : "n-1";
    if (open && (known.empty() || dice.chance(4))) return dice.of(naive::usual_texts());
    return known.empty() ? "x" : dice.of(known);
}

// ------------------------------------------------------------------ what a case wants

RandomWorlds::RandomWorlds(const policy::Policy& policy, std::uint64_t seed)
    : policy_(policy), values_(policy), dice_(seed) {
    add_settings();
}

void RandomWorlds::add_settings() {
    settings_.policy = policy_.name;
    settings_.text = policy_;
    for (std::size_t number = 0; number < policy_.roles.size(); ++number) {
        const policy::Role& role = policy_.roles[number];
        if (role.optional && dice_.chance(2)) continue;
        for (const std::string& scope : naive::usual_scopes()) {
            if (scope != naive::usual_scopes().front() && role.scope.empty()) break;
            SourceSettings source;
            source.name = role.name + scope;
            source.role = static_cast<Role>(number);
            if (!role.scope.empty()) source.scope = scope;
            settings_.sources.push_back(source);
        }
    }
    for (const policy::Rule& rule : policy_.rules) {
        settings_.rules.push_back({rule.name, Mode::kEnforce, Millis(dice_.below(3) * 30'000),
                                   Millis(dice_.below(2) * 60'000), Budget{}});
    }
}

void RandomWorlds::wish(const policy::Case& found) {
    wished_.clear();
    there_.clear();
    for (const policy::Pattern& pattern : found.when) {
        if (pattern.quantifier == Quantifier::kNone) continue;
        there_[pattern.role] = pattern.quantifier == Quantifier::kSurplus ? 2 : 1;
        wish(pattern, true);
    }
    for (const policy::Pattern& pattern : found.when) {
        if (pattern.quantifier != Quantifier::kNone) continue;
        if (there_.count(pattern.role) > 0 || !dice_.chance(3)) continue;
        there_[pattern.role] = 1;
        wish(pattern, false);
    }
    if (!found.past) return;
    const std::string& from = dice_.chance(2) ? past_times().front() : dice_.of(past_times());
    wished_[found.past->from.role][found.past->from.field] = {Said::Kind::kText, from};
    const auto* length = std::get_if<policy::FieldRef>(&found.past->length);
    if (length != nullptr) wished_[length->role][length->field] = {Said::Kind::kText, "60"};
}

void RandomWorlds::wish(const policy::Pattern& pattern, bool so) {
    const auto name = [&](const policy::FieldRef& field, const Texts& all) {
        if (!field.role.empty())
            wished_[field.role][field.field] = {Said::Kind::kText, dice_.of(all)};
    };
    name(pattern.named, naive::usual_texts());
    name(pattern.in, naive::usual_scopes());
    wish(pattern.condition, pattern.role, so);
}

void RandomWorlds::wish(const Condition& condition, const std::string& role, bool so) {
    if (condition.kind == Condition::Kind::kTest) {
        return wish(condition.test, role, so != condition.test.negated);
    }
    if ((condition.kind == Condition::Kind::kAll) == so) {
        for (const Condition& part : condition.parts) wish(part, role, so);
    } else if (!condition.parts.empty()) {
        wish(dice_.of(condition.parts), role, so);
    }
}

void RandomWorlds::wish(const policy::Test& test, const std::string& role, bool so) {
    using Said_ = Said::Kind;
    const std::string first = test.values.empty() ? "" : test.values.front();
    const std::int64_t limit = number(first).value_or(0);
    Said& said = wished_[role][test.field];
    const auto text = [&](std::string value) { said = {Said_::kText, std::move(value)}; };
    switch (test.op) {
        case Op::kIs:
            wished_[role].erase(test.field);
            return wish_named(first, role, so);
        case Op::kSame:
        case Op::kBefore:
        case Op::kAfter:
            return wish_compared(test, role, so);
        case Op::kSet:
            if (so && said.kind == Said_::kText && !said.text.empty()) return;
            said = {so ? Said_::kText : Said_::kNull, "x"};
            if (so) text(values_.draw(*policy::find_role(policy_, role), test.field, true, dice_));
            if (!so && policy::find_role(policy_, role)->kind != policy::Kind::kRow) {
                said.kind = Said_::kNotThere;
            }
            return;
        case Op::kIn:
            if (so) return text(dice_.of(test.values));
            break;
        case Op::kStarts:
            return text((so ? first : std::string("q")) + "z");
        case Op::kLike: {
            std::string fits;
            for (const char each : first)
                fits += each == '*' ? std::string("k") : std::string(1, each);
            return text(so ? fits : "q");
        }
        case Op::kOver:
            return text(std::to_string(so ? limit + 1 : limit));
        case Op::kUnder:
            return text(std::to_string(so ? limit - 1 : limit));
        case Op::kAtLeast:
            return text(std::to_string(so ? limit : limit - 1));
        case Op::kAtMost:
            return text(std::to_string(so ? limit : limit + 1));
    }
    // Another one of what there is.
    Texts others = values_.of(role, test.field);
    const auto listed = [&](const std::string& value) {
        return std::find(test.values.begin(), test.values.end(), value) != test.values.end();
    };
    std::erase_if(others, listed);
    if (!others.empty()) text(dice_.of(others));
    if (others.empty() && first == "true") text("false");
    if (others.empty() && first == "false") text("true");
}

void RandomWorlds::wish_compared(const policy::Test& test, const std::string& role, bool so) {
    const policy::Role& of = *policy::find_role(policy_, role);
    Said& own = wished_[role][test.field];
    Said& other = wished_[test.other.role][test.other.field];
    if (own.kind != Said::Kind::kText || own.text.empty()) {
        own = {Said::Kind::kText, values_.draw(of, test.field, true, dice_)};
    }
    if (test.op == Op::kSame) {
        other = own;
        if (!so)
            other.text = values_.draw(*policy::find_role(policy_, test.other.role),
                                      test.other.field, true, dice_);
        return;
    }
    const bool times = type_of(policy_, of, test.field) == Type::kTimestamp;
    const Texts pair =
        times ? Texts{"2025-11-20 18:57:48+00", "2025-11-24 15:59:00+00"} : Texts{"9", "10"};
    const std::size_t less = (test.op == Op::kBefore) == so ? 0 : 1;
    own.text = pair[less];
    other = {Said::Kind::kText, pair[1 - less]};
}

void RandomWorlds::wish_named(const std::string& name, const std::string& role, bool so) {
    using Then = policy::NamedCondition::Line::Then;
    for (const policy::NamedCondition& condition : policy_.conditions) {
        if (condition.name != name) continue;
        std::vector<const policy::NamedCondition::Line*> fit;
        for (const auto& line : condition.lines) {
            if ((line.then == Then::kTrue) == so) fit.push_back(&line);
        }
        if (fit.empty()) return;
        for (const policy::Pattern& pattern : dice_.of(fit)->when) {
            if (pattern.role == role) {
                wish(pattern.condition, role, true);
            } else if (pattern.quantifier != Quantifier::kNone) {
                there_.insert({pattern.role, pattern.quantifier == Quantifier::kSurplus ? 2 : 1});
                wish(pattern, true);
            }
        }
    }
}

// ------------------------------------------------------------------ the world

RandomWorld RandomWorlds::draw() {
    RandomWorld world;
    calm_ = !dice_.chance(3);
    const policy::Rule& rule = dice_.of(policy_.rules);
    wish(dice_.of(rule.cases));
    add_sources(world);
    for (std::size_t i = 0; i < Tally{}.size(); ++i) {
        world.counts.push_back(dice_.chance(calm_ ? 4 : 2) ? 1 : 0);
    }
    world.sweeping = odd(8);
    world.subject.key = policy_.name + "/w";
    add_facets(world);
    add_references(world);
    const bool asks = dice_.chance(rule.requested.empty() ? 10 : 2) || !rule.requested.empty();
    if (asks) {
        const bool another = rule.requested.empty() || odd(8);
        world.subject.request = StandingRequest{
            another ? std::string(dice_.chance(2) ? "terminate" : "restart") : rule.requested,
            dice_.of(naive::usual_texts()),
            dice_.chance(2),
            {}};
    }
    if (policy_.ledger && dice_.chance(2)) world.subject.ledger = a_ledger();
    if (dice_.chance(30)) world.subject.ending = Ending{};
    add_findings(world);
    if (dice_.chance(10)) make_keyless(world);
    return world;
}

void RandomWorlds::add_sources(RandomWorld& world) {
    static constexpr std::array<std::int64_t, 4> kAges{1'000, 10'000, 45'000, 100'000};
    static constexpr std::array<std::int64_t, 5> kAhead{0, 300, 60'000, 60'001, -60'001};
    for (const SourceSettings& source : settings_.sources) {
        core::SourceState& state = world.sources.emplace_back();
        state.name = source.name;
        state.known = !odd(6);
        if (odd(10)) state.quarantine = core::Quarantine::kDrop;
        const std::int64_t proven =
            kWorldNow - kAges[calm_ && !dice_.chance(12) ? 0 : dice_.below(kAges.size())];
        state.complete_as_of = from_millis<BrokerTime>(proven);
        const std::int64_t ahead = kAhead[odd(3) ? dice_.below(kAhead.size()) : 0];
        state.source_clock = from_millis<SourceTime>(proven + ahead);
    }
}

std::size_t RandomWorlds::how_many(const policy::Role& role) {
    const auto wanted = there_.find(role.name);
    const std::size_t usual = wanted == there_.end() ? 0 : wanted->second;
    if (!odd(8)) return usual == 0 && dice_.chance(10) ? 1 : usual;
    return dice_.below(8) % 5 % 4;
}

void RandomWorlds::add_facets(RandomWorld& world) {
    for (SourceId id = 0; id < settings_.sources.size(); ++id) {
        const policy::Role& role = policy_.roles[settings_.sources[id].role];
        if (role.reference) continue;
        const bool second = id > 0 && settings_.sources[id - 1].role == settings_.sources[id].role;
        std::size_t count = second && !odd(4) ? 0 : how_many(role);
        if (role.scope.empty() || !dice_.chance(3)) {
            // the first source shows what there is
        } else if (!second) {
            count = 0;
        } else if (world.subject.facets.empty()) {
            count = how_many(role);
        }
        for (std::size_t i = 0; i < count; ++i) {
            add_facet(world.subject, id, "o" + std::to_string(id) + std::to_string(i));
        }
        if (odd(12)) {
            const std::int64_t ago = dice_.chance(2) ? 1'000 : 20'000;
            world.subject.own_writes.emplace_back(id, from_millis<BrokerTime>(kWorldNow - ago));
        }
    }
}

void RandomWorlds::add_facet(Subject& subject, SourceId id, const std::string& object_id) {
    static constexpr std::array<std::int64_t, 4> kEvidence{5'000, 45'000, 100'000, 105'000};
    const policy::Role& role = policy_.roles[settings_.sources[id].role];
    Facet facet;
    facet.source = id;
    facet.object_id = object_id;
    if (odd(12)) facet.absence = Absence::kRemoved;
    facet.first_seen = from_millis<BrokerTime>(kWorldNow - 400'000 +
                                               static_cast<std::int64_t>(dice_.below(4)) * 90'000);
    const std::int64_t ago = calm_ ? 200'000 : kEvidence[dice_.below(kEvidence.size())];
    facet.evidence = std::max(facet.first_seen, from_millis<BrokerTime>(kWorldNow - ago));
    facet.changed = facet.evidence;
    if (calm_) facet.first_seen = std::min(facet.first_seen, facet.evidence);
    if (facet.present()) {
        Saying saying;
        const Saying& wished = wished_[role.name];
        for (const std::string& name : values_.fields(role)) saying[name] = say(role, name, wished);
        if (role.reference && calm_ && saying.count("f_time") > 0 && !odd(4)) {
            saying["f_time"] = {Said::Kind::kText, just_now()};
        }
        if (odd(15))
            saying["hold"] = {dice_.chance(3) ? Said::Kind::kUnsent : Said::Kind::kText, "true"};
        facet.object = encoded(saying);
    }
    subject.facets.push_back(std::move(facet));
}

Said RandomWorlds::say(const policy::Role& role, const std::string& name, const Saying& wished) {
    const auto wish = wished.find(name);
    const bool has = wish != wished.end() &&
                     (wish->second.kind != Said::Kind::kText || !wish->second.text.empty());
    const bool row = role.kind == policy::Kind::kRow;
    const bool standing = in_kubernetes(role) && policy::find_field(role, name) == nullptr &&
                          (name == "deleting" || name == "in_scope");
    if (has && !odd(4)) return wish->second;
    if (standing && !odd(4)) return {Said::Kind::kNotThere, {}};
    if (standing) return {Said::Kind::kText, dice_.chance(2) ? "true" : "false"};
    if (odd(12)) return {Said::Kind::kNotThere, {}};
    if (odd(12) || (!has && dice_.chance(12)))
        return {row ? Said::Kind::kNull : Said::Kind::kNotThere, {}};
    if (odd(15)) return {Said::Kind::kUnsent, {}};
    if (odd(20)) return {Said::Kind::kNull, {}};
    return {Said::Kind::kText, values_.draw(role, name, calm_, dice_)};
}

void RandomWorlds::add_references(RandomWorld& world) {
    std::set<std::string> names(naive::usual_texts().begin(), naive::usual_texts().end());
    names.insert({"w", "n-1"});
    for (const policy::NamedCondition& condition : policy_.conditions) {
        for (const auto& line : condition.lines) {
            for (const policy::Pattern& pattern : line.when) names.insert(pattern.named_literal);
        }
    }
    for (const policy::Rule& rule : policy_.rules) {
        for (const policy::Case& each : rule.cases) {
            for (const policy::Pattern& pattern : each.when) names.insert(pattern.named_literal);
        }
    }
    for (SourceId id = 0; id < settings_.sources.size(); ++id) {
        if (!policy_.roles[settings_.sources[id].role].reference) continue;
        const std::string& role = policy_.roles[settings_.sources[id].role].name;
        for (const std::string& name : names) {
            Subject& reference = world.references[{id, name}];
            const bool wanted = there_.count(role) > 0;
            if (dice_.chance(wanted ? 10 : 2)) continue;
            add_facet(reference, id, name);
            if (odd(10)) add_facet(reference, id, name + "2");
        }
    }
}

void RandomWorlds::add_findings(RandomWorld& world) {
    for (const Facet& facet : world.subject.facets) {
        if (dice_.chance(3)) continue;
        for (std::size_t rule = 0; rule < policy_.rules.size(); ++rule) {
            if (dice_.chance(4)) continue;
            Finding finding;
            finding.rule = RuleNumber(static_cast<std::uint8_t>(rule));
            finding.object_id = facet.object_id;
            const std::int64_t ago =
                calm_ ? 90'000 : static_cast<std::int64_t>(30'000 * dice_.below(4));
            finding.since = from_millis<JournalTime>(kWorldNow - ago);
            finding.steps = dice_.chance(5) ? 1 : 0;
            world.subject.findings.push_back(finding);
        }
        if (dice_.chance(30)) {
            Aftermath after;
            after.ended = Ended{RuleNumber(0), facet.object_id};
            world.subject.aftermath = std::move(after);
        }
    }
    std::stable_sort(world.subject.findings.begin(), world.subject.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.rule < b.rule; });
}

Ledger RandomWorlds::a_ledger() {
    Ledger ledger;
    ledger.of = "x";
    for (std::size_t left = dice_.below(12); left > 0; --left) {
        const End end = dice_.chance(6)   ? End::kSucceeded
                        : dice_.chance(2) ? End::kFailed
                                          : End::kGone;
        const auto ago = static_cast<std::int64_t>(dice_.below(4) * 30'000);
        ledger.entries.push_back(
            {"u" + std::to_string(left), end, from_millis<JournalTime>(kWorldNow - ago)});
    }
    return ledger;
}

/// An object whose key cannot be told stands alone.
void RandomWorlds::make_keyless(RandomWorld& world) {
    auto& all = world.subject.facets;
    if (all.empty()) return;
    const Facet one = all[dice_.below(all.size())];
    all = {one};
    world.subject.key = "!" + settings_.sources[one.source].name + "/" + one.object_id;
}

}  // namespace trueup::testing
