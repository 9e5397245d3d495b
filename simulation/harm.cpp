#include "simulation/harm.h"

#include "simulation/instances.h"

namespace trueup::simulation {

std::string sets(const sandbox::Effect& effect, std::string_view column) {
    for (const ports::ColumnValue& set : effect.sets) {
        if (set.column == column) return set.value.value_or("");
    }
    return {};
}

std::string Harm::against_delete(const sandbox::Effect& effect, const std::string& pk,
                                 const Looks& looks) const {
    if (looks.pod == 0) return "its executor had not looked at it";
    const sandbox::PodPtr pod = history_.pod(effect.name, looks.pod);
    if (!pod || pod->uid != effect.uid) return "another pod, or none, had the name";
    if (held(*pod)) return "it was held";
    if (!selected(*pod)) return "it was none of ours";
    if (pk.empty()) {
        if (looks.key == 0) return "its executor had not looked at rows";
        return history_.rows_of(effect.name, looks.key).empty() ? "" : "a row owned it";
    }
    if (looks.row == 0) return "its executor had not looked at its row";
    const auto row = history_.row(pk, looks.row);
    if (!row || row->key() != effect.name) return "it was not the row's pod";
    if (!wants_pod(*row)) return "its row wanted no pod any more: " + row->text("status");
    return approvals_.to_end(*row) ? "" : "nobody wanted its instance to end";
}

std::string Harm::against_update(const sandbox::Effect& effect, const std::string& name,
                                 const Looks& looks) const {
    const auto row = looks.row == 0 ? std::nullopt : history_.row(effect.pk, looks.row);
    if (!row) return "it was not there when its executor looked, if it did";
    if (held(*row)) return "it was held";
    const std::string status = sets(effect, "status");
    if (status == "failed") return against_failing(*row, name, looks.pod);
    if (status == "stopping") return against_stopping(*row, name, looks.pod);
    return against_naming(*row, sets(effect, "pod_name"), looks.pod);
}

std::string Harm::against_creation(const sandbox::Pod& made, const CommandId& by,
                                   const std::string& pk, const Looks& looks) const {
    if (noted(made, kMadeBy) != to_hex(by)) return "it does not say by which command";
    if (looks.pod == 0) return "its executor had not looked for one of its name";
    if (history_.pod(made.name, looks.pod)) return "there was one of its name";
    const auto row = looks.row == 0 ? std::nullopt : history_.row(pk, looks.row);
    if (!row) return "its row was not there when its executor looked, if it did";
    if (row->key() != made.name) return "its row wanted another one";
    if (held(*row)) return "its row was held";
    if (!wanted(*row)) return "its row wanted none: " + row->text("status");
    if (!selected(made)) return "its source does not show it";
    if (noted(made, kMadeFor) != row->text("url_slug")) return "it says what its row did not";
    if (looks.key == 0) return "its executor had not looked for other rows";
    for (const History::Row& other : history_.rows_of(made.name, looks.key)) {
        if (other.pk == pk) continue;
        const auto at = looks.others.find(other.pk);
        const auto then = at == looks.others.end() ? std::optional(other.view)
                                                   : history_.row(other.pk, at->second);
        if (then && then->key() == made.name && (wanted(*then) || wants_pod(*then))) {
            return "another row claimed its name";
        }
    }
    return {};
}

std::string Harm::against_failing(const History::RowView& row, const std::string& name,
                                  Moment pods) const {
    if (pods == 0) return "its executor had not looked at its pod";
    const sandbox::PodPtr pod = history_.pod(name, pods);
    const bool stopping = allowed_.every_rule && row.text("status") == "stopping";
    if (!wants_pod(row) && !stopping) return "it wanted no pod any more: " + row.text("status");
    if (!pod) return {};
    if (pod->phase != "Failed" || stopping) return "its pod " + name + " was there: " + pod->phase;
    return held(*pod) ? "its pod was held" : "";
}

std::string Harm::against_stopping(const History::RowView& row, const std::string& name,
                                   Moment pods) const {
    if (!wants_pod(row)) return "it wanted no pod any more: " + row.text("status");
    if (!endings_.has_ended(name)) return "its pod had not ended";
    if (endings_.lives_again(name, pods)) return "another pod ran under its name";
    // What was begun goes on, whatever its owner wants by now.
    const bool wanted = endings_.was_ordered(name) || approvals_.to_end(row);
    return wanted ? "" : "nobody wanted its instance to end";
}

std::string Harm::against_naming(const History::RowView& row, const std::string& pod,
                                 Moment pods) const {
    if (!wants_pod(row)) return "it wanted no pod any more: " + row.text("status");
    if (!row.untracked()) return "it named " + row.text("pod_name") + " already";
    if (row.key() != pod) return "its slug speaks of " + row.key();
    const bool there = pods != 0 && history_.pod(pod, pods) != nullptr;
    return there ? "" : "there was no pod " + pod;
}

}  // namespace trueup::simulation
