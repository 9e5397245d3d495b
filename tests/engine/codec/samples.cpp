#include "tests/engine/codec/samples.h"

#include "engine/codec/change_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/message.h"
#include "engine/codec/outcome_codec.h"
#include "engine/model/object.h"
#include "engine/model/object_builder.h"

#include <array>
#include <cstdlib>

namespace trueup::codec::samples {

std::uint64_t seed() {
    quiet_protobuf();
    static const std::uint64_t kSeed = [] {
        const char* const given = std::getenv("TRUEUP_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10)
                                : std::uint64_t{std::random_device{}()};
    }();
    return kSeed;
}

std::string pod_object() {
    return ObjectBuilder()
        .add("label.wrapper", "7f3a")
        .add("name", "wrapper-7f3a")
        .add("namespace", "graphs")
        .add_null("node")
        .add("phase", "Running")
        .add_unchanged("spec")
        .take();
}

ChangeView upsert() {
    static const std::string kObject = pod_object();
    ChangeView change;
    change.kind = ChangeKind::kUpsert;
    change.source = "pods";
    change.incarnation = Offset(17);
    change.seq = 300;
    change.epoch = 4;
    change.event_id = "184467";
    change.object_id = "0b0c7ab2-57a3-4f52-8d0b-54c0c2b1a111";
    change.subject_key = "graph-instance/wrapper-7f3a";
    change.version = {184'467, 3};
    change.source_time = from_millis<SourceTime>(1'700'000'000'123);
    change.object = kObject;
    return change;
}

ChangeView progress() {
    ChangeView change;
    change.kind = ChangeKind::kProgress;
    change.source = "instances";
    change.incarnation = kFirstOffset;
    change.seq = 1;
    change.count = 12;
    change.complete_as_of = from_millis<BrokerTime>(1'700'000'001'000);
    change.source_clock = from_millis<SourceTime>(1'700'000'000'950);
    change.nonce = std::string_view("\0\xff nonce", 8);
    return change;
}

Command command() {
    Command command;
    command.id = CommandId({0x0123456789abcdef, 0xfedcba9876543210});
    command.policy = "graph-instance";
    command.rule = "orphaned_pod";
    command.finding_id = FindingId({1, 2});
    command.subject = "graph-instance/wrapper-7f3a";
    command.draft.target = {"pods", "0b0c7ab2-57a3", "wrapper-7f3a", "graphs"};
    command.draft.action.kind = Action::Kind::kDeletePod;
    command.draft.action.grace_seconds = 30;
    command.draft.action.sets = {{"state", "failed"},
                                 {"pod_name", std::nullopt},
                                 {"ended_at", "2023-11-14T22:13:22.000Z", true},
                                 {"spec.replicas", "3", false, true}};
    command.draft.read_set = {
        {Predicate::Kind::kExists, "pods", "0b0c7ab2-57a3", "", std::nullopt},
        {Predicate::Kind::kNone, "instances", "", "key", "graph-instance/wrapper-7f3a"},
        {Predicate::Kind::kField, "pods", "0b0c7ab2-57a3", "node", std::nullopt},
        {Predicate::Kind::kNoVeto, "pods", "0b0c7ab2-57a3", "", std::nullopt}};
    command.issued = from_millis<BrokerTime>(1'700'000'002'000);
    command.not_after = from_millis<BrokerTime>(1'700'000'062'000);
    command.evidence = {Offset(3), Offset(17), Offset(300)};
    command.emission = 2;
    return command;
}

Outcome outcome() {
    Outcome outcome;
    outcome.command_id = CommandId({0x0123456789abcdef, 0xfedcba9876543210});
    outcome.subject = "graph-instance/wrapper-7f3a";
    outcome.kind = OutcomeKind::kFailed;
    outcome.retryable = true;
    outcome.detail = "the API server answered 503";
    outcome.executor = "executor-1";
    outcome.check_to_write_micros = 1'250;
    return outcome;
}

FindingEdge finding() {
    FindingEdge edge;
    edge.id = FindingId({1, 2});
    edge.policy = "graph-instance";
    edge.rule = "orphaned_pod";
    edge.subject = "graph-instance/wrapper-7f3a";
    edge.object_id = "0b0c7ab2-57a3";
    edge.state = FindingState::kConfirmed;
    edge.reason = Reason::kGrace;
    edge.since = from_millis<JournalTime>(60'000);
    edge.journal_id = JournalId({3, 4});
    edge.shard = PartitionNumber(5);
    edge.offset = Offset(300);
    edge.index = 1;
    edge.append_time = from_millis<BrokerTime>(1'700'000'002'000);
    edge.command_id = CommandId({0x0123456789abcdef, 0xfedcba9876543210});
    edge.sentence = "Pod wrapper-7f3a has no row; it may go after 60 s.";
    edge.evidence = {Offset(3), Offset(17), Offset(300)};
    return edge;
}

Request request() {
    Request request;
    request.id = RequestId({7, 8});
    request.kind = RequestKind::kApprove;
    request.scope = {"graph-instance",
                     "orphaned_pod",
                     "graph-instance/wrapper-7f3a",
                     "0b0c7ab2-57a3",
                     "pods",
                     "uncorrelated_rows",
                     false,
                     FindingId({1, 2}),
                     Offset(300)};
    request.issued_ms = 1'700'000'002'500;
    request.issued_by = "operator";
    request.role = "ops";
    request.comment = "seen and wanted";
    return request;
}

Request enabling() {
    Request request;
    request.id = RequestId({7, 9});
    request.kind = RequestKind::kEnable;
    request.scope.policy = "graph-instance";
    request.issued_ms = 1'700'000'002'500;
    request.issued_by = "olga";
    request.role = "admin";
    request.rules = {{"orphaned_pod", {1, 2}}, {"missing_pod", {3, 4}}};
    request.seen = {kNoOffset, Offset(300), kNoOffset};
    return request;
}

namespace {

using policy::Condition;

Condition is(const char* field, const char* value) {
    Condition condition;
    condition.kind = Condition::Kind::kTest;
    condition.test = {field, policy::Op::kIn, false, {value}, {}};
    return condition;
}

Condition same() {
    Condition same = is("spec", "");
    same.test = {"spec", policy::Op::kSame, true, {}, {"rows", "spec"}};
    return same;
}

Condition either() {
    Condition either;
    either.kind = Condition::Kind::kAny;
    either.parts = {is("phase", "Failed"), same()};
    return either;
}

policy::Role pods() {
    policy::Role pods;
    pods.name = "pods";
    pods.kind = policy::Kind::kPod;
    pods.key.text = "name";
    pods.fields = {
        {"spec", policy::Field::Type::kText, {"a", "b"}, "label.spec", "UTC", true, true, true}};
    pods.live = either();
    pods.several = pods.optional = pods.reference = true;
    return pods;
}

policy::Role rows() {
    using policy::Key;
    policy::Role rows;
    rows.name = "rows";
    rows.key.op = Key::Op::kCoalesce;
    rows.key.parts = {{Key::Op::kField, "pod_name", {}}, {Key::Op::kLiteral, "none", {}}};
    rows.scope = "region";
    rows.as_of_field = "filled";
    rows.as_of = {"pods", "spec"};
    rows.as_of_at = "now";
    return rows;
}

policy::Pattern pattern() {
    return {"pods",
            policy::Quantifier::kSurplus,
            either(),
            {{same(), {}}, {{}, "spec"}},
            {"rows", "spec"},
            "literal",
            {"rows", "region"}};
}

policy::Step creation() {
    using policy::Piece, policy::Template;
    const policy::Text text{{Piece::Kind::kLiteral, "pod ", {}},
                            {Piece::Kind::kField, {}, {"pods", "spec"}}};
    policy::Step create;
    create.verb = policy::Verb::kCreate;
    create.role = "pods";
    create.name = text;
    create.sets = {{"spec", text}, {"phase", std::nullopt}};
    create.from = "builder";
    create.object =
        Template{Template::Kind::kMap,
                 "",
                 {},
                 {{Template::Kind::kText, "k", text, {}},
                  {Template::Kind::kBare, "n", {{Piece::Kind::kLiteral, "80", {}}}, {}}}};
    create.grace_period = 5;
    create.propagation = "background";
    create.subresource = "status";
    create.reads = {{"rows", "spec"}};
    return create;
}

policy::Rule lost_pod() {
    using policy::Case, policy::Deadline;
    Case found;
    found.when = {pattern()};
    found.past = Deadline{{"rows", "at"}, policy::FieldRef{"rows", "ttl"}};
    found.ask_while = {"lost_rows"};
    found.steps = {creation()};
    Case twice;
    twice.duplicates = true;
    twice.past = Deadline{{"rows", "at"}, Millis(900'000)};
    twice.steps = {policy::Step{}};
    return {"lost_pod",
            "pod that is lost",
            {found, twice},
            true,
            Millis(60'000),
            Millis(30'000),
            true,
            true,
            {Millis(0), Millis(5'000)},
            "terminate",
            {"no_grace"}};
}

}  // namespace

/// One of everything.
policy::Policy policy_text() {
    using Then = policy::NamedCondition::Line::Then;
    policy::Policy policy;
    policy.name = "graph-instances";
    policy.subject = "a pod";
    policy.stale_after = Millis(45'002);
    policy.roles = {pods(), rows()};
    policy.conditions = {
        policy::NamedCondition{"lost", "pods", {{{pattern()}, Then::kUnknown, "moving"}}}};
    policy.counts = {{"lost_rows", {{pattern()}}, {}, {}, {}, "lost"},
                     {"phases", {}, "pods", either(), "phase", {}}};
    policy.ledger =
        policy::Ledger{{"rows", "spec"}, "pods", same(), either(), same(), true, {"rows", "ends"}};
    policy.requests = {{"terminate", {"rows", "owner"}}};
    policy.rules = {lost_pod()};
    return policy;
}

Settings settings() {
    Settings settings;
    settings.logic = 4;  // of the build that first wrote these bytes
    settings.policy = "graph-instance";
    settings.text = policy_text();
    settings.sources = {{"pods", Topic::kChangesPods, 0, "eu"},
                        {"instances", Topic::kChangesRows, 1},
                        {"nodes", Topic::kChangesResources}};
    settings.rules = {{"orphaned_pod", Mode::kEnforce, Millis(60'000), Millis(30'000)},
                      {"phantom_row", Mode::kObserve, Millis(90'000), Millis(0)}};
    settings.rules[0].budget = {7, 31, Millis(60'003)};
    settings.max_clock_step = Millis(10'001);
    settings.max_broker_skew = Millis(1'000);
    settings.stale_after = Millis(45'001);
    settings.command_ttl = Millis(60'001);
    settings.emit_again = Millis(10'002);
    settings.max_outbox = 11;
    settings.max_drop_percent = 40;
    settings.sweep_step = 12;
    settings.max_clock_skew = Millis(60'002);
    settings.reconcile_every = Millis(300'001);
    settings.windows = {{0x1f, 8 * 60, 18 * 60 + 30}};
    return settings;
}

Genesis genesis() { return {JournalId({3, 4}), 8, PartitionNumber(5)}; }

std::string journal_record() {
    JournalRecordBuilder builder;
    builder.set_genesis(genesis());
    builder.set_settings(settings(), Offset(40));
    builder.set_folded({Offset(41), 0xfedcba9876543210U});
    const auto at = [](std::int64_t ms) { return from_millis<BrokerTime>(1'700'000'000'000 + ms); };
    builder.add_item(Topic::kChangesPods, kNoOffset, kFirstOffset, at(1), encode_change(upsert()));
    builder.add_item(Topic::kOutcomes, Offset(4), Offset(9), at(2), encode_outcome(outcome()));
    builder.add_item(Topic::kRequests, kNoOffset, kFirstOffset, at(3), encode_request(request()),
                     true);
    builder.add_item(Topic::kChangesRows, Offset(7), Offset(8), at(4), "rubbish");
    return builder.take();
}

std::string random_text(std::mt19937_64& random, std::size_t longest) {
    static const std::array<std::string, 4> kBeyond{"\u00e9", "\u20ac", "\U0001f600", "\x7f"};
    std::string text;
    const std::size_t size = random() % (longest + 1);
    while (text.size() + 4 < size) {
        if (random() % 10 == 0) {
            text += kBeyond[random() % kBeyond.size()];
        } else {
            text += static_cast<char>('a' + random() % 26);
        }
    }
    return text;
}

std::uint64_t random_number(std::mt19937_64& random) {
    if (random() % 8 == 0) return ~std::uint64_t{0};
    return random() >> (random() % 64);
}

std::string mutate(std::string bytes, std::mt19937_64& random) {
    for (std::uint64_t n = random() % 4 + 1; n > 0 && !bytes.empty(); --n) {
        const std::size_t i = random() % bytes.size();
        switch (random() % 4) {
            case 0:
                bytes.erase(i, 1 + random() % 3);
                break;
            case 1:
                bytes.insert(i, bytes.substr(i, 1 + random() % 9));
                break;
            default:
                bytes[i] = static_cast<char>(random() % 256);
        }
    }
    return bytes;
}

}  // namespace trueup::codec::samples
