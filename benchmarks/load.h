// The work that every benchmark does: pods and rows of many subjects, upserts of either side at
// random, one in ten a remove, about 200 bytes a change, under the policy graph-instances.
//
// The same seed gives the same changes. Not thread-safe.
#pragma once

#include "engine/base/time.h"
#include "engine/model/change.h"
#include "engine/model/settings.h"
#include "engine/model/topic.h"

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace trueup::bench {

/// A record of an input topic on its way.
struct Input {
    Topic topic = Topic::kUnspecified;
    std::uint32_t subject = 0;
    std::string bytes;
};

enum class Side : std::uint8_t { kPods = 0, kRows = 1 };

/// Sources `pods` and `rows`, the graces of the examples, every rule in `mode`.
Settings load_settings(Mode mode);

class Load {
  public:
    explicit Load(std::uint32_t subjects, std::uint64_t seed = 1);

    /// Both sources get an owner and an empty complete epoch, so that rules may judge.
    std::vector<Input> opening();
    /// Both sources get an owner, who has said nothing yet.
    std::vector<Input> owners();
    /// An upsert (or, one time in ten, a remove) of either side of any subject.
    Input change();
    /// The object once more, as it was: the version is equal.
    Input repeat();
    /// The object is there from now on, in a state of one word (`Running`, `running`), and nobody
    /// has said so yet.
    void make(Side side, std::uint32_t subject, const char* status);
    /// The same, and an upsert that says so.
    Input put(Side side, std::uint32_t subject, const char* status);
    /// A complete epoch: `begin`, `listed` for every subject where it is not empty, `end`.
    Input begin(Side side);
    bool present(Side side, std::uint32_t subject) const;
    Input listed(Side side, std::uint32_t subject);
    Input end(Side side);
    Input progress(Side side, BrokerTime complete_as_of);

    std::uint32_t subjects() const { return subjects_; }
    static std::string key_of(std::uint32_t subject);
    static Topic topic_of(Side side);

  private:
    struct Source {
        std::uint64_t seq = 0;
        std::uint64_t epoch = 0;
        std::uint64_t listed = 0;
        std::vector<std::uint32_t> versions;  ///< by subject; 0: never seen
        std::vector<char> status;             ///< index of the word; -1: not there
    };

    Source& source(Side side) { return sources_[static_cast<std::size_t>(side)]; }
    Input publish(Side side, ChangeView change, std::uint32_t subject);
    Input object(Side side, std::uint32_t subject, const char* status, std::uint64_t epoch);
    std::uint32_t any(std::uint32_t below);

    std::uint32_t subjects_;
    std::mt19937_64 random_;
    std::uint32_t version_ = 0;
    std::array<Source, 2> sources_;
};

}  // namespace trueup::bench
