// What a Host shows of one finding, or of one subject: the edge that everybody is told, what its
// shard knows of the subject, and what the rules make of that.
#include "apps/host.h"
#include "apps/rehearsal.h"
#include "engine/base/suggest.h"
#include "engine/codec/settings_codec.h"
#include "engine/model/intake.h"

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kLookWait{2'000};
constexpr std::size_t kFewestDigits = 4;

Error no(std::string sentence) { return {Next::kSkip, Code::kNotFound, std::move(sentence)}; }

api::FacetView view_of(const Facet& facet, const core::Meta& meta) {
    api::FacetView view;
    // The status may be a moment older than the look.
    if (facet.source < meta.sources.size()) view.source = meta.sources[facet.source].name;
    view.object = facet.object_id;
    if (!facet.present()) {
        view.absence = facet.absence == Absence::kRemoved ? "removed" : "not in a complete list";
    }
    view.first_seen_ms = to_millis(facet.first_seen);
    view.changed_ms = to_millis(facet.changed);
    view.offset = facet.offset;
    facet.fields().each([&](const Field& field) {
        api::FieldView shown{std::string(field.name), std::nullopt, !field.unchanged};
        if (field.value) shown.value = std::string(*field.value);
        view.fields.push_back(std::move(shown));
    });
    return view;
}

api::RuleWhyView view_of(const RuleTrace& trace) {
    return {trace, trace.draft ? text_of(*trace.draft) : std::string()};
}

api::SubjectView view_of(const core::SubjectLook& look, const FindingEdge& edge,
                         const core::Meta& meta) {
    api::SubjectView view;
    for (const SourceSettings& source : meta.settings.sources) {
        if (source.role != kNoRole) view.sources.push_back(source.name);
    }
    for (const Facet& facet : look.subject.facets) view.facets.push_back(view_of(facet, meta));
    view.held = look.subject.held;
    for (std::size_t i = 0; i < look.subject.findings.size(); ++i) {
        const Finding& open = look.subject.findings[i];
        if (open.id != edge.id) continue;
        if (open.command) {
            view.command = {to_hex(open.command->id), text_of(open.command->draft),
                            to_millis(open.command->issued), to_millis(open.command->not_after)};
        } else if (look.proposals[i]) {
            view.command = {"", text_of(*look.proposals[i]), 0, 0};
        }
    }
    for (const RuleTrace& trace : look.why) {
        if (trace.rule == edge.rule) view.why = view_of(trace);
    }
    return view;
}

}  // namespace

Result<std::pair<FindingEdge, api::SubjectView>> Host::finding(const std::string& id) const {
    if (id.size() < kFewestDigits) {
        return Error{Next::kSkip, Code::kInvalid, "write at least 4 digits of a finding's id"};
    }
    const std::vector<FindingEdge> found = findings_.list({.id = id, .limit = 2}).findings;
    if (found.empty()) return no("no open finding begins with " + id + "; it may be over already");
    if (found.size() > 1) {
        return Error{Next::kSkip, Code::kInvalid,
                     "several findings begin with " + id + "; write more digits"};
    }
    const FindingEdge& edge = found.front();
    const auto shard = std::find_if(shards_.begin(), shards_.end(),
                                    [&](const auto& one) { return one->index() == edge.shard; });
    if (shard == shards_.end()) return std::pair{edge, api::SubjectView{}};
    const auto look = (*shard)->look(edge.subject, kLookWait);
    if (!look) return look.error();
    if (!*look) return std::pair{edge, api::SubjectView{}};
    return std::pair{edge, view_of(**look, edge, (*shard)->status().meta)};
}

Result<api::WhyView> Host::why(const std::string& subject, const std::string& rule) const {
    if (shards_.empty()) {
        return no("no shard runs in this process; ask an engine");
    }
    api::WhyView why;
    why.subject =
        subject.find('/') == std::string::npos ? settings_.policy.policy + "/" + subject : subject;
    // An object whose key cannot be told is known to each shard.
    const bool everywhere = why.subject.starts_with('!');
    why.shard =
        everywhere ? shards_.front()->index() : partition_of(why.subject, settings_.partitions);
    const auto shard = std::find_if(shards_.begin(), shards_.end(),
                                    [&](const auto& one) { return one->index() == why.shard; });
    if (shard == shards_.end()) {
        return no(why.subject + " belongs to shard " + std::to_string(why.shard.value()) +
                  ", which this engine does not run; ask the one that does");
    }
    const auto look = (*shard)->look(why.subject, kLookWait);
    if (!look) return look.error();
    if (!*look) {
        return no("no source has an object of " + why.subject +
                  ", and none was lost lately; a subject is named as "
                  "`trueup findings list` does, POLICY/NAME");
    }
    why.held = (*look)->subject.held;
    why.offset = (*look)->offset;
    std::vector<std::string> rules;
    for (const RuleTrace& trace : (*look)->why) {
        rules.push_back(trace.rule);
        if (rule.empty() || rule == trace.rule) why.rules.push_back(view_of(trace));
    }
    if (rules.empty()) {
        return Error{Next::kRetry, Code::kUnavailable, "no policy is in force yet"};
    }
    if (why.rules.empty()) {
        return no("there is no rule '" + rule + "'; " + did_you_mean(rule, rules));
    }
    return why;
}

Result<std::string> Host::settings_in_force() const {
    if (shards_.empty()) return no("no shard runs in this process; ask an engine");
    const Settings settings = shards_.front()->status().meta.settings;
    if (settings.text) return codec::settings_json(settings);
    return Error{Next::kRetry, Code::kUnavailable, "no policy is in force yet"};
}

}  // namespace trueup::apps
