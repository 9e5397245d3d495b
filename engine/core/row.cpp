#include "engine/core/row.h"

#include "engine/base/guard.h"
#include "engine/core/bytes.h"

#include <utility>

namespace trueup::core {

namespace {

void put(ByteWriter& out, const std::optional<std::string>& value) {
    out.flag(value.has_value());
    if (value) out.text(*value);
}
std::optional<std::string> take_optional(ByteReader& in) {
    if (!in.flag()) return std::nullopt;
    return std::string(in.text());
}

void put(ByteWriter& out, const std::vector<std::string>& texts) {
    out.number(texts.size());
    for (const std::string& text : texts) out.text(text);
}
void take(ByteReader& in, std::vector<std::string>& texts) {
    texts.resize(in.count());
    for (std::string& text : texts) text = in.text();
}

/// 0 has been none since before none could be said: rows of the build before are read as they are.
constexpr std::uint64_t kNoSeconds = std::uint64_t{1} << 32U;

std::uint64_t grace_number(const std::optional<std::uint32_t>& seconds) {
    return seconds && *seconds == 0 ? kNoSeconds : std::uint64_t{seconds.value_or(0)};
}
std::optional<std::uint32_t> grace_of(std::uint64_t number) {
    if (number == 0) return std::nullopt;
    return static_cast<std::uint32_t>(number);  // kNoSeconds is 0 in its lower half
}

void put(ByteWriter& out, const CommandDraft& draft) {
    for (const std::string* part : {&draft.target.source, &draft.target.object_id,
                                    &draft.target.name, &draft.target.name_space}) {
        out.text(*part);
    }
    out.number(static_cast<std::uint64_t>(draft.action.kind));
    out.number(grace_number(draft.action.grace_seconds));
    out.number(draft.action.sets.size());
    for (const Assignment& set : draft.action.sets) {
        out.text(set.column);
        put(out, set.value);
    }
    out.number(draft.read_set.size());
    for (const Predicate& predicate : draft.read_set) {
        out.number(static_cast<std::uint64_t>(predicate.kind));
        out.text(predicate.source);
        out.text(predicate.object_id);
        out.text(predicate.field);
        put(out, predicate.value);
    }
}

void put(ByteWriter& out, const Command& command) {
    out.hash(command.id);
    out.text(command.policy);
    out.text(command.rule);
    out.hash(command.finding_id);
    put(out, command.draft);
    out.time(command.issued);
    out.time(command.not_after);
    out.number(command.evidence.size());
    for (const std::int64_t offset : command.evidence) out.signed_number(offset);
    out.number(command.emission);
}

CommandDraft take_draft(ByteReader& in) {
    CommandDraft draft;
    for (std::string* part : {&draft.target.source, &draft.target.object_id, &draft.target.name,
                              &draft.target.name_space}) {
        *part = in.text();
    }
    draft.action.kind = static_cast<Action::Kind>(in.number());
    draft.action.grace_seconds = grace_of(in.number());
    draft.action.sets.resize(in.count());
    for (Assignment& set : draft.action.sets) {
        set.column = in.text();
        set.value = take_optional(in);
    }
    draft.read_set.resize(in.count());
    for (Predicate& predicate : draft.read_set) {
        predicate.kind = static_cast<Predicate::Kind>(in.number());
        predicate.source = in.text();
        predicate.object_id = in.text();
        predicate.field = in.text();
        predicate.value = take_optional(in);
    }
    return draft;
}

Command take_command(std::string_view key, ByteReader& in) {
    Command command;
    command.subject = key;
    command.id = in.hash();
    command.policy = in.text();
    command.rule = in.text();
    command.finding_id = in.hash();
    command.draft = take_draft(in);
    command.issued = in.time<BrokerTime>();
    command.not_after = in.time<BrokerTime>();
    command.evidence.resize(in.count());
    for (std::int64_t& offset : command.evidence) offset = in.signed_number();
    command.emission = static_cast<std::uint32_t>(in.number());
    return command;
}

void put(ByteWriter& out, const Facet& facet) {
    out.number(facet.source);
    out.text(facet.object_id);
    out.number(static_cast<std::uint64_t>(facet.absence));
    out.signed_number(facet.incarnation);
    out.version(facet.version);
    out.number(facet.epoch);
    out.time(facet.first_seen);
    out.time(facet.evidence);
    out.signed_number(facet.offset);
    out.number(facet.gone_since);
    out.text(facet.object);
}

Facet take_facet(ByteReader& in) {
    Facet facet;
    facet.source = static_cast<SourceId>(in.number());
    facet.object_id = in.text();
    facet.absence = static_cast<Absence>(in.number());
    facet.incarnation = in.signed_number();
    facet.version = in.version();
    facet.epoch = in.number();
    facet.first_seen = in.time<BrokerTime>();
    facet.evidence = in.time<BrokerTime>();
    facet.offset = in.signed_number();
    facet.gone_since = in.number();
    facet.object = in.text();
    return facet;
}

void put(ByteWriter& out, const Finding& finding) {
    out.hash(finding.id);
    out.number(finding.rule);
    out.text(finding.object_id);
    out.number(static_cast<std::uint64_t>(finding.state));
    out.number(static_cast<std::uint64_t>(finding.reason));
    out.time(finding.since);
    out.signed_number(finding.last_change);
    out.time(finding.emit_again);
    out.number(finding.failures);
    out.number(finding.steps);
    out.flag(finding.more);
    out.hash(finding.proposal);
    out.flag(finding.approved);
    out.flag(finding.dismissed);
    put(out, finding.dismissed_of);
    out.flag(finding.command.has_value());
    if (finding.command) put(out, *finding.command);
}

Finding take_finding(std::string_view key, ByteReader& in) {
    Finding finding;
    finding.id = in.hash();
    finding.rule = static_cast<std::uint8_t>(in.number());
    finding.object_id = in.text();
    finding.state = static_cast<FindingState>(in.number());
    finding.reason = static_cast<Reason>(in.number());
    finding.since = in.time<JournalTime>();
    finding.last_change = in.signed_number();
    finding.emit_again = in.time<JournalTime>();
    finding.failures = static_cast<std::uint32_t>(in.number());
    finding.steps = static_cast<std::uint32_t>(in.number());
    finding.more = in.flag();
    finding.proposal = in.hash();
    finding.approved = in.flag();
    finding.dismissed = in.flag();
    take(in, finding.dismissed_of);
    if (in.flag()) finding.command = take_command(key, in);
    return finding;
}

void put(ByteWriter& out, const Wait& wait) {
    out.flag(wait.due.has_value());
    if (wait.due) out.time(*wait.due);
    out.number(wait.source);
    out.time(wait.beyond);
    out.number(wait.none_of);
    out.flag(wait.turn.has_value());
    if (wait.turn) {
        out.number(wait.turn->rule);
        out.time(wait.turn->since);
    }
}

Wait take_wait(ByteReader& in) {
    Wait wait;
    if (in.flag()) wait.due = in.time<JournalTime>();
    wait.source = static_cast<SourceId>(in.number());
    wait.beyond = in.time<BrokerTime>();
    wait.none_of = static_cast<TallyId>(in.number());
    if (in.flag()) {
        const auto rule = static_cast<std::uint8_t>(in.number());
        wait.turn = Turn{rule, in.time<JournalTime>()};
    }
    return wait;
}

void put(ByteWriter& out, const Ledger& ledger) {
    out.text(ledger.of);
    out.number(ledger.entries.size());
    for (const Ledger::Entry& entry : ledger.entries) {
        out.text(entry.object_id);
        out.number(static_cast<std::uint64_t>(entry.end));
        out.time(entry.at);
    }
}

Ledger take_ledger(ByteReader& in) {
    Ledger ledger;
    ledger.of = in.text();
    ledger.entries.resize(in.count());
    for (Ledger::Entry& entry : ledger.entries) {
        entry.object_id = in.text();
        entry.end = static_cast<End>(in.number());
        entry.at = in.time<JournalTime>();
    }
    return ledger;
}

void put(ByteWriter& out, const Termination& termination) {
    out.text(termination.by);
    out.flag(termination.owners);
    out.time(termination.since);
}

Termination take_termination(ByteReader& in) {
    Termination termination;
    termination.by = in.text();
    termination.owners = in.flag();
    termination.since = in.time<JournalTime>();
    return termination;
}

void put(ByteWriter& out, const Ending& ending) {
    out.number(static_cast<std::uint64_t>(ending.stage));
    out.number(ending.rule);
    out.number(ending.by);
    out.hash(ending.steps);
    out.number(ending.next);
    out.text(ending.object_id);
    out.number(ending.taken_source);
    put(out, ending.taken);
    out.number(ending.target_source);
    out.text(ending.target);
    out.time(ending.since);
    out.time(ending.passed);
    out.number(static_cast<std::uint64_t>(ending.last));
    out.time(ending.settled);
    out.time(ending.not_after);
    out.time(ending.again);
    out.number(ending.failures);
    out.flag(ending.stuck);
}

Ending take_ending(ByteReader& in) {
    Ending ending;
    ending.stage = static_cast<Ending::Stage>(in.number());
    ending.rule = static_cast<std::uint8_t>(in.number());
    ending.by = static_cast<std::uint8_t>(in.number());
    ending.steps = in.hash();
    ending.next = static_cast<std::uint32_t>(in.number());
    ending.object_id = in.text();
    ending.taken_source = static_cast<SourceId>(in.number());
    take(in, ending.taken);
    ending.target_source = static_cast<SourceId>(in.number());
    ending.target = in.text();
    ending.since = in.time<JournalTime>();
    ending.passed = in.time<JournalTime>();
    ending.last = static_cast<OutcomeKind>(in.number());
    ending.settled = in.time<BrokerTime>();
    ending.not_after = in.time<BrokerTime>();
    ending.again = in.time<JournalTime>();
    ending.failures = static_cast<std::uint32_t>(in.number());
    ending.stuck = in.flag();
    return ending;
}

void put(ByteWriter& out, const Aftermath& aftermath) {
    out.number(aftermath.refusals.size());
    for (const Refusal& refusal : aftermath.refusals) {
        out.number(refusal.rule);
        out.text(refusal.object_id);
        out.signed_number(refusal.offset);
        out.number(refusal.epochs.size());
        for (const std::uint64_t epochs : refusal.epochs) out.number(epochs);
    }
    out.flag(aftermath.ended.has_value());
    if (aftermath.ended) {
        out.number(aftermath.ended->rule);
        out.text(aftermath.ended->object_id);
    }
    out.time(aftermath.quiet_until);
}

Aftermath take_aftermath(ByteReader& in) {
    Aftermath aftermath;
    aftermath.refusals.resize(in.count());
    for (Refusal& refusal : aftermath.refusals) {
        refusal.rule = static_cast<std::uint8_t>(in.number());
        refusal.object_id = in.text();
        refusal.offset = in.signed_number();
        refusal.epochs.resize(in.count());
        for (std::uint64_t& epochs : refusal.epochs) epochs = in.number();
    }
    if (in.flag()) {
        const auto rule = static_cast<std::uint8_t>(in.number());
        aftermath.ended = Ended{rule, std::string(in.text())};
    }
    aftermath.quiet_until = in.time<BrokerTime>();
    return aftermath;
}

}  // namespace

void encode_subject(const Subject& subject, std::string& out) {
    ByteWriter writer(out);
    writer.number(kRowFormat);
    writer.number(subject.facets.size());
    for (const Facet& facet : subject.facets) put(writer, facet);
    writer.number(subject.findings.size());
    for (const Finding& finding : subject.findings) put(writer, finding);
    writer.number(subject.own_writes.size());
    for (const auto& [source, time] : subject.own_writes) {
        writer.number(source);
        writer.time(time);
    }
    writer.number(subject.waits.size());
    for (const Wait& wait : subject.waits) put(writer, wait);
    writer.flag(subject.ledger.has_value());
    if (subject.ledger) put(writer, *subject.ledger);
    for (const std::uint8_t count : subject.counted) writer.number(count);
    writer.flag(subject.held);
    writer.flag(subject.termination.has_value());
    if (subject.termination) put(writer, *subject.termination);
    writer.flag(subject.ending.has_value());
    if (subject.ending) put(writer, *subject.ending);
    writer.flag(subject.aftermath.has_value());
    if (subject.aftermath) put(writer, *subject.aftermath);
    writer.flag(subject.present);
    writer.flag(subject.wrong);
}

std::optional<Subject> decode_subject(std::string_view key, std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != kRowFormat) return std::nullopt;
    Subject subject;
    subject.key = key;
    for (std::size_t n = in.count(); n > 0; --n) subject.facets.push_back(take_facet(in));
    for (std::size_t n = in.count(); n > 0; --n) {
        Finding finding = take_finding(key, in);
        const bool kept = finding.command.has_value() || TRUEUP_GUARD("grace_outlives_restart");
        if (kept) subject.findings.push_back(std::move(finding));
    }
    for (std::size_t n = in.count(); n > 0; --n) {
        const auto source = static_cast<SourceId>(in.number());
        subject.own_writes.emplace_back(source, in.time<BrokerTime>());
    }
    for (std::size_t n = in.count(); n > 0; --n) subject.waits.push_back(take_wait(in));
    if (in.flag()) subject.ledger = take_ledger(in);
    for (std::uint8_t& count : subject.counted) count = static_cast<std::uint8_t>(in.number());
    subject.held = in.flag();
    if (in.flag()) subject.termination = take_termination(in);
    if (in.flag()) subject.ending = take_ending(in);
    if (in.flag()) subject.aftermath = take_aftermath(in);
    subject.present = in.flag();
    subject.wrong = in.flag();
    if (!in.done()) return std::nullopt;
    return subject;
}

Hash128 hash_of(const CommandDraft& draft) {
    std::string bytes;
    ByteWriter out(bytes);
    put(out, draft);
    return hash128(bytes);
}

Hash128 row_hash(std::string_view key, std::string_view bytes) {
    return combine(hash128(key), hash128(bytes));
}

}  // namespace trueup::core
