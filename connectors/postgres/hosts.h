// Which servers a connection string means, and whether what goes to them is protected: judged on
// what libpq made of the string, the environment and service files, before anything is sent. Pure,
// but for the shuffle of hosts that are to be balanced. Thread-safe.
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace trueup::connectors::postgres {

/// libpq's parameters, by keyword.
using Keywords = std::vector<std::pair<std::string, std::string>>;

/// Ok where the server proves who it is (sslmode=verify-full), or every host is this machine (a
/// loopback address, a Unix socket). Else an error of kStop that says what to write.
Status judge_tls(const Keywords& resolved);

/// The same with one host each, in the order in which libpq would try them: target_session_attrs
/// holds for each, prefer-standby in two rounds, and load_balance_hosts shuffles them. Never empty.
std::vector<Keywords> one_by_one(const Keywords& resolved);

/// How long one of `count` hosts has to take a connection: connect_timeout (2 s at least, as libpq
/// has it), else 10 s, or 3 s where there is another one to try.
std::chrono::seconds connect_limit(const Keywords& resolved, std::size_t count);

/// Of that keyword; empty when it is not there.
std::string value_of(const Keywords& keywords, std::string_view name);

}  // namespace trueup::connectors::postgres
