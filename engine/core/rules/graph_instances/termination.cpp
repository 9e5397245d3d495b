#include "engine/core/rules/graph_instances/termination.h"

#include "engine/core/row_time.h"
#include "engine/core/rules/graph_instances/facts.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace trueup::core::graph_instances {

namespace {

/// What the columns of a row say about its end.
struct Deadline {
    enum class Kind : std::uint8_t { kNone, kAt, kUnreadable, kIncomplete };
    Kind kind = Kind::kNone;
    SourceTime at{};
};

/// `from` + `length`, if both columns say something.
Deadline deadline_of(const Facet& row, std::string_view from, std::string_view length) {
    const std::optional<Field> start = row.fields().find(from);
    const std::optional<Field> span = row.fields().find(length);
    for (const auto& field : {start, span}) {
        if (field && field->unchanged) return {Deadline::Kind::kIncomplete, {}};
    }
    if (!start || !start->value || !span || !span->value) return {};
    const std::string_view text = *span->value;
    if (text.find_first_not_of(" \t") == std::string_view::npos) return {};
    const std::optional<SourceTime> begins = parse_timestamp(*start->value);
    const std::optional<Millis> lasts = parse_duration(text);
    if (!begins || !lasts) return {Deadline::Kind::kUnreadable, {}};
    if (*lasts <= Millis{0}) return {};
    return {Deadline::Kind::kAt, *begins + *lasts};
}

using Columns = std::initializer_list<std::string_view>;

CommandDraft end_pod(const References& references, const Settings& settings, const Facet& row,
                     const Facet& pod, Columns columns) {
    return relying_on(still_says(references.sources[settings.source(kRows)].name, row, columns),
                      delete_pod(references.sources[settings.source(kPods)].name, pod));
}

CommandDraft end_row(const Subject& subject, const References& references, const Settings& settings,
                     const Facet& row, Columns columns) {
    const std::string& rows = references.sources[settings.source(kRows)].name;
    CommandDraft draft;
    draft.target = {rows, row.object_id, std::string(subject.name()), {}};
    draft.action.kind = Action::Kind::kUpdateRow;
    draft.action.sets = {{"status", "stopping"}};
    draft.read_set = still_says(rows, row, columns);
    return draft;
}

/// The first object that serves the instance and stays: it goes before the row says that it stops
/// (G7). nullopt: nothing is left of it.
std::optional<Verdict> end_what_serves(const Subject& subject, const References& references,
                                       const Settings& settings, const Facet& row,
                                       Columns columns) {
    for (const Role role : {kServices, kIngresses}) {
        const SourceId source = settings.source(role);
        if (source == kNoSource) continue;
        if (auto held = unheard(subject, references, settings, {source}, row.object_id)) {
            return held;
        }
        for (const Facet* object : PresentFacets(subject, source)) {
            if (deleting(*object) || out_of_scope(*object)) continue;
            if (vetoed(*object)) return Verdict::abstain(Reason::kVeto);
            const std::string& rows = references.sources[settings.source(kRows)].name;
            Verdict verdict = Verdict::act(
                row.object_id, relying_on(still_says(rows, row, columns),
                                          delete_object(references.sources[source].name, *object)));
            verdict.more = true;
            return verdict;
        }
    }
    return std::nullopt;
}

/// The instance is to be ended; `columns` say why, and must still say so when it is done. What
/// follows on the first deletion is the fold's (core/ending.h).
Verdict end(const Subject& subject, const References& references, const Settings& settings,
            std::uint8_t self, JournalTime now, const Facet& row, Columns columns) {
    const Side pods(subject, references, settings.source(kPods));
    if (pods.present().size() > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    if (pods.unknown()) return Verdict::abstain(Reason::kNotSynced);
    if (pods.present().empty()) return Verdict::healthy();
    const Facet& pod = *pods.present().front();
    if (out_of_scope(pod)) return Verdict::healthy();
    if (vetoed(row) || vetoed(pod)) return Verdict::abstain(Reason::kVeto);
    if (deleting(pod)) {  // by somebody else, who may leave the rest to us
        const Disagreement found{row, BrokerTime{}, settings.source(kRows), row.evidence};
        if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
        if (auto next = end_what_serves(subject, references, settings, row, columns)) return *next;
        return Verdict::act(row.object_id, end_row(subject, references, settings, row, columns));
    }
    const Disagreement found{row, pod.evidence, settings.source(kPods), row.evidence};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    Verdict verdict = Verdict::act(row.object_id, end_pod(references, settings, row, pod, columns));
    verdict.more = true;
    return verdict;
}

/// `nullopt` once the source's own clock has passed the deadline; else what to say until then.
std::optional<Verdict> before(const Deadline& deadline, const Facet& row, const Subject& subject,
                              const References& references, const Settings& settings) {
    if (deadline.kind == Deadline::Kind::kNone) return Verdict::healthy();
    if (deadline.kind == Deadline::Kind::kUnreadable) {
        return Verdict::waiting(Reason::kUnreadable, {}, row.object_id);
    }
    if (deadline.kind == Deadline::Kind::kIncomplete) return Verdict::abstain(Reason::kIncomplete);
    return not_due(subject, references, settings, settings.source(kRows), deadline.at);
}

/// The one live row that may be ended for this deadline, or what to say instead.
struct Candidate {
    const Facet* row = nullptr;
    Verdict otherwise;
};
Candidate candidate(const Subject& subject, const References& references,
                    const Settings& settings) {
    const Side rows(subject, references, settings.source(kRows));
    const LiveRows claims = live_rows(rows.present());
    if (claims.count == 0) return {nullptr, Verdict::healthy()};
    if (claims.count > 1) return {nullptr, Verdict::abstain(Reason::kDuplicateClaim)};
    if (!claims.first->fields().text("status")) {
        return {nullptr, Verdict::abstain(Reason::kIncomplete)};
    }
    return {claims.first, {}};
}

}  // namespace

Verdict judge_ttl_expired(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now) {
    const Candidate found = candidate(subject, references, settings);
    if (found.row == nullptr) return found.otherwise;
    const Deadline deadline = deadline_of(*found.row, "created_at", "ttl");
    if (auto not_due = before(deadline, *found.row, subject, references, settings)) return *not_due;
    return end(subject, references, settings, self, now, *found.row,
               {"status", "pod_name", "created_at", "ttl"});
}

Verdict judge_inactive(const Subject& subject, const References& references,
                       const Settings& settings, std::uint8_t self, JournalTime now) {
    const Candidate found = candidate(subject, references, settings);
    if (found.row == nullptr) return found.otherwise;
    if (!found.row->fields().is("status", "running")) return Verdict::healthy();
    const Deadline deadline = deadline_of(*found.row, "last_activity_at", "inactivity_timeout");
    if (auto not_due = before(deadline, *found.row, subject, references, settings)) return *not_due;
    return end(subject, references, settings, self, now, *found.row,
               {"status", "pod_name", "last_activity_at", "inactivity_timeout"});
}

namespace {

/// What was asked for is answered: while nothing can be done yet, a finding says why.
Verdict told(Verdict verdict, const Facet& row) {
    if (verdict.kind != Verdict::Kind::kAbstain) return verdict;
    return Verdict::waiting(verdict.reason, verdict.wait, row.object_id);
}

}  // namespace

Verdict judge_termination_requested(const Subject& subject, const References& references,
                                    const Settings& settings, std::uint8_t self, JournalTime now) {
    if (!subject.termination) return Verdict::healthy();
    const Candidate found = candidate(subject, references, settings);
    if (found.row == nullptr) return found.otherwise;
    const Facet& row = *found.row;
    if (subject.termination->owners) {
        const std::optional<Field> owner = row.fields().find("owner_username");
        // It belongs to somebody else by now, who asked for nothing.
        if (owner && !owner->unchanged && owner->value != subject.termination->by) {
            return Verdict::healthy();
        }
    }
    const Side pods(subject, references, settings.source(kPods));
    if (pods.absent()) return Verdict::waiting(Reason::kNoObject, {}, row.object_id);
    if (!subject.termination->owners) {
        return told(end(subject, references, settings, self, now, row, {"status", "pod_name"}),
                    row);
    }
    return told(end(subject, references, settings, self, now, row,
                    {"status", "pod_name", "owner_username"}),
                row);
}

}  // namespace trueup::core::graph_instances
