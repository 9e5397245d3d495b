// The configuration file, read and checked: what to watch, which policies join it, and how far the
// engine may go. One YAML file; docs and deploy/examples/quickstart.yaml show it whole.
//
// A Config that came out of `load_config` or `parse_config` holds together: every name refers to
// something, every time fits the others (design §4.8), and at least one policy is in it. Most of
// the program runs one policy: `of_each_policy` makes a configuration of its own for each. Secrets
// are in it only where the file itself holds them (`Conninfo::kText`); print it with describe.h.
#pragma once

#include "apps/config/bus_config.h"
#include "apps/config/executor_config.h"
#include "apps/config/policy_config.h"
#include "apps/config/source_config.h"
#include "engine/base/hash.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/model/headers.h"
#include "engine/model/settings.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

/// A policy that cannot run, though others of the file can: it is wrong, or it and another one
/// would be in each other's way.
struct LeftOut {
    std::string name;  ///< `policies[1]` where it has none
    std::string why;   ///< sentences as of load_config
};

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : std::uint8_t { kJson, kText };

struct HttpTls {
    std::string cert_file;  ///< PEM
    std::string key_file;   ///< PEM
};

struct Config {
    Hash128 digest;  ///< of the texts that it was read from
    std::string state_dir = "/var/lib/trueup";
    std::uint64_t memory_bytes = std::uint64_t{512} << 20U;
    Millis checkpoint_every = std::chrono::minutes(15);
    std::uint32_t checkpoints_kept = 3;
    std::string keys;               ///< the folder of the secrets
    std::string checkpoints;        ///< the folder of the checkpoints; may be shared by engines
    std::optional<KafkaBus> kafka;  ///< nullopt: the embedded bus
    bool fsync = true;              ///< of the embedded bus
    Retention retention;
    Millis max_clock_step{10'000};
    Millis max_broker_skew{0};
    FindingHeaders finding_headers = FindingHeaders::kId;
    std::vector<SourceConfig> sources;   ///< in the order of the file
    std::vector<PolicyConfig> policies;  ///< in the order of the file; at least one
    std::vector<LeftOut> left_out;       ///< of load_sound_policies only
    std::vector<ExecutorConfig> executors;
    std::string listen = "127.0.0.1:9464";  ///< empty: no HTTP
    std::optional<HttpTls> http_tls;        ///< nullopt: plain HTTP
    std::vector<std::string>
        http_known;  ///< `listen`: in the clear to other machines (`acknowledge`)
    LogLevel log_level = LogLevel::kInfo;
    std::optional<LogFormat> log_format;  ///< nullopt: that of the feed (`-o`)

    /// nullptr when there is none of that name.
    const SourceConfig* source(std::string_view name) const;
    /// What acts on that source; nullptr: nothing does.
    /// `kind`: of that one only.
    const ExecutorConfig* executor(std::string_view source, std::string_view kind = {}) const;
    bool has_executor(std::string_view kind) const;
};

/// Reads and checks the file. The error holds one sentence per line, `file:line: what is wrong;
/// what to write`, in the order of the file. Relative paths in it are relative to its folder.
Result<Config> load_config(const std::string& path);
/// The same of a text. `file_name` is for the sentences and for relative paths.
Result<Config> parse_config(std::string_view text, const std::string& file_name);
/// The same, but policies that are wrong are left out as long as another one is sound and the rest
/// of the file is: one that is refused leaves the others alone.
Result<Config> load_sound_policies(const std::string& path);

/// For each policy, in order, the configuration of a process that runs nothing else: the sources
/// that it names and what acts on them, its share of the memory, and folders and topics of its own
/// (docs/adr/0039). Where there is one policy, sources that it does not name are kept, too.
std::vector<Config> of_each_policy(const Config& config);

/// Why nobody should be able to reach `listen`, which is not empty, and what to write instead;
/// empty: it is sound.
std::string flaw_of_listen(const Config& config, const std::string& listen);

/// The folder of a policy in a process's state folder.
std::string policy_folder(const std::string& state_dir, const std::string& policy);

/// By what the source is read (SourceSettings::mapping), of a configuration with one policy; never
/// 0. Equal for equal configurations, whatever the build.
std::uint64_t mapping_of(const Config& config, const SourceConfig& source);

/// What goes into the journal, of a configuration with one policy. Sources and rules keep their
/// order.
Settings policy_settings(const Config& config);

/// The variables of our environment that hold secrets of this configuration: nothing that we run is
/// given them.
std::set<std::string> secret_variables(const Config& config);

}  // namespace trueup::config
