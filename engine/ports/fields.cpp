#include "engine/ports/fields.h"

#include <algorithm>
#include <array>

namespace trueup::ports {

std::string_view name_of(Treatment treatment) {
    constexpr std::array<std::string_view, 3> kNames{"map", "hash", "drop"};
    return kNames[static_cast<std::size_t>(treatment)];
}

bool looks_secret(std::string_view name) {
    constexpr std::array<std::string_view, 15> kParts{
        "password",   "passwd",     "passphrase",  "secret",     "token",
        "credential", "connection", "conninfo",    "api_key",    "apikey",
        "access_key", "accesskey",  "private_key", "privatekey", "bearer"};
    constexpr std::array<std::string_view, 4> kWords{"pwd", "pass", "dsn", "auth"};
    std::string plain;
    for (const char c : name) {
        const bool capital = c >= 'A' && c <= 'Z';
        const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        plain += capital ? static_cast<char>(c - 'A' + 'a') : kept ? c : '_';
    }
    for (const std::string_view part : kParts) {
        if (plain.find(part) != std::string::npos) return true;
    }
    const std::string framed = "_" + plain + "_";
    return std::any_of(kWords.begin(), kWords.end(), [&framed](std::string_view word) {
        return framed.find("_" + std::string(word) + "_") != std::string::npos;
    });
}

Treatment FieldPolicy::of(std::string_view field) const {
    const auto said = named.find(field);
    if (said != named.end()) return said->second;
    return looks_secret(field) ? Treatment::kHash : Treatment::kMap;
}

void FieldPolicy::add(ObjectBuilder& fields, std::string_view field, Treatment treatment,
                      std::string_view text) const {
    if (treatment == Treatment::kMap) fields.add(field, text);
    if (treatment == Treatment::kHash && hash) fields.add(field, hash(text));
}

}  // namespace trueup::ports
