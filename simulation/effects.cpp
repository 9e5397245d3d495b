// Oracles of what executors wrote: each effect is held against what was so when its sender last
// looked (harm), and again against what was so when it arrived (race).
#include "simulation/instances.h"
#include "simulation/oracles.h"

#include <algorithm>
#include <string_view>

namespace trueup::simulation {

namespace {

/// A write's answer, its outcome on its way to the log and to who reads it, and another write's way
/// to its server: as slow as a plan has them.
constexpr Millis kOutcomeSeen{10'000};
/// From the last look at a row to the write that rests on it (orders.cpp), and its way.
constexpr Millis kUntilWritten{6'000};

/// Was set what the command says? What is taken out may be left out where it is not there.
bool as_ordered(const sandbox::Effect& effect, const Command& command) {
    auto set = effect.sets.begin();
    for (const Assignment& wanted : command.draft.action.sets) {
        const bool same = set != effect.sets.end() && wanted.column.ends_with(set->column) &&
                          wanted.value == set->value;
        if (same) {
            ++set;
        } else if (wanted.value) {
            return false;
        }
    }
    return set == effect.sets.end();
}

}  // namespace

/// When its sender last looked at what it is about.
Looks Oracles::looks_of(const Sent& sent, const std::string& name, const std::string& pk) const {
    const auto looked = [&](const std::string& at) {
        const auto known = sent.known.find(at);
        return known == sent.known.end() ? Moment{0} : known->second.moment;
    };
    // Of two clusters that counts where the pod was seen.
    const auto looked_for_pod = [&] {
        Moment latest{0};
        for (const char* source : {"pods", kWest}) {
            const Moment moment = looked(pod_look(source, name));
            const sandbox::PodPtr pod = moment == 0 ? nullptr : history_.pod(name, moment);
            if (pod && selected_by(*pod, source)) return moment;
            latest = std::max(latest, moment);
        }
        return latest;
    };
    Looks looks{looked_for_pod(), looked("key/" + name), looked("row/" + pk), pk};
    for (const std::string& other : rows_behind(sent.command)) {
        const Moment moment = looked("row/" + other);
        if (other != pk && moment != 0) looks.others[other] = moment;
    }
    return looks;
}

void Oracles::judge(const sandbox::Effect& effect, Moment before) {
    ++effects_;
    using Kind = sandbox::Effect::Kind;
    const bool deletes = effect.kind == Kind::kDelete;
    const bool of_row = effect.kind == Kind::kUpdate;
    const bool inserts = effect.kind == Kind::kInsert;
    const bool creates = effect.kind == Kind::kCreate;
    const bool of_pod = !of_row && !inserts;
    const auto found = sent_.find(inserts   ? sent_key(effect.name, {})
                                  : creates ? sent_key(made_target(effect.name), arriving_)
                                  : of_row  ? sent_key(effect.pk, effect.xmin)
                                            : sent_key(effect.uid, effect.resource_version));
    const std::string what = inserts   ? "insertion of a row for " + effect.name
                             : of_row  ? "update of row " + effect.pk
                             : creates ? "creation of " + effect.name
                                       : std::string(deletes ? "deletion" : "patch") + " of " +
                                             effect.name + " (" + effect.uid + ")";
    if (found == sent_.end()) return violate("harm", what + " that no executor sent");
    const Sent& sent = found->second;
    if (sent.command.id.none()) return violate("harm", what + ": no command named it");
    if ((effect.kind == Kind::kPatch || inserts) && !as_ordered(effect, sent.command))
        return violate("harm", what + " with other values");
    judge_late(sent, kOnItsWay);
    const auto row = history_.row(effect.pk, before);
    const std::string name = !of_row ? effect.name : row ? row->key() : std::string();
    const std::string pk = of_row ? effect.pk : row_behind(sent.command);
    const Looks then = looks_of(sent, name, pk);
    const Looks now{before, before, before, pk};
    // The write's own precondition binds its target: as it was read, so it still is.
    Looks bound = then;
    if (of_pod && then.pod != 0) bound.pod = before;
    if (of_row && then.row != 0) bound.row = before;
    if (inserts && then.key != 0) bound.key = before;
    std::string harm = against(effect, sent.command, name, pk, then);
    if (harm.empty()) harm = against(effect, sent.command, name, pk, bound);
    const std::string race = against(effect, sent.command, name, pk, now);
    if (!harm.empty()) {
        violate("harm", what + " for " + sent.command.rule + ": " + harm);
    } else if (!race.empty()) {
        ++races_;
        if (races_forbidden) violate("race", what + ": " + race);
    }
    judge_once(sent, what);
    if (law != nullptr) return;
    if (creates) judge_wanted(effect.name, before, what);
    if (deletes && !pk.empty()) endings_.began(effect.name, pk, effect.uid);
    if (of_row) follow_ending(effect, name, before, what);
}

/// Why the write should not have been, given what was so at these moments; empty: it was right.
std::string Oracles::against(const sandbox::Effect& effect, const Command& command,
                             const std::string& name, const std::string& pk,
                             const Looks& looks) const {
    if (law != nullptr) {
        const auto issued = given_.find(command.id);
        if (issued == given_.end()) return "nobody gave its command";
        return law->against_write(command, history_, issued->second, evidence_age, looks);
    }
    if (effect.kind == sandbox::Effect::Kind::kCreate) {
        const sandbox::PodPtr made = history_.pod(effect.name, history_.moment());
        return harm_.against_creation(*made, command.id, pk, looks);
    }
    const bool deletes = effect.kind == sandbox::Effect::Kind::kDelete;
    return deletes ? harm_.against_delete(effect, pk, looks)
                   : harm_.against_update(effect, name, looks);
}

/// An update that ends an instance, or that spoils the end of one.
void Oracles::follow_ending(const sandbox::Effect& effect, const std::string& name, Moment before,
                            const std::string& what) {
    const std::string status = sets(effect, "status");
    if (status == "stopping") endings_.closed(name, effect.pk);
    if (status == "failed" && endings_.ends_still(name, effect.pk, before)) {
        violate("ending", what + " to failed, while we were ending it");
    }
}

/// What is created is what a row wanted until a moment ago, whatever its executor looked at.
void Oracles::judge_wanted(const std::string& name, Moment before, const std::string& what) {
    const Moment from = history_.moment_at(scheduler_.steady_now() - kUntilWritten);
    for (const Moment moment : history_.turns(name, from, before)) {
        for (const History::Row& row : history_.rows_of(name, moment)) {
            if (wanted(row.view)) return;
        }
    }
    violate("harm", what + ": no row had wanted it for some time");
}

/// Two executors may do the same where somebody undid it while the one could not know what came of
/// the other: a race with that somebody.
void Oracles::judge_once(const Sent& sent, const std::string& what) {
    const Command& command = sent.command;
    const SteadyTime now = scheduler_.steady_now();
    const bool creates = command.draft.action.kind == Action::Kind::kCreateObject;
    if (creates && !makers_[command.id].insert(sent.by).second) {
        violate("once", what + " again by the same executor");
    }
    if (effects_of_.emplace(command.id, now).second) return;
    const auto told = ended_commands_.find(command.id);
    const bool known = told != ended_commands_.end() && now - told->second > kOutcomeSeen;
    if (races_forbidden || known) {
        violate("once", what + " again by the same command");
    }
    ++races_;
}

}  // namespace trueup::simulation
