// Cuts the stream of a watch into lines. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trueup::connectors {

/// Chunks may be cut anywhere.
class LineReader {
  public:
    static constexpr std::size_t kMaxLine = 4U << 20U;

    void feed(std::string_view chunk);
    /// The next whole line without its end, valid until the next call; nullopt: none yet.
    std::optional<std::string_view> next();
    /// A line grew beyond kMaxLine: this stream cannot be read on.
    bool too_long() const { return too_long_; }
    /// Bytes after the last line end.
    bool partial() const { return begin_ < buffer_.size(); }
    void clear();

  private:
    std::string buffer_;
    std::size_t begin_ = 0;    ///< the first byte not yet handed out
    std::size_t scanned_ = 0;  ///< no line end before this one
    bool too_long_ = false;
};

}  // namespace trueup::connectors
