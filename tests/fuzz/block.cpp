// A block of the embedded log as a disk may give it back. The hashes are made right first: without
// that no fuzzer would ever see what lies behind them.
#include "connectors/embedded/block.h"

#include "engine/base/id.h"
#include "tests/fuzz/fuzz.h"

#include <cstring>

namespace trueup::fuzz {
namespace {

constexpr std::size_t kHead = 32;
constexpr std::size_t kBodyHashAt = 16;
constexpr Offset kFirst{5};

}  // namespace
}  // namespace trueup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const std::string_view bytes = fuzz::text(data, size);
    const Result<connectors::BlockRef> raw = connectors::parse(std::string(bytes), fuzz::kFirst);
    if (!raw) fuzz::check_refusal(raw.error(), Next::kStop);
    if (size < fuzz::kHead) return 0;
    std::string packed(bytes);
    const std::uint64_t hash = hash128(bytes.substr(fuzz::kHead)).lo;
    std::memcpy(packed.data() + fuzz::kBodyHashAt, &hash, sizeof hash);
    const auto sealed = connectors::seal(std::move(packed), fuzz::kFirst, BrokerTime{});
    const auto block = connectors::parse(sealed->bytes, fuzz::kFirst);
    if (!block) return fuzz::check_refusal(block.error(), Next::kStop), 0;
    TRUEUP_CHECK(!connectors::parse(sealed->bytes, next(fuzz::kFirst)).ok());
    ports::Fetched fetched;
    std::size_t taken = 0;
    connectors::add_records(*block, fuzz::kFirst, SIZE_MAX, taken, fetched);
    TRUEUP_CHECK(fetched.records.size() == static_cast<std::size_t>((*block)->count));
    std::vector<ports::Entry> entries;
    for (const ports::Record& record : fetched.records) {
        entries.push_back({std::string(record.key), std::string(record.value),
                           connectors::headers_of(**block, record.offset)});
    }
    TRUEUP_CHECK(connectors::pack(entries).size() == size);
    return 0;
}
