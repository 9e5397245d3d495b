#include "executors/ended_commands.h"

#include <algorithm>

namespace trueup::executors {

void EndedCommands::remember(const CommandId& id, BrokerTime at) {
    BrokerTime& youngest = ids_.try_emplace(id, at).first->second;
    youngest = std::max(youngest, at);
    ages_.emplace_back(at, id);
}

void EndedCommands::forget_before(BrokerTime horizon) {
    // Partitions interleave, so that ages ascend only nearly: an entry behind a younger one merely
    // stays a little longer.
    while (!ages_.empty() && ages_.front().first < horizon) {
        const auto found = ids_.find(ages_.front().second);
        if (found != ids_.end() && found->second < horizon) ids_.erase(found);
        ages_.pop_front();
    }
}

}  // namespace trueup::executors
