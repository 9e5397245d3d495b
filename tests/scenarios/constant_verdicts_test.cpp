// Proves that the stories of this folder know each rule: one that always says the same, whatever it
// sees, makes a story end otherwise (it is healthy; it waits; it acts).
#include "engine/core/policy.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace trueup::testing {
namespace {

using core::References;

const std::vector<Scenario>& stories() {
    static const std::vector<Scenario> kStories = [] {
        std::vector<Scenario> all;
        for (const std::string& path : stories_in(TRUEUP_SCENARIOS)) {
            all.push_back(Scenario::read(path));
        }
        return all;
    }();
    return kStories;
}

const Facet* first_present(const Subject& subject) {
    const auto found = std::find_if(subject.facets.begin(), subject.facets.end(),
                                    [](const Facet& facet) { return facet.present(); });
    return found == subject.facets.end() ? nullptr : &*found;
}

Verdict healthy(const Subject& /*subject*/, const References& /*references*/,
                const Settings& /*settings*/, std::uint8_t /*self*/, JournalTime /*now*/) {
    return Verdict::healthy();
}

Verdict waits(const Subject& subject, const References& /*references*/,
              const Settings& /*settings*/, std::uint8_t /*self*/, JournalTime /*now*/) {
    const Facet* facet = first_present(subject);
    if (facet == nullptr) return Verdict::healthy();
    return Verdict::waiting(Reason::kGrace, {}, facet->object_id);
}

Verdict acts(const Subject& subject, const References& references, const Settings& /*settings*/,
             std::uint8_t /*self*/, JournalTime /*now*/) {
    const Facet* facet = first_present(subject);
    if (facet == nullptr) return Verdict::healthy();
    CommandDraft draft;
    draft.target = {
        references.sources[facet->source].name, facet->object_id, std::string(subject.name()), {}};
    draft.action.kind = Action::Kind::kDeletePod;
    return Verdict::act(facet->object_id, std::move(draft));
}

struct Judged {
    const core::Policy* policy;
    std::size_t rule;
};

/// Does the story go on otherwise, or does it make no sense any more?
bool ends_otherwise(const Scenario& story, const core::Policy& judging) {
    try {
        return !tell(story, {.instead = &judging}).flaws.empty();
    } catch (const ScenarioError&) {  // as an outcome of a command that was never given
        return true;
    }
}

class ConstantVerdict : public ::testing::TestWithParam<Judged> {
  protected:
    /// Is there a story that ends otherwise when the rule judges like this?
    static bool noticed(core::Judge judge) {
        const core::Policy* policy = GetParam().policy;
        std::vector<core::Rule> rules(policy->rules.begin(), policy->rules.end());
        rules[GetParam().rule].judge = judge;
        core::Policy other = *policy;
        other.rules = rules;
        return std::any_of(stories().begin(), stories().end(), [&](const Scenario& story) {
            const bool its_own = story.world.settings.use == policy->name;
            return its_own && ends_otherwise(story, other);
        });
    }
};

TEST_P(ConstantVerdict, IsNoticedByAStory) {
    EXPECT_TRUE(noticed(healthy)) << "always healthy";
    EXPECT_TRUE(noticed(waits)) << "always waits";
    EXPECT_TRUE(noticed(acts)) << "always acts";
}

std::vector<Judged> every_rule() {
    std::vector<Judged> all;
    for (const char* name : {"graph-instances", "ec2-workers", "processors", "ephemeral-runners",
                             "storage-instances"}) {
        const core::Policy* policy = core::find_policy(name);
        if (policy == nullptr) throw std::logic_error(std::string("no policy ") + name);
        for (std::size_t rule = 0; rule < policy->rules.size(); ++rule) {
            all.push_back({policy, rule});
        }
    }
    return all;
}

std::string name_of_rule(const ::testing::TestParamInfo<Judged>& info) {
    std::string name(info.param.policy->name);
    name += "_" + std::string(info.param.policy->rules[info.param.rule].name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Rule, ConstantVerdict, ::testing::ValuesIn(every_rule()), name_of_rule);

}  // namespace
}  // namespace trueup::testing
