// Lines of a watch. However the stream is cut into chunks, the same lines come out; each of them is
// an event that can be published, or a refusal. The first byte says how long the chunks are.
#include "connectors/kubernetes/line_reader.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kubernetes.h"

namespace trueup::fuzz {
namespace {

std::vector<std::string> lines_of(std::string_view stream, std::size_t chunk) {
    connectors::LineReader reader;
    std::vector<std::string> lines;
    while (!stream.empty()) {
        reader.feed(take(stream, chunk));
        while (const auto line = reader.next()) lines.emplace_back(*line);
    }
    return lines;
}

void check_event(const Result<connectors::WatchEvent>& event) {
    using Type = connectors::WatchEvent::Type;
    if (!event) {
        TRUEUP_CHECK(!event.error().what.empty());
        TRUEUP_CHECK(event.error().next == Next::kSkip || event.error().next == Next::kRetry);
        return;
    }
    TRUEUP_CHECK((event->version == 0) == (event->type == Type::kError));
    if (event->type == Type::kError || event->type == Type::kBookmark) return;
    TRUEUP_CHECK(event->version == event->object.version);
    check_object(event->object);
}

}  // namespace
}  // namespace trueup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::string_view stream = fuzz::text(data, size);
    const std::size_t chunk = fuzz::take_byte(stream) + 1;
    const std::vector<std::string> lines = fuzz::lines_of(stream, chunk);
    TRUEUP_CHECK(lines == fuzz::lines_of(stream, size));
    connectors::Decoder decoder(fuzz::mapping());
    for (const std::string& line : lines) {
        const Result<connectors::WatchEvent> event = decoder.event(line);
        fuzz::check_event(event);
        const Result<connectors::WatchEvent> again =
            connectors::Decoder(fuzz::mapping()).event(line);
        TRUEUP_CHECK(event.ok() == again.ok());
        if (event) TRUEUP_CHECK(event->object.encoded == again->object.encoded);
    }
    return 0;
}
