#include "engine/core/bytes.h"
#include "engine/core/row.h"

#include <utility>

namespace trueup::core {

namespace {

// What each struct consists of on disk, in this order: a change of any of these is another
// kMetaFormat. The policy's text has a row of its own: this one is written every other second.
// Behind them are tagged parts, and how many: one that is missing has its defaults, one that this
// build does not know is kept.

constexpr std::uint64_t kEnabling = 1;  // tags

template <typename A>
void fields(A& a, Of<A, RuleSettings>& rule) {
    a.text(rule.rule);
    a.number(rule.mode);
    a.duration(rule.grace);
    a.duration(rule.create_window);
    a.number(rule.budget.max);
    a.number(rule.budget.percent);
    a.duration(rule.budget.window);
    a.optional(rule.grace_period, [&](auto& seconds) { a.number(seconds); });
}

template <typename A>
void fields(A& a, Of<A, Settings>& settings) {
    a.number(settings.logic);
    a.text(settings.policy);
    a.list(settings.sources, [&](auto& source) {
        a.text(source.name);
        a.number(source.topic);
        a.number(source.role);
        a.text(source.scope);
        a.number(source.at_least);
        a.text(source.selects);
        a.number(source.mapping);
    });
    a.list(settings.rules, [&](auto& rule) { fields(a, rule); });
    a.list(settings.enabled, [&](auto& text) { a.hash(text); });
    a.text(settings.enabled_by);
    a.duration(settings.max_clock_step);
    a.duration(settings.max_broker_skew);
    a.duration(settings.stale_after);
    a.duration(settings.command_ttl);
    a.duration(settings.emit_again);
    a.duration(settings.max_clock_skew);
    a.duration(settings.reconcile_every);
    a.number(settings.max_drop_percent);
    a.number(settings.max_outbox);
    a.number(settings.sweep_step);
    a.list(settings.windows, [&](auto& window) {
        a.number(window.days);
        a.number(window.from);
        a.number(window.to);
    });
}

template <typename A>
void fields(A& a, Of<A, SourceState>& source) {
    a.text(source.name);
    a.number(source.topic);
    a.signed_number(source.incarnation);
    a.number(source.next_seq);
    a.flag(source.known);
    a.time(source.unknown_since);
    a.flag(source.hole);
    a.number(source.mapping);
    a.flag(source.misread);
    a.flag(source.rewound);
    a.optional(source.open, [&](auto& open) {
        a.number(open.id);
        a.number(open.wire);
        a.version(open.as_of);
        a.number(open.count);
        a.flag(open.rewound);
    });
    a.number(source.last_epoch);
    a.number(source.epochs);
    a.number(source.population);
    a.number(source.newest);
    a.number(source.floor);
    a.number(source.quarantined_at);
    a.number(source.quarantine);
    a.number(source.beneath);
    a.flag(source.on_trial);
    a.flag(source.believe_next);
    a.flag(source.believed);
    a.time(source.complete_as_of);
    a.time(source.source_clock);
}

template <typename A>
void fields(A& a, Of<A, Sweep>& sweep) {
    a.number(sweep.what);
    a.number(sweep.source);
    a.number(sweep.epoch);
    a.signed_number(sweep.incarnation);
    a.version(sweep.as_of);
    a.number(sweep.approval.reason);
    a.number(sweep.approval.rule);
    a.signed_number(sweep.approval.offset);
    a.text(sweep.approval.count_reason);
    a.text(sweep.changed);
    a.time(sweep.since);
    a.text(sweep.cursor);
}

template <typename A>
void fields(A& a, Of<A, Pass>& pass) {
    a.flag(pass.running);
    a.flag(pass.sweeping);
    a.flag(pass.asked);
    a.time(pass.started);
    a.time(pass.next);
    a.number(pass.completed);
    a.number(pass.millis);
    for (auto& count : pass.durations) a.number(count);
}

template <typename A>
void fields(A& a, Of<A, Pause>& pause) {
    a.number(pause.rule);
    a.time(pause.since);
    a.text(pause.by);
    a.text(pause.comment);
}

template <typename A>
void fields(A& a, Of<A, Answered>& answered) {
    a.hash(answered.id);
    a.number(answered.kind);
    a.flag(answered.granted);
    a.time(answered.at);
    a.text(answered.by);
    a.text(answered.sentence);
}

template <typename A>
void fields(A& a, Of<A, Counters>& c) {
    for (auto* count :
         {&c.items, &c.duplicates, &c.gaps, &c.parked, &c.foreign_tokens, &c.repeated_seq, &c.holes,
          &c.unchanged, &c.stale_versions, &c.swept, &c.quarantines, &c.clamped_steps,
          &c.unknown_outcomes, &c.late_outcomes, &c.unauthenticated}) {
        a.number(*count);
    }
}

template <typename A>
void fields(A& a, Of<A, RuleCounters>& rule) {
    a.number(rule.detected);
    a.number(rule.commands);
    for (auto& count : rule.outcomes) a.number(count);
    a.number(rule.retracted);
    a.number(rule.mended);
    a.signed_number(rule.spending.window);
    a.number(rule.spending.commands);
}

template <typename A>
void fields(A& a, Of<A, Enabling>& enabling) {
    a.list(enabling.texts, [&](auto& text) { a.hash(text); });
    a.hash(enabling.disabled);
    a.signed_number(enabling.looked);
    a.time(enabling.left);
    a.time(enabling.turned);
}

/// By the topic's number. Another build has one more, or one less: a new one begins at its
/// beginning, and what is not known here is kept.
void topics(ByteWriter& out, const Meta& meta) {
    out.number(meta.last.size() + meta.later.size());
    for (const Offset& offset : meta.last) out.signed_number(offset);
    for (const Offset& offset : meta.later) out.signed_number(offset);
}
void topics(ByteReader& in, Meta& meta) {
    const std::size_t count = in.count();
    for (std::size_t i = 0; i < count; ++i) {
        in.signed_number(i < kTopics ? meta.last[i] : meta.later.emplace_back());
    }
}

template <typename A>
void fields(A& a, Of<A, Meta>& meta) {
    const auto whole = [&](auto& part) { fields(a, part); };
    a.hash(meta.journal_id);
    a.signed_number(meta.partitions);
    a.signed_number(meta.shard);
    a.signed_number(meta.applied);
    a.number(meta.record);
    a.time(meta.broker_now);
    a.time(meta.now);
    a.time(meta.watched_since);
    a.hash(meta.chain);
    a.hash(meta.digest);
    topics(a, meta);
    fields(a, meta.settings);
    a.signed_number(meta.settings_at);
    a.list(meta.sources, whole);
    a.list(meta.sweeps, whole);
    for (auto& count : meta.tallies) a.number(count);
    fields(a, meta.pass);
    a.list(meta.pauses, whole);
    a.list(meta.answered, whole);
    a.number(meta.outbox);
    a.number(meta.open_findings);
    a.number(meta.subjects);
    a.number(meta.present);
    a.number(meta.wrong);
    a.number(meta.stuck);
    a.number(meta.holds);
    for (auto& count : meta.endings) a.number(count);
    fields(a, meta.counters);
    a.list(meta.rules, whole);
}

}  // namespace

void encode_meta(const Meta& meta, std::string& out) {
    ByteWriter writer(out);
    writer.number(kMetaFormat);
    fields(writer, meta);
    std::string enabling;
    ByteWriter part(enabling);
    part.list(meta.enabling, [&](const Enabling& one) { fields(part, one); });
    part.end();
    writer.number(1 + meta.others.size());
    writer.number(kEnabling);
    writer.text(enabling);
    for (const auto& [tag, bytes] : meta.others) {
        writer.number(tag);
        writer.text(bytes);
    }
}

std::optional<Meta> decode_meta(std::string_view bytes) {
    ByteReader in(bytes);
    const std::uint64_t format = in.number();
    if (format < kOldestMetaFormat || format > kMetaFormat) return std::nullopt;
    std::optional<Meta> meta(std::in_place);
    fields(in, *meta);
    for (std::size_t parts = in.count(); parts > 0 && in.ok(); --parts) {
        const std::uint64_t tag = in.number();
        std::string held;
        in.text(held);
        if (tag != kEnabling) {
            meta->others.emplace_back(tag, std::move(held));
            continue;
        }
        ByteReader part(held);
        part.list(meta->enabling, [&](Enabling& one) { fields(part, one); });
        if (!part.done()) return std::nullopt;
    }
    if (!in.done()) return std::nullopt;
    return meta;
}

}  // namespace trueup::core
