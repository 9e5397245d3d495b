#include "engine/runtime/checkpoints.h"

#include "engine/runtime/projection.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace trueup::runtime {

namespace fs = std::filesystem;

namespace {

/// Keeps other engines from making and removing in a folder that they share. It goes with the
/// process, so that whatever is half made under the lock was left by a dead one.
class FolderLock {
  public:
    /// nullopt: another engine has it.
    static Result<std::optional<FolderLock>> take(const std::string& folder) {
        std::error_code error;
        fs::create_directories(folder, error);
        const std::string path = folder + "/lock";
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open(2) is that way
        FolderLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        if (lock.file_ >= 0 && ::flock(lock.file_, LOCK_EX | LOCK_NB) == 0) {
            return std::optional(std::move(lock));
        }
        if (errno == EWOULDBLOCK) return std::optional<FolderLock>();
        return Error{Next::kRetry, Code::kUnavailable,
                     "cannot lock " + path + ": " + std::generic_category().message(errno)};
    }

    FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    FolderLock& operator=(FolderLock&&) = delete;
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock() {
        if (file_ >= 0) ::close(file_);
    }

  private:
    explicit FolderLock(int file) : file_(file) {}
    int file_;
};

}  // namespace

std::string Checkpoint::name() const {
    return to_hex(journal_id) + '-' + std::to_string(offset.value()) + '-' + to_hex(digest);
}

std::optional<Checkpoint> Checkpoint::of_name(std::string_view name) {
    const std::size_t first = name.find('-');
    const std::size_t second = name.rfind('-');
    if (first == std::string_view::npos || first == second) return std::nullopt;
    const auto journal_id = id_from_hex<JournalId>(name.substr(0, first));
    const auto digest = hash_from_hex(name.substr(second + 1));
    if (!journal_id || !digest) return std::nullopt;
    std::int64_t offset = -1;
    std::from_chars(name.data() + first + 1, name.data() + second, offset);
    const Checkpoint checkpoint{*journal_id, Offset(offset), *digest};
    if (offset < 0 || checkpoint.name() != name) return std::nullopt;
    return checkpoint;
}

std::vector<Checkpoint> Checkpoints::list() const {
    std::vector<Checkpoint> found;
    std::error_code error;
    for (fs::directory_iterator entry(folder_, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        const auto checkpoint = Checkpoint::of_name(entry->path().filename().string());
        if (checkpoint) found.push_back(*checkpoint);
    }
    std::sort(found.begin(), found.end(), [](const Checkpoint& a, const Checkpoint& b) {
        return a.offset != b.offset ? a.offset > b.offset : a.name() < b.name();
    });
    return found;
}

std::optional<Checkpoint> Checkpoints::newest(const JournalId& journal_id, Offset reached) const {
    for (const Checkpoint& checkpoint : list()) {
        if (checkpoint.journal_id == journal_id && checkpoint.offset <= reached) return checkpoint;
    }
    return std::nullopt;
}

std::string Checkpoints::path_of(const Checkpoint& checkpoint) const {
    return folder_ + '/' + checkpoint.name();
}

std::int64_t Checkpoints::made_at(const Checkpoint& checkpoint) const {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(path_of(checkpoint), error);
    if (error) return 0;
    const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Result<std::optional<Checkpoint>> Checkpoints::make(ports::Store& store,
                                                    const std::function<bool()>& stop) {
    const auto stored = Projection(store, shard_).meta();
    if (!stored) return stored.error();
    if (!stored->has_value()) return std::optional<Checkpoint>();
    const auto lock = FolderLock::take(folder_);
    if (!lock) return lock.error();
    if (!lock->has_value()) return std::optional<Checkpoint>();
    const std::vector<Checkpoint> there = list();
    if (std::find(there.begin(), there.end(), Checkpoint::of(**stored)) != there.end()) {
        return std::optional<Checkpoint>();
    }
    Checkpoint made;
    const auto name = store.checkpoint(folder_, [&](ports::Store& image) -> Result<std::string> {
        const Result<core::Meta> meta = Projection(image, shard_).verified(stop);
        if (!meta) return meta.error();
        made = Checkpoint::of(*meta);
        return made.name();
    });
    if (!name) return name.error();
    prune(made);
    return std::optional(made);
}

void Checkpoints::prune(const Checkpoint& newest) const {
    std::size_t kept = 0;
    for (const Checkpoint& checkpoint : list()) {
        if (checkpoint.journal_id != newest.journal_id) continue;
        if (checkpoint.offset > newest.offset || kept++ < keep_) continue;
        // What has a name is whole, also when the process ends in here.
        const std::string going = folder_ + "/going";
        std::error_code error;
        fs::remove_all(going, error);
        fs::rename(path_of(checkpoint), going, error);
        fs::remove_all(going, error);
    }
}

}  // namespace trueup::runtime
