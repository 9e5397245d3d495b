#include "engine/codec/change_codec.h"

#include "engine/codec/limits.h"
#include "engine/codec/text.h"
#include "engine/codec/wire.h"
#include "engine/codec/wire_reader.h"
#include "engine/codec/wire_writer.h"
#include "engine/model/object.h"

namespace trueup::codec {

namespace {

// Field numbers of trueup.v1.Change.
constexpr std::uint32_t kKind = 1;
constexpr std::uint32_t kSource = 2;
constexpr std::uint32_t kIncarnation = 3;
constexpr std::uint32_t kSeq = 4;
constexpr std::uint32_t kEpoch = 5;
constexpr std::uint32_t kEventId = 6;
constexpr std::uint32_t kObjectId = 7;
constexpr std::uint32_t kSubjectKey = 8;
constexpr std::uint32_t kVersionHi = 9;
constexpr std::uint32_t kVersionLo = 10;
constexpr std::uint32_t kSourceTime = 11;
constexpr std::uint32_t kObject = 12;
constexpr std::uint32_t kCount = 13;
constexpr std::uint32_t kCompleteAsOf = 14;
constexpr std::uint32_t kSourceClock = 15;
constexpr std::uint32_t kNonce = 16;
constexpr std::uint32_t kTotal = 17;
constexpr std::uint32_t kRewound = 18;
constexpr std::uint32_t kBaseHi = 19;
constexpr std::uint32_t kBaseLo = 20;
constexpr std::uint32_t kMapping = 21;
constexpr std::size_t kFields = 21;

constexpr auto kLastKind = static_cast<std::uint64_t>(ChangeKind::kSame);

template <typename Number>
std::uint64_t bits(Number n) {
    return static_cast<std::uint64_t>(n);
}

/// What the fields say as the wire has them, before anybody asks whether they make sense together.
struct Raw {
    std::uint64_t kind = 0;
    std::uint64_t incarnation = bits(kNoOffset.value());
    std::uint64_t source_time = 0;
    std::uint64_t complete_as_of = 0;
    std::uint64_t source_clock = 0;
    std::uint64_t rewound = 0;
    bool has_incarnation = false;
    bool has_object = false;
};

bool is_text(bool good, const char*& why) {
    if (!good) why = "a text of the change is not UTF-8";
    return good;
}

inline bool read_text(WireReader& reader, std::string_view& out, const char*& why) {
    return reader.bytes(out) && is_text(is_utf8(out), why);
}

bool read_object(WireReader& reader, Raw& raw, ChangeView& out, const char*& why) {
    // Two would have to be merged, which views cannot do; no writer does that.
    const bool first = !raw.has_object;
    if (!first) why = "the change has two objects";
    raw.has_object = true;
    return first && reader.bytes(out.object);
}

/// What belongs to an epoch, a marker or a progress rather than to an object.
bool read_mark(std::uint32_t tag, WireReader& reader, Raw& raw, ChangeView& out) {
    switch (tag) {
        case varint_tag(kEpoch):
            return reader.varint(out.epoch);
        case varint_tag(kCount):
            return reader.varint(out.count);
        case varint_tag(kCompleteAsOf):
            return reader.varint(raw.complete_as_of);
        case varint_tag(kSourceClock):
            return reader.varint(raw.source_clock);
        case bytes_tag(kNonce):
            return reader.bytes(out.nonce);
        case varint_tag(kTotal):
            return reader.varint(out.total);
        case varint_tag(kRewound):
            return reader.varint(raw.rewound);
        case varint_tag(kMapping):
            return reader.varint(out.mapping);
        default:
            return reader.skip(tag);
    }
}

bool read_field(std::uint32_t tag, WireReader& reader, Raw& raw, ChangeView& out,
                const char*& why) {
    switch (tag) {
        case varint_tag(kKind):
            return reader.varint(raw.kind);
        case bytes_tag(kSource):
            return read_text(reader, out.source, why);
        case varint_tag(kIncarnation):
            raw.has_incarnation = true;
            return reader.varint(raw.incarnation);
        case varint_tag(kSeq):
            return reader.varint(out.seq);
        case bytes_tag(kEventId):
            return read_text(reader, out.event_id, why);
        case bytes_tag(kObjectId):
            return read_text(reader, out.object_id, why);
        case bytes_tag(kSubjectKey):
            return read_text(reader, out.subject_key, why);
        case varint_tag(kVersionHi):
            return reader.varint(out.version.hi);
        case varint_tag(kVersionLo):
            return reader.varint(out.version.lo);
        case varint_tag(kSourceTime):
            return reader.varint(raw.source_time);
        case bytes_tag(kObject):
            return read_object(reader, raw, out, why);
        case varint_tag(kBaseHi):
            return reader.varint(out.base.hi);
        case varint_tag(kBaseLo):
            return reader.varint(out.base.lo);
        default:
            return read_mark(tag, reader, raw, out);
    }
}

/// Which object: texts one behind the other. Tags and short lengths are ASCII, too, so that nearly
/// always one look at all of it will do.
bool read_identity(WireReader& reader, ChangeView& out, const char*& why) {
    const char* const from = reader.at();
    const auto text = [&](std::uint32_t field, std::string_view& into) {
        return !reader.next_is(bytes_tag(field)) || reader.bytes(into);
    };
    if (!text(kEventId, out.event_id) || !text(kObjectId, out.object_id) ||
        !text(kSubjectKey, out.subject_key)) {
        return false;
    }
    const std::string_view all(from, static_cast<std::size_t>(reader.at() - from));
    return is_ascii(all) ||
           is_text(is_utf8(out.event_id) && is_utf8(out.object_id) && is_utf8(out.subject_key),
                   why);
}

/// The fields of an object's change in the order in which they are written.
bool read_in_order(WireReader& reader, Raw& raw, ChangeView& out, const char*& why) {
    const auto number = [&](std::uint32_t field, std::uint64_t& into) {
        return !reader.next_is(varint_tag(field)) || reader.wide_varint(into);
    };
    if (reader.next_is(varint_tag(kKind)) && !reader.varint(raw.kind)) return false;
    if (reader.next_is(bytes_tag(kSource)) && !read_text(reader, out.source, why)) return false;
    raw.has_incarnation = reader.next_is(varint_tag(kIncarnation));
    if (raw.has_incarnation && !reader.varint(raw.incarnation)) return false;
    return number(kSeq, out.seq) && number(kEpoch, out.epoch) && read_identity(reader, out, why) &&
           number(kVersionHi, out.version.hi) && number(kVersionLo, out.version.lo) &&
           number(kSourceTime, raw.source_time) &&
           (!reader.next_is(bytes_tag(kObject)) || (raw.has_object = reader.bytes(out.object)));
}

bool read_fields(std::string_view bytes, Raw& raw, ChangeView& out, const char*& why) {
    WireReader reader(bytes);
    if (!read_in_order(reader, raw, out, why)) return false;
    while (!reader.done()) {
        std::uint32_t tag = 0;
        if (!reader.tag(tag) || !read_field(tag, reader, raw, out, why)) return false;
    }
    return true;
}

/// nullptr, or what is wrong with the object. One scan for text instead of one per field: lengths
/// below 128 are ASCII too, so that nearly every object passes it.
const char* judge_object(ChangeView& change) {
    const bool ascii = is_ascii(change.object);
    bool good = true;
    bool partial = false;
    const bool whole = ObjectView(change.object).each([&](const Field& field) {
        partial |= field.unchanged;
        if (ascii) return;
        good = good && is_utf8(field.name) && (!field.value || is_utf8(*field.value));
    });
    change.partial = partial;
    if (!whole) return "the object is not a list of fields";
    return good ? nullptr : "a field of the object is not UTF-8";
}

const char* judge(const Raw& raw, ChangeView& change) {
    if (raw.kind == 0 || raw.kind > kLastKind) return "the change is of an unknown kind";
    if (change.source.empty()) return "the change has no source";
    if (raw.has_incarnation && change.incarnation < kFirstOffset) {
        return "the incarnation is negative";
    }
    const bool same = change.kind == ChangeKind::kSame;
    const bool present = same || change.kind == ChangeKind::kUpsert;
    if (change.object_id.empty() && (present || change.kind == ChangeKind::kRemove)) {
        return "the change has no object_id";
    }
    if (change.subject_key.empty() && present) return "the upsert has no subject_key";
    if (same && raw.has_object) return "what is the same has an object";
    if (!change.subject_key.empty() && !is_key(change.subject_key)) {
        return "the subject_key is not <policy>/<name> or !<source>/<object>, 1 to 253 bytes";
    }
    return judge_object(change);
}

}  // namespace

const char* read_change(std::string_view bytes, ChangeView& out) {
    if (bytes.size() > kMaxItemBytes) return "the change is larger than 256 KiB";
    Raw raw;
    const char* why = "the bytes are not a change";
    if (!read_fields(bytes, raw, out, why)) return why;
    out.kind = static_cast<ChangeKind>(raw.kind <= kLastKind ? raw.kind : 0);
    out.incarnation = Incarnation(static_cast<std::int64_t>(raw.incarnation));
    out.source_time = from_millis<SourceTime>(static_cast<std::int64_t>(raw.source_time));
    out.complete_as_of = from_millis<BrokerTime>(static_cast<std::int64_t>(raw.complete_as_of));
    out.source_clock = from_millis<SourceTime>(static_cast<std::int64_t>(raw.source_clock));
    out.rewound = raw.rewound != 0;
    return judge(raw, out);
}

Result<ChangeView> decode_change(std::string_view bytes) {
    ChangeView change;
    if (const char* why = read_change(bytes, change)) {
        return Error{Next::kSkip, Code::kCorrupt, why};
    }
    return change;
}

std::string encode_change(const ChangeView& c) {
    const std::size_t text = c.source.size() + c.event_id.size() + c.object_id.size() +
                             c.subject_key.size() + c.object.size() + c.nonce.size();
    std::string bytes(text + kFields * (2 + kMaxVarint), '\0');
    WireWriter writer(bytes.data());
    const auto number = [&](std::uint32_t field, std::uint64_t n) {
        if (n != 0) writer.number(field, n);
    };
    const auto words = [&](std::uint32_t field, std::string_view value) {
        if (!value.empty()) writer.text(field, value);
    };
    writer.number(kKind, bits(c.kind));
    words(kSource, c.source);
    if (c.incarnation != kNoOffset) writer.number(kIncarnation, bits(c.incarnation.value()));
    number(kSeq, c.seq);
    number(kEpoch, c.epoch);
    words(kEventId, c.event_id);
    words(kObjectId, c.object_id);
    words(kSubjectKey, c.subject_key);
    number(kVersionHi, c.version.hi);
    number(kVersionLo, c.version.lo);
    number(kSourceTime, bits(to_millis(c.source_time)));
    words(kObject, c.object);
    number(kCount, c.count);
    number(kCompleteAsOf, bits(to_millis(c.complete_as_of)));
    number(kSourceClock, bits(to_millis(c.source_clock)));
    words(kNonce, c.nonce);
    number(kTotal, c.total);
    number(kRewound, c.rewound ? 1 : 0);
    number(kBaseHi, c.base.hi);
    number(kBaseLo, c.base.lo);
    number(kMapping, c.mapping);
    bytes.resize(static_cast<std::size_t>(writer.at() - bytes.data()));
    return bytes;
}

}  // namespace trueup::codec
