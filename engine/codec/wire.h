// The protobuf wire format, read and written without generated code. For the two messages that
// every change passes through, trueup.v1.Change and trueup.v1.JournalRecord, and for writing
// trueup.v1.Finding.
//
// A tag here is (field number << 3) | wire type, so a known number of an unexpected type is an
// unknown field, as in the generated code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trueup::codec {

constexpr std::uint32_t varint_tag(std::uint32_t number) { return number << 3U; }
constexpr std::uint32_t bytes_tag(std::uint32_t number) { return number << 3U | 2U; }

/// Bytes that a varint takes at most where it is a tag or a length.
inline constexpr std::size_t kMaxTag = 5;

}  // namespace trueup::codec
