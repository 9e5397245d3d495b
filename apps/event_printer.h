// What happens, as people read it: findings, commands and outcomes from their public topics, and
// what befell the sandbox. Text with colours, or one JSON object a line.
//
// A reader like any other: it sees the topics and nothing else of the engine.
#pragma once

#include "engine/ports/log.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::apps {

enum class OutputFormat : std::uint8_t { kText, kJson };

class EventPrinter {
  public:
    /// A policy's log, which outlives the printer, and the partitions of it that are shown.
    struct Feed {
        ports::Log* log = nullptr;
        std::vector<PartitionNumber> partitions;
    };
    /// Shows what is appended there from now on. `colours`: for a terminal.
    EventPrinter(const std::vector<Feed>& feeds, OutputFormat format, bool colours);

    /// Prints what came in since the last call.
    void show_new();
    /// One line about the world itself.
    void note(std::string_view sentence);

    /// What was shown, after so many seconds.
    void summarise(std::int64_t seconds, std::uint64_t open_findings);

  private:
    struct Counts {
        std::uint64_t found = 0;     ///< findings that began
        std::uint64_t repaired = 0;  ///< that were put right by a command
        std::uint64_t gone = 0;      ///< that ended without that: most went away by themselves
        std::uint64_t commands = 0;
        std::uint64_t done = 0;
        std::uint64_t not_done = 0;  ///< refused, expired, failed
    };
    void show(Topic topic, const ports::Record& record);
    void show_finding(const ports::Record& record);
    void show_command(const ports::Record& record);
    void show_outcome(const ports::Record& record);
    void line(BrokerTime at, std::string_view word, std::string_view colour, std::string_view text);

    /// What an outcome is of.
    struct Ordered {
        std::string rule;
        std::string action;
        std::string text;
    };
    /// A partition that is shown, from `next` on.
    struct Place {
        ports::Log* log = nullptr;
        ports::Partition partition;
        Offset next;
    };

    OutputFormat format_;
    bool colours_;
    std::vector<Place> places_;
    std::map<std::string, Ordered> ordered_;  ///< by command id
    Counts counts_;
};

}  // namespace trueup::apps
