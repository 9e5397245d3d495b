// The demo's script: a small population of instances, in which things go wrong by themselves at a
// pace that a reader can follow. It acts through World's god view only and draws from its own seed;
// what it does next it reads from `truth()`, so that it goes on over a restored world, with a story
// that was not told before.
//
// Owned by one thread.
#pragma once

#include "engine/base/splitmix.h"
#include "engine/base/time.h"
#include "sandbox/world.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trueup::sandbox {

class Drama {
  public:
    Drama(World& world, std::uint64_t seed);

    /// Does what is due by `now`: the first call sets the scene, later ones bring one incident
    /// every 1 to 3 s and what follows from earlier ones.
    void step(SteadyTime now);

    /// One sentence per incident since the last call: "10:02:03 somebody deleted the row of …".
    std::vector<std::string> take_notes();

  private:
    static constexpr std::size_t kFewest = 6;
    struct Instance {
        std::string pk;
        std::string pod_name;
    };
    /// What there is to choose a victim from.
    struct Scene {
        std::vector<Instance> healthy;   ///< row running, pod Running
        std::vector<std::string> loose;  ///< pods that no row names
        std::vector<Instance> failed;    ///< rows that say failed
        std::size_t pods = 0;
    };
    /// Returns false when the scene lacks what it takes.
    using Incident = bool (Drama::*)(const Scene&, SteadyTime);

    static const Labels& wrapper_labels();
    Scene look() const;
    std::uint64_t draw(std::uint64_t below);
    const Instance& pick(const std::vector<Instance>& from);
    std::string fresh_name();
    Row new_row(const std::string& pod_name, const std::string& status);
    void later(SteadyTime at, std::function<void(SteadyTime)> act);
    void note(const std::string& sentence);
    void tidy(const Scene& scene, SteadyTime now);
    void shuffle();

    bool arrive_row_first(const Scene& scene, SteadyTime now);
    bool arrive_pod_first(const Scene& scene, SteadyTime now);
    bool leave(const Scene& scene, SteadyTime now);
    bool orphan(const Scene& scene, SteadyTime now);
    bool vanish(const Scene& scene, SteadyTime now);
    bool fail(const Scene& scene, SteadyTime now);
    bool recreate(const Scene& scene, SteadyTime now);
    bool cut_watch(const Scene& scene, SteadyTime now);
    bool api_errors(const Scene& scene, SteadyTime now);
    bool compact(const Scene& scene, SteadyTime now);
    bool cut_stream(const Scene& scene, SteadyTime now);

    World& world_;
    SplitMix64 random_;
    bool opened_ = false;
    SteadyTime next_{};
    std::vector<Incident> deck_;
    std::multimap<SteadyTime, std::function<void(SteadyTime)>> plans_;
    std::map<std::string, SteadyTime> failed_since_;  ///< rows by primary key
    std::vector<std::string> notes_;
};

}  // namespace trueup::sandbox
