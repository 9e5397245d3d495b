#include "apps/seen_offsets.h"

#include <charconv>
#include <sstream>
#include <system_error>

namespace trueup::apps {

std::vector<Offset> seen_now(const EngineClient::Json& policy) {
    std::vector<Offset> seen(policy.value("partitions", std::size_t{1}), kNoOffset);
    for (const EngineClient::Json& shard : policy["shards"]) {
        const auto index = shard.value("shard", std::size_t{0});
        if (index < seen.size()) seen[index] = Offset(shard.value("seen", std::int64_t{-1}));
    }
    return seen;
}

std::string text_of(const std::vector<Offset>& seen) {
    std::string all;
    for (const Offset offset : seen) {
        all += (all.empty() ? "" : ".") +
               (offset < kFirstOffset ? "-" : std::to_string(offset.value()));
    }
    return all;
}

Result<std::vector<Offset>> parse_seen(const std::string& text) {
    std::vector<Offset> seen;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, '.');) {
        std::int64_t offset = -1;
        const auto read = std::from_chars(part.data(), part.data() + part.size(), offset);
        const bool number = read.ec == std::errc{} && read.ptr == part.data() + part.size();
        if (part != "-" && !(number && offset >= 0)) {
            return Error{
                Next::kStop, Code::kInvalid,
                "--seen is '" + text +
                    "'; write the journal offset that what you looked at ended with, as 242, "
                    "or of several shards 242.159, with - for one that is not meant"};
        }
        seen.push_back(part == "-" ? kNoOffset : Offset(offset));
    }
    return seen;
}

}  // namespace trueup::apps
