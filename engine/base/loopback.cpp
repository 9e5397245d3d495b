#include "engine/base/loopback.h"

#include <algorithm>
#include <charconv>

namespace trueup {

namespace {

bool is_ours(std::string_view dotted) {
    int numbers = 0;
    int first = -1;
    while (true) {
        const std::string_view text = dotted.substr(0, dotted.find('.'));
        int number = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool digits =
            std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (!digits || error != std::errc() || end != text.data() + text.size() || number > 255) {
            return false;
        }
        if (++numbers == 1) first = number;
        if (text.size() == dotted.size()) return numbers == 4 && first == 127;
        dotted.remove_prefix(text.size() + 1);
    }
}

}  // namespace

bool is_loopback(std::string_view address) {
    if (const auto scheme = address.find("://"); scheme != std::string_view::npos) {
        address.remove_prefix(scheme + 3);
    }
    address = address.substr(0, address.find_first_of("/?#"));
    if (address.find('@') != std::string_view::npos) return false;
    if (address.starts_with('[')) {
        const std::size_t end = address.find(']');
        if (end == std::string_view::npos) return false;
        const std::string_view rest = address.substr(end + 1);
        return address.substr(1, end - 1) == "::1" && (rest.empty() || rest.starts_with(':'));
    }
    if (address == "::1") return true;
    const std::string_view host = address.substr(0, address.find(':'));
    return host == "localhost" || is_ours(host);
}

}  // namespace trueup
