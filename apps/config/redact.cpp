#include "apps/config/describe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace trueup::config {

namespace {

constexpr std::string_view kHidden = "***";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~%,:[]").find(c) != std::string_view::npos;
}

bool may_show(std::string_view key) {
    constexpr std::array<std::string_view, 12> kShown{"host",
                                                      "hostaddr",
                                                      "port",
                                                      "dbname",
                                                      "user",
                                                      "sslmode",
                                                      "sslcert",
                                                      "application_name",
                                                      "sslrootcert",
                                                      "service",
                                                      "connect_timeout",
                                                      "target_session_attrs"};
    return std::find(kShown.begin(), kShown.end(), key) != kShown.end();
}

/// `key = value key2='a b'` as libpq reads it.
class Pairs {
  public:
    explicit Pairs(std::string_view text) : text_(text) {}

    /// nullopt where it is no such list.
    std::optional<std::string> redacted() {
        std::string out;
        skip_blanks();
        while (at_ < text_.size()) {
            const std::string_view key = read_key();
            skip_blanks();
            if (key.empty() || at_ == text_.size() || text_[at_] != '=') return std::nullopt;
            ++at_;
            skip_blanks();
            const std::optional<std::string_view> value = read_value();
            if (!value) return std::nullopt;
            if (!out.empty()) out += ' ';
            out.append(key).append("=").append(may_show(key) ? *value : kHidden);
            skip_blanks();
        }
        return out;
    }

  private:
    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }

    std::string_view read_key() {
        const std::size_t start = at_;
        while (at_ < text_.size() &&
               ((text_[at_] >= 'a' && text_[at_] <= 'z') || text_[at_] == '_')) {
            ++at_;
        }
        return text_.substr(start, at_ - start);
    }

    /// The value as written, quotes included; a backslash takes the next byte with it.
    std::optional<std::string_view> read_value() {
        const std::size_t start = at_;
        const bool quoted = at_ < text_.size() && text_[at_] == '\'';
        if (quoted) ++at_;
        while (at_ < text_.size()) {
            if (quoted ? text_[at_] == '\'' : is_blank(text_[at_])) break;
            at_ += text_[at_] == '\\' ? 2U : 1U;
        }
        if (at_ > text_.size()) return std::nullopt;
        if (quoted) {
            if (at_ == text_.size()) return std::nullopt;
            ++at_;
        }
        return text_.substr(start, at_ - start);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// `?key=value&...`, of which only some values are shown.
std::optional<std::string> redacted_query(std::string_view query) {
    std::string out;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        const std::size_t equals = pair.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        out += out.empty() ? '?' : '&';
        out.append(pair.substr(0, equals + 1));
        out.append(may_show(pair.substr(0, equals)) ? pair.substr(equals + 1) : kHidden);
    }
    return out;
}

/// What follows `postgresql://`. A byte that should have been escaped may stand in a password, and
/// then nothing here is where it seems to be.
std::optional<std::string> redacted_uri(std::string_view rest) {
    const std::size_t question = std::min(rest.find('?'), rest.size());
    std::string_view place = rest.substr(0, question);
    const std::size_t at = place.find('@');
    std::string out;
    if (at != std::string_view::npos) {
        const std::string_view who = place.substr(0, at);
        const std::size_t colon = std::min(who.find(':'), who.size());
        if (!std::all_of(who.begin(), who.end(), is_plain)) return std::nullopt;
        out.append(who.substr(0, colon));
        if (colon < who.size()) out.append(":").append(kHidden);
        out += '@';
        place.remove_prefix(at + 1);
    }
    const auto sound = [](char c) { return is_plain(c) || c == '/'; };
    if (!std::all_of(place.begin(), place.end(), sound)) return std::nullopt;
    const std::string_view query = rest.substr(std::min(question + 1, rest.size()));
    const auto fits = [](char c) { return is_plain(c) || c == '/' || c == '=' || c == '&'; };
    if (!std::all_of(query.begin(), query.end(), fits)) return std::nullopt;
    const std::optional<std::string> shown = redacted_query(query);
    if (!shown) return std::nullopt;
    return out.append(place).append(*shown);
}

}  // namespace

std::string redact_conninfo(std::string_view conninfo) {
    for (const std::string_view scheme : {"postgresql://", "postgres://"}) {
        if (conninfo.substr(0, scheme.size()) != scheme) continue;
        const auto shown = redacted_uri(conninfo.substr(scheme.size()));
        return std::string(scheme).append(shown ? *shown : kHidden);
    }
    return Pairs(conninfo).redacted().value_or(std::string(kHidden));
}

}  // namespace trueup::config
