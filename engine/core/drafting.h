// The inside of one draft (core/draft.h), split by subject over two source files. Not for other
// users.
#pragma once

#include "engine/core/draft.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::core {

inline std::string field_text(const Facet& object, std::string_view field) {
    return std::string(object.fields().text(field).value_or(""));
}

class Draft {
  public:
    Draft(const Judgement& on, const Decision& decision)
        : on_(on),
          decision_(decision),
          found_(*decision.matched),
          step_(found_.steps[decision.step]) {}

    CommandDraft run();

  private:
    const PlanRole& role_of(Role number) const { return on_.plan.roles[number]; }
    const PlanRole& role_of(const Facet& object) const {
        return role_of(on_.settings.sources[object.source].role);
    }
    const std::string& name_of_source(SourceId id) const { return on_.references.sources[id].name; }
    std::string subject_name() const { return std::string(on_.subject.name()); }

    void add(Predicate predicate) {
        auto& all = draft_.read_set;
        if (std::find(all.begin(), all.end(), predicate) == all.end()) {
            all.push_back(std::move(predicate));
        }
    }

    bool shows(Role number) const {
        return std::any_of(on_.facts.seen.begin(), on_.facts.seen.end(),
                           [&](const Seen& seen) { return seen.role == number; });
    }

    // draft_rests.cpp: what it rests on
    void add_none(SourceId source, const PlanRole& role);
    void rest_on_absent();
    std::string_view scope(const PlanPattern& pattern) const;
    void rest_on_others(bool takes);
    void rest_on_bound(bool takes);
    void rest_on_alone(const Facet& bound, Role number);
    void rest_on_elsewhere(const Facet& bound, Role number);
    static bool shared(const PlanRole& role, const std::string& key);
    static bool shares_keys(const PlanRole& role);
    void add_no_others(SourceId source, const PlanRole& role, const std::vector<std::string>& known,
                       const std::optional<std::string>& name = std::nullopt);
    void add_none_but(SourceId source, const std::string& key, std::vector<std::string> known,
                      std::optional<std::string> name = std::nullopt);
    void rest_on_passed();
    void rest_on_no_more(Role number);
    void rest_on_looked_up(const std::vector<PlanPattern>& patterns);
    bool ranked(Role number) const;
    void rest_on_ours(const Facet& object);
    void say_in_scope(const Facet& object);
    void rest_on(const Facet& object);
    void say_there(const Facet& object);
    void say_fields(const Facet& object);
    void say_label(const Facet& object);
    void say(const Facet& object, Role number, std::uint16_t index);
    void rest_on_references();
    void rest_on_reference(const PlanPattern& pattern);
    void rest_on_named(const PlanPattern& pattern, const std::string& name);
    void say_looked_up(const Facet& facet);

    // draft.cpp: what is done
    void act();
    void remove(const std::string& source);
    void set(const std::string& source);
    void make(const std::string& source);

    const Judgement& on_;
    const Decision& decision_;
    const PlanCase& found_;
    const PlanStep& step_;
    CommandDraft draft_;
};

}  // namespace trueup::core
