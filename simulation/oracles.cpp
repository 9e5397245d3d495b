#include "simulation/oracles.h"

#include <algorithm>

namespace trueup::simulation {

namespace {

constexpr const char* kHold = "trueup.io/hold";
// As the policy of a simulation has them.
constexpr Millis kGrace{40'000};  // less two leaps of the broker's clock, of which each counts 10 s
constexpr Millis kCreateWindow{30'000};
constexpr Millis kOutcomeKnown{5'000};
/// How long ago what a command relies on may have ceased to be so: a source is stale then.
constexpr Millis kEvidenceAge{60'000};

bool held(const sandbox::Pod& pod) {
    return pod.labels.count(kHold) != 0 || pod.annotations.count(kHold) != 0;
}

bool selected(const sandbox::Pod& pod) { return pod.labels.count("app") != 0; }

bool wants_pod(const History::RowView& row) {
    const std::string status = row.text("status");
    return status == "starting" || status == "running";
}

std::string target_at(const std::string& target, const std::string& version) {
    return target + "@" + version;
}

}  // namespace

void Oracles::violate(const std::string& oracle, std::string what) {
    violations_.push_back(
        {oracle, "at " + std::to_string(scheduler_.since().count()) + " ms: " + std::move(what)});
}

void Oracles::ordered(const Command& command) {
    const std::string& id = command.draft.target.object_id;
    const std::size_t slash = id.rfind('/');
    const bool row = command.draft.action.kind == Action::Kind::kUpdateRow;
    ordered_[row && slash != std::string::npos ? id.substr(slash + 1) : id] = command;
}

bool Oracles::bound(const std::string& subject, SteadyTime now) const {
    const auto of = [&](const std::string& key) {
        const auto found = brakes_.find(key);
        return found != brakes_.end() && found->second < now;
    };
    return of("") || of(subject);
}

void Oracles::braked(const std::string& subject) { brakes_[subject] = scheduler_.steady_now(); }
void Oracles::released(const std::string& subject) { brakes_.erase(subject); }

void Oracles::given(const Command& command, SteadyTime issued) {
    if (!given_.insert(command.id).second) return;
    if (bound(command.subject, issued)) {
        violate("brakes", "a command about " + command.subject + " against a pause or a hold");
    }
    const std::string against = against_evidence(command, issued);
    if (against.empty()) return;
    violate("evidence", std::string(name_of(command.draft.action.kind)) + " of " +
                            command.draft.target.name + " for " + command.rule + ": " + against);
}

/// What a command relies on, and the world never said in the time in which it should have; empty:
/// it was right to be given.
std::string Oracles::against_evidence(const Command& command, SteadyTime issued) const {
    const Target& target = command.draft.target;
    SteadyTime from = issued - kEvidenceAge;
    // Our own last write must have been in view, once its outcome can be known.
    const auto written = written_.find(target.object_id);
    if (written != written_.end() && written->second + kOutcomeKnown <= issued) {
        from = std::max(from, written->second);
    }
    const Moment to = history_.moment_at(issued);
    for (const Predicate& predicate : command.draft.read_set) {
        SteadyTime since = from;
        if (predicate.kind == Predicate::Kind::kNone && target.source == "pods") {
            const std::optional<SteadyTime> born = history_.born(target.object_id);
            if (!born) return "there was no such pod";
            if (issued < *born + kGrace) return "the pod was younger than its grace";
            since = std::max(since, *born + kCreateWindow);
        }
        if (!was_so(command, predicate, history_.moment_at(since), to)) {
            return "it was not so that " + predicate.source + " " + predicate.object_id + " " +
                   predicate.field + " " + predicate.value.value_or("") + " (" +
                   std::to_string(static_cast<int>(predicate.kind)) + ")";
        }
    }
    return {};
}

bool Oracles::was_so(const Command& command, const Predicate& predicate, Moment from,
                     Moment to) const {
    for (Moment moment = to; moment + 1 > from; --moment) {
        if (is_so(command, predicate, moment)) return true;
        if (moment == 0) break;
    }
    return false;
}

bool Oracles::is_so(const Command& command, const Predicate& predicate, Moment as_of) const {
    using Kind = Predicate::Kind;
    const std::string value = predicate.value.value_or("");
    if (predicate.source == "pods") {
        if (predicate.kind == Kind::kNone) {  // of those that the source sees
            const sandbox::PodPtr pod = history_.pod(value, as_of);
            return !pod || !selected(*pod);
        }
        const std::string& subject = command.subject;
        const sandbox::PodPtr pod = history_.pod(subject.substr(subject.find('/') + 1), as_of);
        if (!pod || pod->uid != predicate.object_id) return false;
        const bool target = command.draft.target.object_id == predicate.object_id;
        if (predicate.kind == Kind::kExists) return !target || !pod->deletion_ms;
        if (predicate.kind == Kind::kNoVeto) return !held(*pod);
        return predicate.field != "phase" || pod->phase == value;
    }
    if (predicate.kind == Kind::kNone) return history_.rows_of(value, as_of).empty();
    const auto row =
        history_.row(predicate.object_id.substr(predicate.object_id.rfind('/') + 1), as_of);
    if (!row) return false;
    if (predicate.kind != Kind::kField) return true;
    return row->null(predicate.field) ? !predicate.value : row->text(predicate.field) == value;
}

void Oracles::write_sent(const std::string& target, const std::string& version,
                         const Knowledge& known) {
    Sent sent{known, ordered_[target]};
    if (bound(sent.command.subject, scheduler_.steady_now())) {
        violate("brakes", "a write on " + sent.command.subject + " against a pause or a hold");
    }
    sent_[target_at(target, version)] = std::move(sent);
}

void Oracles::act(const std::vector<sandbox::Record>& records) {
    const Moment before = history_.moment();
    history_.take(records, scheduler_.steady_now());
    for (const sandbox::Record& record : records) {
        const auto* effect = std::get_if<sandbox::Effect>(&record);
        if (effect != nullptr && effect->accepted) judge(*effect, before);
    }
}

void Oracles::judge(const sandbox::Effect& effect, Moment before) {
    ++effects_;
    written_[effect.kind == sandbox::Effect::Kind::kDelete ? effect.uid
                                                           : "public.instances/" + effect.pk] =
        scheduler_.steady_now();
    const bool deletes = effect.kind == sandbox::Effect::Kind::kDelete;
    const auto found = sent_.find(deletes ? target_at(effect.uid, effect.resource_version)
                                          : target_at(effect.pk, effect.xmin));
    const std::string what = deletes ? "deletion of " + effect.name + " (" + effect.uid + ")"
                                     : "update of row " + effect.pk;
    if (found == sent_.end()) return violate("harm", what + " that no executor sent");
    const Sent& sent = found->second;
    const auto row = history_.row(effect.pk, before);
    const std::string name = deletes ? effect.name : row ? row->key() : std::string();
    const auto read = [&](const std::string& about) {
        const auto known = sent.known.find(about);
        return known == sent.known.end() ? Moment{0} : known->second;
    };
    const Moment pods = read("pod/" + name);
    const Moment rows = read(deletes ? "key/" + name : "row/" + effect.pk);
    const std::string harm =
        deletes ? against_delete(effect, pods, rows) : against_update(effect, name, pods, rows);
    const std::string race = deletes ? against_delete(effect, before, before)
                                     : against_update(effect, name, before, before);
    if (!harm.empty()) {
        violate("harm", what + " for " + sent.command.rule + ": " + harm);
    } else if (!race.empty()) {
        ++races_;
        if (races_forbidden) violate("race", what + ": " + race);
    }
    if (++effects_of_[sent.command.id] > 1) violate("once", what + " again by the same command");
}

/// Why a pod should have stayed, given what was so at these moments; empty: it may go.
std::string Oracles::against_delete(const sandbox::Effect& effect, Moment pods, Moment rows) const {
    if (pods == 0 || rows == 0) return "its executor had not looked at both sides";
    const sandbox::PodPtr pod = history_.pod(effect.name, pods);
    if (!pod || pod->uid != effect.uid) return "another pod, or none, had the name";
    if (held(*pod)) return "it was held";
    if (!selected(*pod)) return "it was none of ours";
    if (!history_.rows_of(effect.name, rows).empty()) return "a row owned it";
    return {};
}

/// The same for a row that is marked failed.
std::string Oracles::against_update(const sandbox::Effect& effect, const std::string& name,
                                    Moment pods, Moment rows) const {
    if (pods == 0 || rows == 0) return "its executor had not looked at both sides";
    const auto row = history_.row(effect.pk, rows);
    if (!row) return "it was not there";
    if (!wants_pod(*row)) return "it wanted no pod any more: " + row->text("status");
    const sandbox::PodPtr pod = history_.pod(name, pods);
    if (!pod) return {};
    if (pod->phase != "Failed") return "its pod " + name + " was there: " + pod->phase;
    if (held(*pod)) return "its pod was held";
    return {};
}

void Oracles::judge_budget(const std::vector<Command>& commands, const Budget& budget,
                           std::uint64_t population) {
    std::map<std::string, std::map<Hash128, BrokerTime>> issued;  // by rule
    for (const Command& command : commands) issued[command.rule][command.id] = command.issued;
    const std::uint64_t limit =
        std::max<std::uint64_t>(budget.most, population * budget.percent / 100);
    for (const auto& [rule, ids] : issued) {
        std::vector<BrokerTime> times;
        for (const auto& [id, time] : ids) times.push_back(time);
        std::sort(times.begin(), times.end());
        // A stretch as long as a window touches two of them.
        for (std::size_t i = 0; i + 2 * limit < times.size(); ++i) {
            if (times[i + 2 * limit] - times[i] < budget.window) {
                violate("budget", rule + " ordered more than " + std::to_string(2 * limit) +
                                      " within one window's time");
                break;
            }
        }
    }
}

void Oracles::judge_projection(const std::set<std::string>& believed) {
    std::set<std::string> there;
    const Moment now = history_.moment();
    for (const sandbox::PodPtr& pod : history_.pods(now)) there.insert(pod->uid);
    for (const History::Row& row : history_.rows(now)) {
        there.insert("public.instances/" + row.pk);
    }
    for (const std::string& id : there) {
        if (believed.count(id) == 0) violate("lost", id + " is not in the projection");
    }
    for (const std::string& id : believed) {
        if (there.count(id) == 0) violate("lost", id + " is in the projection only");
    }
}

void Oracles::judge_world(const std::function<std::string(const std::string&)>& explain) {
    const Moment now = history_.moment();
    const auto wrong = [&](const std::string& name, const std::string& what) {
        violate("repaired", what + "; " + explain("graph-instances/" + name));
    };
    for (const sandbox::PodPtr& pod : history_.pods(now)) {
        if (!selected(*pod) || held(*pod) || pod->deletion_ms) continue;
        if (history_.rows_of(pod->name, now).empty()) {
            wrong(pod->name, "pod " + pod->name + " has no row");
        }
    }
    for (const History::Row& row : history_.rows(now)) {
        if (!wants_pod(row.view)) continue;
        const std::string name = row.view.key();
        const sandbox::PodPtr pod = history_.pod(name, now);
        if (!pod) wrong(name, "row " + row.pk + " (" + name + ") has no pod");
        if (pod && pod->phase == "Failed" && !held(*pod) && selected(*pod)) {
            wrong(name, "row " + row.pk + " does not know that its pod " + name + " has failed");
        }
    }
}

}  // namespace trueup::simulation
