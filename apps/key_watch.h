// Notices that the files of `state_dir/keys` have changed while the process runs (apps/keys.h).
//
//   K1  A file that cannot be read, or holds what is no key, changes nothing: what was read before
//       stays in force, and that is said once.
//   K2  A file is read only once it has looked the same for a whole round, so that half of one that
//       is just being written is not taken for all of it.
//
// It asks for each file's look, not the folder's: writing into a file does not touch its folder.
// Not thread-safe; what it hands over is (codec::KeyRing, api::Tokens).
#pragma once

#include "engine/base/result.h"
#include "engine/base/time.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trueup::apps {

class KeyWatch {
  public:
    static constexpr Millis kEvery{5'000};

    /// Reads the file anew and hands over what is in it.
    using Take = std::function<Status()>;
    /// A sentence for the log, and whether something is wrong.
    using Tell = std::function<void(const std::string& sentence, bool wrong)>;

    explicit KeyWatch(Tell tell) : tell_(std::move(tell)) {}

    /// `path` has just been read.
    void add(std::string path, Take take);
    /// Looks, unless the last look was less than `kEvery` ago. O(files), a stat each.
    void look(SteadyTime now);

  private:
    /// How a file looks from outside; all 0 when it is not there.
    struct Look {
        ino_t inode = 0;
        off_t size = 0;
        mode_t mode = 0;
        std::int64_t changed_ns = 0;  ///< of its content, name or rights
        bool operator==(const Look&) const = default;
    };
    struct File {
        std::string path;
        Take take;
        Look used;
        Look last;
        std::string trouble;
    };
    static Look look_at(const std::string& path);
    void read(File& file);

    Tell tell_;
    std::vector<File> files_;
    SteadyTime next_{};
};

}  // namespace trueup::apps
