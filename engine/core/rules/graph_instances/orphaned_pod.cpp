#include "engine/core/rules/graph_instances/orphaned_pod.h"

#include "engine/base/check.h"
#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

namespace {

constexpr std::uint32_t kGracePeriodSeconds = 30;  // of the DELETE; seed figure of G1

CommandDraft delete_pod(const Subject& subject, const References& references,
                        const Settings& settings, const Facet& pod) {
    const std::string& pods = references.sources[settings.pods].name;
    const std::string& rows = references.sources[settings.rows].name;
    CommandDraft draft;
    draft.target = {pods, pod.object_id, std::string(pod.fields().text("name").value_or("")),
                    std::string(pod.fields().text("namespace").value_or(""))};
    draft.action.kind = Action::Kind::kDeletePod;
    draft.action.grace_seconds = kGracePeriodSeconds;
    draft.read_set = {
        {Predicate::Kind::kNone, rows, {}, "key", std::string(subject.name())},
        {Predicate::Kind::kExists, pods, pod.object_id, {}, {}},
        {Predicate::Kind::kNoVeto, pods, pod.object_id, {}, {}},
    };
    return draft;
}

}  // namespace

Verdict judge_orphaned_pod(const Subject& subject, const References& references,
                           const Settings& settings, std::uint8_t self, JournalTime now) {
    const Side pods(subject, references, settings.pods);
    const Side rows(subject, references, settings.rows);
    if (pods.present().empty() || !rows.present().empty()) return Verdict::healthy();
    if (rows.unknown()) return Verdict::abstain(Reason::kUnproven);
    if (pods.present().size() > 1) return Verdict::abstain(Reason::kDuplicateClaim);
    const Facet& pod = *pods.present().front();
    if (terminating(pod) || out_of_scope(pod)) return Verdict::healthy();
    if (vetoed(pod)) return Verdict::abstain(Reason::kVeto);

    // Our own delete of this pod is not in view yet: no news, so no new finding either.
    const std::optional<Doubt> self_doubt =
        doubt(subject, references, settings, settings.pods, BrokerTime{}, Millis{0});
    if (self_doubt && self_doubt->reason == Reason::kOwnWrite) {
        return Verdict::abstain(Reason::kOwnWrite, self_doubt->wait);
    }
    const RuleSettings& rule = settings.rules[self];
    const JournalTime due = first_detected(subject, self, pod.object_id, now) + rule.grace;
    if (now < due) {
        return Verdict::waiting(Reason::kGrace, {due, kNoSource, {}}, pod.object_id);
    }
    if (self_doubt) return Verdict::waiting(self_doubt->reason, self_doubt->wait, pod.object_id);
    if (const auto why = doubt(subject, references, settings, settings.rows, pod.first_seen,
                               rule.create_window)) {
        return Verdict::waiting(why->reason, why->wait, pod.object_id);
    }
    if (references.uncorrelated > 0) {
        Wait until;
        until.uncorrelated = true;
        return Verdict::waiting(Reason::kUncorrelatedRows, until, pod.object_id);
    }
    TRUEUP_CHECK(!pod.object_id.empty());  // I2
    return Verdict::act(pod.object_id, delete_pod(subject, references, settings, pod));
}

}  // namespace trueup::core::graph_instances
