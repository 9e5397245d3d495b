#include "stories/player.h"

#include "stories/replay.h"
#include "stories/teller.h"
#include "stories/unusable.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace trueup::stories {

namespace {

/// `160s suspected orphaned_pod wrapper-7 a: own_write` without its state and reason.
std::string finding_of(const std::string& line) {
    std::istringstream words(line.substr(0, line.find(':')));
    std::string when;
    std::string state;
    std::string rest;
    words >> when >> state;
    std::getline(words, rest);
    return when + rest;
}

bool is_passing(const std::string& line) {
    return line.find(" suspected ") != std::string::npos ||
           line.find(" confirmed ") != std::string::npos;
}

/// Leaves out where a finding was for less than a second: that hangs on who spoke first.
std::vector<std::string> lasting(const std::vector<std::string>& news) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < news.size(); ++i) {
        const auto follows = [&](const std::string& later) {
            return finding_of(later) == finding_of(news[i]);
        };
        const auto after = news.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (is_passing(news[i]) && std::any_of(after, news.end(), follows)) continue;
        kept.push_back(news[i]);
    }
    return kept;
}

/// Does the news say what the story expects? What a command sets may be left out.
bool meets(const std::string& expected, const News& came) {
    return expected == came.line || expected == came.line + came.with;
}

class Play {
  public:
    Play(const Story& story, const Shared<policy::Policy>& policy, const Manner& manner)
        : story_(story), manner_(manner), teller_(story, policy, manner) {}

    Telling run() {
        for (const Block& block : story_.blocks) {
            if (!tell(block)) break;
        }
        telling_.records = teller_.script().records();
        return std::move(telling_);
    }

  private:
    /// False: a statement did not fit.
    bool tell(const Block& block) {
        std::vector<News> news;
        std::vector<int> lines;
        for (const Statement& statement : block.statements) {
            try {
                teller_.say(statement);
            } catch (const Stumbled& why) {
                telling_.differences.push_back({statement.line, {}, {}, why.what()});
                return false;
            }
            for (News& each : teller_.script().take_news()) {
                news.push_back(std::move(each));
                lines.push_back(statement.line);
            }
        }
        if (meets_all(block.expected, news)) return true;
        Difference& difference = telling_.differences.emplace_back();
        difference.line = block.line;
        difference.expected = block.expected;
        for (std::size_t i = 0; i < news.size(); ++i) {
            difference.came.push_back({news[i].line + news[i].with, lines[i]});
        }
        return true;
    }

    bool meets_all(const std::vector<std::string>& expected, const std::vector<News>& news) const {
        if (std::equal(expected.begin(), expected.end(), news.begin(), news.end(), meets)) {
            return true;
        }
        if (!manner_.reversed) return false;
        const std::vector<std::string> wanted = lasting(expected);
        std::vector<std::string> lines;
        lines.reserve(news.size());
        for (const News& each : news) lines.push_back(each.line);
        const std::vector<std::string> kept = lasting(lines);
        return std::equal(wanted.begin(), wanted.end(), kept.begin(), kept.end(),
                          [](const std::string& story, const std::string& came) {
                              return story.substr(0, story.find(" set ")) == came;
                          });
    }

    const Story& story_;
    const Manner& manner_;
    Teller teller_;
    Telling telling_;
};

/// What became of each record when folded with a restart behind each, and without; empty: the same.
std::string restarted_otherwise(const std::vector<Recorded>& records) {
    Replay straight;
    Replay restarted;
    for (const Recorded& record : records) {
        const Emissions expected = straight.fold(record);
        const Emissions came = restarted.fold(record);
        if (came != expected) {
            return "a restart before journal record " + std::to_string(record.offset.value()) +
                   " changes what comes of it";
        }
        restarted.write_behind();
        restarted.restart(0);
    }
    if (straight.settled_meta().digest == restarted.settled_meta().digest) return {};
    return "restarts change what is kept";
}

}  // namespace

std::string Telling::flaws(const std::string& path) const {
    if (!unusable.empty()) return unusable + '\n';
    std::string text;
    for (const Difference& each : differences) {
        if (!each.stumbled.empty()) {
            text += each.stumbled + '\n';
            continue;
        }
        text += path + ':' + std::to_string(each.line) + ": expected\n";
        for (const std::string& line : each.expected) text += "    => " + line + '\n';
        if (each.expected.empty()) text += "    => nothing\n";
        text += "  but there was\n";
        for (const Came& came : each.came) {
            text += "    => " + came.news + "  # by line " + std::to_string(came.line) + '\n';
        }
        if (each.came.empty()) text += "    => nothing\n";
    }
    return text;
}

Telling play(const Story& story, const Shared<policy::Policy>& policy, const Manner& manner) {
    try {
        return Play(story, policy, manner).run();
    } catch (const Unusable& flaw) {
        Telling telling;
        telling.unusable = flaw.what();
        return telling;
    }
}

Trial try_story(const Story& story, const Shared<policy::Policy>& policy) {
    Trial trial;
    trial.told = play(story, policy);
    trial.flaws = trial.told.flaws(story.path);
    if (!trial.flaws.empty()) return trial;
    const Manner twice{.twice = true};
    const Manner reversed{.reversed = true};
    trial.how = "with each record of the journal twice";
    trial.flaws = play(story, policy, twice).flaws(story.path);
    if (!trial.flaws.empty()) return trial;
    trial.how = "with the sources speaking in another order";
    trial.flaws = play(story, policy, reversed).flaws(story.path);
    if (!trial.flaws.empty()) return trial;
    trial.how = "with a restart after each record of the journal";
    const std::string restarted = restarted_otherwise(trial.told.records);
    if (!restarted.empty()) trial.flaws = story.path + ": " + restarted + '\n';
    return trial;
}

}  // namespace trueup::stories
