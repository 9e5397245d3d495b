#include "engine/runtime/source_hints.h"

#include "engine/base/id.h"
#include "engine/codec/request_codec.h"

#include <utility>

namespace trueup::runtime {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20U;

}  // namespace

SourceHintSender::SourceHintSender(ports::Log& log, PartitionNumber shard,
                                   const codec::KeyRing& keys, ports::Clock& clock,
                                   std::uint64_t id_seed)
    : log_(log), shard_(shard), keys_(keys), clock_(clock), next_id_(id_seed) {}

void SourceHintSender::say(bool hurry, const std::vector<std::string>& epochs) {
    if (hurry) send({});
    for (const std::string& source : epochs) send(source);
}

void SourceHintSender::send(const std::string& source) {
    const SteadyTime now = clock_.steady_now();
    const auto said = said_.find(source);
    if (said != said_.end() && now - said->second < kAgain) return;
    said_[source] = now;
    Request hint;
    hint.id = RequestId(hash128("hint", next_id_++));
    hint.kind = RequestKind::kSourceHint;
    hint.scope.source = source;
    hint.issued_ms = clock_.wall_millis();
    hint.issued_by = "shard " + std::to_string(shard_.value());
    std::string bytes = codec::encode_request(hint);
    keys_.sign(codec::kRequestSignature, bytes);
    std::vector<ports::Entry> entries;
    entries.push_back({"!hint", std::move(bytes), {}});
    log_.append({Topic::kRequests, shard_}, std::move(entries));
}

SourceHintReader::SourceHintReader(ports::Log& log, std::int32_t partitions,
                                   const codec::KeyRing& keys)
    : log_(log), keys_(keys), next_(static_cast<std::size_t>(partitions), kNoOffset) {}

Status SourceHintReader::step(SteadyTime now,
                              const std::function<void(const std::string&)>& epoch) {
    for (std::size_t i = 0; i < next_.size(); ++i) {
        const ports::Partition partition{Topic::kRequests,
                                         PartitionNumber(static_cast<std::int32_t>(i))};
        if (next_[i] < kFirstOffset) {
            const auto extent = log_.describe(partition);
            if (!extent) return extent.error();
            next_[i] = extent->next_offset;
        }
        if (!log_.may_have(partition, next_[i])) continue;
        const auto fetched = log_.read(partition, next_[i], kReadBytes);
        if (!fetched) {
            if (fetched.error().next == Next::kStop) next_[i] = kNoOffset;
            return fetched.error();
        }
        next_[i] = fetched->next_offset;
        for (const ports::Record& record : fetched->records) {
            if (!keys_.authentic(codec::kRequestSignature, record.value)) continue;
            const Result<Request> request = codec::decode_request(record.value);
            if (!request || request->kind != RequestKind::kSourceHint) continue;
            if (request->scope.source.empty()) {
                hurry_until_ = now + kLasts;
            } else {
                epoch(request->scope.source);
            }
        }
    }
    return Done{};
}

}  // namespace trueup::runtime
