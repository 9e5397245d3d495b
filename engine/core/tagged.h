// Bytes that one number is made of, so that nothing is mistaken for something else.
#pragma once

#include "engine/base/varint.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::core {

/// Tagged bytes: a tag, a length, and so many bytes. What is empty, zero or false is left out; an
/// element of a list is there whatever it holds. Tags are never used again for something else.
class Tagged {
  public:
    void text(std::uint64_t tag, std::string_view value) {
        if (!value.empty()) element(tag, value);
    }
    void number(std::uint64_t tag, std::uint64_t value) {
        std::string bytes;
        append_varint(bytes, value);
        if (value != 0) element(tag, bytes);
    }
    void element(std::uint64_t tag, std::string_view value) {
        append_varint(bytes_, tag);
        append_varint(bytes_, value.size());
        bytes_ += value;
    }
    void element(std::uint64_t tag, const Tagged& value) { element(tag, value.bytes_); }
    void part(std::uint64_t tag, const Tagged& value) { text(tag, value.bytes_); }
    template <typename List, typename Each>
    void list(std::uint64_t tag, const List& items, Each each) {
        for (const auto& item : items) element(tag, each(item));
    }
    void words(std::uint64_t tag, const std::vector<std::string>& items) {
        for (const std::string& item : items) element(tag, item);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

}  // namespace trueup::core
