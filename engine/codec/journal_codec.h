// Journal records on the wire: trueup.v1.JournalRecord, read and written by hand.
#pragma once

#include "engine/base/id.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/model/journal.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trueup::codec {

/// Builds one record in one buffer, piece by piece. Not thread-safe.
class JournalRecordBuilder {
  public:
    /// `expected`: bytes that the record will have, about.
    explicit JournalRecordBuilder(std::size_t expected = 0);

    /// The first record of a journal. At most once per record.
    void set_genesis(const Genesis& genesis);
    /// Settings in force from this record on, before its items, unless late. At most once per
    /// record. `after`: of the settings that are in force as far as the writer knows.
    void set_settings(const Settings& settings, Offset after);

    /// The record that the writer of this one folded last. At most once per record.
    void set_folded(const RecordMark& folded);

    /// Adds one record of an input topic; copies `bytes`. `prev_offset` is that of the record that
    /// the same reader read before it, -1 at the start; `authentic`: a request whose signature was
    /// checked.
    void add_item(Topic topic, Offset prev_offset, Offset offset, BrokerTime append_time,
                  std::string_view bytes, bool authentic = false);

    /// Size of the record so far. Stays within kMaxRecordBytes as long as
    /// size() + bytes.size() + kItemOverhead did before each `add_item`.
    std::size_t size() const { return buffer_.size(); }
    /// Items so far.
    std::size_t count() const { return count_; }

    /// The record; the builder is as new afterwards. Without any piece it is a tick.
    std::string take();

    /// What an item costs on top of its bytes, at most.
    static constexpr std::size_t kItemOverhead = 64;

  private:
    void add_part(std::uint32_t field, std::string_view bytes);

    std::string buffer_;
    std::size_t count_ = 0;
};

/// What `RecordMark` says of a record: the same for everybody who reads it. Never 0.
std::uint64_t record_digest(std::string_view bytes, BrokerTime append_time);

/// Reads the record in `bytes` into `out`, whose views point into `bytes`; `out` keeps its capacity
/// from call to call. An item that cannot be read becomes an Undecodable and fails nothing. A
/// record that is malformed, too large or of another format is an error (kStop), and `out` is void
/// then: a journal is never guessed at.
Status decode_journal(std::string_view bytes, Offset offset, BrokerTime append_time,
                      JournalView& out);

}  // namespace trueup::codec
