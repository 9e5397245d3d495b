// The steps of a rule: what is to be done to the objects of a subject, and with which texts. Plain
// values, as policy.h.
#pragma once

#include "engine/model/policy.h"
#include "engine/model/verb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::policy {

/// One field that a step writes; no text: null, or of an object no field at all.
struct Assigned {
    std::string field;
    std::optional<Text> value;
    bool operator==(const Assigned&) const = default;
};

/// An object as its author wrote it down, with texts at its leaves.
struct Template {
    enum class Kind : std::uint8_t { kText = 1, kList = 2, kMap = 3, kNull = 4, kBare = 5 };
    Kind kind = Kind::kMap;
    std::string key;  ///< in the map around it
    Text text;        ///< of kBare a number or a boolean, as JSON writes it
    std::vector<Template> parts;
    bool operator==(const Template&) const = default;
};

struct Step {
    Verb verb = Verb::kReport;
    std::string role;
    Text name;                   ///< of kCreate
    std::vector<Assigned> sets;  ///< by field
    std::string from;            ///< the builder of kCreate; empty: `object`
    std::optional<Template> object;
    std::optional<std::uint32_t> grace_period;  ///< seconds; of pods
    std::string propagation;                    ///< background, foreground, orphan
    std::string subresource;                    ///< `status`
    std::vector<FieldRef> reads;                ///< what it is made from, beside its texts
    bool operator==(const Step&) const = default;
};

template <typename Visit>
void each_text(const Template& object, const Visit& visit) {
    visit(object.text);
    for (const Template& part : object.parts) each_text(part, visit);
}
inline Way way_of(const Step& step) {
    if (step.verb == Verb::kCreate && !step.object) return Way::kBuilt;
    return step.subresource.empty() ? Way::kUsual : Way::kStatus;
}
/// Does it make what was not there, by what stands in the policy?
inline bool makes(const Step& step) { return makes(step.verb) && way_of(step) != Way::kBuilt; }

/// Calls `visit(text)` for each of the texts that it is made of.
template <typename Visit>
void each_text(const Step& step, const Visit& visit) {
    visit(step.name);
    for (const Assigned& set : step.sets) {
        if (set.value) visit(*set.value);
    }
    if (step.object) each_text(*step.object, visit);
}

}  // namespace trueup::policy
