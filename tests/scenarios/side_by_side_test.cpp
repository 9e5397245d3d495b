// Holds the rules that are in force against what the policy's text says, judgement by judgement,
// over all stories of graph-instances: the text is read by the naive reader
// (tests/naive/naive_policy.h). Where the two differ, the difference is one of a list; each entry
// says which rule, from what, to what, and why the text is right.
#include "apps/config/policy_file.h"
#include "engine/core/evaluate.h"
#include "engine/core/policy.h"
#include "tests/scenarios/text_judgement.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace trueup::testing {
namespace {

using core::References;

/// A judgement that the text changes on purpose. Each of them occurs in some story.
struct Declared {
    const char* rule;
    const char* said;   ///< by the rule in force: how the line begins
    const char* meant;  ///< by the text, likewise
    const char* why;
};
constexpr std::array<Declared, 8> kDeclared{{
    {"status_drift", "healthy", "abstain not_synced",
     "a side that is not known may have a pod that has failed: a finding stays as it is"},
    {"ttl_expired", "abstain own_write", "healthy",
     "the patterns come before the deadline: where no pod is there, nothing is to be ended"},
    {"ttl_expired", "healthy", "abstain incomplete",
     "a row whose status was not sent may be live, whatever its deadline says"},
    {"inactive", "healthy", "abstain incomplete", "the same of a row that may be running"},
    {"missing_pod", "abstain", "healthy",
     "a row that names no pod is none of this rule's, whatever else is not known"},
    {"termination_requested", "waiting no_object_yet", "healthy",
     "what was asked for and has no pod: the answer to the request says so, not a finding"},
    {"termination_requested", "waiting own_write", "abstain own_write",
     "our own last write that is not in view is no news under any rule"},
    {"duplicate_claim", "waiting duplicate_claim", "waiting report_only",
     "a report says that it is one; the rule's name says of what"},
}};

struct Beside {
    const core::Policy* rules = nullptr;
    const policy::Policy* text = nullptr;
    std::map<std::string, std::size_t> undeclared;
    std::array<std::size_t, kDeclared.size()> declared{};
    std::size_t judged = 0;
    std::map<std::string, std::size_t> disagreed;  ///< evaluation and naive reader

    void differ(const std::string& rule, const std::string& said, const std::string& meant) {
        for (std::size_t i = 0; i < kDeclared.size(); ++i) {
            const Declared& entry = kDeclared[i];
            if (rule != entry.rule || !said.starts_with(entry.said)) continue;
            if (!meant.starts_with(entry.meant)) continue;
            ++declared[i];
            return;
        }
        ++undeclared[rule + ": the rule says `" + said + "`, the text `" + meant + "`"];
    }
};
Beside* beside = nullptr;

naive::Judged as_said(const Verdict& verdict) {
    naive::Judged said;
    said.kind = verdict.kind;
    if (verdict.kind != Verdict::Kind::kHealthy) said.object_id = verdict.object_id;
    if (verdict.kind == Verdict::Kind::kAbstain) said.object_id.clear();
    said.reason = verdict.reason;
    if (verdict.kind != Verdict::Kind::kAct) return said;
    said.asks = verdict.reason != Reason::kNone;
    said.target = verdict.command->target.object_id;
    const bool writes = verdict.command->action.kind == Action::Kind::kUpdateRow;
    said.verb = writes ? policy::Verb::kUpdate : policy::Verb::kDelete;
    return said;
}

/// As the engine evaluates the text.
naive::Judged evaluated(const Subject& subject, const References& references,
                        const Settings& settings, std::uint8_t self, JournalTime now,
                        std::size_t rule) {
    const Result<core::Plan> plan = core::compile(*beside->text, settings);
    EXPECT_TRUE(plan) << plan.error().what;
    std::vector<std::uint64_t> counts;
    for (const policy::Count& count : beside->text->counts) {
        const auto& names = beside->rules->tallies;
        const auto found = std::find(names.begin(), names.end(), count.name);
        counts.push_back(found == names.end()
                             ? 0
                             : references.tallies[static_cast<std::size_t>(found - names.begin())]);
    }
    References by_text = references;
    by_text.tallies = counts;
    const std::vector<core::Seen> facts = core::facts_of(*plan, subject, settings);
    return as_decided(
        core::decide({*plan, subject, facts, by_text, settings, self, now}, plan->rules[rule]));
}

naive::Moment counted(naive::Moment moment, const References& references) {
    for (std::size_t i = 0; i < beside->rules->tallies.size(); ++i) {
        moment.counts[std::string(beside->rules->tallies[i])] = references.tallies[i];
    }
    return moment;
}

Verdict judge_both(const Subject& subject, const References& references, const Settings& settings,
                   std::uint8_t self, JournalTime now) {
    Verdict verdict = beside->rules->rules[self].judge(subject, references, settings, self, now);
    const std::string name(beside->rules->rules[self].name);
    const auto& rules = beside->text->rules;
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const policy::Rule& each) { return each.name == name; });
    if (rule == rules.end()) return verdict;
    ++beside->judged;
    const naive::Judged said = as_said(verdict);
    const naive::Judged meant = naive::judge(
        *beside->text, *rule, subject,
        counted(moment_of(*beside->text, subject, references, settings, self, now), references));
    const naive::Judged does = evaluated(subject, references, settings, self, now,
                                         static_cast<std::size_t>(rule - rules.begin()));
    if (does != meant) {
        ++beside->disagreed[name + ": evaluated `" + naive::told(does) + "`, naively `" +
                            naive::told(meant) + "`"];
    }
    if (said != meant) beside->differ(name, naive::told(said), naive::told(meant));
    return verdict;
}

TEST(SideBySide, TheRulesInForceSayWhatTheTextSays) {
    const auto file = config::load_policy(TRUEUP_POLICIES "/graph-instances.yaml");
    ASSERT_TRUE(file) << file.error().what;
    const core::Policy* rules = core::find_policy("graph-instances");
    Beside both;
    both.rules = rules;
    both.text = &file->policy;
    beside = &both;
    std::vector<core::Rule> judging(rules->rules.begin(), rules->rules.end());
    for (core::Rule& rule : judging) rule.judge = judge_both;
    core::Policy other = *rules;
    other.rules = judging;
    for (const std::string& path : stories_in(TRUEUP_SCENARIOS)) {
        const Scenario story = Scenario::read(path);
        if (story.world.settings.use != rules->name) continue;
        EXPECT_EQ(tell(story, {.instead = &other}).flaws, "") << path;
    }
    for (const auto& [what, times] : both.disagreed) {
        ADD_FAILURE() << times << " times " << what;
    }
    for (const auto& [what, times] : both.undeclared) {
        ADD_FAILURE() << times << " times " << what;
    }
    for (std::size_t i = 0; i < kDeclared.size(); ++i) {
        EXPECT_GT(both.declared[i], 0U) << "no story has it: " << kDeclared[i].why;
    }
    EXPECT_GT(both.judged, 1'000U);
    RecordProperty("judged", static_cast<int>(both.judged));
}

}  // namespace
}  // namespace trueup::testing
