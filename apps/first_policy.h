// The files that somebody begins with who has a table of their own: a policy that holds its rows
// against objects of Kubernetes, its stories, and a configuration in which nothing acts yet. For
// `trueup policy new`, which looks at both sides first (policy_new.h). Pure.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

/// What there is to say of both sides. Names of columns and words as the database has them.
struct FirstPolicy {
    std::string name;               ///< of the policy
    std::string resource = "pods";  ///< as the configuration writes it: `v1/services`
    std::string plural = "pods";    ///< its last part
    std::string name_space;         ///< empty: all of them
    std::string selector;           ///< empty: every object
    using Setting = std::pair<std::string, std::string>;
    std::vector<Setting> cluster;   ///< how the source reaches it, by key; none: as a pod in it
    std::vector<Setting> database;  ///< likewise
    std::string table;              ///< `public.workers`
    std::string key;                ///< which object a row names: an expression over its columns
    std::string state;              ///< the column that says what is to be; empty: there is none
    std::vector<std::string> live;  ///< its words of rows that should have an object
    std::string dead;  ///< the one that a row gets when its object is gone; empty: nobody writes
};

/// File name and text: the policy, its stories, `trueup.yaml`. The error says what of it the files
/// cannot express.
Result<std::vector<std::pair<std::string, std::string>>> first_files(const FirstPolicy& policy);

}  // namespace trueup::apps
