// Files with secrets (keys, tokens, passwords, a kubeconfig's credentials): read only where nobody
// else may read them, or could have put another one there. One rule for all of them.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::ports {

/// Of a file, behind every link.
struct Ownership {
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
    std::uint32_t mode = 0;  ///< permission bits
};

/// Of a process.
struct Account {
    std::uint32_t user = 0;
    std::vector<std::uint32_t> groups;
};

/// What is wrong with it, and what to run; empty: it is private enough. The owner is the account or
/// root; nobody else may read it but one of the account's groups, as a Kubernetes Secret is mounted
/// under an `fsGroup` (root's, 0440); nobody but the owner may write to it.
std::string flaw_of(const std::string& path, const Ownership& file, const Account& us);

/// What only the account or root could have written.
struct OwnFile {
    std::string text;
    std::string
        shown;  ///< why a secret in it would be none, by `flaw_of`; empty: nobody may read it
};

/// A regular file, at most 1 MiB; kStop, with its name and the reason. Looks at what it reads:
/// another file that takes its place meanwhile is not read.
Result<OwnFile> read_own_file(const std::string& path);

/// The same of a file that anybody may have written: an authority, or a token as the kubelet mounts
/// it.
Result<std::string> read_regular_file(const std::string& path);

/// The same, for a file that must be private.
Result<std::string> read_private_file(const std::string& path);

}  // namespace trueup::ports
