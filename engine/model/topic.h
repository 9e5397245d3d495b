// The topics by name (design §3). The numbers are part of the journal's format.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trueup {

enum class Topic : std::uint8_t {
    kUnspecified = 0,
    kChangesPods = 1,
    kChangesEc2 = 2,
    kChangesRows = 3,
    kChangesResources = 4,
    kOutcomes = 5,
    kRequests = 6,
    kJournal = 7,
    kFindings = 8,
    kCommands = 9,
};
inline constexpr std::size_t kTopics = 10;

/// `changes.pods`, `outcomes`, …; empty for kUnspecified.
constexpr std::string_view name_of(Topic topic) {
    constexpr std::array<std::string_view, kTopics> kNames{
        "",         "changes.pods", "changes.ec2", "changes.rows", "changes.resources",
        "outcomes", "requests",     "journal",     "findings",     "commands"};
    return kNames[static_cast<std::size_t>(topic)];
}

/// The topics that a sequencer merges into the journal, in a fixed order.
inline constexpr std::array<Topic, 6> kInputTopics{Topic::kChangesPods, Topic::kChangesEc2,
                                                   Topic::kChangesRows, Topic::kChangesResources,
                                                   Topic::kOutcomes,    Topic::kRequests};

}  // namespace trueup
