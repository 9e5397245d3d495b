#include "engine/core/rules/processors/policy.h"

#include "engine/core/rules/objects.h"

#include <array>
#include <tuple>
#include <utility>

namespace trueup::core::processors {

namespace {

/// What the rows of a subject want.
struct Wish {
    enum class Kind : std::uint8_t {
        kNothing,  ///< no row, or rows that have ended
        kAPod,     ///< as `row` says
        kNobody,   ///< a pod, but nobody knows which
        kUnclear,  ///< two rows, or a row that was not sent whole
    };
    Kind kind = Kind::kNothing;
    const Facet* row = nullptr;
};

Wish wish_of(const Subject& subject, const Settings& settings) {
    Wish wish;
    for (const Facet* row : PresentFacets(subject, settings.source(kWanted))) {
        const ObjectView fields = row->fields();
        const std::optional<std::string_view> status = fields.text("status");
        if (status && (*status == "terminated" || *status == "failed")) continue;
        if (!status || wish.row != nullptr) return {Wish::Kind::kUnclear, row};
        wish = {fields.is("versions", "1") ? Wish::Kind::kAPod : Wish::Kind::kNobody, row};
    }
    return wish;
}

/// The pods that are there to stay: how many, and the first one.
struct Pods {
    std::size_t count = 0;
    const Facet* first = nullptr;
};
Pods pods_of(const Subject& subject, const Settings& settings) {
    Pods pods;
    for (const Facet* pod : PresentFacets(subject, settings.source(kPods))) {
        if (deleting(*pod) || out_of_scope(*pod)) continue;
        if (pods.count++ == 0) pods.first = pod;
    }
    return pods;
}

/// The verdict that deletes this pod, as long as `because` holds: the rows must have been heard
/// since the pod was made.
Verdict take_away(const Subject& subject, const References& references, const Settings& settings,
                  std::uint8_t self, JournalTime now, const Facet& pod,
                  std::vector<Predicate> because) {
    if (vetoed(pod)) return Verdict::abstain(Reason::kVeto);
    const Disagreement found{pod, BrokerTime{}, settings.source(kWanted), pod.first_seen,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    const std::string& pods = references.sources[settings.source(kPods)].name;
    return Verdict::act(pod.object_id, relying_on(std::move(because), delete_pod(pods, pod)));
}

/// The same, since its row says something else in these fields.
Verdict replace(const Subject& subject, const References& references, const Settings& settings,
                std::uint8_t self, JournalTime now, const Facet& pod, const Facet& row,
                std::initializer_list<std::string_view> fields) {
    if (vetoed(row)) return Verdict::abstain(Reason::kVeto);
    const std::string& rows = references.sources[settings.source(kWanted)].name;
    return take_away(subject, references, settings, self, now, pod, still_says(rows, row, fields));
}

}  // namespace

Verdict judge_missing_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now) {
    const Wish wish = wish_of(subject, settings);
    if (wish.kind != Wish::Kind::kAPod) return Verdict::healthy();
    const SourceId pods = settings.source(kPods);
    const Side side(subject, references, pods);
    if (!side.present().empty()) return Verdict::healthy();
    if (side.unknown()) return Verdict::abstain(Reason::kNotSynced);
    const Facet& row = *wish.row;
    const std::optional<std::string_view> name = row.fields().text("name");
    if (!name || !row.fields().text("spec")) return Verdict::abstain(Reason::kIncomplete);
    if (vetoed(row)) return Verdict::abstain(Reason::kVeto);

    const Disagreement found{row, BrokerTime{}, pods, row.evidence,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    const JournalTime due = next_try(failures_of(subject));
    if (now < due) return Verdict::waiting(Reason::kBackoff, {due, kNoSource, {}}, row.object_id);
    return create_pod(references.sources[pods].name, *name,
                      references.sources[settings.source(kWanted)].name, row,
                      {"status", "versions", "spec"});
}

Verdict judge_unwanted_pod(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now) {
    const Pods pods = pods_of(subject, settings);
    const Wish wish = wish_of(subject, settings);
    if (pods.count == 0 || wish.kind != Wish::Kind::kNothing) return Verdict::healthy();
    const SourceId wanted = settings.source(kWanted);
    const Side rows(subject, references, wanted);
    if (rows.unknown()) return Verdict::abstain(Reason::kNotSynced);
    const Facet& pod = *pods.first;
    if (!rows.present().empty()) {
        return replace(subject, references, settings, self, now, pod, *rows.present().front(),
                       {"status"});
    }
    return take_away(subject, references, settings, self, now, pod,
                     {Predicate{Predicate::Kind::kNone,
                                references.sources[wanted].name,
                                {},
                                "key",
                                std::string(subject.name())}});
}

Verdict judge_ended_pod(const Subject& subject, const References& references,
                        const Settings& settings, std::uint8_t self, JournalTime now) {
    const Wish wish = wish_of(subject, settings);
    if (wish.kind != Wish::Kind::kAPod) return Verdict::healthy();
    for (const Facet* pod : PresentFacets(subject, settings.source(kPods))) {
        if (!ended(*pod) || deleting(*pod) || out_of_scope(*pod)) continue;
        return replace(subject, references, settings, self, now, *pod, *wish.row,
                       {"status", "versions"});
    }
    return Verdict::healthy();
}

Verdict judge_changed_spec(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now) {
    const Wish wish = wish_of(subject, settings);
    const Pods pods = pods_of(subject, settings);
    // Of several the surplus goes first; one that has ended is replaced anyway.
    if (wish.kind != Wish::Kind::kAPod || pods.count != 1) return Verdict::healthy();
    const Facet& pod = *pods.first;
    if (ended(pod)) return Verdict::healthy();
    const std::optional<std::string_view> made_from = pod.fields().text("spec");
    const std::optional<std::string_view> wanted = wish.row->fields().text("spec");
    if (!wanted) return Verdict::abstain(Reason::kIncomplete);
    // Nobody knows what it was made from, perhaps just this: people decide.
    if (!made_from) return Verdict::waiting(Reason::kIncomplete, {}, pod.object_id);
    if (*made_from == *wanted) return Verdict::healthy();
    return replace(subject, references, settings, self, now, pod, *wish.row,
                   {"status", "versions", "spec"});
}

Verdict judge_surplus_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now) {
    const Wish wish = wish_of(subject, settings);
    if (wish.kind != Wish::Kind::kAPod) return Verdict::healthy();
    const std::optional<std::string_view> wanted = wish.row->fields().text("spec");
    if (pods_of(subject, settings).count < 2) return Verdict::healthy();
    if (!wanted) return Verdict::abstain(Reason::kIncomplete);
    const auto worth = [&](const Facet& pod) {
        const ObjectView fields = pod.fields();
        return std::tuple(!ended(pod), fields.is("spec", *wanted),
                          fields.text("created").value_or(""), pod.first_seen, pod.object_id);
    };
    const Facet* least = nullptr;
    for (const Facet* pod : PresentFacets(subject, settings.source(kPods))) {
        if (deleting(*pod) || out_of_scope(*pod)) continue;
        if (least == nullptr || worth(*pod) < worth(*least)) least = pod;
    }
    if (least == nullptr) return Verdict::healthy();
    return replace(subject, references, settings, self, now, *least, *wish.row,
                   {"status", "versions", "spec"});
}

Verdict judge_no_active_version(const Subject& subject, const References& /*references*/,
                                const Settings& settings, std::uint8_t /*self*/,
                                JournalTime /*now*/) {
    const Wish wish = wish_of(subject, settings);
    if (wish.kind != Wish::Kind::kNobody) return Verdict::healthy();
    return Verdict::waiting(Reason::kReportOnly, {}, wish.row->object_id);
}

namespace {

/// Failures count as long as the spec stays the same: another one has yet to fail.
Ledger ends(const Subject& subject, const Settings& settings, JournalTime now) {
    const Wish wish = wish_of(subject, settings);
    Ledger seen;
    if (wish.kind != Wish::Kind::kAPod) return seen;
    seen.of = wish.row->fields().text("spec").value_or("");
    for (const Facet* pod : PresentFacets(subject, settings.source(kPods))) {
        // Also one that succeeded: a processor is meant to run for ever (P29).
        if (!ended(*pod) || !pod->fields().is("spec", seen.of)) continue;
        seen.entries.push_back({pod->object_id, End::kFailed, now});
    }
    return seen;
}

constexpr std::array<RoleKind, 2> kRoles{{{.name = "wanted", .topic = Topic::kChangesRows},
                                          {.name = "pods", .topic = Topic::kChangesPods}}};

constexpr Millis kCreateWindow{30'000};
constexpr std::array<Rule, 6> kRules{{
    {.name = "missing_pod", .judge = judge_missing_pod, .finds = "row wants a pod, there is none"},
    {.name = "unwanted_pod",
     .judge = judge_unwanted_pod,
     .finds = "pod that no row wants",
     .grace = Millis{60'000},
     .create_window = kCreateWindow},
    {.name = "ended_pod", .judge = judge_ended_pod, .finds = "pod has ended, its row wants one"},
    {.name = "changed_spec",
     .judge = judge_changed_spec,
     .finds = "pod was made from another spec than its row has"},
    {.name = "surplus_pod", .judge = judge_surplus_pod, .finds = "several pods for one row"},
    {.name = "no_active_version",
     .judge = judge_no_active_version,
     .finds = "row wants a pod, no single version is active"},
}};

}  // namespace

const Policy kPolicy{.name = "processors",
                     .roles = kRoles,
                     .rules = kRules,
                     .tallies = {},
                     .count = count_nothing,
                     .owned_by = owned_by_nobody,
                     .ends = ends};

}  // namespace trueup::core::processors
