// What a kubeconfig's exec plugin prints: credentials that can be used, or a reason why they
// cannot.
#include "connectors/kubernetes/exec_credential.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const std::string_view printed = fuzz::text(data, size);
    const auto read = connectors::parse_exec_credential(printed, "client.authentication.k8s.io/v1");
    if (read) {
        TRUEUP_CHECK(!read->token.empty() || !read->cert.empty());
        TRUEUP_CHECK(read->cert.empty() == read->key.empty());
    } else {
        TRUEUP_CHECK(!read.error().what.empty());
    }
    return 0;
}
