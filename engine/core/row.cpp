#include "engine/core/row.h"

#include "engine/core/bytes.h"

#include <utility>

namespace trueup::core {

namespace {

// Bump when the encoding changes: an older row is then unreadable and the projection is rebuilt.
constexpr std::uint64_t kFormat = 2;

void put(ByteWriter& out, const std::optional<std::string>& value) {
    out.flag(value.has_value());
    if (value) out.text(*value);
}
std::optional<std::string> take_optional(ByteReader& in) {
    if (!in.flag()) return std::nullopt;
    return std::string(in.text());
}

void put(ByteWriter& out, const Version& version) {
    out.number(version.hi);
    out.number(version.lo);
}
Version take_version(ByteReader& in) {
    const std::uint64_t hi = in.number();
    return {hi, in.number()};
}

void put(ByteWriter& out, const Command& command) {
    out.hash(command.id);
    out.text(command.policy);
    out.text(command.rule);
    out.hash(command.finding_id);
    const CommandDraft& draft = command.draft;
    for (const std::string* part : {&draft.target.source, &draft.target.object_id,
                                    &draft.target.name, &draft.target.name_space}) {
        out.text(*part);
    }
    out.number(static_cast<std::uint64_t>(draft.action.kind));
    out.number(draft.action.grace_seconds);
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
    draft.action.grace_seconds = static_cast<std::uint32_t>(in.number());
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
    put(out, facet.version);
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
    facet.version = take_version(in);
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
    if (in.flag()) finding.command = take_command(key, in);
    return finding;
}

void put(ByteWriter& out, const Wait& wait) {
    out.flag(wait.due.has_value());
    if (wait.due) out.time(*wait.due);
    out.number(wait.source);
    out.time(wait.beyond);
    out.flag(wait.uncorrelated);
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
    wait.uncorrelated = in.flag();
    if (in.flag()) {
        const auto rule = static_cast<std::uint8_t>(in.number());
        wait.turn = Turn{rule, in.time<JournalTime>()};
    }
    return wait;
}

void put(ByteWriter& out, const Settings& settings) {
    out.text(settings.policy);
    out.text(settings.use);
    out.number(settings.sources.size());
    for (const SourceSettings& source : settings.sources) {
        out.text(source.name);
        out.number(static_cast<std::uint64_t>(source.topic));
    }
    out.number(settings.pods);
    out.number(settings.rows);
    out.number(settings.rules.size());
    for (const RuleSettings& rule : settings.rules) {
        out.text(rule.rule);
        out.number(static_cast<std::uint64_t>(rule.mode));
        out.signed_number(rule.grace.count());
        out.signed_number(rule.create_window.count());
        out.number(rule.budget.most);
        out.number(rule.budget.percent);
        out.signed_number(rule.budget.window.count());
    }
    for (const Millis time : {settings.max_step, settings.max_skew, settings.stale_after,
                              settings.command_ttl, settings.emit_again}) {
        out.signed_number(time.count());
    }
    out.number(settings.max_drop_percent);
    out.number(settings.max_outbox);
    out.number(settings.sweep_step);
}

Settings take_settings(ByteReader& in) {
    Settings settings;
    settings.policy = in.text();
    settings.use = in.text();
    settings.sources.resize(in.count());
    for (SourceSettings& source : settings.sources) {
        source.name = in.text();
        source.topic = static_cast<Topic>(in.number());
    }
    settings.pods = static_cast<SourceId>(in.number());
    settings.rows = static_cast<SourceId>(in.number());
    settings.rules.resize(in.count());
    for (RuleSettings& rule : settings.rules) {
        rule.rule = in.text();
        rule.mode = static_cast<Mode>(in.number());
        rule.grace = Millis(in.signed_number());
        rule.create_window = Millis(in.signed_number());
        rule.budget.most = static_cast<std::uint32_t>(in.number());
        rule.budget.percent = static_cast<std::uint32_t>(in.number());
        rule.budget.window = Millis(in.signed_number());
    }
    for (Millis* time : {&settings.max_step, &settings.max_skew, &settings.stale_after,
                         &settings.command_ttl, &settings.emit_again}) {
        *time = Millis(in.signed_number());
    }
    settings.max_drop_percent = static_cast<std::uint32_t>(in.number());
    settings.max_outbox = static_cast<std::uint32_t>(in.number());
    settings.sweep_step = static_cast<std::uint32_t>(in.number());
    return settings;
}

void put(ByteWriter& out, const SourceState& source) {
    out.text(source.name);
    out.number(static_cast<std::uint64_t>(source.topic));
    out.signed_number(source.incarnation);
    out.number(source.next_seq);
    out.flag(source.known);
    out.flag(source.hole);
    out.flag(source.open.has_value());
    if (source.open) {
        out.number(source.open->id);
        out.number(source.open->wire);
        put(out, source.open->as_of);
        out.number(source.open->count);
    }
    for (const std::uint64_t count :
         {source.last_epoch, source.epochs, source.population, source.quarantined_at}) {
        out.number(count);
    }
    out.time(source.complete_as_of);
    out.time(source.source_clock);
}

SourceState take_source(ByteReader& in) {
    SourceState source;
    source.name = in.text();
    source.topic = static_cast<Topic>(in.number());
    source.incarnation = in.signed_number();
    source.next_seq = in.number();
    source.known = in.flag();
    source.hole = in.flag();
    if (in.flag()) {
        OpenEpoch open;
        open.id = in.number();
        open.wire = in.number();
        open.as_of = take_version(in);
        open.count = in.number();
        source.open = open;
    }
    for (std::uint64_t* count :
         {&source.last_epoch, &source.epochs, &source.population, &source.quarantined_at}) {
        *count = in.number();
    }
    source.complete_as_of = in.time<BrokerTime>();
    source.source_clock = in.time<SourceTime>();
    return source;
}

/// The counters in one order, for writing and reading alike.
template <typename Counts>
auto counters_of(Counts& c) {
    return std::array{&c.items,
                      &c.duplicates,
                      &c.gaps,
                      &c.parked,
                      &c.foreign_tokens,
                      &c.repeated_seq,
                      &c.holes,
                      &c.unchanged,
                      &c.stale_versions,
                      &c.swept,
                      &c.quarantines,
                      &c.clamped_steps,
                      &c.unknown_outcomes,
                      &c.late_outcomes};
}

}  // namespace

void encode_subject(const Subject& subject, std::string& out) {
    ByteWriter writer(out);
    writer.number(kFormat);
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
    writer.flag(subject.counted_uncorrelated);
}

std::optional<Subject> decode_subject(std::string_view key, std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != kFormat) return std::nullopt;
    Subject subject;
    subject.key = key;
    for (std::size_t n = in.count(); n > 0; --n) subject.facets.push_back(take_facet(in));
    for (std::size_t n = in.count(); n > 0; --n) subject.findings.push_back(take_finding(key, in));
    for (std::size_t n = in.count(); n > 0; --n) {
        const auto source = static_cast<SourceId>(in.number());
        subject.own_writes.emplace_back(source, in.time<BrokerTime>());
    }
    for (std::size_t n = in.count(); n > 0; --n) subject.waits.push_back(take_wait(in));
    subject.counted_uncorrelated = in.flag();
    if (!in.done()) return std::nullopt;
    return subject;
}

void encode_meta(const Meta& meta, std::string& out) {
    ByteWriter writer(out);
    writer.number(kFormat);
    writer.hash(meta.journal_id);
    writer.signed_number(meta.partitions);
    writer.signed_number(meta.shard);
    writer.signed_number(meta.applied);
    writer.time(meta.broker_now);
    writer.time(meta.now);
    writer.hash(meta.chain);
    writer.hash(meta.digest);
    for (const std::int64_t offset : meta.last) writer.signed_number(offset);
    put(writer, meta.settings);
    writer.number(meta.sources.size());
    for (const SourceState& source : meta.sources) put(writer, source);
    writer.number(meta.sweeps.size());
    for (const Sweep& sweep : meta.sweeps) {
        writer.number(sweep.source);
        writer.number(sweep.epoch);
        writer.signed_number(sweep.incarnation);
        put(writer, sweep.as_of);
        writer.text(sweep.cursor);
    }
    for (const std::uint64_t count :
         {meta.uncorrelated, meta.outbox, meta.open_findings, meta.subjects}) {
        writer.number(count);
    }
    for (const std::uint64_t* count : counters_of(meta.counters)) writer.number(*count);
    writer.number(meta.rules.size());
    for (const RuleCounters& rule : meta.rules) {
        writer.number(rule.detected);
        writer.number(rule.commands);
        for (const std::uint64_t count : rule.outcomes) writer.number(count);
        writer.number(rule.retracted);
        writer.signed_number(rule.spending.window);
        writer.number(rule.spending.commands);
    }
}

std::optional<Meta> decode_meta(std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != kFormat) return std::nullopt;
    Meta meta;
    meta.journal_id = in.hash();
    meta.partitions = static_cast<std::int32_t>(in.signed_number());
    meta.shard = static_cast<std::int32_t>(in.signed_number());
    meta.applied = in.signed_number();
    meta.broker_now = in.time<BrokerTime>();
    meta.now = in.time<JournalTime>();
    meta.chain = in.hash();
    meta.digest = in.hash();
    for (std::int64_t& offset : meta.last) offset = in.signed_number();
    meta.settings = take_settings(in);
    for (std::size_t n = in.count(); n > 0; --n) meta.sources.push_back(take_source(in));
    for (std::size_t n = in.count(); n > 0; --n) {
        Sweep sweep;
        sweep.source = static_cast<SourceId>(in.number());
        sweep.epoch = in.number();
        sweep.incarnation = in.signed_number();
        sweep.as_of = take_version(in);
        sweep.cursor = in.text();
        meta.sweeps.push_back(std::move(sweep));
    }
    for (std::uint64_t* count :
         {&meta.uncorrelated, &meta.outbox, &meta.open_findings, &meta.subjects}) {
        *count = in.number();
    }
    for (std::uint64_t* count : counters_of(meta.counters)) *count = in.number();
    for (std::size_t n = in.count(); n > 0; --n) {
        RuleCounters rule;
        rule.detected = in.number();
        rule.commands = in.number();
        for (std::uint64_t& count : rule.outcomes) count = in.number();
        rule.retracted = in.number();
        rule.spending.window = in.signed_number();
        rule.spending.commands = in.number();
        meta.rules.push_back(rule);
    }
    if (!in.done()) return std::nullopt;
    return meta;
}

Hash128 row_hash(std::string_view key, std::string_view bytes) {
    return combine(hash128(key), hash128(bytes));
}

}  // namespace trueup::core
