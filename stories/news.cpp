#include "stories/news.h"

#include "stories/times.h"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace trueup::stories {

namespace {

/// What a command does beyond its kind and its target.
std::string exactly(const CommandDraft& draft) {
    const Action& action = draft.action;
    std::string text;
    if (action.grace_seconds)
        text += " grace_period=" + std::to_string(*action.grace_seconds) + 's';
    if (action.kind == Action::Kind::kCreateObject) text += " name=" + draft.target.name;
    for (const Assignment& set : action.sets) {
        std::string value = set.now ? std::string(kNow) : set.value.value_or("null");
        std::replace(value.begin(), value.end(), ' ', ',');
        text += ' ' + set.column + '=' + value;
    }
    return text.empty() ? text : " set" + text;
}

std::string_view short_name(std::string_view key) { return key.substr(key.find('/') + 1); }

}  // namespace

std::vector<News> news_of(const core::FoldReport& report, BrokerTime at) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(at - broker(Millis{0})).count();
    const std::string when = std::to_string(seconds) + "s ";
    std::vector<News> news;
    for (const FindingEdge& edge : report.findings) {
        std::string& line = (news.emplace_back().line = when);
        line += name_of(edge.state);
        line += ' ' + edge.rule + ' ';
        line += short_name(edge.subject);
        line += ' ' + edge.object_id;
        if (edge.reason != Reason::kNone) (line += ": ") += edge.reason_name();
    }
    for (const Command& command : report.commands) {
        std::string& line = (news.emplace_back().line = when);
        line += name_of(command.draft.action.kind);
        line += ' ';
        line += short_name(command.subject);
        line += ' ' + command.draft.target.object_id;
        if (command.emission > 1) {
            line += " again " + std::to_string(command.emission);
        } else {
            news.back().with = exactly(command.draft);
        }
    }
    return news;
}

}  // namespace trueup::stories
