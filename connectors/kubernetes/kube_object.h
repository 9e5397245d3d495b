// Objects of the API server as they are published, one by one and by the page. Plain values;
// decode.h makes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::connectors {

struct KubeObject {
    std::string uid;
    std::string name;
    std::string name_space;  ///< empty for a cluster-wide resource
    /// By what it is known: its name, or the value of the key label; empty: it has no such label.
    std::string key;
    std::uint64_t version = 0;  ///< metadata.resourceVersion; never 0
    /// As the last state before a DELETED event: nothing is left that could keep it alive (it was
    /// being deleted, with no grace to wait out and no finalizer).
    bool ending = false;
    bool selected = false;  ///< the selector takes it, as it is
    std::string encoded;    ///< its fields, see engine/model/object.h
};

struct KubePage {
    std::uint64_t version = 0;   ///< of the list: the same on all its pages
    std::string continue_token;  ///< empty: this was the last page
    std::vector<KubeObject> items;
};

}  // namespace trueup::connectors
