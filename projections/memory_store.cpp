#include "projections/memory_store.h"

#include <utility>

namespace trueup::projections {

std::optional<std::string> MemoryStore::find(std::string_view key) const {
    const auto row = rows_.find(key);
    if (row == rows_.end()) return std::nullopt;
    return row->second;
}

Result<std::optional<std::string>> MemoryStore::get(std::string_view key) {
    const ReaderLock lock(mutex_);
    return find(key);
}

Result<std::vector<std::optional<std::string>>> MemoryStore::get_many(
    const std::vector<std::string_view>& keys) {
    const ReaderLock lock(mutex_);
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (const std::string_view key : keys) values.push_back(find(key));
    return values;
}

Status MemoryStore::each(std::string_view prefix, std::string_view after, std::size_t limit,
                         const Visit& visit) {
    const ReaderLock lock(mutex_);
    auto row = after < prefix ? rows_.lower_bound(prefix) : rows_.upper_bound(after);
    // An empty `after` is below every key, the empty one included.
    if (after.empty()) row = rows_.lower_bound(prefix);
    for (; row != rows_.end() && limit > 0 && row->first.starts_with(prefix); ++row, --limit) {
        if (!visit(row->first, row->second)) break;
    }
    return Done{};
}

Status MemoryStore::apply(const ports::StoreBatch& batch) {
    const WriterLock lock(mutex_);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto [key, value] = batch[i];
        if (value) {
            rows_.insert_or_assign(std::string(key), std::string(*value));
        } else {
            rows_.erase(std::string(key));
        }
    }
    return Done{};
}

Result<std::string> MemoryStore::checkpoint(const std::string& folder, const NameImage&) {
    return Error{Next::kStop, Code::kUnsupported,
                 "a store in memory cannot make a checkpoint in " + folder};
}

}  // namespace trueup::projections
