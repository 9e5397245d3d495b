#include "connectors/postgres/hosts.h"

#include "engine/base/loopback.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <string_view>

namespace trueup::connectors::postgres {

namespace {

constexpr std::chrono::seconds kOnly{10};
constexpr std::chrono::seconds kOneOfSeveral{3};
constexpr std::chrono::seconds kLeast{2};

struct Host {
    std::string name;
    std::string address;
    std::string port;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

/// One port holds for all hosts; else there are as many of each as there are of any.
std::vector<Host> hosts_of(const Keywords& resolved) {
    const auto names = split(value_of(resolved, "host"));
    const auto addresses = split(value_of(resolved, "hostaddr"));
    const auto ports = split(value_of(resolved, "port"));
    const auto at = [](const std::vector<std::string>& all, std::size_t i) {
        return i < all.size() ? all[i] : std::string();
    };
    std::vector<Host> hosts(std::max(names.size(), addresses.size()));
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        hosts[i] = {at(names, i), at(addresses, i), ports.size() == 1 ? ports[0] : at(ports, i)};
    }
    return hosts;
}

/// Where it connects to is the address, where there is one; nothing at all is a Unix socket.
bool stays_here(const Host& host) {
    if (!host.address.empty()) return is_loopback(host.address);
    if (host.name.empty() || host.name.front() == '/' || host.name.front() == '@') return true;
    return is_loopback(host.name);
}

void put(Keywords& keywords, const std::string& name, const std::string& value) {
    std::erase_if(keywords, [&name](const auto& keyword) { return keyword.first == name; });
    if (!value.empty()) keywords.emplace_back(name, value);
}

}  // namespace

std::string value_of(const Keywords& keywords, std::string_view name) {
    for (const auto& [keyword, value] : keywords) {
        if (keyword == name) return value;
    }
    return {};
}

Status judge_tls(const Keywords& resolved) {
    const std::string mode = value_of(resolved, "sslmode");
    if (mode == "verify-full") return Done{};
    for (const Host& host : hosts_of(resolved)) {
        if (stays_here(host)) continue;
        return Error{Next::kStop, Code::kConfiguration,
                     "the connection to " + (host.name.empty() ? host.address : host.name) +
                         " has sslmode=" + (mode.empty() ? "prefer" : mode) +
                         ", which lets anyone on the network answer in the server's place" +
                         (mode.starts_with("verify") ? "" : ", or read along") +
                         "; write sslmode=verify-full sslrootcert=FILE in the connection string, "
                         "or add acknowledge: [sslmode]"};
    }
    return Done{};
}

std::vector<Keywords> one_by_one(const Keywords& resolved) {
    std::vector<Host> hosts = hosts_of(resolved);
    if (hosts.size() < 2) return {resolved};
    if (value_of(resolved, "load_balance_hosts") == "random") {
        std::shuffle(hosts.begin(), hosts.end(), std::mt19937(std::random_device{}()));
    }
    // With one host at a time libpq would take the first that is any.
    std::vector<std::string> rounds{value_of(resolved, "target_session_attrs")};
    if (rounds.front() == "prefer-standby") rounds = {"standby", "any"};
    std::vector<Keywords> all;
    for (const std::string& attributes : rounds) {
        for (const Host& host : hosts) {
            Keywords& one = all.emplace_back(resolved);
            put(one, "service", "");  // it is in here
            put(one, "host", host.name);
            put(one, "hostaddr", host.address);
            put(one, "port", host.port);
            put(one, "target_session_attrs", attributes);
        }
    }
    return all;
}

std::chrono::seconds connect_limit(const Keywords& resolved, std::size_t count) {
    const std::string text = value_of(resolved, "connect_timeout");
    int seconds = 0;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (seconds > 0) return std::max(kLeast, std::chrono::seconds(seconds));
    return count > 1 ? kOneOfSeveral : kOnly;
}

}  // namespace trueup::connectors::postgres
