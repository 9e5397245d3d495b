#include "engine/core/row.h"

#include "engine/core/bytes.h"

#include <utility>

namespace trueup::core {

namespace {

// What each struct consists of on disk, in this order. A number that is written here is never
// written elsewhere: a change of any of these is another kRowFormat.

template <typename A>
void fields(A& a, Of<A, std::optional<std::string>>& value) {
    a.optional(value, [&](auto& text) { a.text(text); });
}

template <typename A>
void fields(A& a, Of<A, std::vector<std::string>>& texts) {
    a.list(texts, [&](auto& text) { a.text(text); });
}

/// 0 has been none since before none could be said: rows of the build before are read as they are.
constexpr std::uint64_t kNoSeconds = std::uint64_t{1} << 32U;

void fields(ByteWriter& out, const std::optional<std::uint32_t>& seconds) {
    out.number(seconds && *seconds == 0 ? kNoSeconds : std::uint64_t{seconds.value_or(0)});
}
void fields(ByteReader& in, std::optional<std::uint32_t>& seconds) {
    const std::uint64_t number = in.number();
    if (number != 0) seconds = static_cast<std::uint32_t>(number);  // kNoSeconds: 0 in its low half
}

/// As an optional text, but for kNowThere: a time of issue, which older rows do not have.
constexpr std::uint64_t kNowThere = 2;
constexpr std::uint64_t kBareThere = 3;

void fields(ByteWriter& out, const Assignment& set) {
    out.text(set.column);
    out.number(set.now ? kNowThere : set.bare ? kBareThere : set.value ? 1U : 0U);
    if (set.value) out.text(*set.value);
}
void fields(ByteReader& in, Assignment& set) {
    in.text(set.column);
    const std::uint64_t there = in.number();
    set.now = there == kNowThere;
    set.bare = there == kBareThere;
    if (there != 0) in.text(set.value.emplace());
}

template <typename A>
void fields(A& a, Of<A, CommandDraft>& draft) {
    a.text(draft.target.source);
    a.text(draft.target.object_id);
    a.text(draft.target.name);
    a.text(draft.target.name_space);
    a.number(draft.action.kind);
    fields(a, draft.action.grace_seconds);
    a.list(draft.action.sets, [&](auto& set) { fields(a, set); });
    a.text(draft.action.propagation);
    a.list(draft.read_set, [&](auto& predicate) {
        a.number(predicate.kind);
        a.text(predicate.source);
        a.text(predicate.object_id);
        a.text(predicate.field);
        fields(a, predicate.value);
        a.list(predicate.besides, [&](auto& id) { a.text(id); });
    });
}

/// All but its subject, which is the row's key.
template <typename A>
void fields(A& a, Of<A, Command>& command) {
    a.hash(command.id);
    a.text(command.policy);
    a.text(command.rule);
    a.hash(command.finding_id);
    fields(a, command.draft);
    a.time(command.issued);
    a.time(command.not_after);
    a.list(command.evidence, [&](auto& offset) { a.signed_number(offset); });
    a.number(command.emission);
}

template <typename A>
void fields(A& a, Of<A, Facet>& facet) {
    a.number(facet.source);
    a.text(facet.object_id);
    a.number(facet.absence);
    a.signed_number(facet.incarnation);
    a.version(facet.version);
    a.number(facet.epoch);
    a.time(facet.first_seen);
    a.time(facet.evidence);
    a.time(facet.changed);
    a.signed_number(facet.offset);
    a.number(facet.gone_since);
    a.text(facet.object);
}

template <typename A>
void fields(A& a, Of<A, Finding>& finding) {
    a.hash(finding.id);
    a.number(finding.rule);
    a.text(finding.object_id);
    a.number(finding.state);
    a.number(finding.reason);
    a.text(finding.count);
    a.time(finding.since);
    a.flag(finding.lapsed);
    a.signed_number(finding.last_change);
    a.time(finding.emit_again);
    a.number(finding.failures);
    a.number(finding.steps);
    a.flag(finding.more);
    a.hash(finding.proposal);
    a.flag(finding.approved);
    a.flag(finding.dismissed);
    fields(a, finding.dismissed_of);
    a.optional(finding.command, [&](auto& command) { fields(a, command); });
}

template <typename A>
void fields(A& a, Of<A, Wait>& wait) {
    a.optional(wait.due, [&](auto& due) { a.time(due); });
    a.number(wait.source);
    a.time(wait.beyond);
    a.number(wait.none_of);
    a.optional(wait.turn, [&](auto& turn) {
        a.number(turn.rule);
        a.time(turn.since);
    });
}

template <typename A>
void fields(A& a, Of<A, Ledger>& ledger) {
    a.text(ledger.of);
    a.list(ledger.entries, [&](auto& entry) {
        a.text(entry.object_id);
        a.number(entry.end);
        a.time(entry.at);
    });
}

/// Beside whether it is of owners only: that a name follows, and a target. Older rows have neither,
/// and mean `terminate`.
constexpr std::uint64_t kNameFollows = 2;
constexpr std::uint64_t kTargetFollows = 4;

void fields(ByteWriter& out, const StandingRequest& request) {
    const bool named = request.name != kTerminateName;
    out.text(request.by);
    out.number((request.owners ? 1U : 0U) + (named ? kNameFollows : 0U) +
               (request.target.empty() ? 0U : kTargetFollows));
    if (named) out.text(request.name);
    out.time(request.since);
    if (!request.target.empty()) out.text(request.target);
}
void fields(ByteReader& in, StandingRequest& request) {
    in.text(request.by);
    const std::uint64_t word = in.number();
    request.owners = (word & 1U) != 0;
    if ((word & kNameFollows) != 0) in.text(request.name);
    in.time(request.since);
    if ((word & kTargetFollows) != 0) in.text(request.target);
}

template <typename A>
void fields(A& a, Of<A, Ending>& ending) {
    a.number(ending.stage);
    a.number(ending.rule);
    a.number(ending.by);
    a.hash(ending.steps);
    a.number(ending.next);
    a.text(ending.object_id);
    a.number(ending.taken_source);
    fields(a, ending.taken);
    a.number(ending.target_source);
    a.text(ending.target);
    a.time(ending.since);
    a.time(ending.passed);
    a.number(ending.last);
    a.time(ending.settled);
    a.time(ending.not_after);
    a.time(ending.again);
    a.number(ending.failures);
    a.flag(ending.stuck);
}

template <typename A>
void fields(A& a, Of<A, Aftermath>& aftermath) {
    a.list(aftermath.refusals, [&](auto& refusal) {
        a.number(refusal.rule);
        a.text(refusal.object_id);
        a.number(refusal.said);
        a.list(refusal.epochs, [&](auto& epochs) { a.number(epochs); });
    });
    a.list(aftermath.mended, [&](auto& mended) {
        a.number(mended.rule);
        a.text(mended.object_id);
        fields(a, mended.beside);
        a.time(mended.at);
    });
    a.optional(aftermath.ended, [&](auto& ended) {
        a.number(ended.rule);
        a.text(ended.object_id);
    });
    a.time(aftermath.quiet_until);
}

/// All but its key.
template <typename A>
void fields(A& a, Of<A, Subject>& subject) {
    const auto whole = [&](auto& part) { fields(a, part); };
    a.list(subject.facets, whole);
    a.list(subject.findings, whole);
    a.list(subject.own_writes, [&](auto& write) {
        a.number(write.first);
        a.time(write.second);
    });
    a.list(subject.waits, whole);
    a.optional(subject.ledger, whole);
    for (auto& count : subject.counted) a.number(count);
    a.flag(subject.held);
    a.optional(subject.request, whole);
    a.optional(subject.ending, whole);
    a.optional(subject.aftermath, whole);
    a.flag(subject.present);
    a.flag(subject.wrong);
}

}  // namespace

void encode_subject(const Subject& subject, std::string& out) {
    ByteWriter writer(out);
    writer.number(kRowFormat);
    fields(writer, subject);
}

std::optional<Subject> decode_subject(std::string_view key, std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != kRowFormat) return std::nullopt;
    std::optional<Subject> subject(std::in_place);
    subject->key = key;
    fields(in, *subject);
    if (!in.done()) return std::nullopt;
    for (Finding& finding : subject->findings) {
        if (finding.command) finding.command->subject = key;
    }
    return subject;
}

Hash128 hash_of(const CommandDraft& draft) {
    std::string bytes;
    ByteWriter out(bytes);
    fields(out, draft);
    out.end();
    return hash128(bytes);
}

Hash128 row_hash(std::string_view key, std::string_view bytes) {
    return combine(hash128(key), hash128(bytes));
}

}  // namespace trueup::core
