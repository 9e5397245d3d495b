// One exchange of the HTTP side as plain values: what of a header decides, and what is answered.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::api {

/// What a request's header says that any route looks at.
struct Head {
    std::string method;         ///< as it was written: `GET`
    std::string target;         ///< the path, and the query behind `?`
    std::string authorization;  ///< the header's value; empty: there is none
};

struct Answer {
    unsigned status = 200;
    std::string type = "application/json";
    std::shared_ptr<const std::string> body;  ///< shared: many may wait for one page
    std::vector<std::pair<std::string, std::string>> headers;
};

}  // namespace trueup::api
