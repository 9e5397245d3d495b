// The configuration: refused in sentences that name the file and the line, or of settings that the
// journal keeps as they are, and that can be shown.
#include "apps/config/config.h"

#include "apps/config/describe.h"
#include "engine/codec/settings_codec.h"
#include "tests/fuzz/fuzz.h"

#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const Result<config::Config> read = config::parse_config(fuzz::text(data, size), "c.yaml");
    if (!read) {
        fuzz::check_refusal(read.error(), Next::kStop);
        std::istringstream sentences(read.error().what);
        for (std::string line; std::getline(sentences, line);) {
            TRUEUP_CHECK(line.starts_with("c.yaml:"));
        }
        return 0;
    }
    const Settings settings = config::policy_settings(*read);
    const Result<Settings> journaled = codec::decode_settings(codec::encode_settings(settings));
    TRUEUP_CHECK(journaled.ok());
    TRUEUP_CHECK(*journaled == settings);
    TRUEUP_CHECK(config::describe(*read).ends_with('\n'));
    const std::string shown = config::describe_json(*read);
    const Result<config::Config> again = config::parse_config(shown, "c.yaml");
    if (again) TRUEUP_CHECK(config::policy_settings(*again) == settings);
    return 0;
}
