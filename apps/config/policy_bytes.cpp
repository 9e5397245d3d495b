// Of the build: reads policy files and prints a C++ source with what they mean, as the journal
// holds it, and what they call it, so that whoever runs a shipped policy reads no YAML.
#include "apps/config/policy_file.h"
#include "engine/codec/policy_codec.h"

#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

namespace {

using trueup::policy::Exports;

/// As a literal of C++, over several lines.
std::string literal(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at == 0 || at < bytes.size(); at += 32) {
        text += "\n            \"";
        for (const char byte : bytes.substr(at, 32)) {
            std::array<char, 5> escaped{};
            std::snprintf(escaped.data(), escaped.size(), "\\%03o",
                          static_cast<unsigned>(static_cast<unsigned char>(byte)));
            text += escaped.data();
        }
        text += '"';
    }
    return text;
}

template <typename On>
std::string number(On on) {
    return "{" + std::to_string(static_cast<int>(on)) + "}";
}

/// An entry of all_shipped_exports.
void print(const std::string& policy, const Exports& exports) {
    std::cout << "        {" << literal(policy) << ", {{";
    for (const auto& metric : exports.metrics) {
        std::cout << "{" << literal(metric.name) << ", " << literal(metric.help) << ", "
                  << literal(metric.rule) << ", policy::Metric::On" << number(metric.on) << ", "
                  << literal(metric.count) << ", " << literal(metric.label) << "},\n";
    }
    std::cout << "}, {";
    for (const auto& event : exports.events) {
        std::cout << "{" << literal(event.name) << ", " << literal(event.rule)
                  << ", policy::Event::On" << number(event.on) << ", "
                  << (event.of_pods ? "true" : "false") << "},\n";
    }
    std::cout << "}}},\n";
}

}  // namespace

int main(int argc, char** argv) {
    std::cout << "#include \"policies/shipped_bytes.h\"\n\nnamespace trueup::policies {\n\n"
                 "const std::vector<std::string_view>& shipped_bytes() {\n"
                 "    static const std::vector<std::string_view> kAll{\n";
    std::map<std::string, Exports> exports;
    for (int i = 1; i < argc; ++i) {
        const auto file = trueup::config::load_policy(argv[i]);
        if (!file) {
            std::cerr << file.error().what << '\n';
            return 1;
        }
        const std::string bytes = trueup::codec::encode_policy(file->policy);
        std::cout << "        {" << literal(bytes) << ",\n            " << bytes.size() << "},\n";
        exports.emplace(file->policy.name, file->exports);
    }
    std::cout << "    };\n    return kAll;\n}\n\n"
                 "const std::map<std::string, policy::Exports, std::less<>>& all_shipped_exports() "
                 "{\n"
                 "    static const std::map<std::string, policy::Exports, std::less<>> kAll{\n";
    for (const auto& [policy, names] : exports) print(policy, names);
    std::cout << "    };\n    return kAll;\n}\n\n}  // namespace trueup::policies\n";
    return 0;
}
