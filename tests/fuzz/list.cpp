// Bodies of answers: a page of a list, an object by its name, a Status. One body is never two of
// these, and a page with one flaw is no page.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kubernetes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const std::string_view body = fuzz::text(data, size);
    connectors::Decoder decoder(fuzz::mapping());
    const Result<connectors::KubePage> page = decoder.page(body);
    if (page) {
        TRUEUP_CHECK(page->version > 0);
        for (const connectors::KubeObject& object : page->items) fuzz::check_object(object);
    } else {
        fuzz::check_refusal(page.error(), Next::kRetry);
    }
    const std::optional<connectors::KubeStatus> status = decoder.status(body);
    if (status) {
        TRUEUP_CHECK(status->code >= 0 && status->code <= 999);
        TRUEUP_CHECK(status->retry_after >= Millis{0});
    }
    const Result<connectors::KubeObject> object = decoder.out_of_scope(body);
    if (object) {
        fuzz::check_object(*object);
        TRUEUP_CHECK(ObjectView(object->encoded).is("in_scope", "false"));
    } else {
        TRUEUP_CHECK(!object.error().what.empty());
    }
    TRUEUP_CHECK(!page || !status);
    TRUEUP_CHECK(!object || !status);
    return 0;
}
