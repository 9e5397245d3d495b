// Oracles of what engines order and of what executors send on its strength: brakes, approvals,
// times in which nothing may be ordered, budgets, expiry, and the evidence that an order relies on.
#include "simulation/instances.h"
#include "simulation/oracles.h"

#include <algorithm>

namespace trueup::simulation {

namespace {

// As the policy of a simulation has them.
constexpr const char* kRuleThatAsks = "stuck_transition";
/// By which commands outlive their end, for clocks that differ.
constexpr Millis kSkew{1'000};
/// Of what an executor read, when it writes.
constexpr Millis kCheckAge{2'000};
constexpr int kClosedMinute = 6;

std::string what_of(const Command& command) {
    return std::string(name_of(command.draft.action.kind)) + " of " + command.draft.target.name +
           " for " + command.rule + ": ";
}

}  // namespace

/// Budgets count what takes something away, and of an ending its first step only.
bool Oracles::costs(const Command& command) const {
    if (law != nullptr) {
        const Action::Kind kind = command.draft.action.kind;
        return kind == Action::Kind::kDeletePod || makes(kind);
    }
    if (command.draft.action.kind == Action::Kind::kDeleteObject) return false;
    const auto& sets = command.draft.action.sets;
    return std::none_of(sets.begin(), sets.end(), [](const Assignment& set) {
        return (set.column == "pod_name" && set.value) ||
               (set.column == "status" && set.value == "stopping");
    });
}

namespace {

/// What an executor asks for because of a predicate, as its Knowledge names it.
std::string asked_by(const Command& command, const Predicate& predicate) {
    const std::string value = predicate.value.value_or("");
    const bool pods = of_pods(predicate.source);
    if (predicate.kind == Predicate::Kind::kNone) {
        return pods ? pod_look(predicate.source, value) : "key/" + value;
    }
    if (pods) {
        return pod_look(predicate.source, command.subject.substr(command.subject.find('/') + 1));
    }
    return "row/" + predicate.object_id.substr(predicate.object_id.rfind('/') + 1);
}

/// One minute of ten.
bool closed(BrokerTime time) {
    return time.time_since_epoch() / Millis{60'000} % 10 == kClosedMinute;
}

}  // namespace

void Oracles::ordered(const Command& command, const std::string& by) {
    const std::string& id = command.draft.target.object_id;
    const std::size_t slash = id.rfind('/');
    const bool row = command.draft.action.kind == Action::Kind::kUpdateRow;
    const bool creates = command.draft.action.kind == Action::Kind::kCreateObject;
    ordered_[creates                             ? made_target(id)
             : row && slash != std::string::npos ? id.substr(slash + 1)
                                                 : id] = {command, by};
}

/// Can nobody have enabled its rule by then? What an end began under an approval it carries on.
bool Oracles::unlooked(const Command& command, SteadyTime issued) const {
    const std::string name = command.subject.substr(command.subject.find('/') + 1);
    const bool goes_on = law != nullptr && later_step(command);
    if (tail_lost || goes_on || endings_.was_ordered(name)) return false;
    return restraints_.not_enabled(command.rule, issued);
}

void Oracles::given(const Command& command, SteadyTime issued) {
    judge_name(command.id.value(), what_of(command) + command.draft.target.object_id);
    const auto [first, fresh] = drafts_.try_emplace(command.id, command.draft);
    const bool same_object = first->second.target == command.draft.target;  // else it is said above
    if (!fresh && same_object && first->second != command.draft) {
        violate("once", what_of(command) + "it is another command than it was under this id");
    }
    if (!given_.emplace(command.id, issued).second) return;
    judge_order(command);
    SteadyTime& before = ordered_for_[command.rule + " " + command.subject];
    if (approvals_.again_since(command.subject, before)) agreed_.insert(command.id);
    before = issued;
    if (restraints_.bound(command, issued)) {
        violate("brakes", "a command about " + command.subject + " against a pause or a hold");
    }
    const bool agreed = approvals_.to_order(command, issued);
    if (!agreed && asks(command, issued)) {
        violate("approval", command.rule + " about " + command.subject + " was not approved");
    }
    if (!agreed && unlooked(command, issued)) {
        violate("enabled", command.rule + " about " + command.subject + ": nobody enabled it");
    }
    // An end that was begun goes on at any time.
    if (every_rule && closed(command.issued) && costs(command)) {
        violate("window", "a command about " + command.subject);
    }
    if (asks_wrongly_ || issued < wrong_until_) {
        violate("first", what_of(command) + "a source asked in the wrong place");
    }
    const bool ends = law == nullptr && command.draft.action.kind == Action::Kind::kDeletePod &&
                      command.draft.read_set.front().kind == Predicate::Kind::kField;
    const Target& target = command.draft.target;
    if (ends) endings_.ordered(target.name, target.object_id, issued);
    // A later step of a list goes on by what was seen when its first one was ordered, whoever did
    // that; its executor looks again.
    const bool later = later_step(command);
    if (law != nullptr && later) return judge_meant(command, issued);
    const auto begun = later ? endings_.ordered_at(command.draft.read_set.front().object_id)
                             : std::optional<SteadyTime>();
    const std::string against = evidence_.against(command, issued, {}, begun.value_or(issued));
    if (!against.empty()) violate("evidence", what_of(command) + against);
    if (law != nullptr) judge_meant(command, issued);
}

void Oracles::judge_configured(PartitionNumber shard, const Command& command) {
    if (tail_lost) return;  // the settings may be, and those of before are in force again
    const auto given = given_.find(command.id);
    if (given == given_.end() || !restraints_.was_off(shard, command.rule, given->second)) return;
    violate("configured", what_of(command) + "no engine was given settings by which that acts");
}

void Oracles::judge_meant(const Command& command, SteadyTime issued) {
    const std::string meant = law->against_order(command, history_, issued, evidence_age);
    if (!meant.empty()) violate("meant", what_of(command) + meant);
}

/// Nobody may carry out what has expired, so that another thing can follow it.
void Oracles::judge_order(const Command& command) {
    // What is to be made has its name for an id: a row and a pod may have the same.
    const Target& target = command.draft.target;
    Command& last = last_[target.source + '/' + target.object_id];
    // What was ordered of a row under the name that it had before is refused: its key is asked for.
    const bool over = last.id.none() || ended_commands_.count(last.id) != 0 ||
                      last.subject != command.subject || command.issued > last.not_after + kSkew;
    if (!over && !tail_lost) {
        violate("order",
                what_of(command) + "what " + last.rule + " had ordered before was under way");
    }
    last = command;
}

/// Must somebody have approved it?
bool Oracles::asks(const Command& command, SteadyTime issued) const {
    if (law != nullptr) return law->asks(command, history_, issued, evidence_age);
    if (command.rule == kRuleThatAsks) return true;
    const bool orphan = command.draft.action.kind == Action::Kind::kDeletePod &&
                        command.draft.read_set.front().kind == Predicate::Kind::kNone;
    if (!orphan) return false;
    // A row that names no pod, or what no pod is called, and had none of its name for as long as a
    // source may be behind.
    const Moment to = history_.moment_at(issued);
    const Moment from = history_.moment_at(issued - evidence_age);
    for (const History::Row& row : history_.rows(to)) {
        bool alone = true;
        for (Moment moment = to; alone && moment + 1 > from; --moment) {
            const auto then = history_.row(row.pk, moment);
            alone = then && wants_pod(*then) && (then->untracked() || odd_name(then->key())) &&
                    !history_.pod(then->key(), moment) &&
                    !endings_.ends_still(then->key(), row.pk, moment);  // it owns no other pod
            if (moment == 0) break;
        }
        if (alone) return true;
    }
    return false;
}

void Oracles::write_sent(const std::string& target, const std::string& version,
                         const Knowledge& known) {
    const auto& [ordered, by] = ordered_[target];
    Sent sent{known, ordered, by};
    if (restraints_.bound(sent.command, scheduler_.steady_now())) {
        violate("brakes", "a write on " + sent.command.subject + " against a pause or a hold");
    }
    const auto silenced = restraints_.silenced_at(sent.command.rule);
    const auto issued = given_.find(sent.command.id);
    if (silenced && issued != given_.end() && issued->second < *silenced &&
        scheduler_.steady_now() > *silenced + kOnItsWay) {
        violate("mode", what_of(sent.command) + "its rule had ceased to act");
    }
    judge_late(sent, Millis{0});
    sent_[sent_key(target, version)] = std::move(sent);
}

/// The steady clock is nobody's but ours: no leap of the broker's gives an executor more time.
void Oracles::judge_late(const Sent& sent, Millis on_its_way) {
    const Command& command = sent.command;
    const SteadyTime now = scheduler_.steady_now() - on_its_way;
    const auto issued = given_.find(command.id);
    if (issued != given_.end() && now - issued->second > command.not_after - command.issued) {
        violate("late", what_of(command) + "it had expired");
    }
    for (const Predicate& predicate : command.draft.read_set) {
        if (predicate.kind == Predicate::Kind::kReadBy) continue;  // that is known without a look
        const auto look = sent.known.find(asked_by(command, predicate));
        if (look == sent.known.end() || now - look->second.at <= kCheckAge) continue;
        return violate("late", what_of(command) + "its executor had looked " +
                                   std::to_string((now - look->second.at).count()) + " ms before");
    }
}

bool Oracles::may_write_still() const {
    return scheduler_.steady_now() - looked_at_ < kCheckAge + kOnItsWay;
}

void Oracles::judge_budget(const std::vector<Command>& commands, const Budget& budget,
                           const std::map<std::string, SteadyTime>& served) {
    std::map<std::string, std::map<CommandId, BrokerTime>> issued;  // by rule
    for (const Command& command : commands) {
        if (costs(command)) issued[command.rule][command.id] = command.issued;
    }
    for (const auto& [rule, ids] : issued) {
        std::vector<std::pair<BrokerTime, SteadyTime>> times;
        for (const auto& [id, time] : ids) times.emplace_back(time, given_.at(id));
        std::sort(times.begin(), times.end());
        for (std::size_t from = 0, to = 0; to < times.size(); ++to) {
            while (times[to].first - times[from].first >= budget.window) ++from;
            // A stretch as long as a window touches two of them, and the world may shrink
            // meanwhile, or grow.
            const std::size_t ordered = to - from + 1;
            if (ordered <= 2 * std::size_t{budget.max}) continue;
            const std::size_t limit = 2 * std::max(most_allowed(budget, times[from].second, served),
                                                   most_allowed(budget, times[to].second, served));
            if (ordered <= limit) continue;
            violate("budget", rule + " ordered more than " + std::to_string(limit) +
                                  " within one window's time");
            break;
        }
    }
}

/// In one window. Who was there a while ago may be believed to be there still.
std::uint64_t Oracles::most_allowed(const Budget& budget, SteadyTime now,
                                    const std::map<std::string, SteadyTime>& served) const {
    // Where policies take most of it away, what no list has shown to be gone yet counts.
    const Moment from =
        law != nullptr ? 0 : history_.moment_at(now - 2 * budget.window - evidence_age);
    std::set<std::string> there = history_.names(from, history_.moment_at(now));
    for (const auto& [name, since] : served) {
        if (since < now) there.insert(name);
    }
    return std::max<std::uint64_t>(budget.max, there.size() * budget.percent / 100);
}

void Oracles::judge_recurring(const std::vector<Command>& commands,
                              const std::map<CommandId, BrokerTime>& known) {
    // What people do to rows, and what is asked for, may come again and again.
    static const std::set<std::string> kAsk{"missing_pod",      "orphaned_pod",     "status_drift",
                                            "stuck_transition", "untracked_record", kWantedRule};
    std::set<CommandId> counted;                            // both engines say each
    std::map<std::string, std::vector<const Command*>> of;  // by rule, subject and row
    for (const Command& command : commands) {
        if (kAsk.count(command.rule) == 0 || !counted.insert(command.id).second) continue;
        const bool row = command.draft.action.kind == Action::Kind::kUpdateRow;
        const bool creates = command.draft.action.kind == Action::Kind::kCreateObject;
        const std::string object = row       ? command.draft.target.object_id
                                   : creates ? row_behind(command)
                                             : std::string();
        of[command.rule + " " + command.subject + " " + object].push_back(&command);
    }
    for (auto& [what, same] : of) {
        std::stable_sort(same.begin(), same.end(), [&](const Command* a, const Command* b) {
            return given_.at(a->id) < given_.at(b->id);
        });
        std::size_t done = 0;
        for (const Command* command : same) {
            if (done > 1 && agreed_.count(command->id) == 0) {
                return violate("recurring", what_of(*command) + "it was done " +
                                                std::to_string(done) +
                                                " times, and nobody approved it");
            }
            // Else it was given up before: the broker's clock may leap in between.
            const auto told = known.find(command->id);
            const bool in_time = done_.count(command->id) != 0 && told != known.end() &&
                                 told->second <= command->not_after + kSkew;
            done += in_time ? 1U : 0U;
        }
    }
}

/// Who knows of a write must have seen its object since.
void Oracles::judge_own_writes(const std::vector<Command>& commands,
                               const std::map<CommandId, BrokerTime>& known) {
    std::map<std::string, std::vector<std::pair<BrokerTime, SteadyTime>>> writes;  // by object
    for (const Command& command : commands) {
        const auto effect = effects_of_.find(command.id);
        const auto told = known.find(command.id);
        if (effect == effects_of_.end() || told == known.end()) continue;
        writes[command.draft.target.object_id].emplace_back(told->second, effect->second);
    }
    for (const Command& command : commands) {
        // An end that was begun goes on by what it was begun with: what it finds done is done.
        if (!costs(command)) continue;
        for (const auto& [told, written] : writes[command.draft.target.object_id]) {
            if (told >= command.issued) continue;
            const std::string against =
                evidence_.against(command, given_.at(command.id), written, given_.at(command.id));
            if (!against.empty()) {
                return violate("evidence", what_of(command) + against + " since our own write");
            }
        }
    }
}

}  // namespace trueup::simulation
