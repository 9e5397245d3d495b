// The secrets in a folder (`keys`, by default state_dir/keys): the keys of requests, commands and
// hashed fields, and the tokens of the HTTP side. Made at the first start, for nobody but their
// owner to read (0600).
//
// A key file holds `ID HEX` lines. The first one signs, all of them are believed: to change a key,
// put the new line on top, wait until the old one's words are of no use any more, then take the old
// line away. A process that runs notices both (apps/key_watch.h).
#pragma once

#include "engine/base/result.h"
#include "engine/codec/signature.h"

#include <string>
#include <string_view>

namespace trueup::apps {

/// The keys of one role in `folder/<role>`, made if there are none: `requests` and
/// `commands` are signed, `fields` are hashed (by the first key only).
Result<codec::KeyRing> load_keys(const std::string& folder, std::string_view role);

/// The same of a file that must be there, as it is now.
Result<codec::KeyRing> read_keys(const std::string& folder, std::string_view role);

/// The text of `folder/tokens` (api/tokens.h reads it), made with one operator `local`.
Result<std::string> load_tokens(const std::string& folder);
/// The same of a file that must be there, as it is now.
Result<std::string> read_tokens(const std::string& folder);

/// Where the file of a role, or `tokens`, is.
std::string key_file(const std::string& folder, std::string_view name);

/// Random bytes as lower-case hex; the source is the operating system's.
std::string random_hex(std::size_t bytes);

}  // namespace trueup::apps
