#include "engine/core/rules/graph_instances/untracked_record.h"

#include "engine/base/guard.h"
#include "engine/core/rules/graph_instances/facts.h"

#include <utility>

namespace trueup::core::graph_instances {

namespace {

/// What the rule read of the row; the slug where it was sent, since the row's name hangs on it.
std::vector<Predicate> row_as_read(const std::string& rows, const Facet& row) {
    if (!row.fields().text("url_slug")) return still_says(rows, row, {"status", "pod_name"});
    return still_says(rows, row, {"status", "pod_name", "url_slug"});
}

CommandDraft name_pod(const References& references, const Settings& settings, const Facet& row,
                      const Facet& pod) {
    const std::string& pods = references.sources[settings.source(kPods)].name;
    const std::string& rows = references.sources[settings.source(kRows)].name;
    const std::string name(pod.fields().text("name").value_or(""));
    CommandDraft draft;
    draft.target = {rows, row.object_id, name, {}};
    draft.action.kind = Action::Kind::kUpdateRow;
    draft.action.sets = {{"pod_name", name}};
    draft.read_set = row_as_read(rows, row);
    draft.read_set.insert(draft.read_set.begin(),
                          Predicate{Predicate::Kind::kExists, pods, pod.object_id, "name", name});
    return draft;
}

CommandDraft fail_row(const Subject& subject, const References& references,
                      const Settings& settings, const Facet& row) {
    const std::string& pods = references.sources[settings.source(kPods)].name;
    const std::string& rows = references.sources[settings.source(kRows)].name;
    const std::string name(subject.name());
    CommandDraft draft = mark_failed(rows, row, kUnexpected, "Pod not found during backfill");
    draft.target.name = name;
    draft.read_set = row_as_read(rows, row);
    draft.read_set.insert(draft.read_set.begin(),
                          Predicate{Predicate::Kind::kNone, pods, {}, "name", name});
    return draft;
}

}  // namespace

Verdict judge_untracked_record(const Subject& subject, const References& references,
                               const Settings& settings, std::uint8_t self, JournalTime now) {
    if (subject.counted[kUntrackedRows] == 0) return Verdict::healthy();
    const Side pods(subject, references, settings.source(kPods));
    const Side rows(subject, references, settings.source(kRows));
    const LiveRows claims = live_rows(rows.present());
    if (claims.count == 0) return Verdict::healthy();
    if (!untracked(*claims.first) && !subject.reference()) return Verdict::healthy();
    if (claims.count > 1 || pods.present().size() > 1) {
        return Verdict::abstain(Reason::kDuplicateClaim);
    }
    const Facet& row = *claims.first;
    if (!row.fields().text("status")) return Verdict::abstain(Reason::kIncomplete);
    // Its key is none, so nobody can tell its pod: it is reported, and holds the deletion of
    // orphans.
    if (subject.reference()) return Verdict::waiting(Reason::kUncorrelatedRows, {}, row.object_id);
    if (pods.unknown()) return Verdict::abstain(Reason::kNotSynced);
    const Facet* pod = pods.present().empty() ? nullptr : pods.present().front();
    if (pod != nullptr && deleting(*pod)) return Verdict::healthy();  // it will be gone soon
    if (vetoed(row)) return Verdict::abstain(Reason::kVeto);

    const Disagreement found{row, BrokerTime{}, settings.source(kPods), row.evidence,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    if (pod != nullptr) {
        Verdict verdict = Verdict::act(row.object_id, name_pod(references, settings, row, *pod));
        verdict.harmless = true;
        return verdict;
    }
    CommandDraft draft = fail_row(subject, references, settings, row);
    const bool told = !references.sweeping && references.tallies[kUnownedPods] == 0;
    if (told || !TRUEUP_GUARD("unowned_pods_ask")) {
        return Verdict::act(row.object_id, std::move(draft));
    }
    Wait until;
    until.none_of = kUnownedPods;
    return Verdict::ask(Reason::kUncorrelatedRows, until, row.object_id, std::move(draft));
}

}  // namespace trueup::core::graph_instances
