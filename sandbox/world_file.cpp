#include "sandbox/world_file.h"

#include "sandbox/record_json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

namespace trueup::sandbox {

namespace {

Error trouble(const std::string& path, const char* what) {
    return {Next::kStop, Code::kUnavailable, path + ": " + what + ": " + std::strerror(errno)};
}

Result<std::string> read_all(int fd, const std::string& path) {
    std::string bytes;
    char buffer[65536];
    for (;;) {
        const ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n < 0) return trouble(path, "cannot read");
        if (n == 0) return bytes;
        bytes.append(buffer, static_cast<std::size_t>(n));
    }
}

}  // namespace

Result<WorldFile> WorldFile::open(const std::string& path,
                                  const std::function<void(const Record&)>& past) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return trouble(path, "cannot open");
    WorldFile file(fd);
    const Result<std::string> bytes = read_all(fd, path);
    if (!bytes) return bytes.error();
    std::size_t start = 0;
    for (std::size_t line = 1; start < bytes->size(); ++line) {
        const std::size_t end = bytes->find('\n', start);
        if (end == std::string::npos) break;
        const std::string_view text = std::string_view(*bytes).substr(start, end - start);
        const std::optional<std::vector<Record>> records = decode_records(text);
        if (!records) {
            if (end + 1 == bytes->size()) break;
            return Error{Next::kStop, Code::kCorrupt,
                         path + ":" + std::to_string(line) +
                             ": not a record of a sandbox; move the file away"};
        }
        for (const Record& record : *records) past(record);
        start = end + 1;
    }
    const auto size = static_cast<off_t>(start);
    if (::ftruncate(fd, size) != 0 || ::lseek(fd, size, SEEK_SET) != size) {
        return trouble(path, "cannot cut off its torn end");
    }
    return file;
}

WorldFile::WorldFile(WorldFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

WorldFile& WorldFile::operator=(WorldFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

WorldFile::~WorldFile() {
    if (fd_ >= 0) ::close(fd_);
}

Status WorldFile::append(const std::vector<Record>& records, bool sync) {
    const std::string line = encode_records(records) + "\n";
    std::size_t written = 0;
    while (written < line.size()) {
        const ssize_t n = ::write(fd_, line.data() + written, line.size() - written);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return trouble("sandbox file", "cannot write");
        written += static_cast<std::size_t>(n);
    }
    if (sync && ::fdatasync(fd_) != 0) return trouble("sandbox file", "cannot sync");
    return Done{};
}

Result<std::optional<std::uint64_t>> kept_seed(const std::string& path) {
    std::optional<std::uint64_t> seed;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return seed;
    const Result<WorldFile> file = WorldFile::open(path, [&seed](const Record& record) {
        if (const auto* born = std::get_if<Born>(&record)) seed = born->seed;
    });
    if (!file) return file.error();
    return seed;
}

}  // namespace trueup::sandbox
