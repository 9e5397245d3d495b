// Proves the encoding of rows and the digest over them (design §5, §6; C2, C9).
#include "engine/core/row.h"

#include "engine/core/bytes.h"
#include "engine/core/edges.h"
#include "stories/replay.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace trueup::testing {
namespace {

using stories::Replay;

class Dice {
  public:
    Dice() : seed_(read_seed()), random_(seed_) {}
    std::string trace() const { return "TRUEUP_SEED=" + std::to_string(seed_); }
    std::uint64_t number() {
        const std::uint64_t bits = random_();
        return bits >> (random_() % 64);
    }
    Offset offset() { return previous(Offset(static_cast<std::int64_t>(number() >> 1U))); }
    std::int64_t any() { return static_cast<std::int64_t>(number()); }
    std::size_t below(std::size_t n) { return random_() % n; }
    bool flip() { return below(2) == 0; }
    std::string text() {
        std::string text;
        for (std::size_t n = below(200); n > 0; --n) text += static_cast<char>(random_());
        return text;
    }
    std::optional<std::string> maybe_text() {
        if (flip()) return std::nullopt;
        return text();
    }
    Hash128 hash() { return {number(), number()}; }
    Version version() { return {number(), number()}; }
    template <typename T>
    T time() {
        return from_millis<T>(any());
    }

  private:
    static std::uint64_t read_seed() {
        const char* const given = std::getenv("TRUEUP_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10)
                                : std::uint64_t{std::random_device{}()};
    }
    std::uint64_t seed_;
    std::mt19937_64 random_;
};

Command random_command(Dice& dice, const std::string& key) {
    Command command;
    command.id = CommandId(dice.hash());
    command.policy = dice.text();
    command.rule = dice.text();
    command.finding_id = FindingId(dice.hash());
    command.subject = key;
    command.draft.target = {dice.text(), dice.text(), dice.text(), dice.text()};
    command.draft.action.kind = static_cast<Action::Kind>(dice.below(3));
    if (dice.flip()) command.draft.action.grace_seconds = static_cast<std::uint32_t>(dice.number());
    for (std::size_t n = dice.below(4); n > 0; --n) {
        command.draft.action.sets.push_back({dice.text(), dice.maybe_text()});
    }
    for (std::size_t n = dice.below(4); n > 0; --n) {
        command.draft.read_set.push_back({static_cast<Predicate::Kind>(dice.below(6)), dice.text(),
                                          dice.text(), dice.text(), dice.maybe_text()});
        for (std::size_t besides = dice.below(3); besides > 0; --besides) {
            command.draft.read_set.back().besides.push_back(dice.text());
        }
    }
    command.issued = dice.time<BrokerTime>();
    command.not_after = dice.time<BrokerTime>();
    for (std::size_t n = dice.below(4); n > 0; --n) command.evidence.push_back(dice.offset());
    command.emission = static_cast<std::uint32_t>(dice.number());
    return command;
}

/// What is under way in a subject, and what is left of what was.
void random_endings(Dice& dice, Subject& subject) {
    if (dice.flip()) {
        subject.request =
            StandingRequest{dice.flip() ? "terminate" : dice.text(), dice.text(), dice.flip(),
                            dice.time<JournalTime>(), dice.flip() ? "" : dice.text()};
    }
    if (dice.flip()) {
        Ending ending;
        ending.stage = static_cast<Ending::Stage>(1 + dice.below(4));
        ending.rule = RuleNumber(static_cast<std::uint8_t>(dice.below(256)));
        ending.by = RuleNumber(static_cast<std::uint8_t>(dice.below(256)));
        ending.steps = dice.hash();
        ending.next = static_cast<std::uint32_t>(dice.number());
        ending.object_id = dice.text();
        ending.taken_source = static_cast<SourceId>(dice.number());
        for (std::size_t n = dice.below(3); n > 0; --n) ending.taken.push_back(dice.text());
        ending.target_source = static_cast<SourceId>(dice.number());
        ending.target = dice.text();
        ending.since = dice.time<JournalTime>();
        ending.passed = dice.time<JournalTime>();
        ending.last = static_cast<OutcomeKind>(dice.below(6));
        ending.settled = dice.time<BrokerTime>();
        ending.not_after = dice.time<BrokerTime>();
        ending.again = dice.time<JournalTime>();
        ending.failures = static_cast<std::uint32_t>(dice.number());
        ending.stuck = dice.flip();
        subject.ending = std::move(ending);
    }
    if (dice.flip()) {
        Aftermath aftermath;
        for (std::size_t n = dice.below(3); n > 0; --n) {
            aftermath.refusals.push_back(
                {RuleNumber(static_cast<std::uint8_t>(dice.below(256))), dice.text(), dice.number(),
                 std::vector<std::uint64_t>(dice.below(4), dice.number())});
        }
        for (std::size_t n = dice.below(3); n > 0; --n) {
            aftermath.mended.push_back(
                {RuleNumber(static_cast<std::uint8_t>(dice.below(256))), dice.text(),
                 std::vector<std::string>(dice.below(3), dice.text()), dice.time<JournalTime>()});
        }
        if (dice.flip()) aftermath.ended = Ended{RuleNumber(7), dice.text()};
        aftermath.quiet_until = dice.time<BrokerTime>();
        subject.aftermath = std::move(aftermath);
    }
    subject.present = dice.flip();
    subject.wrong = dice.flip();
}

Subject random_subject(Dice& dice) {
    Subject subject;
    subject.key = dice.text();
    for (std::size_t n = dice.below(5); n > 0; --n) {
        subject.facets.push_back({static_cast<SourceId>(dice.number()),
                                  dice.text(),
                                  static_cast<Absence>(dice.below(3)),
                                  Incarnation(dice.any()),
                                  dice.version(),
                                  dice.number(),
                                  dice.time<BrokerTime>(),
                                  dice.time<BrokerTime>(),
                                  dice.time<BrokerTime>(),
                                  dice.offset(),
                                  dice.number(),
                                  dice.text(),
                                  {}});
    }
    for (std::size_t n = dice.below(4); n > 0; --n) {
        Finding finding;
        finding.id = FindingId(dice.hash());
        finding.rule = RuleNumber(static_cast<std::uint8_t>(dice.number()));
        finding.object_id = dice.text();
        finding.state = static_cast<FindingState>(dice.below(5));
        finding.reason = static_cast<Reason>(dice.below(26));
        finding.since = dice.time<JournalTime>();
        finding.last_change = dice.offset();
        if (dice.flip()) finding.command = random_command(dice, subject.key);
        finding.emit_again = dice.time<JournalTime>();
        finding.failures = static_cast<std::uint32_t>(dice.number());
        finding.steps = static_cast<std::uint32_t>(dice.number());
        finding.lapsed = dice.flip();
        finding.more = dice.flip();
        finding.proposal = dice.hash();
        finding.approved = dice.flip();
        finding.dismissed = dice.flip();
        for (std::size_t k = dice.below(3); k > 0; --k) finding.dismissed_of.push_back(dice.text());
        subject.findings.push_back(std::move(finding));
    }
    for (std::size_t n = dice.below(3); n > 0; --n) {
        subject.own_writes.emplace_back(static_cast<SourceId>(dice.number()),
                                        dice.time<BrokerTime>());
    }
    for (std::size_t n = dice.below(4); n > 0; --n) {
        Wait wait;
        if (dice.flip()) wait.due = dice.time<JournalTime>();
        wait.source = static_cast<SourceId>(dice.number());
        wait.beyond = dice.time<BrokerTime>();
        wait.none_of = static_cast<TallyId>(dice.below(256));
        if (dice.flip()) wait.turn = Turn{RuleNumber(3), dice.time<JournalTime>()};
        subject.waits.push_back(wait);
    }
    for (std::uint8_t& count : subject.counted) count = static_cast<std::uint8_t>(dice.below(256));
    subject.held = dice.flip();
    random_endings(dice, subject);
    if (dice.flip()) {
        Ledger ledger{dice.text(), {}};
        for (std::size_t n = dice.below(3); n > 0; --n) {
            ledger.entries.push_back({dice.text(), static_cast<End>(dice.below(3)),
                                      from_millis<JournalTime>(dice.any())});
        }
        subject.ledger = std::move(ledger);
    }
    return subject;
}

Settings random_settings(Dice& dice) {
    Settings settings;
    settings.policy = dice.text();
    for (std::size_t n = dice.below(4); n > 0; --n) {
        settings.sources.push_back({dice.text(), static_cast<Topic>(dice.below(kTopics)),
                                    static_cast<Role>(dice.number()), dice.text(),
                                    static_cast<std::uint32_t>(dice.number())});
    }
    for (std::size_t n = dice.below(4); n > 0; --n) {
        settings.rules.push_back({dice.text(), static_cast<Mode>(dice.below(3)), Millis(dice.any()),
                                  Millis(dice.any())});
        if (dice.flip()) settings.rules.back().grace_period = dice.below(3);
    }
    settings.max_clock_step = Millis(dice.any());
    settings.max_broker_skew = Millis(dice.any());
    settings.stale_after = Millis(dice.any());
    settings.command_ttl = Millis(dice.any());
    settings.emit_again = Millis(dice.any());
    settings.max_drop_percent = static_cast<std::uint32_t>(dice.number());
    settings.max_outbox = static_cast<std::uint32_t>(dice.number());
    settings.sweep_step = static_cast<std::uint32_t>(dice.number());
    settings.logic = static_cast<std::uint32_t>(dice.number());
    settings.max_clock_skew = Millis(dice.any());
    settings.reconcile_every = Millis(dice.any());
    for (std::size_t n = dice.below(3); n > 0; --n) {
        settings.windows.push_back({static_cast<std::uint8_t>(dice.below(128)),
                                    static_cast<std::uint16_t>(dice.below(1'440)),
                                    static_cast<std::uint16_t>(dice.below(1'441))});
    }
    return settings;
}

core::SourceState random_source(Dice& dice) {
    core::SourceState source;
    source.name = dice.text();
    source.topic = static_cast<Topic>(dice.below(kTopics));
    source.incarnation = dice.offset();
    source.next_seq = dice.number();
    source.known = dice.flip();
    source.hole = dice.flip();
    if (dice.flip()) {
        source.open = core::OpenEpoch{dice.number(), dice.number(), dice.version(), dice.number(),
                                      dice.flip()};
    }
    source.last_epoch = dice.number();
    source.epochs = dice.number();
    source.population = dice.number();
    source.quarantine = static_cast<core::Quarantine>(dice.below(5));
    source.beneath = static_cast<core::Quarantine>(dice.below(5));
    source.quarantined_at = dice.number();
    source.on_trial = dice.flip();
    source.believe_next = dice.flip();
    source.believed = dice.flip();
    source.complete_as_of = dice.time<BrokerTime>();
    source.source_clock = dice.time<SourceTime>();
    return source;
}

/// What operators said, and what passes and tallies came to.
void random_operators(Dice& dice, core::Meta& meta) {
    for (std::uint64_t& tally : meta.tallies) tally = dice.number();
    core::Pass& pass = meta.pass;
    pass.running = dice.flip();
    pass.sweeping = dice.flip();
    pass.asked = dice.flip();
    pass.started = dice.time<BrokerTime>();
    pass.next = dice.time<JournalTime>();
    pass.completed = dice.number();
    pass.millis = dice.number();
    for (std::uint64_t& count : pass.durations) count = dice.number();
    for (std::size_t n = dice.below(3); n > 0; --n) {
        meta.pauses.push_back({RuleNumber(static_cast<std::uint8_t>(dice.below(256))),
                               dice.time<BrokerTime>(), dice.text(), dice.text()});
    }
    for (std::size_t n = dice.below(3); n > 0; --n) {
        meta.answered.push_back({RequestId(dice.hash()), static_cast<RequestKind>(dice.below(10)),
                                 dice.flip(), dice.time<BrokerTime>(), dice.text(), dice.text()});
    }
}

core::Meta random_meta(Dice& dice) {
    core::Meta meta;
    meta.journal_id = JournalId(dice.hash());
    meta.partitions = static_cast<std::int32_t>(dice.below(1'000));
    meta.shard = PartitionNumber(static_cast<std::int32_t>(dice.below(1'000)));
    meta.applied = dice.offset();
    meta.record = dice.hash().lo;
    meta.broker_now = dice.time<BrokerTime>();
    meta.now = dice.time<JournalTime>();
    meta.watched_since = dice.time<BrokerTime>();
    meta.chain = dice.hash();
    meta.digest = dice.hash();
    for (Offset& last : meta.last) last = dice.offset();
    meta.settings = random_settings(dice);
    meta.settings_at = dice.offset();
    for (std::size_t n = dice.below(4); n > 0; --n) meta.sources.push_back(random_source(dice));
    for (std::size_t n = dice.below(3); n > 0; --n) {
        core::Sweep sweep;
        sweep.what = static_cast<core::Sweep::What>(dice.below(5));
        sweep.source = static_cast<SourceId>(dice.number());
        sweep.epoch = dice.number();
        sweep.incarnation = dice.offset();
        sweep.as_of = dice.version();
        sweep.approval = {static_cast<Reason>(dice.below(20)),
                          RuleNumber(static_cast<std::uint8_t>(dice.below(256))), dice.offset()};
        sweep.approval.count_reason = dice.text();
        sweep.changed = dice.text();
        sweep.cursor = dice.text();
        meta.sweeps.push_back(std::move(sweep));
    }
    random_operators(dice, meta);
    meta.outbox = dice.number();
    meta.open_findings = dice.number();
    meta.subjects = dice.number();
    meta.present = dice.number();
    meta.wrong = dice.number();
    meta.stuck = dice.number();
    for (std::uint64_t& count : meta.endings) count = dice.number();
    meta.holds = dice.number();
    core::Counters& c = meta.counters;
    for (std::uint64_t* count :
         {&c.items, &c.duplicates, &c.gaps, &c.parked, &c.foreign_tokens, &c.repeated_seq, &c.holes,
          &c.unchanged, &c.stale_versions, &c.swept, &c.quarantines, &c.clamped_steps,
          &c.unknown_outcomes, &c.late_outcomes, &c.unauthenticated}) {
        *count = dice.number();
    }
    for (std::size_t n = dice.below(4); n > 0; --n) {
        core::RuleCounters rule;
        rule.detected = dice.number();
        rule.commands = dice.number();
        for (std::uint64_t& count : rule.outcomes) count = dice.number();
        rule.retracted = dice.number();
        rule.mended = dice.number();
        rule.spending = {dice.time<JournalTime>().time_since_epoch().count(), dice.number()};
        meta.rules.push_back(rule);
    }
    return meta;
}

TEST(Rows, RandomSubjectsSurviveTheirEncoding) {
    Dice dice;
    SCOPED_TRACE(dice.trace());
    for (int i = 0; i < 500; ++i) {
        const Subject subject = random_subject(dice);
        std::string bytes;
        core::encode_subject(subject, bytes);
        const std::optional<Subject> read = core::decode_subject(subject.key, bytes);
        ASSERT_TRUE(read.has_value());
        ASSERT_EQ(*read, subject);
        std::string once_more;
        core::encode_subject(*read, once_more);
        ASSERT_EQ(once_more, bytes);
    }
}

TEST(Rows, RandomMetasSurviveTheirEncoding) {
    Dice dice;
    SCOPED_TRACE(dice.trace());
    for (int i = 0; i < 500; ++i) {
        const core::Meta meta = random_meta(dice);
        std::string bytes;
        core::encode_meta(meta, bytes);
        const std::optional<core::Meta> read = core::decode_meta(bytes);
        ASSERT_TRUE(read.has_value());
        ASSERT_EQ(*read, meta);
    }
}

// Design §4.8: a grace is kept over restarts.
TEST(Rows, AFindingIsReadBackWithItsFirstMoment) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    const Subject& waiting = *s.subject("wrapper-7");
    ASSERT_EQ(waiting.findings.size(), 1U);
    std::string row;
    core::encode_subject(waiting, row);
    EXPECT_EQ(core::decode_subject(waiting.key, row)->findings, waiting.findings);
}

// A row that was written when there was one request is read as that one.
TEST(Rows, ARequestWithoutANameIsATermination) {
    const auto row_of = [](const std::string& name) {
        Subject subject;
        subject.key = "workers/w";
        subject.request = StandingRequest{name, "alice", true, JournalTime(Millis(9))};
        std::string row;
        core::encode_subject(subject, row);
        EXPECT_EQ(core::decode_subject(subject.key, row)->request, subject.request) << name;
        return row;
    };
    EXPECT_NE(row_of("terminate").find("\5alice\1\x12"), std::string::npos);
    EXPECT_NE(row_of("drain").find("\5alice\3\5drain\x12"), std::string::npos);
}

TEST(Rows, EveryCutOfARowIsRefused_C2) {
    Dice dice;
    SCOPED_TRACE(dice.trace());
    for (int i = 0; i < 20; ++i) {
        std::string subject;
        core::encode_subject(random_subject(dice), subject);
        for (std::size_t n = 0; n < subject.size(); ++n) {
            ASSERT_FALSE(core::decode_subject("k", subject.substr(0, n))) << n;
        }
        EXPECT_FALSE(core::decode_subject("k", subject + '\0'));
        std::string meta;
        core::encode_meta(random_meta(dice), meta);
        for (std::size_t n = 0; n < meta.size(); ++n) {
            ASSERT_FALSE(core::decode_meta(std::string_view(meta).substr(0, n))) << n;
        }
        EXPECT_FALSE(core::decode_meta(meta + '\0'));
    }
}

TEST(Rows, DamagedBytesNeverCrash) {
    Dice dice;
    SCOPED_TRACE(dice.trace());
    int refused = 0;
    for (int i = 0; i < 5'000; ++i) {
        std::string subject;
        core::encode_subject(random_subject(dice), subject);
        std::string meta;
        core::encode_meta(random_meta(dice), meta);
        for (std::string* bytes : {&subject, &meta}) {
            for (std::size_t n = 1 + dice.below(4); n > 0; --n) {
                (*bytes)[dice.below(bytes->size())] = static_cast<char>(dice.number());
            }
        }
        refused += core::decode_subject("k", subject) ? 0 : 1;
        refused += core::decode_meta(meta) ? 0 : 1;
    }
    EXPECT_GT(refused, 100);
}

TEST(Rows, ARowOfAnotherFormatIsRefused) {
    EXPECT_FALSE(core::decode_subject("k", ""));
    EXPECT_FALSE(core::decode_meta(""));
    EXPECT_FALSE(core::decode_subject("k", std::string(1, '\x7f') + std::string(5, '\0')));
    EXPECT_FALSE(core::decode_meta(std::string(1, '\x7f')));
}

TEST(Rows, AMetaRowOfAPreviewIsRefused_C10) {
    std::string former;
    core::encode_meta(core::Meta{}, former);
    ASSERT_TRUE(core::decode_meta(former).has_value());
    former[0] = static_cast<char>(core::kOldestMetaFormat - 1);
    EXPECT_FALSE(core::decode_meta(former).has_value());
}

/// The bytes of the row before its topics.
std::string head_of(const core::Meta& meta) {
    std::string head;
    core::ByteWriter out(head);
    out.number(core::kMetaFormat);
    out.hash(meta.journal_id);
    out.signed_number(meta.partitions);
    out.signed_number(meta.shard);
    out.signed_number(meta.applied);
    out.number(meta.record);
    out.time(meta.broker_now);
    out.time(meta.now);
    out.time(meta.watched_since);
    out.hash(meta.chain);
    out.hash(meta.digest);
    out.end();
    return head;
}

// One more topic made every row of the build before unreadable.
TEST(Rows, ATopicThatIsNewBeginsAtItsBeginning_C10) {
    core::Meta meta;
    for (std::size_t i = 0; i < kTopics; ++i) meta.last[i] = Offset(static_cast<int>(i));
    std::string bytes;
    core::encode_meta(meta, bytes);
    const std::size_t head = head_of(meta).size();
    ASSERT_EQ(bytes[head], static_cast<char>(kTopics));
    --bytes[head];                   // as of a build that had one less,
    bytes.erase(head + kTopics, 1);  // the last one
    const auto read = core::decode_meta(bytes);
    ASSERT_TRUE(read.has_value());
    meta.last.back() = kNoOffset;
    EXPECT_EQ(*read, meta);
}

TEST(Rows, AReasonAndAnActionOfALaterBuildAreKept_C10) {
    Subject subject;
    subject.key = "k";
    Finding finding;
    finding.reason = static_cast<Reason>(200);
    finding.command = Command{};
    finding.command->subject = "k";
    finding.command->draft.action.kind = static_cast<Action::Kind>(77);
    subject.findings.push_back(finding);
    std::string bytes;
    core::encode_subject(subject, bytes);
    const auto read = core::decode_subject("k", bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, subject);
    EXPECT_EQ(name_of(finding.reason), "unknown");
    std::string text;
    core::explain({}, *read, read->findings.front(), JournalTime{}, text);
    EXPECT_NE(text, "");
}

TEST(Rows, WhatALaterBuildReadOfItsOwnTopicsIsKept_C10) {
    core::Meta meta;
    meta.later = {Offset(7), Offset(9)};
    std::string bytes;
    core::encode_meta(meta, bytes);
    const auto read = core::decode_meta(bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, meta);
}

TEST(Rows, ANumberThatNeverEndsIsRefused) {
    const std::string huge(11, '\x80');
    core::ByteReader too_long(huge);
    EXPECT_EQ(too_long.number(), 0U);
    EXPECT_FALSE(too_long.ok());
    core::ByteReader counting("\x05");
    EXPECT_EQ(counting.count(), 0U) << "five things in no bytes";
    EXPECT_FALSE(counting.ok());
}

TEST(Digest, IsTheSumOverTheRows_C9) {
    Replay replay;
    JournalScript s;
    s.all_known();
    for (int i = 0; i < 20; ++i) {
        s.pod({.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)});
    }
    s.quiet_until(70s);
    replay.fold(s.records(), 0, s.records().size());
    replay.write_behind();
    const Hash128 digest = replay.meta().digest;
    EXPECT_FALSE(digest.none());
    replay.restart(0);  // loads, and compares the sum over the rows with the stored digest
    EXPECT_EQ(replay.meta().digest, digest);
}

TEST(Digest, OneFactMoreOrLessIsSeen_C9) {
    const auto digest_with = [](const char* phase) {
        JournalScript s;
        s.all_known();
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = phase});
        Replay replay;
        replay.fold(s.records(), 0, s.records().size());
        return replay.settled_meta().digest;
    };
    EXPECT_EQ(digest_with("Running"), digest_with("Running"));
    EXPECT_NE(digest_with("Running"), digest_with("Failed"));
}

}  // namespace
}  // namespace trueup::testing
