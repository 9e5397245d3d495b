// What happened around one name in a run, for whoever looks into it: what the world did with it,
// what was ordered, what came of that, and what people asked for, a line each.
#pragma once

#include "sandbox/records.h"
#include "simulation/broker.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::simulation {

/// Not thread-safe.
class Trace {
  public:
    /// `about`: a part of the name of what it is about (`wrapper-s7`); empty: everything.
    explicit Trace(std::string about) : about_(std::move(about)) {}

    void stored(Millis since, ports::Partition at, const Broker::Record& record);
    void happened(Millis since, const std::vector<sandbox::Record>& act);

    /// In the order in which it happened.
    const std::vector<std::string>& lines() const { return lines_; }

  private:
    bool concerns(std::string_view text) const {
        return text.find(about_) != std::string_view::npos;
    }
    void tell(Millis since, const std::string& what);

    std::string about_;
    std::vector<std::string> lines_;
};

}  // namespace trueup::simulation
