// What an operator asks of a running `trueup up`, over its HTTP side: `trueup findings`, `pause`,
// `resume`, `hold`, `release`, `reconcile`, `terminate`, `cleanup`.
//
// Exit codes of all of them: 0 it was granted, or shown; 1 the engine refused it, with its
// sentence; 2 nothing was asked, since the engine does not answer or the command line is wrong.
#pragma once

#include "apps/feed.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trueup::apps {

/// Where the engine is, and as whom to ask it. Without config, state_dir and url: the environment
/// variable TRUEUP_CONFIG names the configuration.
struct EngineAddress {
    std::string config;      ///< its configuration file; names the state folder
    std::string state_dir;   ///< or the folder itself
    std::string url;         ///< or `http://host:port`, or https, with ...
    std::string token_file;  ///< ... a file whose first word is the token
    std::string ca_file;     ///< of https: whom to believe; empty: whom the system believes
};

/// Tells these commands, and scripts, where the engine of this state folder answers; with TLS as an
/// https address, and below it the certificate that it shows.
void write_address(const std::string& state_dir, const std::string& address,
                   const std::string& certificate = {});

struct OperateOptions {
    EngineAddress engine;
    FeedFormat format = FeedFormat::kText;
    std::string subject;  ///< `graph-instances/wrapper-7`, or what stands behind the slash
    std::string rule;
    std::string source;
    std::string reason;   ///< why, for the record
    std::string because;  ///< of an approval of many: what they wait for
    /// `3f2a91c0…@1842`: a finding as `findings list` shows it, with what was seen of it.
    std::string handle;
    std::optional<std::int64_t> seen;
    bool yes = false;
    bool drop = false;  ///< of a dismissal: also an ending that is half done
    std::uint64_t limit = 100;
};

int run_findings_list(const OperateOptions& options);
int run_findings_show(const OperateOptions& options);
int run_findings_approve(const OperateOptions& options);
int run_findings_dismiss(const OperateOptions& options);
/// One request of this kind (`pause`, `resume`, `hold`, `release`, `pass`, `terminate`).
int run_request(const OperateOptions& options, const std::string& kind);
/// G16: lists the orphans that are there, asks, and approves their deletion.
int run_cleanup(const OperateOptions& options);

}  // namespace trueup::apps
