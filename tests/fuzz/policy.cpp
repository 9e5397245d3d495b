// A policy: refused in sentences that name the file and the line, or read, its keys as they print.
#include "apps/config/policy_file.h"
#include "tests/fuzz/fuzz.h"

#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const Result<config::PolicyFile> read = config::parse_policy(fuzz::text(data, size), "p.yaml");
    std::istringstream sentences(read ? read->warnings : read.error().what);
    if (!read) fuzz::check_refusal(read.error(), Next::kStop);
    for (std::string line; std::getline(sentences, line);) {
        TRUEUP_CHECK(line.starts_with("p.yaml:"));
    }
    if (!read) return 0;
    for (const policy::Role& role : read->policy.roles) {
        const Result<policy::Key> again = policy::parse_key(policy::key_text(role.key));
        TRUEUP_CHECK(again.ok());
        TRUEUP_CHECK(*again == role.key);
    }
    return 0;
}
