#include "tests/scenarios/both_readers.h"

#include "engine/core/draft.h"
#include "engine/core/witness.h"
#include "tests/scenarios/text_judgement.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace trueup::testing {

namespace {

const JournalTime kNow = from_millis<JournalTime>(kWorldNow);

void add(const naive::Judged& said, Shares& shares) {
    switch (said.kind) {
        case Verdict::Kind::kHealthy:
            ++shares.healthy;
            return;
        case Verdict::Kind::kAbstain:
            ++shares.abstains;
            break;
        case Verdict::Kind::kWaiting:
            ++shares.waits;
            break;
        case Verdict::Kind::kAct:
            ++shares.acts;
            ++shares.by["act " + std::string(policy::name_of(said.verb))];
            return;
    }
    ++shares.by[std::string(name_of(said.reason))];
}

std::string told(const Ledger& ledger) {
    std::string text = "of " + ledger.of;
    for (const Ledger::Entry& entry : ledger.entries) {
        text += ' ' + entry.object_id + '=' + std::to_string(static_cast<int>(entry.end));
    }
    return text;
}

/// What an object keeps for all its life, or only its source knows: not asked for once more.
bool lasts(const policy::Policy& text, const policy::Role& role, const std::string& field) {
    const bool kubernetes = role.kind == policy::Kind::kPod || role.kind == policy::Kind::kObject;
    if (kubernetes && field == "name") return true;  // beside its uid, of `exists`
    if (policy::find_field(role, field) != nullptr) return false;
    if (role.kind == policy::Kind::kRow) {
        const bool ledger = text.ledger && text.ledger->of.role == role.name;
        return field == "scope" ? !role.scope.empty()
                                : ledger && (field == "failures" || field == "succeeded");
    }
    static const std::set<std::string> kLasting{"created",   "failures", "id",        "in_scope",
                                                "namespace", "scope",    "succeeded", "uid"};
    return kLasting.count(field) > 0;
}

/// A field that the case mentions of an object that it bound, and that its command does not rest
/// on. Empty: there is none.
std::string not_rested_on(const policy::Policy& text, const core::Judgement& on,
                          const core::Decision& decision) {
    const core::PlanRule& rule = on.rule();
    if (decision.kind != Verdict::Kind::kAct || !rule.unable.empty()) return {};
    const auto which = static_cast<std::size_t>(decision.matched - rule.cases.data());
    const naive::Mentioned mentioned = naive::mentioned(text, text.rules[on.self.value()], which);
    const CommandDraft draft = draft_of(on, decision);
    for (const auto& [name, fields] : mentioned) {
        const policy::Role& role = *policy::find_role(text, name);
        const auto number = static_cast<std::size_t>(&role - text.roles.data());
        const Facet* object = decision.bound[number];
        if (object == nullptr) continue;
        // A verification's look is itself what tells.
        const policy::Verb verb = decision.matched->steps[decision.step].verb;
        if (object == decision.target && verb == policy::Verb::kVerify) continue;
        for (const std::string& field : fields) {
            const std::optional<Field> sent = object->fields().find(field);
            if (sent ? sent->unchanged : role.kind == policy::Kind::kRow) continue;
            if (lasts(text, role, field) || (object == decision.target && field == "deleting")) {
                continue;
            }
            std::optional<std::string> value;
            if (sent && sent->value) value = *sent->value;
            const Predicate wanted{Predicate::Kind::kField,
                                   on.references.sources[object->source].name, object->object_id,
                                   field, value};
            const auto& all = draft.read_set;
            if (std::find(all.begin(), all.end(), wanted) != all.end()) continue;
            return name + '.' + field + " of " + object->object_id;
        }
    }
    return {};
}

/// What the command rests on, and the world in which it was decided does not say: no executor would
/// ever carry it out. Empty: there is nothing.
std::string doomed(const core::Judgement& on, const core::Decision& decision) {
    using Kind = Predicate::Kind;
    if (decision.kind != Verdict::Kind::kAct || !on.rule().unable.empty()) return {};
    const auto of = [&](const Predicate& predicate) {
        std::vector<const Facet*> all;
        for (const Facet& facet : on.subject.facets) {
            const bool its = on.references.sources[facet.source].name == predicate.source;
            if (its && facet.present()) all.push_back(&facet);
        }
        return all;
    };
    for (const Predicate& predicate : draft_of(on, decision).read_set) {
        if (predicate.kind != Kind::kNone && predicate.kind != Kind::kNoneBut) continue;
        if (predicate.value != std::string(on.subject.name())) continue;  // of a reference
        for (const Facet* facet : of(predicate)) {
            const auto& besides = predicate.besides;
            const bool may =
                facet->object_id == predicate.object_id ||
                std::find(besides.begin(), besides.end(), facet->object_id) != besides.end();
            if (predicate.kind == Kind::kNone || !may) return facet->object_id + " has the key";
        }
    }
    return {};
}

/// What a witness changes of a decision, or cannot give a fact for. Empty: nothing.
std::string not_witnessed(const core::Judgement& on, const core::Decision& decision) {
    core::Witness witness(on);
    const core::Decision watched = core::decide(on, &witness);
    if (as_decided(watched) != as_decided(decision) || watched.wait != decision.wait) {
        return "is another one when somebody looks";
    }
    RuleTrace trace;
    trace.kind = decision.kind;
    trace.stages = witness.take();
    const StageAnswer* stop = trace.stop();
    const bool acts = decision.kind == Verdict::Kind::kAct;
    if (acts != (stop == nullptr)) return acts ? "acts, and its trace stops" : "stops nowhere";
    if (acts) return {};
    const bool named = std::any_of(
        stop->facts.begin(), stop->facts.end(),
        [](const DecidingFact& fact) { return fact.answer != DecidingFact::Answer::kYes; });
    return named ? "" : "stops at " + std::string(name_of(stop->stage)) + " and names no fact";
}

/// Of two sides that were not heard either may be named: a plan leans on them in its own order.
bool alike(naive::Judged does, const naive::Judged& meant) {
    const auto unheard = [](const naive::Judged& judged) {
        return judged.kind == Verdict::Kind::kWaiting &&
               (judged.reason == Reason::kNotSynced || judged.reason == Reason::kStale ||
                judged.reason == Reason::kAwaitingProgress || judged.reason == Reason::kQuarantine);
    };
    if (unheard(does) && unheard(meant)) does.reason = meant.reason;
    return does == meant;
}

}  // namespace

std::string Shares::told() const {
    const auto percent = [&](std::size_t part) {
        return std::to_string(part * 100 / std::max<std::size_t>(all(), 1)) + '%';
    };
    std::string text = std::to_string(all()) + " judgements: healthy " + percent(healthy) +
                       ", abstains " + percent(abstains) + ", waits " + percent(waits) + ", acts " +
                       percent(acts) + "; " + std::to_string(counted) + " counted, " +
                       std::to_string(ended) + " ledgers with ends;";
    for (const auto& [what, times] : by) text += ' ' + what + ' ' + std::to_string(times);
    return text;
}

Looked::Looked(const core::Plan& plan, const Settings& settings, const RandomWorld& world)
    : plan_(plan), settings_(settings), world_(world), beside_(world.beside()) {
    look_at(plan, world.subject, settings, world.sources, facts_);
}

core::Judgement Looked::on(std::size_t rule) const {
    return {plan_,   world_.subject, facts_,
            beside_, settings_,      RuleNumber(static_cast<std::uint8_t>(rule)),
            kNow};
}

core::Decision Looked::decide(std::size_t rule) const { return core::decide(on(rule)); }

naive::Moment moment_of(const policy::Policy& text, const Settings& settings,
                        const RandomWorld& world, const core::References& beside,
                        std::size_t rule) {
    naive::Moment moment = moment_of(text, world.subject, beside, settings,
                                     RuleNumber(static_cast<std::uint8_t>(rule)), kNow);
    std::size_t next = 0;
    for (const policy::Count& count : text.counts) {
        const policy::Role* of = policy::find_role(text, count.role);
        moment.counts[count.name] = world.counts[next];
        next += count.by.empty() ? 1 : policy::find_field(*of, count.by)->words.size();
    }
    return moment;
}

std::string disagreement(const policy::Policy& text, const core::Plan& plan,
                         const Settings& settings, const RandomWorld& world, Shares& shares) {
    const Looked looked(plan, settings, world);
    const core::References beside = world.beside();
    for (std::size_t rule = 0; rule < text.rules.size(); ++rule) {
        const naive::Moment moment = moment_of(text, settings, world, beside, rule);
        const naive::Judged does = as_decided(looked.decide(rule));
        const naive::Judged meant = naive::judge(text, text.rules[rule], world.subject, moment);
        add(meant, shares);
        if (meant.kind == Verdict::Kind::kAct) ++shares.acted[text.rules[rule].name];
        const std::string unread = not_rested_on(text, looked.on(rule), looked.decide(rule));
        if (!unread.empty()) return text.rules[rule].name + " does not rest on " + unread;
        const std::string doom = doomed(looked.on(rule), looked.decide(rule));
        if (!doom.empty()) return text.rules[rule].name + " cannot be carried out: " + doom;
        const std::string unseen = not_witnessed(looked.on(rule), looked.decide(rule));
        if (!unseen.empty()) {
            return text.rules[rule].name + " says `" + naive::told(does) + "`, which " + unseen;
        }
        if (alike(does, meant)) continue;
        return text.rules[rule].name + " says `" + naive::told(does) + "` and means `" +
               naive::told(meant) + "`";
    }
    const naive::Moment moment = moment_of(text, settings, world, beside, 0);
    core::Word word;
    const Tally tally = tally_of(plan, world.subject, settings, word);
    const std::vector<std::uint64_t> meant = naive::counted(text, world.subject, moment);
    bool some = false;
    for (std::size_t i = 0; i < meant.size(); ++i) {
        some = some || meant[i] > 0;
        if (tally[i] != meant[i]) {
            return "counts " + std::to_string(tally[i]) + " and means " + std::to_string(meant[i]) +
                   " of " + plan.tallies[i].name + ' ' + plan.tallies[i].value;
        }
    }
    if (some) ++shares.counted;
    if (!text.ledger) return {};
    const Ledger seen = ends_of(plan, world.subject, settings, looked.facts(), kNow);
    const Ledger ends = naive::ends(text, world.subject, moment);
    if (!ends.entries.empty()) ++shares.ended;
    if (seen == ends) return {};
    return "sees ends `" + told(seen) + "` and means `" + told(ends) + "`";
}

std::size_t as_told(const char* variable, std::size_t usual) {
    const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace trueup::testing
