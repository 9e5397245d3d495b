// A YAML document as plain values with line numbers. The only file that knows the YAML library is
// tree.cpp.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

struct Tree {
    enum class Kind : std::uint8_t { kNull, kText, kList, kMap };
    Kind kind = Kind::kNull;
    int line = 1;                ///< from 1; of the key where the value has one
    std::string key;             ///< its own key in the map around it; empty elsewhere
    std::string text;            ///< only of kText
    bool plain = false;          ///< it stands there without quotes
    std::vector<Tree> children;  ///< of kList and kMap, in the order of the file

    /// The first of that key; nullptr: there is none.
    const Tree* child(std::string_view wanted) const;
};

/// What is in the file, which is `what`, at most so many bytes: a multiple of a KiB. The error
/// starts with the path and says why.
Result<std::string> read_file(const std::string& path, const std::string& what, std::size_t most);

/// Reads one document. Keys that come twice are both kept. The error starts with `file_name:line:
/// `.
Result<Tree> read_tree(std::string_view text, const std::string& file_name);

}  // namespace trueup::config
