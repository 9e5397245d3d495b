// What a judgement by a policy's text is made of, for the tests that hold two readers of it against
// each other.
#pragma once

#include "engine/core/evaluate.h"
#include "engine/core/row_time.h"
#include "engine/model/rule.h"
#include "tests/naive/naive_policy.h"

#include <optional>
#include <string>
#include <string_view>

namespace trueup::testing {

/// The engine's decision, in the naive reader's words.
inline naive::Judged as_decided(const core::Decision& decision) {
    naive::Judged said;
    said.kind = decision.kind;
    said.reason = decision.reason;
    if (decision.about != nullptr) said.object_id = decision.about->object_id;
    if (decision.kind != Verdict::Kind::kAct) return said;
    said.verb = decision.matched->steps[decision.step].verb;
    said.asks = decision.reason != Reason::kNone;
    if (decision.target != nullptr) said.target = decision.target->object_id;
    said.source = decision.source;
    return said;
}

/// The moment that a text of the field means, by the product's own readers.
inline std::optional<SourceTime> time_of(std::string_view said, const policy::Field* field) {
    const auto zone = field == nullptr ? std::nullopt : policy::parse_zone(field->zone);
    const bool day = field != nullptr && field->type == policy::Field::Type::kDate && zone;
    return day ? core::parse_date(said, *zone) : core::parse_timestamp(said, zone);
}

/// What is the case beside the subject, but for the counts. Roles have their number in the text;
/// `self` is the rule's in the settings.
inline naive::Moment moment_of(const policy::Policy& text, const Subject& subject,
                               const core::References& beside, const Settings& settings,
                               RuleNumber self, JournalTime now) {
    naive::Moment moment;
    for (SourceId id = 0; id < settings.sources.size(); ++id) {
        const SourceSettings& source = settings.sources[id];
        if (source.role == kNoRole) continue;
        const core::SourceState& state = beside.sources[id];
        moment.roles[text.roles[source.role].name].push_back(
            {id, source.scope, state.known, state.quarantine != core::Quarantine::kNone,
             state.complete_as_of, state.source_clock});
    }
    moment.counting = beside.sweeping;
    moment.now = now;
    moment.broker_now = beside.broker_now;
    moment.watched_since = beside.watched_since;
    moment.max_broker_skew = settings.max_broker_skew;
    moment.stale_after = settings.stale_after;
    moment.max_clock_skew = settings.max_clock_skew;
    moment.grace = settings.rules[self.value()].grace;
    moment.create_window = settings.rules[self.value()].create_window;
    moment.detected = [&subject, self](std::string_view object) -> std::optional<JournalTime> {
        for (const Finding& finding : subject.findings) {
            const bool same = finding.rule == self && finding.object_id == object;
            if (same && !finding.lapsed) return finding.since;
        }
        return std::nullopt;
    };
    moment.steps = [&subject, self](std::string_view object) -> std::uint32_t {
        for (const Finding& finding : subject.findings) {
            if (finding.rule == self && finding.object_id == object) return finding.steps;
        }
        return 0;
    };
    moment.about = beside.about;
    moment.timestamp = time_of;
    moment.duration = core::parse_duration;
    return moment;
}

}  // namespace trueup::testing
