#include "simulation/evidence.h"

#include "executors/read_set.h"
#include "simulation/instances.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace trueup::simulation {

namespace {

// As the policy of a simulation has them.
constexpr Millis kGrace{40'000};  // less two leaps of the broker's clock, of which each counts 10 s
constexpr Millis kCreateWindow{30'000};
constexpr Millis kHeard{10'000};  // what a connector said has reached every engine that runs

}  // namespace

std::vector<std::string> rows_behind(const Command& command) {
    std::vector<std::string> rows;
    for (const Predicate& predicate : command.draft.read_set) {
        if (predicate.source != "rows" || predicate.kind != Predicate::Kind::kField) continue;
        rows.push_back(predicate.object_id.substr(predicate.object_id.rfind('/') + 1));
    }
    return rows;
}

std::string row_behind(const Command& command) {
    const std::vector<std::string> rows = rows_behind(command);
    return rows.empty() ? std::string() : rows.front();
}

bool later_step(const Command& command) {
    const std::vector<Predicate>& read = command.draft.read_set;
    return command.draft.action.kind == Action::Kind::kUpdateRow && !read.empty() &&
           read.front().kind == Predicate::Kind::kNoneBut;
}

std::string Evidence::against(const Command& command, SteadyTime issued, SteadyTime written,
                              SteadyTime begun) const {
    const Target& target = command.draft.target;
    const Moment to = history_.moment_at(issued);
    const auto& read = command.draft.read_set;
    // What is none then is none of its name in the other cluster.
    const bool has_pod = std::any_of(read.begin(), read.end(), [](const Predicate& each) {
        return each.kind == Predicate::Kind::kExists && of_pods(each.source);
    });
    const bool creates = command.draft.action.kind == Action::Kind::kCreateObject;
    if (creates && allowed_.law == nullptr) {
        const auto first = history_.first_saying(row_behind(command), "status", kWanted);
        if (!first || issued < *first + kWantedFor) {
            return "its row had not wanted it for its grace";
        }
    }
    for (const Predicate& predicate : read) {
        const bool claim = predicate.kind == Predicate::Kind::kField ||
                           predicate.kind == Predicate::Kind::kNoVeto ||
                           predicate.kind == Predicate::Kind::kNoneBut;
        SteadyTime since = (claim ? std::min(issued, begun) : issued) - allowed_.evidence_age;
        if (predicate.kind == Predicate::Kind::kNone && target.source == "rows" && !has_pod) {
            const Reinsertions::Reinserted* again =
                reinsertions_.find(target.object_id.substr(target.object_id.rfind('/') + 1));
            if (again != nullptr && again->told && *again->told + kHeard < issued &&
                issued < again->at + kGrace) {
                return "the row was younger than its grace";
            }
        }
        if (predicate.source == target.source) since = std::max(since, written);
        // Of the other cluster it is asked for whatever takes a pod away.
        const bool orphan = predicate.kind == Predicate::Kind::kNone && of_pods(target.source) &&
                            !of_pods(predicate.source);
        if (orphan) {
            const std::optional<SteadyTime> born = history_.born(target.object_id);
            if (!born) return "there was no such pod";
            if (allowed_.law == nullptr) {
                if (issued < *born + kGrace) return "the pod was younger than its grace";
                since = std::max(since, *born + kCreateWindow);
            }
        }
        if (!was_so(command, predicate, history_.moment_at(since), to)) {
            return "it was not so that " + executors::describe(predicate);
        }
    }
    return {};
}

bool Evidence::was_so(const Command& command, const Predicate& predicate, Moment from,
                      Moment to) const {
    for (Moment moment = to; moment + 1 > from; --moment) {
        if (is_so(command, predicate, moment, to)) return true;
        if (moment == 0) break;
    }
    return false;
}

bool Evidence::is_so(const Command& command, const Predicate& predicate, Moment as_of,
                     Moment issued) const {
    using Kind = Predicate::Kind;
    const std::string value = predicate.value.value_or("");
    if (predicate.kind == Kind::kReadBy) return true;  // of configurations the world knows nothing
    if (of_pods(predicate.source)) {
        if (predicate.kind == Kind::kNone || predicate.kind == Kind::kNoneBut) {
            const sandbox::PodPtr pod = history_.pod(value, as_of);  // if its source sees it
            if (!pod || !selected_by(*pod, predicate.source)) return true;
            if (predicate.kind == Kind::kNone || pod->uid != predicate.object_id) return false;
            // That its own pod goes is told by another than who tells of pods, and another pod may
            // come in the same moment.
            const sandbox::PodPtr now = history_.pod(value, issued);
            return !now || now->uid != pod->uid || now->deletion_ms;
        }
        const std::string& subject = command.subject;
        const sandbox::PodPtr pod = history_.pod(subject.substr(subject.find('/') + 1), as_of);
        if (!pod || pod->uid != predicate.object_id) return false;
        const bool target = command.draft.target.object_id == predicate.object_id;
        if (predicate.kind == Kind::kExists) return !target || !pod->deletion_ms;
        if (predicate.kind == Kind::kNoVeto) return !held(*pod);
        if (predicate.field == "in_scope") {
            return selected_by(*pod, predicate.source) == (value == "true");
        }
        return predicate.field != "phase" || pod->phase == value;
    }
    if (predicate.source != "rows") return true;  // nothing here knows what serves an instance
    const std::string pk = predicate.object_id.substr(predicate.object_id.rfind('/') + 1);
    if (predicate.kind == Kind::kNone || predicate.kind == Kind::kNoneBut) {
        const auto named = history_.rows_of(value, as_of);
        return std::all_of(named.begin(), named.end(), [&](const History::Row& row) {
            const auto is = [&](const std::string& id) {
                return id.substr(id.rfind('/') + 1) == row.pk;
            };
            return predicate.kind == Kind::kNoneBut &&
                   (row.pk == pk ||
                    std::any_of(predicate.besides.begin(), predicate.besides.end(), is));
        });
    }
    const auto row = history_.row(pk, as_of);
    if (!row) return false;
    if (predicate.kind == Kind::kNoVeto) return !held(*row);
    if (predicate.kind != Kind::kField) return true;
    return row->null(predicate.field) ? !predicate.value : row->text(predicate.field) == value;
}

}  // namespace trueup::simulation
