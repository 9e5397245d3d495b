#include "apps/refold.h"

#include "engine/core/rule_text.h"
#include "projections/rocksdb_store.h"

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

constexpr std::size_t kSubjectBytes = std::size_t{64} << 20U;
constexpr std::size_t kDirtyBytes = std::size_t{16} << 20U;
constexpr std::size_t kStoreBytes = std::size_t{32} << 20U;

Error not_kept(const Error& why) {
    return {Next::kStop, why.code,
            "the rows of the comparison cannot be kept (" + why.what +
                "): set TMPDIR to a folder with room and run this again"};
}

}  // namespace

Refold::Refold(std::unique_ptr<ports::Store> store, PartitionNumber shard)
    : store_(std::move(store)), projection_(*store_, shard), state_(projection_) {}

Result<std::unique_ptr<Refold>> Refold::begin(const std::string& folder, PartitionNumber shard) {
    auto store = projections::RocksdbStore::open({folder, kStoreBytes});
    if (!store) return not_kept(store.error());
    std::unique_ptr<Refold> refold(new Refold(std::move(*store), shard));
    if (Status empty = refold->projection_.load(refold->state_, kSubjectBytes); !empty) {
        return not_kept(empty.error());
    }
    return refold;
}

Status Refold::fold(const JournalView& record, const std::set<std::string>& enabled) {
    if (Status read = projection_.read_ahead(state_, record); !read) return not_kept(read.error());
    // Before: else what is judged in this record would wait for somebody to enable it.
    if (record.settings) enable(*record.settings, enabled);
    report_.clear();
    core::fold(state_, record, report_);
    if (!state_.halted.empty()) return Error{Next::kStop, Code::kUnsupported, state_.halted};
    if (record.settings) enable(*record.settings, enabled);  // rules that had no number until now
    return rows_kept();
}

/// Only for what has a number already.
void Refold::enable(const Settings& settings, const std::set<std::string>& rules) {
    if (state_.plan == nullptr) return;
    for (const std::string& name : rules) {
        const RuleNumber rule = state_.plan->rule(name);
        if (rule == core::kEveryRule || rule.value() >= state_.meta.enabling.size()) continue;
        core::Enabling& enabling = state_.meta.enabling[rule.value()];
        const Hash128 text = core::rule_text(*settings.text, settings.sources, name).text;
        if (!text.none() && enabling.disabled.none()) enabling.add(text);
    }
}

Status Refold::make_room() {
    if (state_.subjects.dirty_bytes() > kDirtyBytes) {
        std::vector<core::Parked> none;
        if (Status written = projection_.write_behind(state_, none); !written) {
            return not_kept(written.error());
        }
    }
    state_.subjects.evict(kSubjectBytes - std::min(kSubjectBytes, state_.waits.bytes()));
    return rows_kept();
}

Status Refold::rows_kept() {
    if (!projection_.writing()) static_cast<void>(projection_.settle());
    if (const Status& read = projection_.read(); !read) return not_kept(read.error());
    if (const Status& written = projection_.written(); !written) return not_kept(written.error());
    return Done{};
}

}  // namespace trueup::apps
