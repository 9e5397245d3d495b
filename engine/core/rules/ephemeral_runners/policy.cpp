#include "engine/core/rules/ephemeral_runners/policy.h"

#include "engine/core/rules/objects.h"

#include <array>
#include <utility>

namespace trueup::core::ephemeral_runners {

namespace {

constexpr std::uint32_t kMostFailures = 5;  // that a runner may have (R3)

/// The one runner that is there to stay; nullptr: none, or two.
const Facet* runner_of(const Subject& subject, const Settings& settings) {
    const Facet* runner = nullptr;
    for (const Facet* each : PresentFacets(subject, settings.source(kRunners))) {
        if (deleting(*each) || out_of_scope(*each)) continue;
        if (runner != nullptr) return nullptr;
        runner = each;
    }
    return runner;
}

/// It is not to have another pod: R4, R10.
bool has_failed(const Subject& subject, const Facet& runner) {
    const Failures failures = failures_of(subject);
    const bool has_job = !runner.fields().text("job").value_or("").empty();
    return failures.count > (has_job ? 0 : kMostFailures);
}

}  // namespace

Verdict judge_missing_pod(const Subject& subject, const References& references,
                          const Settings& settings, std::uint8_t self, JournalTime now) {
    const Facet* runner = runner_of(subject, settings);
    if (runner == nullptr || has_failed(subject, *runner)) return Verdict::healthy();
    if (has_succeeded(subject) || ended(*runner)) return Verdict::healthy();
    const SourceId pods = settings.source(kPods);
    const Side side(subject, references, pods);
    if (!side.present().empty()) return Verdict::healthy();
    if (side.unknown()) return Verdict::abstain(Reason::kNotSynced);
    if (vetoed(*runner)) return Verdict::abstain(Reason::kVeto);

    const Disagreement found{*runner, BrokerTime{}, pods, runner->first_seen,
                             settings.rules[self].create_window};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    const JournalTime due = next_try(failures_of(subject));
    if (now < due) {
        return Verdict::waiting(Reason::kBackoff, {due, kNoSource, {}}, runner->object_id);
    }
    return create_pod(references.sources[pods].name, subject.name(),
                      references.sources[settings.source(kRunners)].name, *runner,
                      {"deleting", "phase", "job"});
}

Verdict judge_failed_pod(const Subject& subject, const References& references,
                         const Settings& settings, std::uint8_t self, JournalTime now) {
    const Facet* runner = runner_of(subject, settings);
    if (runner == nullptr || has_failed(subject, *runner)) return Verdict::healthy();
    for (const Facet* pod : PresentFacets(subject, settings.source(kPods))) {
        if (!pod->fields().is("phase", "Failed") || deleting(*pod) || out_of_scope(*pod)) continue;
        if (vetoed(*pod) || vetoed(*runner)) return Verdict::abstain(Reason::kVeto);
        const SourceId runners = settings.source(kRunners);
        const Disagreement found{*pod, BrokerTime{}, runners, pod->first_seen};
        if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
        const std::string& pods = references.sources[settings.source(kPods)].name;
        return Verdict::act(pod->object_id, relying_on(still_says(references.sources[runners].name,
                                                                  *runner, {"deleting", "job"}),
                                                       delete_pod(pods, *pod)));
    }
    return Verdict::healthy();
}

Verdict judge_failed_runner(const Subject& subject, const References& references,
                            const Settings& settings, std::uint8_t self, JournalTime now) {
    const Facet* runner = runner_of(subject, settings);
    if (runner == nullptr || !has_failed(subject, *runner)) return Verdict::healthy();
    if (has_succeeded(subject)) return Verdict::healthy();
    if (vetoed(*runner)) return Verdict::abstain(Reason::kVeto);
    const Disagreement found{*runner, BrokerTime{}, settings.source(kPods), runner->first_seen};
    if (auto held = not_yet(subject, references, settings, self, now, found)) return *held;
    const std::string& runners = references.sources[settings.source(kRunners)].name;
    CommandDraft draft = delete_object(runners, *runner);
    const std::vector<Predicate> still = still_says(runners, *runner, {"job"});
    draft.read_set.insert(draft.read_set.end(), still.begin(), still.end());
    return Verdict::act(runner->object_id, std::move(draft));
}

namespace {

/// `uid=time uid=true`. By whose clock is unknown, so that it counts from its first observation, as
/// every end does (R1, R9).
void add_known_failures(std::string_view text, JournalTime now, Ledger& ledger) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view uid = text.substr(0, std::min(text.find('='), end));
        if (!uid.empty()) ledger.entries.push_back({std::string(uid), End::kFailed, now});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// A pod of this runner, and not of an earlier one of the same name.
bool belongs(const Facet& pod, const Facet& runner) {
    if (!pod.present()) return pod.first_seen >= runner.first_seen;
    return pod.fields().text("owner").value_or(runner.object_id) == runner.object_id;
}

Ledger ends(const Subject& subject, const Settings& settings, JournalTime now) {
    const Facet* runner = runner_of(subject, settings);
    Ledger seen;
    if (runner == nullptr) return seen;
    seen.of = runner->object_id;
    const SourceId pods = settings.source(kPods);
    for (const Facet& pod : subject.facets) {
        if (pod.source != pods || !belongs(pod, *runner)) continue;
        if (!pod.present()) {
            seen.entries.push_back({pod.object_id, End::kGone, now});  // taken away (R6)
        } else if (ended(pod)) {
            const bool failed = pod.fields().is("phase", "Failed");
            seen.entries.push_back({pod.object_id, failed ? End::kFailed : End::kSucceeded, now});
        }
    }
    add_known_failures(runner->fields().text("failures").value_or(""), now, seen);
    return seen;
}

constexpr std::array<RoleKind, 2> kRoles{{{.name = "runners", .topic = Topic::kChangesResources},
                                          {.name = "pods", .topic = Topic::kChangesPods}}};

constexpr std::array<Rule, 3> kRules{{
    {.name = "missing_pod", .judge = judge_missing_pod, .finds = "runner without a pod"},
    {.name = "failed_pod", .judge = judge_failed_pod, .finds = "pod of a runner has failed"},
    {.name = "failed_runner",
     .judge = judge_failed_runner,
     .finds = "runner whose pods failed too often"},
}};

}  // namespace

const Policy kPolicy{.name = "ephemeral-runners",
                     .roles = kRoles,
                     .rules = kRules,
                     .tallies = {},
                     .count = count_nothing,
                     .owned_by = owned_by_nobody,
                     .ends = ends};

}  // namespace trueup::core::ephemeral_runners
