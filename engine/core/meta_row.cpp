#include "engine/core/bytes.h"
#include "engine/core/row.h"

#include <utility>

namespace trueup::core {

namespace {

constexpr std::uint64_t kWithGracePeriods = 8;  // the first format that has them
constexpr std::uint64_t kWithRecord = 8;        // and the digest of the last record

void put(ByteWriter& out, const Settings& settings) {
    out.number(settings.logic);
    out.text(settings.policy);
    out.text(settings.use);
    out.number(settings.sources.size());
    for (const SourceSettings& source : settings.sources) {
        out.text(source.name);
        out.number(static_cast<std::uint64_t>(source.topic));
        out.number(source.role);
        out.text(source.scope);
        out.number(source.at_least);
    }
    out.number(settings.rules.size());
    for (const RuleSettings& rule : settings.rules) {
        out.text(rule.rule);
        out.number(static_cast<std::uint64_t>(rule.mode));
        out.signed_number(rule.grace.count());
        out.signed_number(rule.create_window.count());
        out.number(rule.budget.most);
        out.number(rule.budget.percent);
        out.signed_number(rule.budget.window.count());
        out.flag(rule.grace_period.has_value());
        if (rule.grace_period) out.number(*rule.grace_period);
    }
    for (const Millis time :
         {settings.max_step, settings.max_skew, settings.stale_after, settings.command_ttl,
          settings.emit_again, settings.max_clock_skew, settings.pass_every}) {
        out.signed_number(time.count());
    }
    out.number(settings.max_drop_percent);
    out.number(settings.max_outbox);
    out.number(settings.sweep_step);
    out.number(settings.windows.size());
    for (const Window& window : settings.windows) {
        for (const std::uint64_t part :
             {std::uint64_t{window.days}, std::uint64_t{window.from}, std::uint64_t{window.to}}) {
            out.number(part);
        }
    }
}

Settings take_settings(ByteReader& in, std::uint64_t format) {
    Settings settings;
    settings.logic = static_cast<std::uint32_t>(in.number());
    settings.policy = in.text();
    settings.use = in.text();
    settings.sources.resize(in.count());
    for (SourceSettings& source : settings.sources) {
        source.name = in.text();
        source.topic = static_cast<Topic>(in.number());
        source.role = static_cast<Role>(in.number());
        source.scope = in.text();
        source.at_least = static_cast<std::uint32_t>(in.number());
    }
    settings.rules.resize(in.count());
    for (RuleSettings& rule : settings.rules) {
        rule.rule = in.text();
        rule.mode = static_cast<Mode>(in.number());
        rule.grace = Millis(in.signed_number());
        rule.create_window = Millis(in.signed_number());
        rule.budget.most = static_cast<std::uint32_t>(in.number());
        rule.budget.percent = static_cast<std::uint32_t>(in.number());
        rule.budget.window = Millis(in.signed_number());
        if (format < kWithGracePeriods || !in.flag()) continue;
        rule.grace_period = static_cast<std::uint32_t>(in.number());
    }
    for (Millis* time :
         {&settings.max_step, &settings.max_skew, &settings.stale_after, &settings.command_ttl,
          &settings.emit_again, &settings.max_clock_skew, &settings.pass_every}) {
        *time = Millis(in.signed_number());
    }
    settings.max_drop_percent = static_cast<std::uint32_t>(in.number());
    settings.max_outbox = static_cast<std::uint32_t>(in.number());
    settings.sweep_step = static_cast<std::uint32_t>(in.number());
    settings.windows.resize(in.count());
    for (Window& window : settings.windows) {
        window.days = static_cast<std::uint8_t>(in.number());
        window.from = static_cast<std::uint16_t>(in.number());
        window.to = static_cast<std::uint16_t>(in.number());
    }
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
        out.version(source.open->as_of);
        out.number(source.open->count);
        out.flag(source.open->rewound);
    }
    for (const std::uint64_t count : {source.last_epoch, source.epochs, source.population,
                                      source.newest, source.floor, source.quarantined_at}) {
        out.number(count);
    }
    out.number(static_cast<std::uint64_t>(source.quarantine));
    out.number(static_cast<std::uint64_t>(source.beneath));
    out.flag(source.on_trial);
    out.flag(source.believe_next);
    out.flag(source.believed);
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
        open.as_of = in.version();
        open.count = in.number();
        open.rewound = in.flag();
        source.open = open;
    }
    for (std::uint64_t* count : {&source.last_epoch, &source.epochs, &source.population,
                                 &source.newest, &source.floor, &source.quarantined_at}) {
        *count = in.number();
    }
    source.quarantine = static_cast<Quarantine>(in.number());
    source.beneath = static_cast<Quarantine>(in.number());
    source.on_trial = in.flag();
    source.believe_next = in.flag();
    source.believed = in.flag();
    source.complete_as_of = in.time<BrokerTime>();
    source.source_clock = in.time<SourceTime>();
    return source;
}

void put(ByteWriter& out, const Sweep& sweep) {
    out.number(static_cast<std::uint64_t>(sweep.what));
    out.number(sweep.source);
    out.number(sweep.epoch);
    out.signed_number(sweep.incarnation);
    out.version(sweep.as_of);
    out.number(static_cast<std::uint64_t>(sweep.approval.because));
    out.number(sweep.approval.rule);
    out.signed_number(sweep.approval.offset);
    out.text(sweep.cursor);
}

Sweep take_sweep(ByteReader& in) {
    Sweep sweep;
    sweep.what = static_cast<Sweep::What>(in.number());
    sweep.source = static_cast<SourceId>(in.number());
    sweep.epoch = in.number();
    sweep.incarnation = in.signed_number();
    sweep.as_of = in.version();
    sweep.approval.because = static_cast<Reason>(in.number());
    sweep.approval.rule = static_cast<std::uint8_t>(in.number());
    sweep.approval.offset = in.signed_number();
    sweep.cursor = in.text();
    return sweep;
}

void put(ByteWriter& out, const Pass& pass) {
    out.flag(pass.running);
    out.flag(pass.sweeping);
    out.flag(pass.asked);
    out.time(pass.started);
    out.time(pass.next);
    out.number(pass.completed);
    out.number(pass.millis);
    for (const std::uint64_t count : pass.durations) out.number(count);
}

Pass take_pass(ByteReader& in) {
    Pass pass;
    pass.running = in.flag();
    pass.sweeping = in.flag();
    pass.asked = in.flag();
    pass.started = in.time<BrokerTime>();
    pass.next = in.time<JournalTime>();
    pass.completed = in.number();
    pass.millis = in.number();
    for (std::uint64_t& count : pass.durations) count = in.number();
    return pass;
}

void put(ByteWriter& out, const Pause& pause) {
    out.number(pause.rule);
    out.time(pause.since);
    out.text(pause.by);
    out.text(pause.reason);
}

Pause take_pause(ByteReader& in) {
    Pause pause;
    pause.rule = static_cast<std::uint8_t>(in.number());
    pause.since = in.time<BrokerTime>();
    pause.by = in.text();
    pause.reason = in.text();
    return pause;
}

void put(ByteWriter& out, const Answered& answered) {
    out.hash(answered.id);
    out.number(static_cast<std::uint64_t>(answered.kind));
    out.flag(answered.granted);
    out.time(answered.at);
    out.text(answered.by);
    out.text(answered.sentence);
}

Answered take_answered(ByteReader& in) {
    Answered answered;
    answered.id = in.hash();
    answered.kind = static_cast<RequestKind>(in.number());
    answered.granted = in.flag();
    answered.at = in.time<BrokerTime>();
    answered.by = in.text();
    answered.sentence = in.text();
    return answered;
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
                      &c.late_outcomes,
                      &c.unauthenticated};
}

}  // namespace

void encode_meta(const Meta& meta, std::string& out) {
    ByteWriter writer(out);
    writer.number(kMetaFormat);
    writer.hash(meta.journal_id);
    writer.signed_number(meta.partitions);
    writer.signed_number(meta.shard);
    writer.signed_number(meta.applied);
    writer.number(meta.record);
    writer.time(meta.broker_now);
    writer.time(meta.now);
    writer.time(meta.watched_since);
    writer.hash(meta.chain);
    writer.hash(meta.digest);
    for (const std::int64_t offset : meta.last) writer.signed_number(offset);
    put(writer, meta.settings);
    writer.number(meta.sources.size());
    for (const SourceState& source : meta.sources) put(writer, source);
    writer.number(meta.sweeps.size());
    for (const Sweep& sweep : meta.sweeps) put(writer, sweep);
    for (const std::uint64_t count : meta.tallies) writer.number(count);
    put(writer, meta.pass);
    writer.number(meta.pauses.size());
    for (const Pause& pause : meta.pauses) put(writer, pause);
    writer.number(meta.answered.size());
    for (const Answered& answered : meta.answered) put(writer, answered);
    for (const std::uint64_t count : {meta.outbox, meta.open_findings, meta.subjects, meta.present,
                                      meta.wrong, meta.stuck, meta.holds}) {
        writer.number(count);
    }
    for (const std::uint64_t count : meta.endings) writer.number(count);
    for (const std::uint64_t* count : counters_of(meta.counters)) writer.number(*count);
    writer.number(meta.rules.size());
    for (const RuleCounters& rule : meta.rules) {
        writer.number(rule.detected);
        writer.number(rule.commands);
        for (const std::uint64_t count : rule.outcomes) writer.number(count);
        writer.number(rule.retracted);
        writer.number(rule.mended);
        writer.signed_number(rule.spending.window);
        writer.number(rule.spending.commands);
    }
}

std::optional<Meta> decode_meta(std::string_view bytes) {
    ByteReader in(bytes);
    const std::uint64_t format = in.number();
    if (format < kOldestMetaFormat || format > kMetaFormat) return std::nullopt;
    Meta meta;
    meta.journal_id = in.hash();
    meta.partitions = static_cast<std::int32_t>(in.signed_number());
    meta.shard = static_cast<std::int32_t>(in.signed_number());
    meta.applied = in.signed_number();
    if (format >= kWithRecord) meta.record = in.number();
    meta.broker_now = in.time<BrokerTime>();
    meta.now = in.time<JournalTime>();
    meta.watched_since = in.time<BrokerTime>();
    meta.chain = in.hash();
    meta.digest = in.hash();
    for (std::int64_t& offset : meta.last) offset = in.signed_number();
    meta.settings = take_settings(in, format);
    for (std::size_t n = in.count(); n > 0; --n) meta.sources.push_back(take_source(in));
    for (std::size_t n = in.count(); n > 0; --n) meta.sweeps.push_back(take_sweep(in));
    for (std::uint64_t& count : meta.tallies) count = in.number();
    meta.pass = take_pass(in);
    for (std::size_t n = in.count(); n > 0; --n) meta.pauses.push_back(take_pause(in));
    for (std::size_t n = in.count(); n > 0; --n) meta.answered.push_back(take_answered(in));
    for (std::uint64_t* count : {&meta.outbox, &meta.open_findings, &meta.subjects, &meta.present,
                                 &meta.wrong, &meta.stuck, &meta.holds}) {
        *count = in.number();
    }
    for (std::uint64_t& count : meta.endings) count = in.number();
    for (std::uint64_t* count : counters_of(meta.counters)) *count = in.number();
    for (std::size_t n = in.count(); n > 0; --n) {
        RuleCounters rule;
        rule.detected = in.number();
        rule.commands = in.number();
        for (std::uint64_t& count : rule.outcomes) count = in.number();
        rule.retracted = in.number();
        rule.mended = in.number();
        rule.spending.window = in.signed_number();
        rule.spending.commands = in.number();
        meta.rules.push_back(rule);
    }
    if (!in.done()) return std::nullopt;
    return meta;
}

}  // namespace trueup::core
