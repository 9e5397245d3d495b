// Where a rehearsal is played: a shard's fold over records that are made of looks, in memory.
#pragma once

#include "apps/rehearsal.h"
#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/core/fold.h"
#include "engine/model/command.h"
#include "engine/model/finding_edge.h"
#include "engine/model/request.h"
#include "engine/model/settings.h"
#include "engine/model/topic.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

/// A shard's fold over records that are made here.
class Stage {
  public:
    Stage(Settings settings, const std::vector<Look>& looks, BrokerTime start);

    void put_in_force(const Settings& settings);
    /// Each source begins, and lists what it has.
    void open();
    /// Time passes, and every source proves itself all the while.
    void wait(Millis length);
    /// An operator vouches for what a quarantined source listed. False: none is quarantined.
    bool vouch();
    void approve_all();

    struct Found {
        FindingEdge edge;
        std::optional<Command> command;
        std::size_t turn = 0;  ///< the how-manieth command it got
        /// What held it at some time, and its name.
        std::set<std::pair<Reason, std::string>> holds;
    };
    const std::map<FindingId, Found>& found() const { return found_; }

    std::vector<Rehearsed::UnknownWords> unknown_words() const;

  private:
    /// Those of a field that the policy does not list.
    std::set<std::string> words_of(const core::FieldAt& at) const;

    struct Owner {
        Incarnation token = kNoOffset;
        std::uint64_t seq = 0;
        std::uint64_t epoch = 0;
    };

    Topic topic_of(std::size_t look) const;
    Offset add(Topic topic, ItemView item);
    Offset add(Topic topic, const ChangeView& change);
    void say(std::size_t look, ChangeView change);
    void list(std::size_t look);
    void prove();
    void ask(Request request);
    /// Folds what was put together, and goes on for as long as there is work left of it.
    void flush();
    void take_report();

    Settings settings_;
    const std::vector<Look>& looks_;
    std::vector<Owner> owners_;
    std::map<Topic, Offset> ends_;  ///< the offset that the next item gets
    BrokerTime now_;
    core::NoRows rows_;
    core::State state_;
    JournalView record_;
    core::FoldReport report_;
    std::map<FindingId, Found> found_;
    std::size_t turns_ = 0;
    std::uint64_t requests_ = 0;
};

}  // namespace trueup::apps
