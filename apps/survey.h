// What `config check` says of sources that answer: how much they have, what the rules would find,
// and which rights are missing. The asking is in wiring.h; this is the judgement alone.
#pragma once

#include "apps/config/config.h"
#include "apps/rehearsal.h"
#include "connectors/postgres/table_check.h"

#include <optional>
#include <string>
#include <vector>

namespace trueup::apps {

/// One source that was asked.
struct Surveyed {
    std::string name;
    Look look;
    std::optional<bool> namespace_exists;                   ///< nullopt: it could not be told
    std::optional<std::vector<std::string>> missing_verbs;  ///< likewise; of a table: none
    connectors::postgres::TableCheck table;                 ///< as whoever writes sees it
    std::string index;  ///< what a unique index is missing over, where rows are to be inserted
    std::vector<std::string> remarks;  ///< what is well, and may end badly
};

/// What `missing_verbs` calls the right that a use takes: `delete`, `patch/status`.
std::string right_of(const policy::Use& use);

struct Judged {
    std::vector<std::string> asked;     ///< what there is, by source
    std::string finds;                  ///< what the rules would find
    std::vector<std::string> warnings;  ///< what is allowed and yet rarely meant
    std::vector<std::string> wrong;     ///< `file:line: source NAME: …; what to write`
};

/// `all` are the policy's sources, in the order of the configuration, which was read from `file`.
Judged judge(const config::Config& config, const std::string& file,
             const std::vector<Surveyed>& all, const Rehearsed& rehearsed);

}  // namespace trueup::apps
