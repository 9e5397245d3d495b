#include "engine/core/rules/ec2_workers/policy.h"

#include "engine/core/rules/objects.h"

#include <algorithm>
#include <array>

namespace trueup::core::ec2_workers {

namespace {

constexpr std::string_view kMarkedBy = "discovery-gc";

/// An instance of any region that is not terminated. `shutting-down` is not terminated yet (W14).
const Facet* living(const Subject& subject, const Settings& settings) {
    const auto found =
        std::find_if(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
            return facet.present() && settings.sources[facet.source].role == kInstances &&
                   !facet.fields().is("state", "terminated");
        });
    return found == subject.facets.end() ? nullptr : &*found;
}

CommandDraft verify(const std::string& region, const Subject& subject, const std::string& workers,
                    const Facet& row) {
    CommandDraft draft;
    draft.target = {region, std::string(subject.name()), std::string(subject.name()), {}};
    draft.action.kind = Action::Kind::kVerifyGone;
    draft.read_set = still_says(workers, row, {"status", "aws_region"});
    return draft;
}

CommandDraft mark(const std::string& region, const Subject& subject, const std::string& workers,
                  const Facet& row) {
    CommandDraft draft;
    draft.target = {workers, row.object_id, std::string(subject.name()), {}};
    draft.action.kind = Action::Kind::kUpdateRow;
    draft.action.sets = {{"status", "TERMINATED"},
                         {"terminated_by", std::string(kMarkedBy)},
                         {"terminated_reason", "EC2 instance not found during discovery"}};
    draft.read_set = still_says(workers, row, {"status", "aws_region"});
    draft.read_set.insert(
        draft.read_set.begin(),
        Predicate{Predicate::Kind::kNone, region, {}, "name", std::string(subject.name())});
    return draft;
}

}  // namespace

Verdict judge_terminated_externally(const Subject& subject, const References& references,
                                    const Settings& settings, std::uint8_t self, JournalTime now) {
    const SourceId workers = settings.source(kWorkers);
    const Facet* row = nullptr;
    for (const Facet* each : PresentFacets(subject, workers)) {
        const std::optional<std::string_view> status = each->fields().text("status");
        if (!status) return Verdict::abstain(Reason::kIncomplete);
        if (*status == "TERMINATED" || *status == "PENDING") continue;
        if (row != nullptr) return Verdict::abstain(Reason::kDuplicateClaim);
        row = each;
    }
    if (row == nullptr || living(subject, settings) != nullptr) return Verdict::healthy();
    const std::optional<std::string_view> name = row->fields().text("aws_region");
    if (!name) return Verdict::abstain(Reason::kIncomplete);
    const SourceId region = settings.source(kInstances, *name);
    if (region == kNoSource) return Verdict::healthy();  // nobody looks there (W15)
    if (Side(subject, references, region).unknown()) return Verdict::abstain(Reason::kNotSynced);
    if (vetoed(*row)) return Verdict::abstain(Reason::kVeto);

    // From when the row named this instance: what it says of it since then changes nothing.
    const Disagreement found{*row, BrokerTime{}, region, row->first_seen,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    const std::string& region_name = references.sources[region].name;
    const std::string& rows_name = references.sources[workers].name;
    const Finding* finding = open_finding(subject, self, row->object_id);
    if (finding != nullptr && finding->steps > 0) {
        return Verdict::act(row->object_id, mark(region_name, subject, rows_name, *row));
    }
    Verdict verdict = Verdict::act(row->object_id, verify(region_name, subject, rows_name, *row));
    verdict.more = true;
    verdict.harmless = true;
    return verdict;
}

Verdict judge_resurrected(const Subject& subject, const References& /*references*/,
                          const Settings& settings, std::uint8_t /*self*/, JournalTime /*now*/) {
    const Facet* instance = living(subject, settings);
    if (instance == nullptr || instance->fields().is("state", "shutting-down")) {
        return Verdict::healthy();
    }
    for (const Facet* row : PresentFacets(subject, settings.source(kWorkers))) {
        const bool ours = row->fields().is("status", "TERMINATED") &&
                          row->fields().is("terminated_by", kMarkedBy);
        if (ours) return Verdict::waiting(Reason::kReportOnly, {}, row->object_id);
    }
    return Verdict::healthy();
}

namespace {

constexpr std::array<RoleKind, 2> kRoles{
    {{.name = "instances", .topic = Topic::kChangesEc2, .shared = true},
     {.name = "workers", .topic = Topic::kChangesRows}}};

constexpr Millis kBootWindow{60'000};  // of an instance that describe does not know yet (W12)
constexpr std::array<Rule, 2> kRules{{{.name = "terminated_externally",
                                       .judge = judge_terminated_externally,
                                       .finds = "row whose instance is not in a complete discovery",
                                       .create_window = kBootWindow},
                                      {.name = "resurrected",
                                       .judge = judge_resurrected,
                                       .finds = "row was marked terminated, its instance lives"}}};

}  // namespace

// Discovery comes every 5 minutes; one that failed may be followed by one that does not.
const Policy kPolicy{.name = "ec2-workers",
                     .roles = kRoles,
                     .rules = kRules,
                     .tallies = {},
                     .count = count_nothing,
                     .owned_by = owned_by_nobody,
                     .stale_after = Millis{660'000}};

}  // namespace trueup::core::ec2_workers
