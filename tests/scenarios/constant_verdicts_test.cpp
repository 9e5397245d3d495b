// Proves that the stories of this folder know each rule: one that always says the same, whatever it
// sees, makes a story end otherwise (it is healthy; it waits; it acts).
#include "engine/core/evaluate.h"
#include "policies/shipped.h"
#include "tests/scenarios/shipped_stories.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace trueup::stories {
namespace {

const Facet* first_present(const Subject& subject) {
    const auto found = std::find_if(subject.facets.begin(), subject.facets.end(),
                                    [](const Facet& facet) { return facet.present(); });
    return found == subject.facets.end() ? nullptr : &*found;
}

using Judge = Verdict (*)(const core::Judgement& on);

std::string judged;        ///< the rule that says always the same
Judge constant = nullptr;  ///< what it says

Verdict judge_one(const core::Judgement& on) {
    return on.rule().name == judged ? constant(on) : core::judge(on);
}

Verdict healthy(const core::Judgement& /*on*/) { return Verdict::healthy(); }

Verdict waits(const core::Judgement& on) {
    const Facet* facet = first_present(on.subject);
    if (facet == nullptr) return Verdict::healthy();
    return Verdict::waiting(Reason::kGrace, {}, facet->object_id);
}

Verdict acts(const core::Judgement& on) {
    const Facet* facet = first_present(on.subject);
    if (facet == nullptr) return Verdict::healthy();
    CommandDraft draft;
    draft.target = {on.references.sources[facet->source].name,
                    facet->object_id,
                    std::string(on.subject.name()),
                    {}};
    draft.action.kind = Action::Kind::kDeletePod;
    return Verdict::act(facet->object_id, std::move(draft));
}

struct Judged {
    std::string policy;
    std::string rule;
};

class ConstantVerdict : public ::testing::TestWithParam<Judged> {
  protected:
    /// Is there a story that ends otherwise when the rule judges like this?
    static bool noticed(Judge judge) {
        judged = GetParam().rule;
        constant = judge;
        const Shared<policy::Policy> policy = policies::shipped(GetParam().policy);
        const std::vector<Story> stories = read_stories(GetParam().policy);
        // Otherwise: or it makes no sense any more, as an outcome of a command never given.
        return std::any_of(stories.begin(), stories.end(), [&](const Story& story) {
            return !play(story, policy, {.judge = judge_one}).as_told();
        });
    }
};

TEST_P(ConstantVerdict, IsNoticedByAStory) {
    EXPECT_TRUE(noticed(healthy)) << "always healthy";
    EXPECT_TRUE(noticed(waits)) << "always waits";
    EXPECT_TRUE(noticed(acts)) << "always acts";
}

/// But for those that nothing in this build can carry out.
std::vector<Judged> every_rule() {
    std::vector<Judged> all;
    for (const std::string& name : policies::shipped_names()) {
        const Settings settings = policies::usual_settings(name, Mode::kEnforce);
        const Result<core::Plan> plan = core::compile(*settings.text, settings);
        if (!plan) throw std::logic_error(plan.error().what);
        for (const core::PlanRule& rule : plan->rules) {
            if (rule.unable.empty()) all.push_back({name, rule.name});
        }
    }
    return all;
}

std::string name_of_rule(const ::testing::TestParamInfo<Judged>& info) {
    std::string name = info.param.policy + "_" + info.param.rule;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Rule, ConstantVerdict, ::testing::ValuesIn(every_rule()), name_of_rule);

}  // namespace
}  // namespace trueup::stories
