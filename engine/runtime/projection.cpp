#include "engine/runtime/projection.h"

#include "engine/codec/policy_codec.h"
#include "engine/core/row.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace trueup::runtime {

namespace {

constexpr char kMeta = 'm';
constexpr char kText = 't';
constexpr char kSubjects = 's';
constexpr char kParked = 'p';
constexpr std::size_t kAskEvery = 4096;  ///< rows

std::string big_endian(std::uint64_t value, unsigned bytes) {
    std::string out;
    for (unsigned i = bytes; i > 0; --i) out += static_cast<char>(value >> (8 * (i - 1)) & 0xffU);
    return out;
}

}  // namespace

Projection::Projection(ports::Store& store, PartitionNumber shard, std::launch jobs)
    : store_(store),
      prefix_(big_endian(static_cast<std::uint64_t>(shard.value()), 2)),
      jobs_(jobs) {}

std::string Projection::key(char table, std::string_view rest) const {
    std::string out = prefix_;
    out += table;
    out += rest;
    return out;
}

Result<std::optional<core::Meta>> Projection::meta() {
    const auto stored = store_.get(key(kMeta, {}));
    if (!stored) return stored.error();
    if (!stored->has_value()) return std::optional<core::Meta>();
    std::optional<core::Meta> meta = core::decode_meta(**stored);
    if (!meta) {
        return Error{Next::kSkip, Code::kCorrupt, "the projection's meta row cannot be read"};
    }
    Result<Shared<policy::Policy>> policy = text();
    if (!policy) return policy.error();
    if (!*policy && !meta->settings.policy.empty()) {
        return Error{Next::kSkip, Code::kCorrupt, "the projection has lost its policy"};
    }
    meta->settings.text = std::move(*policy);
    return meta;
}

/// Empty: there is none yet.
Result<Shared<policy::Policy>> Projection::text() {
    const auto stored = store_.get(key(kText, {}));
    if (!stored) return stored.error();
    if (!stored->has_value()) return Shared<policy::Policy>();
    Result<policy::Policy> policy = codec::decode_policy(**stored);
    if (!policy) {
        return Error{Next::kSkip, Code::kCorrupt,
                     "the projection's policy cannot be read: " + policy.error().what};
    }
    return Shared<policy::Policy>(std::move(*policy));
}

/// Checks every subject's row and holds the sum of their hashes against the digest.
Status Projection::add_up(const core::Meta& meta, const Check& check) {
    Hash128 sum;
    Status right = Done{};
    const std::string prefix = key(kSubjects, {});
    Status seen = store_.each(prefix, {}, std::numeric_limits<std::size_t>::max(),
                              [&](std::string_view row_key, std::string_view bytes) {
                                  const std::string_view subject_key =
                                      row_key.substr(prefix.size());
                                  sum += core::row_hash(subject_key, bytes);
                                  right = check(subject_key, bytes);
                                  return right.ok();
                              });
    if (!seen) return seen;
    if (!right) return right;
    if (sum == meta.digest) return Done{};
    return Error{Next::kSkip, Code::kCorrupt,
                 "the projection's rows do not match its digest at offset " +
                     std::to_string(meta.applied.value())};
}

Result<core::Meta> Projection::verified(const std::function<bool()>& stop) {
    Result<std::optional<core::Meta>> stored = meta();
    if (!stored) return stored.error();
    if (!stored->has_value()) {
        return Error{Next::kSkip, Code::kCorrupt, "the projection has no meta row"};
    }
    std::size_t rows = 0;
    const Status right = add_up(**stored, [&](std::string_view, std::string_view) -> Status {
        if (++rows % kAskEvery == 0 && stop()) {
            return Error{Next::kRetry, Code::kCancelled, "interrupted"};
        }
        return Done{};
    });
    if (!right) return right.error();
    return **std::move(stored);
}

Status Projection::load(core::State& state, std::size_t budget,
                        const std::function<void(const Subject&)>& tell) {
    Result<std::optional<core::Meta>> stored = meta();
    if (!stored) return stored.error();
    if (!stored->has_value()) {
        const auto any = store_.scan(prefix_, {}, 1);
        if (!any) return any.error();
        if (!any->empty()) {
            return Error{Next::kSkip, Code::kCorrupt, "the projection has rows and no meta row"};
        }
        state.subjects.now_whole();
        return Done{};
    }
    text_ = (*stored)->settings.text;
    core::adopt_meta(state, **stored);
    bool whole = true;
    Status right =
        add_up(**stored, [&](std::string_view subject_key, std::string_view bytes) -> Status {
            const std::optional<Subject> subject = core::decode_subject(subject_key, bytes);
            if (!subject) {
                return Error{Next::kSkip, Code::kCorrupt, "a row of the projection cannot be read"};
            }
            core::adopt_waits(state, *subject);
            whole = whole && state.subjects.bytes() < budget;
            if (whole) state.subjects.preload(subject_key, bytes);
            if (tell) tell(*subject);
            ++rows_;
            return Done{};
        });
    if (right && whole) state.subjects.now_whole();
    return right;
}

Status Projection::write_behind(core::State& state, std::vector<core::Parked>& parked) {
    if (!read_) return read_;
    if (Status settled = settle(); !settled) return settled;
    batch_.clear();
    std::string row_key = key(kSubjects, {});
    const std::size_t prefix = row_key.size();
    state.subjects.take_dirty(state.meta.digest,
                              [&](std::string_view subject, std::optional<std::string_view> row) {
                                  row_key.resize(prefix);
                                  row_key += subject;
                                  if (row) {
                                      batch_.put(row_key, *row);
                                      ++rows_written_;
                                  } else {
                                      batch_.erase(row_key);
                                  }
                              });
    rows_ = state.meta.subjects;
    for (core::Parked& item : parked) {
        const std::string place = big_endian(static_cast<std::uint64_t>(item.topic), 1) +
                                  big_endian(static_cast<std::uint64_t>(item.offset.value()), 8);
        batch_.put(key(kParked, place), item.reason + '\n' + item.bytes);
    }
    parked.clear();
    std::string meta;
    core::encode_meta(state.meta, meta);
    batch_.put(key(kMeta, {}), meta);
    if (const Shared<policy::Policy>& text = state.meta.settings.text; text && !(text == text_)) {
        batch_.put(key(kText, {}), codec::encode_policy(*text));
        text_ = text;
    }
    writing_ = std::async(jobs_, [this] { return store_.apply(batch_); });
    return Done{};
}

bool Projection::writing() const {
    return writing_.valid() &&
           writing_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
}

Status Projection::settle() {
    if (!writing_.valid()) return written_;
    Status applied = writing_.get();
    if (written_) written_ = std::move(applied);
    return written_;
}

/// Keys of subjects, ascending and each once.
Status Projection::get_many(const std::vector<std::string_view>& keys,
                            const core::Rows::VisitRow& visit) {
    if (keys.empty() || rows_ == 0) return Done{};
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const std::string_view subject : keys) names.push_back(key(kSubjects, subject));
    // Rows that are being written are clean in memory and not in the store yet.
    if (Status there = settle(); !there) return there;
    auto rows = store_.get_many({names.begin(), names.end()});
    if (!rows) {
        note(rows.error());
        return rows.error();
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::optional<std::string>& row = (*rows)[i];
        visit(keys[i], row ? std::optional<std::string_view>(*row) : std::nullopt);
    }
    return Done{};
}

Status Projection::read_ahead(core::State& state, const JournalView& record) {
    if (rows_ == 0 || state.subjects.whole()) return Done{};
    std::vector<std::string_view> wanted;
    for (const ItemView& item : record.items) {
        const auto* change = std::get_if<ChangeView>(&item.body);
        if (change == nullptr || change->subject_key.empty()) continue;
        if (!state.subjects.seems_cached(change->subject_key)) {
            wanted.push_back(change->subject_key);
        }
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    return get_many(wanted, [&](std::string_view subject, std::optional<std::string_view> row) {
        state.subjects.preload(subject, row);
    });
}

void Projection::note(const Error& error) {
    if (read_) read_ = error;
}

void Projection::load_many(const std::vector<std::string_view>& keys,
                           const core::Rows::VisitRow& visit) {
    static_cast<void>(get_many(keys, visit));
}

std::optional<std::string> Projection::load(std::string_view subject_key) {
    if (rows_ == 0) return std::nullopt;
    static_cast<void>(settle());
    auto row = store_.get(key(kSubjects, subject_key));
    if (row) return std::move(row).value();
    note(row.error());
    return std::nullopt;
}

void Projection::each_after(std::string_view after, std::size_t limit,
                            const core::Rows::Visit& visit) {
    if (rows_ == 0) return;
    static_cast<void>(settle());
    const std::string prefix = key(kSubjects, {});
    const Status seen = store_.each(prefix, after.empty() ? std::string() : key(kSubjects, after),
                                    limit, [&](std::string_view row_key, std::string_view bytes) {
                                        visit(row_key.substr(prefix.size()), bytes);
                                        return true;
                                    });
    if (!seen) note(seen.error());
}

}  // namespace trueup::runtime
