// What the HTTP side shows of one subject: what its sources said, and what rules make of it. Plain
// values.
#pragma once

#include "engine/base/id.h"
#include "engine/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::api {

/// One field of an object as its source published it.
struct FieldView {
    std::string name;
    std::optional<std::string> value;  ///< none: null
    bool sent = true;                  ///< false: the source did not send it with its last change
};

/// What one source last said of one object of a subject.
struct FacetView {
    std::string source;
    std::string object;
    std::string absence;             ///< `removed` or `swept`; empty: it is there
    std::int64_t first_seen_ms = 0;  ///< since 1970
    std::int64_t changed_ms = 0;     ///< likewise: its last change
    Offset offset = kNoOffset;       ///< of that change, in the journal
    std::vector<FieldView> fields;
};

/// What a finding leads to.
struct CommandView {
    std::string id;  ///< empty: it is not ordered, the rule would order it if nothing held it
    std::string text;
    std::int64_t issued_ms = 0;     ///< since 1970; of one that is ordered
    std::int64_t not_after_ms = 0;  ///< likewise
};

/// What one rule makes of a subject.
struct RuleWhyView {
    RuleTrace trace;
    std::string orders;  ///< its draft, for people; empty: it has none
};

/// Why nothing is done about a subject, or what is.
struct WhyView {
    std::string subject;
    PartitionNumber shard;
    Offset offset = kNoOffset;  ///< of the journal: as of that record
    bool held = false;
    std::vector<RuleWhyView> rules;
};

/// Everything that is known about a finding's subject.
struct SubjectView {
    std::vector<std::string> sources;  ///< that may speak of it
    std::vector<FacetView> facets;
    bool held = false;  ///< an operator's hold
    std::optional<CommandView> command;
    std::optional<RuleWhyView> why;  ///< of the finding's rule
};

}  // namespace trueup::api
