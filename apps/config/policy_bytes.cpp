// Of the build: reads policy files and prints a C++ source with what they mean, as the journal
// holds it, so that whoever runs a shipped policy reads no YAML.
#include "apps/config/policy_file.h"
#include "engine/codec/policy_codec.h"

#include <array>
#include <cstdio>
#include <iostream>

int main(int argc, char** argv) {
    std::cout << "#include \"policies/shipped_bytes.h\"\n\nnamespace trueup::policies {\n\n"
                 "const std::vector<std::string_view>& shipped_bytes() {\n"
                 "    static const std::vector<std::string_view> kAll{\n";
    for (int i = 1; i < argc; ++i) {
        const auto file = trueup::config::load_policy(argv[i]);
        if (!file) {
            std::cerr << file.error().what << '\n';
            return 1;
        }
        const std::string bytes = trueup::codec::encode_policy(file->policy);
        std::cout << "        {";
        for (std::size_t at = 0; at < bytes.size(); at += 32) {
            std::cout << "\n            \"";
            for (const char byte : std::string_view(bytes).substr(at, 32)) {
                std::array<char, 5> escaped{};
                std::snprintf(escaped.data(), escaped.size(), "\\%03o",
                              static_cast<unsigned>(static_cast<unsigned char>(byte)));
                std::cout << escaped.data();
            }
            std::cout << '"';
        }
        std::cout << ",\n            " << bytes.size() << "},\n";
    }
    std::cout << "    };\n    return kAll;\n}\n\n}  // namespace trueup::policies\n";
    return 0;
}
