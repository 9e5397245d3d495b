#include "stories/hunt.h"

#include "engine/base/mutex.h"
#include "engine/core/plan.h"
#include "policies/shipped.h"
#include "stories/player.h"
#include "stories/world.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

namespace trueup::stories {

namespace {

constexpr auto kLook = std::chrono::milliseconds(100);

/// What a policy comes to: equal ones decide alike.
struct Meaning {
    core::Plan plan;
    std::vector<RuleSettings> rules;
    Millis stale_after{0};
    bool operator==(const Meaning&) const = default;
};

Result<Meaning> meaning_of(const Shared<policy::Policy>& policy) {
    const Settings settings = policies::usual_settings(policy, Mode::kEnforce);
    Result<core::Plan> plan = core::compile(*policy, settings);
    if (!plan) return plan.error();
    // What an operator enabled is told by the text; whether it decides otherwise is the question.
    for (core::PlanRule& rule : plan->rules) rule.text = {};
    return Meaning{std::move(*plan), settings.rules, settings.stale_after};
}

/// A story, with what it takes to know whether it is worth a try.
struct Tried {
    const Story* story;
    std::size_t cost;             ///< records of its journal
    std::set<std::string> rules;  ///< that are on in it, at some time
    std::set<std::string> told;   ///< that it tells of
};

Tried tried_of(const Story& story, const Shared<policy::Policy>& policy) {
    Tried tried{&story, play(story, policy).records.size(), {}, {}};
    for (const RuleSettings& rule : World::of(policy, story.setting).settings.rules) {
        if (rule.mode != Mode::kOff) tried.rules.insert(rule.rule);
    }
    for (const Block& block : story.blocks) {
        for (const Statement& said : block.statements) {
            if (said.verb == "rule" && !said.words.empty()) tried.rules.insert(said.words.front());
        }
        for (const std::string& line : block.expected) {
            std::istringstream in(line);
            for (std::string word; in >> word;) tried.told.insert(word);
        }
    }
    return tried;
}

enum class Fate : std::uint8_t { kUnknown, kEqual, kRefused, kUnable, kNoticed, kSurvived };

class Hunt {
  public:
    Hunt(const Shared<policy::Policy>& policy, const std::vector<Story>& stories)
        : mutants_(mutants_of(*policy)), fates_(mutants_.size()) {
        if (Result<Meaning> meaning = meaning_of(policy)) sound_ = std::move(*meaning);
        for (const Story& story : stories) {
            tried_.push_back(tried_of(story, policy));
        }
        std::sort(tried_.begin(), tried_.end(),
                  [](const Tried& a, const Tried& b) { return a.cost < b.cost; });
    }

    Hunted run(const HuntOptions& options) {
        std::vector<std::thread> threads;
        const std::size_t jobs = std::max<std::size_t>(options.jobs, 1);
        {
            const MutexLock lock(mutex_);
            busy_ = jobs;
        }
        while (threads.size() < jobs) threads.emplace_back([this] { work(); });
        watch(options);
        for (std::thread& thread : threads) thread.join();
        return summed();
    }

  private:
    void watch(const HuntOptions& options) TRUEUP_EXCLUDES(mutex_) {
        const MutexLock lock(mutex_);
        while (busy_ > 0) {
            (void)idle_.wait_until(mutex_, std::chrono::steady_clock::now() + kLook);
            if (!options.go_on) continue;
            if (!options.go_on(done_, mutants_.size())) ended_ = true;
        }
    }

    void work() TRUEUP_EXCLUDES(mutex_) {
        while (!ended_ && next()) {
        }
        const MutexLock lock(mutex_);
        --busy_;
        idle_.notify_all();
    }

    /// False: there is no mutant left.
    bool next() {
        const std::size_t n = next_++;
        if (n >= mutants_.size()) return false;
        fates_[n] = fate(mutants_[n]);
        ++done_;
        return true;
    }

    Fate fate(const Mutant& mutant) const {
        const Shared<policy::Policy> policy(mutant.policy);
        const Result<Meaning> meaning = meaning_of(policy);
        if (!meaning) return Fate::kRefused;
        if (*meaning == sound_) return Fate::kEqual;
        if (unable(mutant.rule)) return Fate::kUnable;
        if (noticed(mutant, policy)) return Fate::kNoticed;
        return ended_ ? Fate::kUnknown : Fate::kSurvived;
    }

    bool unable(const std::string& rule) const {
        return std::any_of(
            sound_.plan.rules.begin(), sound_.plan.rules.end(),
            [&](const core::PlanRule& each) { return each.name == rule && !each.unable.empty(); });
    }

    /// Stories that tell of its rule come first, the short ones before the long ones. One in which
    /// the rule is off cannot notice what it says.
    bool noticed(const Mutant& mutant, const Shared<policy::Policy>& policy) const {
        for (const bool its_own : {true, false}) {
            for (const Tried& tried : tried_) {
                const bool tells = mutant.rule.empty() || tried.told.count(mutant.rule) > 0;
                if (tells != its_own) continue;
                const bool on =
                    mutant.rule.empty() || mutant.switches || tried.rules.count(mutant.rule) > 0;
                if (!on) continue;
                if (ended_) return false;
                if (!play(*tried.story, policy).as_told()) return true;
            }
        }
        return false;
    }

    Hunted summed() {
        Hunted hunted;
        hunted.stopped = ended_;
        hunted.made = mutants_.size();
        for (std::size_t i = 0; i < mutants_.size(); ++i) {
            if (fates_[i] == Fate::kEqual) ++hunted.equal;
            if (fates_[i] == Fate::kRefused) ++hunted.refused;
            if (fates_[i] == Fate::kUnable) ++hunted.unable;
            if (fates_[i] == Fate::kNoticed) ++hunted.noticed;
            if (fates_[i] == Fate::kSurvived) hunted.survivors.push_back(std::move(mutants_[i]));
        }
        return hunted;
    }

    std::vector<Mutant> mutants_;
    std::vector<Fate> fates_;  ///< each by the one thread that took its number
    Meaning sound_;
    std::vector<Tried> tried_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::size_t> done_{0};
    std::atomic<bool> ended_{false};
    Mutex mutex_;
    CondVar idle_;
    std::size_t busy_ TRUEUP_GUARDED_BY(mutex_) = 0;
};

}  // namespace

Hunted hunt(const Shared<policy::Policy>& policy, const std::vector<Story>& stories,
            const HuntOptions& options) {
    return Hunt(policy, stories).run(options);
}

}  // namespace trueup::stories
