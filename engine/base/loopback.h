// Whether an address stays on this machine. Exact: `127.evil.example` is somebody else's.
#pragma once

#include <string_view>

namespace trueup {

/// `address` is a host, HOST:PORT, [::1]:PORT, or a URL with one of these. True for 127.0.0.0/8 in
/// four decimal numbers, `::1` and `localhost`; false for a URL that carries a user.
bool is_loopback(std::string_view address);

}  // namespace trueup
