#include "simulation/disk.h"

namespace trueup::simulation {

namespace {

constexpr std::size_t kMostUnflushed = 8;  // what is older is on the platter by itself

}  // namespace

void Disk::crash(Random& random) {
    for (std::uint64_t lost = random.below(batches_.size() + 1); lost > 0; --lost) {
        for (auto& [key, value] : batches_.back()) {
            if (value) {
                rows_[key] = std::move(*value);
            } else {
                rows_.erase(key);
            }
        }
        batches_.pop_back();
    }
    batches_.clear();
}

void Disk::wipe() {
    rows_.clear();
    batches_.clear();
}

Result<std::optional<std::string>> DiskStore::get(std::string_view key) {
    const auto found = disk_.rows_.find(key);
    if (found == disk_.rows_.end()) return std::optional<std::string>();
    return std::optional<std::string>(found->second);
}

Result<std::vector<std::optional<std::string>>> DiskStore::get_many(
    const std::vector<std::string_view>& keys) {
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (const std::string_view key : keys) values.push_back(*get(key));
    return values;
}

Status DiskStore::each(std::string_view prefix, std::string_view after, std::size_t limit,
                       const Visit& visit) {
    auto at = after.empty() ? disk_.rows_.lower_bound(prefix) : disk_.rows_.upper_bound(after);
    for (; at != disk_.rows_.end() && limit > 0; ++at, --limit) {
        if (!std::string_view(at->first).starts_with(prefix)) break;
        if (!visit(at->first, at->second)) break;
    }
    return Done{};
}

Status DiskStore::apply(const ports::StoreBatch& batch) {
    if (!life_.call()) return Error{Next::kStop, Code::kUnavailable, "this process is dead"};
    if (disk_.full_) return Error{Next::kStop, Code::kExhausted, "no space left on device"};
    Disk::Before before;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const ports::StoreBatch::Word word = batch[i];
        const auto found = disk_.rows_.find(word.key);
        const bool there = found != disk_.rows_.end();
        before.emplace_back(word.key, there ? std::optional(found->second) : std::nullopt);
        if (word.value) {
            disk_.rows_.insert_or_assign(std::string(word.key), std::string(*word.value));
        } else if (there) {
            disk_.rows_.erase(found);
        }
    }
    // Taken back in the opposite order: of two words on one key the first one knows what was there.
    disk_.batches_.emplace_back(before.rbegin(), before.rend());
    if (disk_.batches_.size() > kMostUnflushed) disk_.batches_.pop_front();
    return Done{};
}

Status DiskStore::flush() {
    if (!life_.call()) return Error{Next::kStop, Code::kUnavailable, "this process is dead"};
    if (disk_.full_) return Error{Next::kStop, Code::kExhausted, "no space left on device"};
    disk_.batches_.clear();
    return Done{};
}

Result<std::string> DiskStore::checkpoint(const std::string& /*folder*/,
                                          const NameImage& /*name*/) {
    return Error{Next::kStop, Code::kUnsupported, "a simulated disk has no checkpoints"};
}

}  // namespace trueup::simulation
