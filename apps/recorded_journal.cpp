#include "apps/recorded_journal.h"

#include "apps/bus.h"
#include "apps/config/config.h"
#include "connectors/embedded/embedded_reader.h"
#include "engine/runtime/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

namespace fs = std::filesystem;

Error refusal(std::string what) { return {Next::kStop, Code::kNotFound, std::move(what)}; }

bool is_log(const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / "CURRENT", error);
}

Result<std::unique_ptr<ports::Log>> read_embedded(const fs::path& folder, std::uint64_t memory) {
    auto opened =
        connectors::EmbeddedReader::open(folder.string(), runtime::memory_shares(memory).log);
    if (!opened) return opened.error();
    return std::unique_ptr<ports::Log>(std::move(*opened));
}

/// The state folders of the policies of a process, by name.
std::vector<fs::path> folders_below(const fs::path& state_dir) {
    std::vector<fs::path> folders;
    std::error_code error;
    fs::directory_iterator entry(state_dir / "policies", error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        if (is_log(entry->path() / "log")) folders.push_back(entry->path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

Result<std::unique_ptr<ports::Log>> of_folder(const fs::path& folder, const std::string& policy) {
    const std::uint64_t memory = config::Config().memory_bytes;  // a folder says nothing of it
    for (const fs::path& log : {folder / "log", folder,
                                fs::path(config::policy_folder(folder.string(), policy)) / "log"}) {
        if (is_log(log)) return read_embedded(log, memory);
    }
    const std::vector<fs::path> several = folders_below(folder);
    if (several.size() == 1) return read_embedded(several.front() / "log", memory);
    if (several.empty()) {
        return refusal("there is no journal in " + folder.string() +
                       ": name the state_dir of an engine, or its configuration");
    }
    std::vector<std::string> names;
    names.reserve(several.size());
    for (const fs::path& each : several) names.push_back(each.string());
    return refusal(
        fmt::format("there are several journals in {}, and none is named after {}: "
                    "name one of {}",
                    folder.string(), policy, fmt::join(names, ", ")));
}

Result<std::unique_ptr<ports::Log>> of_config(const std::string& file, const std::string& policy) {
    const auto config = config::load_config(file);
    if (!config) return config.error();
    std::vector<config::Config> policies = config::of_each_policy(*config);
    std::vector<std::string> names;
    names.reserve(policies.size());
    for (const config::Config& one : policies) names.push_back(one.policies.front().text->name);
    std::erase_if(policies, [&](const config::Config& one) {
        return one.policies.front().text->name != policy;
    });
    if (policies.empty()) {
        return refusal(
            fmt::format("{} runs no policy {}, it runs {}: name the texts of one of "
                        "these, or another configuration",
                        file, policy, fmt::join(names, ", ")));
    }
    if (policies.size() > 1) {
        return refusal(
            fmt::format("{} runs policy {} more than once: name the state folder of one "
                        "instead, as {}",
                        file, policy, policies.front().state_dir));
    }
    const config::Config& ours = policies.front();
    if (ours.kafka) return open_bus(ours, "policy-diff");
    const fs::path log = fs::path(ours.state_dir) / "log";
    if (is_log(log)) return read_embedded(log, ours.memory_bytes);
    return refusal("there is no journal in " + ours.state_dir +
                   ", where this configuration keeps it: run `trueup up` first, or name a copy of "
                   "a state folder");
}

}  // namespace

Result<std::unique_ptr<ports::Log>> open_recorded(const std::string& where,
                                                  const std::string& policy) {
    std::error_code error;
    const fs::file_status status = fs::status(where, error);
    if (!fs::exists(status)) {
        return refusal("there is no " + where +
                       ": name the state_dir of an engine, or its configuration");
    }
    return fs::is_directory(status) ? of_folder(where, policy) : of_config(where, policy);
}

}  // namespace trueup::apps
