#include "engine/codec/journal_codec.h"

#include "engine/base/id.h"
#include "engine/codec/change_codec.h"
#include "engine/codec/limits.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/request_codec.h"
#include "engine/codec/settings_codec.h"
#include "engine/codec/wire.h"
#include "engine/codec/wire_reader.h"
#include "engine/codec/wire_writer.h"

#include <algorithm>
#include <array>
#include <optional>

namespace trueup::codec {

namespace {

constexpr std::uint64_t kFormat = 1;

// Field numbers of trueup.v1.JournalRecord and trueup.v1.Item.
constexpr std::uint32_t kRecordFormat = 1;
constexpr std::uint32_t kRecordGenesis = 2;
constexpr std::uint32_t kRecordSettings = 3;
constexpr std::uint32_t kRecordItem = 4;
constexpr std::uint32_t kRecordFoldedOffset = 5;
constexpr std::uint32_t kRecordFoldedDigest = 6;
constexpr std::uint32_t kRecordSettingsAfter = 7;
constexpr std::uint32_t kItemTopic = 1;
constexpr std::uint32_t kItemPrevOffset = 2;
constexpr std::uint32_t kItemOffset = 3;
constexpr std::uint32_t kItemAppendTime = 4;
constexpr std::uint32_t kItemPayload = 5;
constexpr std::uint32_t kItemAuthentic = 6;

/// An item's fields as they are written, and which of them came.
struct Envelope {
    std::uint64_t topic = 0;
    std::uint64_t prev_offset = 0;
    std::uint64_t offset = 0;
    std::uint64_t append_time = 0;
    std::uint64_t authentic = 0;
    std::string_view payload;
    std::uint32_t came = 0;  ///< a bit for each, by its number
};

constexpr std::uint32_t kWhole = 1U << kItemTopic | 1U << kItemPrevOffset | 1U << kItemOffset |
                                 1U << kItemAppendTime | 1U << kItemPayload;

bool read_field(std::uint32_t tag, WireReader& reader, Envelope& out) {
    const auto number = [&](std::uint32_t field, std::uint64_t& into) {
        out.came |= 1U << field;
        return reader.varint(into);
    };
    switch (tag) {
        case varint_tag(kItemTopic):
            return number(kItemTopic, out.topic);
        case varint_tag(kItemPrevOffset):
            return number(kItemPrevOffset, out.prev_offset);
        case varint_tag(kItemOffset):
            return number(kItemOffset, out.offset);
        case varint_tag(kItemAppendTime):
            return number(kItemAppendTime, out.append_time);
        case bytes_tag(kItemPayload):
            out.came |= 1U << kItemPayload;
            return reader.bytes(out.payload);
        case varint_tag(kItemAuthentic):
            return number(kItemAuthentic, out.authentic);
        default:
            return reader.skip(tag);
    }
}

/// True: these are the fields that each item has, in the order in which they are written, which is
/// nearly always so.
bool read_in_order(WireReader reader, Envelope& out) {
    const auto number = [&](std::uint32_t field, std::uint64_t& into) {
        return reader.next_is(varint_tag(field)) && reader.wide_varint(into);
    };
    return reader.next_is(varint_tag(kItemTopic)) && reader.varint(out.topic) &&
           number(kItemPrevOffset, out.prev_offset) && number(kItemOffset, out.offset) &&
           number(kItemAppendTime, out.append_time) && reader.next_is(bytes_tag(kItemPayload)) &&
           reader.bytes(out.payload) && reader.done();
}

/// In any order; nullptr or what is wrong with them.
const char* read_in_any_order(WireReader reader, Envelope& out) {
    while (!reader.done()) {
        std::uint32_t tag = 0;
        if (!reader.tag(tag) || !read_field(tag, reader, out)) return "is malformed";
    }
    return (out.came & kWhole) == kWhole ? nullptr : "lacks a field";
}

/// The envelope; nullptr or what is wrong with it. A topic that this build does not merge is wrong:
/// the fold could not tell a gap in it from its end.
const char* read_envelope(std::string_view bytes, ItemView& out) {
    Envelope read;
    if (!read_in_order(WireReader(bytes), read)) {
        read = {};
        if (const char* why = read_in_any_order(WireReader(bytes), read)) return why;
    }
    out.bytes = read.payload;
    out.authentic = read.authentic != 0;
    out.prev_offset = Offset(from_zigzag(read.prev_offset));
    out.offset = Offset(static_cast<std::int64_t>(read.offset));
    out.append_time = from_millis<BrokerTime>(static_cast<std::int64_t>(read.append_time));
    if (out.prev_offset < kNoOffset || out.prev_offset >= out.offset) return "follows itself";
    const auto known = [&](Topic input) { return static_cast<std::uint64_t>(input) == read.topic; };
    if (!std::any_of(kInputTopics.begin(), kInputTopics.end(), known)) {
        return "is of a topic that this build does not merge";
    }
    out.topic = static_cast<Topic>(read.topic);
    return nullptr;
}

/// Of an item that is new, and so has a change.
void read_body(ItemView& item) {
    if (item.topic == Topic::kRequests) {
        Result<Request> request = decode_request(item.bytes);
        if (request) {
            item.body = Boxed(std::move(*request));
        } else {
            item.body = Undecodable{request.error().what};
        }
    } else if (item.topic == Topic::kOutcomes) {
        Result<Outcome> outcome = decode_outcome(item.bytes);
        if (outcome) {
            item.body = std::move(*outcome);
        } else {
            item.body = Undecodable{outcome.error().what};
        }
    } else if (const char* why = read_change(item.bytes, std::get<ChangeView>(item.body))) {
        item.body = Undecodable{why};
    }
}

Error broken(Offset offset, const std::string& what) {
    return {Next::kStop, Code::kCorrupt,
            "journal record at offset " + std::to_string(offset.value()) + ": " + what};
}

Status read_genesis(std::string_view part, JournalView& out) {
    if (out.genesis) return Error{Next::kStop, Code::kCorrupt, "has two geneses"};
    Result<Genesis> genesis = decode_genesis(part);
    if (!genesis) return genesis.error();
    out.genesis = *genesis;
    return Done{};
}

Status read_settings(std::string_view part, JournalView& out) {
    if (out.settings) return Error{Next::kStop, Code::kCorrupt, "has two settings"};
    Result<Settings> settings = decode_settings(part);
    if (!settings) return settings.error();
    out.settings = std::move(*settings);
    return Done{};
}

Status read_item(std::string_view part, JournalView& out) {
    ItemView& item = out.items.emplace_back();
    if (const char* why = read_envelope(part, item)) {
        return Error{Next::kStop, Code::kCorrupt,
                     "item " + std::to_string(out.items.size() - 1) + " " + why};
    }
    read_body(item);
    return Done{};
}

/// What stands once in a record, beside its parts.
struct Numbers {
    std::uint64_t format = 0;
    std::optional<std::uint64_t> folded_offset{};
    std::optional<std::uint64_t> folded_digest{};
    std::optional<std::uint64_t> settings_after{};
};

/// The record that the writer folded last comes before this one, wherever this one is.
Status read_folded(const Numbers& numbers, JournalView& out) {
    if (!numbers.folded_offset && !numbers.folded_digest) return Done{};
    if (!numbers.folded_offset || !numbers.folded_digest || *numbers.folded_offset >> 63U != 0) {
        return Error{Next::kStop, Code::kCorrupt,
                     "names only half of the record that its writer folded last"};
    }
    out.folded = {Offset(static_cast<std::int64_t>(*numbers.folded_offset)),
                  *numbers.folded_digest};
    return Done{};
}

Status read_part(std::uint32_t tag, WireReader& reader, Numbers& numbers, JournalView& out) {
    const auto malformed = [] {
        return Status(Error{Next::kStop, Code::kCorrupt, "is malformed"});
    };
    std::string_view part;
    switch (tag) {
        case varint_tag(kRecordFormat):
            return reader.varint(numbers.format) ? Status(Done{}) : malformed();
        case varint_tag(kRecordFoldedOffset):
            return reader.varint(numbers.folded_offset.emplace()) ? Status(Done{}) : malformed();
        case varint_tag(kRecordFoldedDigest):
            return reader.varint(numbers.folded_digest.emplace()) ? Status(Done{}) : malformed();
        case varint_tag(kRecordSettingsAfter):
            return reader.varint(numbers.settings_after.emplace()) ? Status(Done{}) : malformed();
        case bytes_tag(kRecordGenesis):
            return reader.bytes(part) ? read_genesis(part, out) : malformed();
        case bytes_tag(kRecordSettings):
            return reader.bytes(part) ? read_settings(part, out) : malformed();
        case bytes_tag(kRecordItem):
            return reader.bytes(part) ? read_item(part, out) : malformed();
        default:
            return reader.skip(tag) ? Status(Done{}) : malformed();
    }
}

}  // namespace

JournalRecordBuilder::JournalRecordBuilder(std::size_t expected) {
    (void)take();
    buffer_.reserve(expected);
}

std::string JournalRecordBuilder::take() {
    std::string record = std::move(buffer_);
    buffer_ = {static_cast<char>(varint_tag(kRecordFormat)), static_cast<char>(kFormat)};
    count_ = 0;
    return record;
}

void JournalRecordBuilder::add_part(std::uint32_t field, std::string_view bytes) {
    std::array<char, kMaxTag + kMaxVarint> head{};
    WireWriter writer(head.data());
    writer.head(field, bytes.size());
    buffer_.append(head.data(), writer.at()).append(bytes);
}

void JournalRecordBuilder::set_genesis(const Genesis& genesis) {
    add_part(kRecordGenesis, encode_genesis(genesis));
}

void JournalRecordBuilder::set_settings(const Settings& settings, Offset after) {
    add_part(kRecordSettings, encode_settings(settings));
    if (after < kFirstOffset) return;
    std::array<char, kMaxTag + kMaxVarint> number{};
    WireWriter writer(number.data());
    writer.number(kRecordSettingsAfter, static_cast<std::uint64_t>(after.value()));
    buffer_.append(number.data(), static_cast<std::size_t>(writer.at() - number.data()));
}

void JournalRecordBuilder::set_folded(const RecordMark& folded) {
    std::array<char, 2 * (kMaxTag + kMaxVarint)> numbers{};
    WireWriter writer(numbers.data());
    writer.number(kRecordFoldedOffset, static_cast<std::uint64_t>(folded.offset.value()));
    writer.number(kRecordFoldedDigest, folded.digest);
    buffer_.append(numbers.data(), static_cast<std::size_t>(writer.at() - numbers.data()));
}

void JournalRecordBuilder::add_item(Topic topic, Offset prev_offset, Offset offset,
                                    BrokerTime append_time, std::string_view bytes,
                                    bool authentic) {
    std::array<char, kItemOverhead> envelope{};
    WireWriter writer(envelope.data());
    writer.number(kItemTopic, static_cast<std::uint64_t>(topic));
    writer.number(kItemPrevOffset, to_zigzag(prev_offset.value()));
    writer.number(kItemOffset, static_cast<std::uint64_t>(offset.value()));
    writer.number(kItemAppendTime, static_cast<std::uint64_t>(to_millis(append_time)));
    if (authentic) writer.number(kItemAuthentic, 1);
    writer.head(kItemPayload, bytes.size());
    const auto length = static_cast<std::size_t>(writer.at() - envelope.data());

    std::array<char, kMaxTag + kMaxVarint> head{};
    WireWriter outer(head.data());
    outer.head(kRecordItem, length + bytes.size());
    buffer_.append(head.data(), outer.at()).append(envelope.data(), length).append(bytes);
    ++count_;
}

std::uint64_t record_digest(std::string_view bytes, BrokerTime append_time) {
    const Hash128 hash = hash128(bytes, static_cast<std::uint64_t>(to_millis(append_time)));
    return std::max<std::uint64_t>(hash.lo, 1);
}

Status decode_journal(std::string_view bytes, Offset offset, BrokerTime append_time,
                      JournalView& out) {
    out.offset = offset;
    out.append_time = append_time;
    out.digest = record_digest(bytes, append_time);
    out.folded.reset();
    out.genesis.reset();
    out.settings.reset();
    out.settings_after = kNoOffset;
    out.items.clear();
    if (bytes.size() > kMaxRecordBytes) return broken(offset, "is larger than 4 MiB");
    WireReader reader(bytes);
    Numbers numbers;
    while (!reader.done()) {
        std::uint32_t tag = 0;
        if (!reader.tag(tag)) return broken(offset, "is malformed");
        const Status read = read_part(tag, reader, numbers, out);
        if (!read.ok()) return broken(offset, read.error().what);
    }
    if (numbers.format != kFormat) {
        return broken(offset,
                      "is of format " + std::to_string(numbers.format) + "; this build reads 1");
    }
    if (Status read = read_folded(numbers, out); !read) return broken(offset, read.error().what);
    if (numbers.settings_after) {
        if (*numbers.settings_after >> 63U != 0)
            return broken(offset, "names no offset of settings");
        out.settings_after = Offset(static_cast<std::int64_t>(*numbers.settings_after));
    }
    return Done{};
}

}  // namespace trueup::codec
