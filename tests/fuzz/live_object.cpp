// What an executor reads of an object just before it writes, and of a refusal. The first byte is
// the length of the name that was asked for.
#include "executors/pod.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::string_view body = fuzz::text(data, size);
    const std::string_view name = fuzz::take(body, fuzz::take_byte(body));
    const Result<executors::Pod> pod = executors::decode_pod(body);
    if (pod) {
        TRUEUP_CHECK(!pod->uid.empty() && !pod->resource_version.empty() && !pod->name.empty());
        TRUEUP_CHECK(pod->field("name") == std::optional<std::string>(pod->name));
        for (const auto& [key, value] : pod->labels) {
            TRUEUP_CHECK(pod->field("label." + key) == std::optional<std::string>(value));
        }
    } else {
        fuzz::check_refusal(pod.error(), Next::kSkip);
    }
    // What shows the object does not prove that it is absent.
    TRUEUP_CHECK(!pod || !executors::says_not_found(body, name, "pods"));
    const std::string message = executors::message_of(body);
    TRUEUP_CHECK(std::none_of(message.begin(), message.end(), [](char c) { return c == '\n'; }));
    return 0;
}
