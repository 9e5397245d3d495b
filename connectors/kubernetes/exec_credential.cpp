#include "connectors/kubernetes/exec_credential.h"

#include <simdjson.h>

#include <charconv>
#include <chrono>

namespace trueup::connectors {

namespace {

using simdjson::dom::element;

std::string text_at(const element& parent, const char* name) {
    std::string_view found;
    if (parent[name].get(found) != simdjson::SUCCESS) return "";
    return std::string(found);
}

Error flaw(std::string what) { return Error{Next::kRetry, Code::kDenied, std::move(what)}; }

/// The digits at the front, all of them; nullopt where one is missing.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
    int number = 0;
    if (text.size() < digits) return std::nullopt;
    const char* end = text.data() + digits;
    const auto [stopped, wrong] = std::from_chars(text.data(), end, number);
    if (wrong != std::errc() || stopped != end || text.front() == '-') return std::nullopt;
    text.remove_prefix(digits);
    return number;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

/// Numbers of two digits and what stands between them.
bool take_numbers(std::string_view& text, std::string_view between, int* numbers) {
    for (std::size_t i = 0; i <= between.size(); ++i) {
        const std::optional<int> number = take_number(text, 2);
        if (!number) return false;
        numbers[i] = *number;
        if (i < between.size() && !take(text, between.substr(i, 1))) return false;
    }
    return true;
}

/// Behind the seconds: a fraction, of which nothing is kept, and `Z` or an offset in minutes.
std::optional<int> take_zone(std::string_view text) {
    if (take(text, ".")) {
        while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
    }
    if (take(text, "Zz")) return text.empty() ? std::optional(0) : std::nullopt;
    const bool west = !text.empty() && text.front() == '-';
    int offset[2] = {};
    if (!take(text, "+-") || !take_numbers(text, ":", offset) || !text.empty()) return std::nullopt;
    const int minutes = offset[0] * 60 + offset[1];
    return west ? -minutes : minutes;
}

}  // namespace

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
    const std::optional<int> year = take_number(text, 4);
    int date[2] = {};
    int time[3] = {};
    if (!year || !take(text, "-") || !take_numbers(text, "-", date)) return std::nullopt;
    if (!take(text, "Tt ") || !take_numbers(text, "::", time)) return std::nullopt;
    const std::chrono::year_month_day day{std::chrono::year(*year),
                                          std::chrono::month(static_cast<unsigned>(date[0])),
                                          std::chrono::day(static_cast<unsigned>(date[1]))};
    const std::optional<int> zone = take_zone(text);
    const bool is_time = time[0] < 24 && time[1] < 60 && time[2] <= 60;
    if (!day.ok() || !is_time || !zone) return std::nullopt;
    const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
    const std::int64_t minutes = (days * 24 + time[0]) * 60 + time[1] - *zone;
    return (minutes * 60 + time[2]) * 1000;
}

Result<ExecCredential> parse_exec_credential(std::string_view printed,
                                             const std::string& api_version) {
    simdjson::dom::parser parser;
    element body;
    if (parser.parse(printed.data(), printed.size()).get(body) != simdjson::SUCCESS ||
        text_at(body, "kind") != "ExecCredential") {
        return flaw("printed no ExecCredential");
    }
    if (text_at(body, "apiVersion") != api_version) {
        return flaw("printed an ExecCredential of another apiVersion than the kubeconfig's " +
                    api_version);
    }
    element status;
    if (body["status"].get(status) != simdjson::SUCCESS) {
        return flaw("printed an ExecCredential without a status");
    }
    ExecCredential credential;
    credential.token = text_at(status, "token");
    credential.cert = text_at(status, "clientCertificateData");
    credential.key = text_at(status, "clientKeyData");
    if (credential.cert.empty() != credential.key.empty()) {
        return flaw("printed a client certificate without its key, or a key without it");
    }
    if (credential.token.empty() && credential.cert.empty()) {
        return flaw("printed neither a token nor a client certificate");
    }
    const std::string expires = text_at(status, "expirationTimestamp");
    if (expires.empty()) return credential;
    credential.expires_ms = parse_rfc3339(expires);
    if (!credential.expires_ms) return flaw("printed an expirationTimestamp that is not a time");
    return credential;
}

}  // namespace trueup::connectors
