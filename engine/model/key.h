// Which subject an object belongs to: a text made of its fields.
//
//   key     = operand { "||" operand }
//   operand = field | 'literal' | coalesce(key, …) | lower(key) | after('x', key) | ( key )
//   field   = name | "quoted name" | label.NAME | label.'K' | annotation.'K' | tag.'K'
//
// SQL's meaning for each part: `||` with a null operand is null, coalesce takes the first that is
// not. `after('/', x)` is what follows the first '/' of x, null where there is none.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::policy {

struct Key {
    enum class Op : std::uint8_t {
        kField = 1,
        kLiteral = 2,
        kConcat = 3,
        kCoalesce = 4,
        kLower = 5,
        kAfter = 6,  ///< `text` and the one part
    };
    Op op = Op::kField;
    std::string text;  ///< the field's name (`label.K`), the literal, or what kAfter looks for
    std::vector<Key> parts;
    bool operator==(const Key&) const = default;
};

/// The error names the position (from 1) and what was expected there.
Result<Key> parse_key(std::string_view text);

/// The same key as text, which `parse_key` reads as the same one.
std::string key_text(const Key& key);

/// Could a subject or a reference be called that? White space at an end, a slash or a control
/// character is in no name: whom it means, nobody can say.
bool can_be_a_name(std::string_view text);

/// Is the field a label, an annotation or a tag, which an object need not have?
bool is_label(std::string_view field);

/// An object's name, and nothing else, is its key.
bool is_name(const Key& key);

/// The fields that it reads, ascending, each once.
std::vector<std::string> fields_of(const Key& key);

/// The fields of which each may be the whole key by itself, in the order in which they are tried.
std::vector<std::string> alone_in(const Key& key);

}  // namespace trueup::policy
