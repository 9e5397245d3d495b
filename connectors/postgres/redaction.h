// A connection string as it may be shown: by libpq's own reading of it, so that nothing that libpq
// takes for a password is shown since we read it otherwise. Pure, thread-safe.
#pragma once

#include <string>

namespace trueup::connectors::postgres {

/// The string itself where nothing has to be hidden. Else where it leads and as whom, in libpq's
/// order: `user=u password=*** host=db`. One that libpq does not take is hidden whole, and so is a
/// URI that has something where a password's rest would come to stand.
std::string redact_conninfo(const std::string& conninfo);

}  // namespace trueup::connectors::postgres
