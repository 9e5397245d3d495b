// What a Host shows of one finding: the edge that everybody is told, and what its shard knows of
// the subject.
#include "apps/host.h"
#include "apps/rehearsal.h"

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kLookWait{2'000};
constexpr std::size_t kFewestDigits = 4;

api::FacetView view_of(const Facet& facet, const core::Meta& meta) {
    api::FacetView view;
    // The status may be a moment older than the look.
    if (facet.source < meta.sources.size()) view.source = meta.sources[facet.source].name;
    view.object = facet.object_id;
    if (!facet.present()) {
        view.absence = facet.absence == Absence::kRemoved ? "removed" : "not in a complete list";
    }
    view.first_seen_ms = to_millis(facet.first_seen);
    view.changed_ms = to_millis(facet.evidence);
    view.offset = facet.offset;
    facet.fields().each([&](const Field& field) {
        api::FieldView shown{std::string(field.name), std::nullopt, !field.unchanged};
        if (field.value) shown.value = std::string(*field.value);
        view.fields.push_back(std::move(shown));
    });
    return view;
}

api::SubjectView view_of(const core::SubjectLook& look, const FindingId& finding,
                         const core::Meta& meta) {
    api::SubjectView view;
    for (const SourceSettings& source : meta.settings.sources) {
        if (source.role != kNoRole) view.sources.push_back(source.name);
    }
    for (const Facet& facet : look.subject.facets) view.facets.push_back(view_of(facet, meta));
    view.held = look.subject.held;
    for (std::size_t i = 0; i < look.subject.findings.size(); ++i) {
        const Finding& open = look.subject.findings[i];
        if (open.id != finding) continue;
        if (open.command) {
            view.command = {to_hex(open.command->id), text_of(open.command->draft),
                            to_millis(open.command->issued), to_millis(open.command->not_after)};
        } else if (look.proposals[i]) {
            view.command = {"", text_of(*look.proposals[i]), 0, 0};
        }
    }
    return view;
}

}  // namespace

Result<std::pair<FindingEdge, api::SubjectView>> Host::finding(const std::string& id) const {
    if (id.size() < kFewestDigits) {
        return Error{Next::kSkip, Code::kInvalid, "write at least 4 digits of a finding's id"};
    }
    const std::vector<FindingEdge> found = findings_.list({.id = id, .limit = 2}).findings;
    if (found.empty()) {
        return Error{Next::kSkip, Code::kNotFound,
                     "no open finding begins with " + id + "; it may be over already"};
    }
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
    return std::pair{edge, view_of(**look, edge.id, (*shard)->status().meta)};
}

}  // namespace trueup::apps
