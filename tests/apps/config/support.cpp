#include "tests/apps/config/support.h"

#include "engine/base/check.h"

#include <iostream>

namespace trueup::config {

std::string sound() {
    return "version: 1\n"                                                            // 1
           "sources:\n"                                                              // 2
           "  pods:\n"                                                               // 3
           "    kubernetes:\n"                                                       // 4
           "      kubeconfig: kube.yaml\n"                                           // 5
           "      namespace: graph\n"                                                // 6
           "      selector: app=wrapper\n"                                           // 7
           "  rows:\n"                                                               // 8
           "    postgres:\n"                                                         // 9
           "      conninfo_env: TRUEUP_DATABASE\n"                                   // 10
           "      table: public.instances\n"                                         // 11
           "policies:\n"                                                             // 12
           "  - name: graph-instances\n"                                             // 13
           "    use: graph-instances\n"                                              // 14
           "    roles: {pods: pods, rows: rows}\n"                                   // 15
           "    keys:\n"                                                             // 16
           "      rows: \"coalesce(pod_name, 'wrapper-' || url_slug)\"\n"            // 17
           "executors: {delete_pod: {source: pods}, update_row: {source: rows}}\n";  // 18
}

std::string with(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    TRUEUP_CHECK(at != std::string::npos && text.find(from, at + 1) == std::string::npos);
    return text.replace(at, from.size(), to);
}

Config parsed(const std::string& text) {
    Result<Config> config = parse_config(text, "trueup.yaml");
    if (!config) std::cerr << config.error().what << '\n';
    return std::move(config).value();
}

std::string flaws(const std::string& text) {
    const Result<Config> config = parse_config(text, "trueup.yaml");
    if (config) return "(sound)";
    TRUEUP_CHECK(config.error().next == Next::kStop);
    return config.error().what;
}

std::string flaws_with(std::string_view from, std::string_view to) {
    return flaws(with(sound(), from, to));
}

}  // namespace trueup::config
