// The URLs and bodies of the API's calls. No I/O.
#pragma once

#include "engine/ports/cluster.h"

#include <string>
#include <string_view>

namespace trueup::connectors {

/// Every byte but letters, digits and `-._~` as %XX.
std::string url_encode(std::string_view text);

std::string collection_path(const ports::Resource& resource);
std::string object_path(const ports::Resource& resource, std::string_view name);
std::string list_path(const ports::ListPage& request);
std::string watch_path(const ports::WatchFrom& request);
/// The DeleteOptions; both preconditions are always in it.
std::string delete_body(const ports::DeleteObject& request);
std::string create_path(const ports::CreateObject& request);
std::string patch_path(const ports::PatchObject& request);
/// The merge patch; both preconditions are always in it.
std::string patch_body(const ports::PatchObject& request);

}  // namespace trueup::connectors
