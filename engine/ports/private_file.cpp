#include "engine/ports/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace trueup::ports {

namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20U;
constexpr std::uint32_t kPermissions = 07777;
constexpr std::uint32_t kOthersWrite = S_IWGRP | S_IWOTH;

std::string octal(std::uint32_t mode) {
    std::string digits;
    for (int shift = 9; shift >= 0; shift -= 3)
        digits += static_cast<char>('0' + (mode >> shift) % 8);
    return digits;
}

Account account() {
    Account us{::geteuid(), {::getegid()}};
    const int count = ::getgroups(0, nullptr);
    std::vector<gid_t> more(static_cast<std::size_t>(std::max(count, 0)));
    if (::getgroups(static_cast<int>(more.size()), more.data()) == count) {
        us.groups.insert(us.groups.end(), more.begin(), more.end());
    }
    return us;
}

struct File {
    ~File() {
        if (handle >= 0) ::close(handle);
    }
    int handle = -1;
};

bool is_strange(const Ownership& file, const Account& us) {
    return file.owner != us.user && file.owner != 0;
}

struct Read {
    std::string text;
    Ownership ownership;
};

Result<Read> read_whole(const std::string& path) {
    const auto refuse = [&path](const std::string& why) {
        return Error{Next::kStop, Code::kConfiguration, "cannot read " + path + ": " + why};
    };
    // A pipe that nobody writes to would hold the call up for ever.
    const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat status {};
    if (file.handle < 0 || ::fstat(file.handle, &status) != 0) return refuse(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return refuse("it is a folder");
    if (!S_ISREG(status.st_mode)) return refuse("it is not a regular file");
    Read read{{}, {status.st_uid, status.st_gid, status.st_mode & kPermissions}};
    std::array<char, 4096> piece{};
    while (true) {
        const ssize_t count = ::read(file.handle, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return refuse(std::strerror(errno));
        if (count == 0) return read;
        read.text.append(piece.data(), static_cast<std::size_t>(count));
        if (read.text.size() > kMaxFile) return refuse("it is longer than 1 MiB");
    }
}

}  // namespace

std::string flaw_of(const std::string& path, const Ownership& file, const Account& us) {
    const std::string what = path + " (mode " + octal(file.mode) + ", owner " +
                             std::to_string(file.owner) + ", group " + std::to_string(file.group) +
                             ") ";
    if (is_strange(file, us)) {
        const std::string lead = what + "belongs to another account, which could change it; ";
        // Made root's it would be lost to that account, which as a rule is the service's own.
        if (us.user == 0) {
            return lead + "run as that account (sudo -u '#" + std::to_string(file.owner) + "')";
        }
        const std::string user = std::to_string(us.user);
        return lead + "write chown " + user + ' ' + path + " && chmod 600 " + path;
    }
    const bool ours = std::find(us.groups.begin(), us.groups.end(), file.group) != us.groups.end();
    const std::uint32_t refused = (S_IRWXG | S_IRWXO) & ~(ours ? S_IRGRP : 0U);
    if ((file.mode & refused) == 0) return {};
    const bool written = (file.mode & kOthersWrite) != 0;
    // Root's file is of use to us by our group alone.
    const std::string wanted = file.owner == us.user ? "600 " : "440 ";
    return what + "may be " + (written ? "written" : "read") + " by others; write chmod " + wanted +
           path + " (of a Secret's volume: defaultMode: 0440, with fsGroup)";
}

Result<OwnFile> read_own_file(const std::string& path) {
    Result<Read> read = read_whole(path);
    if (!read) return read.error();
    const Account us = account();
    OwnFile own{std::move(read->text), flaw_of(path, read->ownership, us)};
    if (is_strange(read->ownership, us) || (read->ownership.mode & kOthersWrite) != 0) {
        return Error{Next::kStop, Code::kConfiguration, std::move(own.shown)};
    }
    return own;
}

Result<std::string> read_regular_file(const std::string& path) {
    Result<Read> read = read_whole(path);
    if (!read) return read.error();
    return std::move(read->text);
}

Result<std::string> read_private_file(const std::string& path) {
    Result<OwnFile> own = read_own_file(path);
    if (!own) return own.error();
    if (!own->shown.empty()) return Error{Next::kStop, Code::kConfiguration, std::move(own->shown)};
    return std::move(own->text);
}

}  // namespace trueup::ports
