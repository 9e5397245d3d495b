#include "simulation/repaired.h"

#include "simulation/instances.h"

#include <utility>

namespace trueup::simulation {

void Repaired::judge_world(const std::function<std::string(const std::string&)>& explain) {
    const Moment now = history_.moment();
    const auto wrong = [&](const std::string& name, const std::string& what) {
        if (approvals_.dismissed("graph-instances/" + name)) return;
        violations_.violate("repaired", what + "; " + explain("graph-instances/" + name));
    };
    for (const sandbox::PodPtr& pod : history_.pods(now)) {
        if (!selected(*pod) || held(*pod) || pod->deletion_ms) continue;
        if (history_.rows_of(pod->name, now).empty()) {
            wrong(pod->name, "pod " + pod->name + " has no row");
        }
    }
    for (const History::Row& row : history_.rows(now)) judge_row(row, wrong);
}

void Repaired::judge_open(const std::vector<OpenFinding>& open) {
    for (std::string& what : allowed_.law->wrong(open, history_, scheduler_.steady_now())) {
        violations_.violate("repaired", std::move(what));
    }
}

void Repaired::judge_row(
    const History::Row& row,
    const std::function<void(const std::string&, const std::string&)>& wrong) const {
    const std::string name = row.view.key();
    const std::string what = "row " + row.pk + " (" + name + ")";
    const sandbox::PodPtr pod = history_.pod(name, history_.moment());
    const bool touchable = pod && selected(*pod) && !held(*pod);
    if (allowed_.every_rule && !pod && row.view.text("status") == "stopping") {
        // What we ended ourselves is no failure: its owner puts it away. Whether a deletion that
        // was ordered and failed was done all the same nobody knows.
        if (endings_.closed_by_us(name, row.pk) || endings_.was_ordered(name)) return;
        return wrong(name, what + " has been stopping for long");
    }
    if (wanted(row.view) && !held(row.view) && !pod) return wrong(name, what + " wants a pod");
    if (!wants_pod(row.view) || held(row.view)) return;
    if (!pod) return wrong(name, what + " has no pod");
    if (!touchable) return;
    if (pod->phase == "Failed") wrong(name, what + " does not know that its pod has failed");
    if (!allowed_.every_rule) return;
    if (row.view.untracked()) wrong(name, what + " does not name its pod");
    if (approvals_.overdue(row.view)) wrong(name, what + " outlived its deadline");
}

}  // namespace trueup::simulation
