// The projection's private row encoding: varints and length-prefixed strings. Rows are rebuilt from
// the journal when they cannot be read, so this format owes nothing to the outside.
//
// Both have the same verbs for the same things, so that what a struct consists of is said once, for
// writing and reading alike, and neither can forget a field or change the order:
//
//     template <typename A>
//     void fields(A& a, Of<A, Pause>& pause) { a.number(pause.rule); a.time(pause.since); }
//
// Not thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/base/named.h"
#include "engine/base/time.h"
#include "engine/base/varint.h"
#include "engine/model/change.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace trueup::core {

/// What `fields` of a T takes: a reader fills it.
template <typename A, typename T>
using Of = std::conditional_t<A::kReads, T, const T>;

/// Writes behind what `out` holds. `out` is whole only after `end()`, or once the writer is gone:
/// until then it has room behind what was written, so that no byte asks for its own. A function
/// that returns its string ends the writer first.
class ByteWriter {
  public:
    static constexpr bool kReads = false;
    explicit ByteWriter(std::string& out) : out_(out) { grow(out.size(), 0); }
    ~ByteWriter() { end(); }
    ByteWriter(const ByteWriter&) = delete;
    ByteWriter& operator=(const ByteWriter&) = delete;

    void end() {
        out_.resize(written());
        end_ = at_;
    }

    /// Of an unsigned number or an enumerator.
    template <typename Number>
    void number(Number value) {
        static_assert(!std::is_signed_v<Number>, "signed_number() keeps small negative ones small");
        put(static_cast<std::uint64_t>(value));
    }
    template <typename Value, typename Tag>
    void number(const Named<Value, Tag>& value) {
        number(value.value());
    }
    void signed_number(std::int64_t value) { put(to_zigzag(value)); }
    template <typename Value, typename Tag>
    void signed_number(const Named<Value, Tag>& value) {
        signed_number(value.value());
    }
    void text(std::string_view value) {
        number(value.size());
        if (left() < value.size()) grow(written(), value.size());
        if (!value.empty()) std::memcpy(at_, value.data(), value.size());
        at_ += value.size();
    }
    void flag(bool value) { put(value ? 1U : 0U); }
    void hash(const Hash128& value) {
        number(value.hi);
        number(value.lo);
    }
    template <typename Tag>
    void hash(const Named<Hash128, Tag>& value) {
        hash(value.value());
    }
    void version(const Version& value) {
        number(value.hi);
        number(value.lo);
    }
    void duration(Millis value) { signed_number(value.count()); }
    template <typename TimePoint>
    void time(TimePoint value) {
        duration(value.time_since_epoch());
    }
    template <typename List, typename Each>
    void list(const List& items, Each each) {
        number(items.size());
        for (const auto& item : items) each(item);
    }
    template <typename Box, typename Each>
    void optional(const Box& box, Each each) {
        flag(box.has_value());
        if (box) each(*box);
    }

  private:
    static constexpr std::size_t kRoom = 1'024;

    std::size_t written() const { return static_cast<std::size_t>(at_ - out_.data()); }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    [[gnu::noinline]] void grow(std::size_t written, std::size_t bytes) {
        out_.resize(written + bytes + kRoom);
        at_ = out_.data() + written;
        end_ = out_.data() + out_.size();
    }
    void put(std::uint64_t value) {
        if (value >= 0x80 || at_ == end_) return put_long(value);
        *at_++ = static_cast<char>(value);  // nearly all of them
    }
    [[gnu::noinline]] void put_long(std::uint64_t value) {
        if (left() < kMaxVarint) grow(written(), kMaxVarint);
        at_ = write_varint(at_, value);
    }

    std::string& out_;
    char* at_ = nullptr;   ///< what is written ends here
    char* end_ = nullptr;  ///< of `out_`
};

/// Reads what ByteWriter wrote. After the first flaw `ok()` is false and every read yields zero.
class ByteReader {
  public:
    static constexpr bool kReads = true;
    explicit ByteReader(std::string_view bytes)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
    bool ok() const { return ok_; }
    bool done() const { return ok_ && at_ == end_; }

    std::uint64_t number() {
        std::uint64_t value = 0;
        if (read_varint(at_, end_, value)) return value;
        fail();
        return 0;
    }
    /// A count of things that take at least one byte each.
    std::size_t count() {
        const std::uint64_t n = number();
        if (n <= left()) return n;
        fail();
        return 0;
    }

    template <typename Number>
    void number(Number& value) {
        value = static_cast<Number>(number());
    }
    template <typename Value, typename Tag>
    void number(Named<Value, Tag>& value) {
        value = Named<Value, Tag>(static_cast<Value>(number()));
    }
    template <typename Number>
    void signed_number(Number& value) {
        value = static_cast<Number>(from_zigzag(number()));
    }
    template <typename Value, typename Tag>
    void signed_number(Named<Value, Tag>& value) {
        value = Named<Value, Tag>(static_cast<Value>(from_zigzag(number())));
    }
    void text(std::string& value) {
        const std::size_t size = count();
        value.assign(at_, size);
        at_ += size;
    }
    void flag(bool& value) { value = number() != 0; }
    void hash(Hash128& value) {
        number(value.hi);
        number(value.lo);
    }
    template <typename Tag>
    void hash(Named<Hash128, Tag>& value) {
        Hash128 read;
        hash(read);
        value = Named<Hash128, Tag>(read);
    }
    void version(Version& value) {
        number(value.hi);
        number(value.lo);
    }
    void duration(Millis& value) { value = Millis(from_zigzag(number())); }
    template <typename TimePoint>
    void time(TimePoint& value) {
        value = TimePoint(Millis(from_zigzag(number())));
    }
    template <typename List, typename Each>
    void list(List& items, Each each) {
        std::size_t n = count();
        items.reserve(std::min(n, kBelieved));
        for (; n > 0; --n) each(items.emplace_back());
    }
    template <typename Box, typename Each>
    void optional(Box& box, Each each) {
        if (number() == 0) return;
        box = std::remove_reference_t<decltype(*box)>{};
        each(*box);
    }

  private:
    static constexpr std::size_t kBelieved = 64;  // what a damaged count may have us allocate

    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    void fail() {
        ok_ = false;
        at_ = end_;
    }

    const char* at_;
    const char* end_;
    bool ok_ = true;
};

}  // namespace trueup::core
