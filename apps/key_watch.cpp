#include "apps/key_watch.h"

#include <sys/stat.h>

#include <utility>

namespace trueup::apps {

KeyWatch::Look KeyWatch::look_at(const std::string& path) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return {status.st_ino, status.st_size, status.st_mode,
            status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec};
}

void KeyWatch::add(std::string path, Take take) {
    const Look look = look_at(path);
    files_.push_back({std::move(path), std::move(take), look, look, {}});
}

void KeyWatch::look(SteadyTime now) {
    if (now < next_) return;
    next_ = now + kEvery;
    for (File& file : files_) {
        const Look look = look_at(file.path);
        const bool settled = look == file.last;
        file.last = look;
        if (settled && look != file.used) read(file);
    }
}

void KeyWatch::read(File& file) {
    const Status taken = file.take();
    if (taken) {
        file.used = file.last;
        file.trouble.clear();
        tell_(file.path + " was read again", false);
        return;
    }
    if (taken.error().what == file.trouble) return;
    file.trouble = taken.error().what;
    tell_(file.trouble + "; what was read before stays in force", true);
}

}  // namespace trueup::apps
