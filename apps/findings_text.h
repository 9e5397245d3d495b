// Findings as people read them on the command line.
#pragma once

#include "engine/base/id.h"
#include "engine/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::apps {

/// What the engine answers, as docs/operations/http.md says it.
using FindingsJson = nlohmann::ordered_json;

/// `3f2a91c0@1842`: a finding, and as of when.
std::string handle_of(const FindingsJson& finding);
/// The journal offset that the page is as of, by shard; -1: nothing was judged there, or another
/// engine runs it. None: it is of several policies, and offsets of one are none of another.
std::vector<Offset> seen_on(const FindingsJson& page);
/// Findings that match and are not on the page.
std::uint64_t not_shown(const FindingsJson& page);
/// Does it wait for an operator, and for nothing else?
bool is_approvable(const FindingsJson& finding);
/// The rule that a cleanup is of: `named`, or the only one whose deletions wait on the page; empty:
/// none waits. An answer is about one rule, since many are approved by its name: of several, and of
/// one that does more than delete, the error says what to write.
Result<std::string> cleanup_rule(const FindingsJson& page, const std::string& named);
/// A page of them; `filtered`: there may be others that do not match.
void print_findings(const FindingsJson& page, bool filtered);
/// Both sides, the evidence and the command: what an operator looks at before an approval.
void print_finding(const FindingsJson& finding);

}  // namespace trueup::apps
