#include "connectors/embedded/write_ahead.h"

#include <boost/crc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace trueup::connectors {

namespace {

constexpr std::size_t kBlock = 32768;
constexpr std::size_t kHeader = 7;     // checksum u32, length u16, type u8, little-endian
constexpr std::uint8_t kLastType = 4;  // full, first, middle, last; 0 is what nobody has written

using Crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

/// RocksDB never stores a checksum as it is, since those of checksums are weak.
std::uint32_t masked(const Crc32c& crc) {
    const std::uint32_t sum = crc.checksum();
    return ((sum >> 15U) | (sum << 17U)) + 0xa282ead8U;
}

/// One log, and what can be said of the record that begins at a byte.
class Log {
  public:
    explicit Log(std::string_view bytes) : bytes_(bytes) {}

    std::size_t size() const { return bytes_.size(); }
    /// Of the block that `at` lies in.
    static std::size_t room(std::size_t at) { return kBlock - at % kBlock; }

    bool has_header(std::size_t at) const {
        return room(at) >= kHeader && size() >= kHeader && at <= size() - kHeader;
    }
    std::uint8_t type(std::size_t at) const { return byte(at + 6); }
    std::size_t length(std::size_t at) const {
        return byte(at + 4) + (std::size_t{byte(at + 5)} << 8U);
    }
    std::size_t end(std::size_t at) const { return at + kHeader + length(at); }
    /// A header, and as much behind it as it says.
    bool fits(std::size_t at) const {
        return has_header(at) && type(at) >= 1 && type(at) <= kLastType && end(at) <= size() &&
               kHeader + length(at) <= room(at);
    }
    bool sum_is_right(std::size_t at) const { return sum(at, length(at)) == stored(at); }
    bool is_record(std::size_t at) const { return fits(at) && sum_is_right(at); }

    /// The checksum is right for another length than the header says.
    bool has_another_length(std::size_t at) const {
        if (!has_header(at)) return false;
        Crc32c crc;
        crc.process_byte(type(at));
        const std::size_t last = std::min(size() - at, room(at));
        for (std::size_t next = kHeader;; ++next) {
            if (masked(crc) == stored(at)) return true;
            if (next == last) return false;
            crc.process_byte(byte(at + next));
        }
    }
    bool is_blank_from(std::size_t at) const {
        return bytes_.find_first_not_of('\0', at) == std::string_view::npos;
    }
    /// Is there a record behind this byte? Within its block anywhere, else where a block begins.
    bool goes_on_behind(std::size_t at) const {
        const std::size_t next_block = at + room(at);
        for (std::size_t next = at + 1; next < std::min(next_block, size()); ++next) {
            if (is_record(next)) return true;
        }
        for (std::size_t next = next_block; next < size(); next += kBlock) {
            if (is_record(next)) return true;
        }
        return false;
    }

  private:
    std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>(bytes_[at]); }
    std::uint32_t stored(std::size_t at) const {
        std::uint32_t sum = 0;
        for (std::size_t i = 4; i > 0; --i) sum = (sum << 8U) | byte(at + i - 1);
        return sum;
    }
    std::uint32_t sum(std::size_t at, std::size_t length) const {
        Crc32c crc;
        crc.process_byte(type(at));
        crc.process_bytes(bytes_.data() + at + kHeader, length);
        return masked(crc);
    }

    std::string_view bytes_;
};

/// Where it is damaged; nullopt: it is whole, up to a record that was never written to its end.
std::optional<std::size_t> damage_of(const Log& log, Sums sums) {
    std::size_t at = 0;
    while (at < log.size()) {
        if (Log::room(at) < kHeader) {  // no header fits any more
            at += Log::room(at);
            continue;
        }
        if (!log.fits(at)) break;
        if (sums == Sums::kAll && !log.sum_is_right(at)) return at;
        at = log.end(at);
    }
    if (at >= log.size() || log.is_blank_from(at)) return std::nullopt;
    const bool of_no_type = log.has_header(at) && log.type(at) > kLastType;
    const bool damaged = of_no_type || log.has_another_length(at) || log.goes_on_behind(at);
    return damaged ? std::optional(at) : std::nullopt;
}

/// Empty where it cannot be read, or is gone by now: that, RocksDB says itself.
std::string bytes_of(const std::filesystem::path& path) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return {};
    std::string bytes(size, '\0');
    std::ifstream file(path, std::ios::binary);
    return file.read(bytes.data(), static_cast<std::streamsize>(size)) ? bytes : std::string();
}

}  // namespace

Status check_write_ahead(const std::string& folder, Sums sums) {
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() != ".log") continue;
        const std::string bytes = bytes_of(entry->path());
        if (const auto at = damage_of(Log(bytes), sums)) {
            return Error{Next::kStop, Code::kCorrupt,
                         entry->path().string() + " at byte " + std::to_string(*at)};
        }
    }
    return Done{};
}

}  // namespace trueup::connectors
