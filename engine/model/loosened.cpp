#include "engine/model/loosened.h"

#include <algorithm>
#include <bitset>
#include <utility>

namespace trueup {

namespace {

class Comparison {
  public:
    Comparison(const Settings& before, const Settings& now) : before_(before), now_(now) {}

    std::vector<std::string> take() && {
        for (const RuleSettings& rule : now_.rules) {
            if (const RuleSettings* was = find(before_.rules, &RuleSettings::rule, rule.rule)) {
                compare(*was, rule);
            }
        }
        for (const SourceSettings& source : now_.sources) {
            const auto* was = find(before_.sources, &SourceSettings::name, source.name);
            if (was == nullptr || source.at_least >= was->at_least) continue;
            say(source.name + ": expect.at_least", std::to_string(was->at_least),
                std::to_string(source.at_least));
        }
        longer("stale_after", before_.stale_after, now_.stale_after);
        longer("max_clock_skew", before_.max_clock_skew, now_.max_clock_skew);
        longer("command_ttl", before_.command_ttl, now_.command_ttl);
        if (now_.max_drop_percent > before_.max_drop_percent) {
            say("max_drop_percent", std::to_string(before_.max_drop_percent),
                std::to_string(now_.max_drop_percent));
        }
        if (now_.max_broker_skew < before_.max_broker_skew) {
            say("max_broker_skew", seconds(before_.max_broker_skew), seconds(now_.max_broker_skew));
        }
        const Week was = open(before_.windows);
        const Week is = open(now_.windows);
        if ((is & ~was).any()) {
            said_.push_back("windows: " + std::to_string((is & ~was).count()) +
                            " minutes of a week more, " + std::to_string((was & ~is).count()) +
                            " less");
        }
        return std::move(said_);
    }

  private:
    template <typename T>
    static const T* find(const std::vector<T>& all, std::string T::*name, const std::string& of) {
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const T& one) { return one.*name == of; });
        return found == all.end() ? nullptr : &*found;
    }
    /// How far it may go.
    static int reach(Mode mode) {
        switch (mode) {
            case Mode::kObserve:
                return 1;
            case Mode::kApprove:
                return 2;
            case Mode::kEnforce:
                return 3;
            case Mode::kOff:
            case Mode::kUnspecified:
                break;
        }
        return 0;
    }
    static std::string seconds(Millis time) {
        const bool whole = time.count() % 1000 == 0;
        return whole ? std::to_string(time.count() / 1000) + "s"
                     : std::to_string(time.count()) + "ms";
    }
    static std::string text(const Budget& budget) {
        const std::string share =
            budget.percent == 0 ? "" : " or " + std::to_string(budget.percent) + "%";
        return std::to_string(budget.max) + share + " in " + seconds(budget.window);
    }
    static constexpr std::size_t kDay{1'440};
    using Week = std::bitset<7 * kDay>;  ///< its minutes

    static Week open(const std::vector<Window>& windows) {
        Week week;
        if (windows.empty()) week.set();
        for (const Window& window : windows) {
            for (std::size_t day = 0; day < 7; ++day) {
                if ((window.days >> day & 1U) == 0) continue;
                for (std::size_t at = window.from; at < window.to; ++at) week.set(day * kDay + at);
            }
        }
        return week;
    }

    void say(const std::string& what, const std::string& was, const std::string& is) {
        said_.push_back(what + " " + was + " -> " + is);
    }
    void longer(const std::string& what, Millis was, Millis is) {
        if (is > was) say(what, seconds(was), seconds(is));
    }
    void compare(const RuleSettings& was, const RuleSettings& is) {
        const std::string rule = is.rule + ": ";
        if (reach(is.mode) > reach(was.mode)) {
            say(rule + "mode", std::string(name_of(was.mode)), std::string(name_of(is.mode)));
        }
        if (is.grace < was.grace) say(rule + "grace", seconds(was.grace), seconds(is.grace));
        if (is.create_window < was.create_window) {
            say(rule + "create_window", seconds(was.create_window), seconds(is.create_window));
        }
        const bool more = is.budget.max > was.budget.max ||
                          is.budget.percent > was.budget.percent ||
                          is.budget.window < was.budget.window;
        if (more) say(rule + "budget", text(was.budget), text(is.budget));
        // None is the pod's own.
        const bool sooner =
            is.grace_period && (!was.grace_period || *is.grace_period < *was.grace_period);
        if (sooner) {
            say(rule + "grace_period",
                was.grace_period ? std::to_string(*was.grace_period) + "s" : "the pod's own",
                std::to_string(*is.grace_period) + "s");
        }
    }

    const Settings& before_;
    const Settings& now_;
    std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> loosened(const Settings& before, const Settings& now) {
    return Comparison(before, now).take();
}

}  // namespace trueup
