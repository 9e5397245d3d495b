// What an operator asks of a running `trueup up`, over its HTTP side: `trueup findings`, `pause`,
// `resume`, `hold`, `release`, `reconcile`, `terminate`, `request`, `cleanup`.
//
// Exit codes of all of them: 0 it was granted, or shown; 1 the engine refused it, with its
// sentence; 2 nothing was asked, since the engine does not answer or the command line is wrong.
#pragma once

#include "apps/client.h"
#include "apps/event_printer.h"
#include "engine/base/id.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::apps {

struct OperateOptions {
    EngineAddress engine;
    OutputFormat format = OutputFormat::kText;
    std::string policy;   ///< empty: what it is about says which, or all
    std::string subject;  ///< `graph-instances/wrapper-7`, or what stands behind the slash
    std::string rule;
    std::string source;
    std::string comment;  ///< why, for the record
    std::string name;     ///< of one of the policy's requests
    std::string reason;   ///< of many findings: what they wait for
    /// `3f2a91c0…@1842`: a finding as `findings list` shows it, with what was seen of it.
    std::string handle;
    std::vector<Offset> seen;  ///< by shard
    bool yes = false;
    bool dry_run = false;  ///< of an approval of many: only show them
    bool drop = false;     ///< of a dismissal: also an ending that is half done
    std::uint64_t limit = 100;
};

int run_findings_list(const OperateOptions& options);
int run_findings_show(const OperateOptions& options);
int run_findings_approve(const OperateOptions& options);
int run_findings_dismiss(const OperateOptions& options);
/// One request of this kind (`pause`, `resume`, `hold`, `release`, `reconcile`, `terminate`,
/// `request`).
int run_request(const OperateOptions& options, const std::string& kind);
/// G16: shows what one rule waits to delete, asks, and approves its deletion.
int run_cleanup(const OperateOptions& options);

}  // namespace trueup::apps
