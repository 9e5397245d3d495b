// Keeps a world's records in a file, so that a world outlives the process that hosts it.
//
// One line per act: a JSON array of the records that the act made, written by one write(2) before
// the act is answered. So an act is there in full or not at all; a torn last line is cut off. The
// file only grows.
#pragma once

#include "engine/base/result.h"
#include "sandbox/records.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trueup::sandbox {

class WorldFile {
  public:
    /// Opens or makes the file, calls `past` for each record in it, and cuts off a torn end. A line
    /// in the middle that cannot be read is an error.
    static Result<WorldFile> open(const std::string& path,
                                  const std::function<void(const Record&)>& past);

    WorldFile(WorldFile&& other) noexcept;
    WorldFile& operator=(WorldFile&& other) noexcept;
    ~WorldFile();

    /// Writes one line. With `sync` it is on disk when this returns; without, it survives a killed
    /// process, not a power loss.
    Status append(const std::vector<Record>& records, bool sync);

  private:
    explicit WorldFile(int fd) : fd_(fd) {}
    int fd_;
};

/// The seed of the world that a file keeps; nothing: there is no such file, or none in it.
Result<std::optional<std::uint64_t>> kept_seed(const std::string& path);

}  // namespace trueup::sandbox
