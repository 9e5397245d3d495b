// Times as rows, credentials and configurations have them: never guessed, never beyond their
// bounds, and read alike where two readers know the same text.
#include "apps/config/words.h"
#include "connectors/kubernetes/exec_credential.h"
#include "engine/base/rfc3339.h"
#include "engine/core/row_time.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    constexpr Millis kDay{86'400'000};
    constexpr std::int64_t kFirst = -62'167'219'200'000 - 86'400'000;  // year 0, and its offsets
    constexpr std::int64_t kLast = 253'402'300'800'000 + 86'400'000;
    const std::string_view text = fuzz::text(data, size);

    const std::optional<SourceTime> time = core::parse_timestamp(text);
    const std::optional<std::int64_t> credential = connectors::parse_rfc3339(text);
    if (time) TRUEUP_CHECK(to_millis(*time) >= kFirst && to_millis(*time) <= kLast);
    if (credential) TRUEUP_CHECK(*credential >= kFirst && *credential <= kLast);
    if (time && credential) {  // of which only one has milliseconds
        const std::int64_t rest = to_millis(*time) - *credential;
        TRUEUP_CHECK(rest >= 0 && rest < 1'000);
    }
    if (time && to_millis(*time) >= 0 && to_millis(*time) < kLast - kDay.count()) {
        const std::string written = rfc3339(to_millis(*time));
        TRUEUP_CHECK(core::parse_timestamp(written) == time);
    }
    if (const std::optional<Millis> lasts = core::parse_duration(text)) {
        TRUEUP_CHECK(*lasts >= Millis(0) && *lasts <= 2'000'000'000 * kDay);
    }
    if (const std::optional<Millis> asked = config::parse_duration(text)) {
        TRUEUP_CHECK(*asked >= Millis(0) && *asked <= 366 * kDay);
        TRUEUP_CHECK(config::parse_duration(config::duration_text(*asked)) == asked);
    }
    return 0;
}
