#include "apps/keys.h"

#include "engine/base/check.h"
#include "engine/ports/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

namespace trueup::apps {

namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kLeastSecretBytes = 16;

/// Writes the file unless it is there. It is complete or not there at all: another process may look
/// for it at the same time.
Status make_file(const std::string& path, const std::string& text) {
    const std::string draft = path + ".new-" + random_hex(8);
    const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (file < 0) {
        return Error{Next::kRetry, Code::kUnavailable,
                     "cannot make " + draft + ": " + std::strerror(errno)};
    }
    const bool written =
        ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::fsync(file) == 0;
    ::close(file);
    // A link fails where somebody was faster, and theirs counts.
    const bool linked = written && (::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
    const int why = errno;
    ::unlink(draft.c_str());
    if (linked) return Done{};
    return Error{Next::kRetry, Code::kUnavailable,
                 "cannot make " + path + ": " + std::strerror(why)};
}

/// The file's text; made with `fresh` if it is not there.
Result<std::string> read_or_make(const std::string& folder, const std::string& name,
                                 const std::string& fresh) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        return Error{Next::kRetry, Code::kUnavailable,
                     "cannot make " + folder + ": " + failed.message()};
    }
    const std::string path = key_file(folder, name);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (Status made = make_file(path, fresh); !made) return made.error();
    }
    return ports::read_private_file(path);
}

std::optional<std::string> bytes_of(const std::string& hex) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        const int high = digit(hex[i]);
        const int low = digit(hex[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    if (hex.size() % 2 != 0 || bytes.size() < kLeastSecretBytes) return std::nullopt;
    return bytes;
}

Result<codec::KeyRing> ring_of(const std::string& text, const std::string& path) {
    std::vector<codec::Key> keys;
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        std::string id;
        std::string hex;
        words >> id >> hex;
        const std::optional<std::string> secret = bytes_of(hex);
        if (!secret) {
            return Error{Next::kStop, Code::kConfiguration,
                         path + ":" + std::to_string(number) +
                             ": write ID HEX, with at least 32 hex digits"};
        }
        keys.push_back({id, *secret});
    }
    if (!keys.empty()) return codec::KeyRing(std::move(keys));
    return Error{Next::kStop, Code::kConfiguration,
                 path + " has no key; remove the file to have one created"};
}

}  // namespace

std::string random_hex(std::size_t bytes) {
    constexpr std::array<char, 16> kDigits{'0', '1', '2', '3', '4', '5', '6', '7',
                                           '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    std::random_device device;  // the operating system's generator
    std::string hex;
    for (std::size_t i = 0; i < 2 * bytes; ++i) hex += kDigits[device() % kDigits.size()];
    return hex;
}

std::string key_file(const std::string& folder, std::string_view name) {
    return folder + "/" + std::string(name);
}

Result<codec::KeyRing> load_keys(const std::string& folder, std::string_view role) {
    const std::string fresh = "k-" + random_hex(4) + ' ' + random_hex(kSecretBytes) + '\n';
    const Result<std::string> text = read_or_make(folder, std::string(role), fresh);
    if (!text) return text.error();
    return ring_of(*text, key_file(folder, role));
}

Result<codec::KeyRing> read_keys(const std::string& folder, std::string_view role) {
    const std::string path = key_file(folder, role);
    const Result<std::string> text = ports::read_private_file(path);
    if (!text) return text.error();
    return ring_of(*text, path);
}

Result<std::string> load_tokens(const std::string& folder) {
    return read_or_make(folder, "tokens",
                        "# NAME ROLE TOKEN [EXPIRES]; roles: viewer, user, ops, admin\n"
                        "local admin " +
                            random_hex(kSecretBytes) + '\n');
}

Result<std::string> read_tokens(const std::string& folder) {
    return ports::read_private_file(key_file(folder, "tokens"));
}

}  // namespace trueup::apps
