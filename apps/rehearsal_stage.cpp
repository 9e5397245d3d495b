#include "apps/rehearsal_stage.h"

#include "engine/base/check.h"

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

constexpr std::size_t kMostItems = 2'000;  // of one record

/// What would hold a command in earnest, and not only for the time of a grace.
bool holds(Reason reason) {
    return reason == Reason::kBudget || reason == Reason::kUncorrelatedRows ||
           reason == Reason::kQuarantine;
}

}  // namespace

Stage::Stage(Settings settings, const std::vector<Look>& looks, BrokerTime start)
    : settings_(std::move(settings)),
      looks_(looks),
      owners_(looks.size()),
      now_(start),
      state_(rows_) {
    record_.genesis = Genesis{JournalId({1, 1}), 1, PartitionNumber(0)};
    put_in_force(settings_);
}

void Stage::put_in_force(const Settings& settings) {
    record_.settings = settings;
    record_.settings_after = state_.meta.settings_at;
    flush();
    TRUEUP_CHECK(state_.halted.empty());  // the configuration was checked
}

void Stage::open() {
    for (std::size_t i = 0; i < looks_.size(); ++i) {
        ChangeView start;
        start.kind = ChangeKind::kIncarnationStart;
        start.source = looks_[i].source;
        owners_[i].token = add(topic_of(i), start);
        ChangeView owner;
        owner.kind = ChangeKind::kOwner;
        say(i, owner);
        list(i);
    }
    flush();
}

void Stage::wait(Millis length) {
    const BrokerTime end = now_ + length;
    while (now_ < end) {
        now_ = std::min(end, now_ + settings_.max_clock_step);
        prove();
    }
}

bool Stage::vouch() {
    bool any = false;
    for (std::size_t i = 0; i < looks_.size(); ++i) {
        for (const core::SourceState& source : state_.meta.sources) {
            if (source.name != looks_[i].source || source.quarantined_at == 0) continue;
            if (source.quarantine == core::Quarantine::kEmpty) continue;
            Request request;
            request.kind = RequestKind::kRelease;
            request.scope.source = source.name;
            ask(std::move(request));
            list(i);
            any = true;
            break;
        }
    }
    flush();
    return any;
}

void Stage::approve_all() {
    for (const char* because : {"uncorrelated_rows", "approval"}) {
        Request request;
        request.kind = RequestKind::kApprove;
        request.scope.reason = because;
        request.scope.finding_offset = state_.meta.applied;
        ask(std::move(request));
    }
    flush();
}

std::vector<Rehearsed::UnknownWords> Stage::unknown_words() const {
    std::vector<Rehearsed::UnknownWords> found;
    const std::vector<core::PlanTally>& tallies = state_.plan->tallies;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        const std::uint64_t objects = state_.meta.tallies[i];
        if (tallies[i].unlisted.role == kNoRole || objects == 0) continue;
        found.push_back(
            {tallies[i].label + "." + tallies[i].value, objects, words_of(tallies[i].unlisted)});
    }
    return found;
}

std::set<std::string> Stage::words_of(const core::FieldAt& at) const {
    const core::PlanField& field = state_.plan->roles[at.role].fields[at.field];
    std::set<std::string> words;
    for (const Look& look : looks_) {
        const auto source =
            std::find_if(settings_.sources.begin(), settings_.sources.end(),
                         [&](const SourceSettings& one) { return one.name == look.source; });
        if (source == settings_.sources.end() || source->role != at.role) continue;
        for (const Fact& fact : look.facts) {
            const auto said = ObjectView(fact.object).text(field.name);
            const bool listed =
                !said || std::binary_search(field.words.begin(), field.words.end(), *said);
            if (!listed && words.size() < Rehearsed::kMostWords) words.emplace(*said);
        }
    }
    return words;
}

Topic Stage::topic_of(std::size_t look) const {
    for (const SourceSettings& source : settings_.sources) {
        if (source.name == looks_[look].source) return source.topic;
    }
    TRUEUP_CHECK(false);  // looks are of the configuration's sources
}

Offset Stage::add(Topic topic, ItemView item) {
    Offset& end = ends_[topic];
    const Offset offset = std::exchange(end, next(end));
    item.topic = topic;
    item.prev_offset = previous(offset);
    item.offset = offset;
    item.append_time = now_;
    record_.items.push_back(std::move(item));
    if (record_.items.size() >= kMostItems) flush();
    return offset;
}

Offset Stage::add(Topic topic, const ChangeView& change) {
    ItemView item;
    item.body = change;
    return add(topic, std::move(item));
}

void Stage::say(std::size_t look, ChangeView change) {
    Owner& owner = owners_[look];
    change.source = looks_[look].source;
    change.incarnation = owner.token;
    change.seq = ++owner.seq;
    add(topic_of(look), change);
}

void Stage::list(std::size_t look) {
    const std::uint64_t epoch = ++owners_[look].epoch;
    for (const Fact& fact : looks_[look].facts) {
        ChangeView change;
        change.epoch = epoch;
        change.version = fact.version;
        switch (fact.kind) {
            case Fact::Kind::kSnapshotBegin:
                change.kind = ChangeKind::kSnapshotBegin;
                break;
            case Fact::Kind::kSnapshotEnd:
                change.kind = ChangeKind::kSnapshotEnd;
                change.count = change.total = looks_[look].objects();
                break;
            default:
                change.kind = ChangeKind::kUpsert;
                change.event_id = fact.event_id;
                change.object_id = fact.object_id;
                change.subject_key = fact.subject_key;
                change.source_time = fact.source_time;
                change.object = fact.object;
        }
        say(look, change);
    }
}

void Stage::prove() {
    for (std::size_t i = 0; i < looks_.size(); ++i) {
        ChangeView progress;
        progress.kind = ChangeKind::kProgress;
        progress.complete_as_of = now_;
        if (const std::optional<Millis>& ahead = looks_[i].clock_ahead) {
            progress.source_clock = from_millis<SourceTime>(to_millis(now_)) + *ahead;
        }
        say(i, progress);
    }
    flush();
}

void Stage::ask(Request request) {
    request.id = RequestId({2, ++requests_});
    request.issued_ms = to_millis(now_);
    request.issued_by = "plan";
    ItemView item;
    item.authentic = true;
    item.body = std::move(request);
    add(Topic::kRequests, std::move(item));
}

void Stage::flush() {
    do {
        record_.offset = next(state_.meta.applied);
        record_.append_time = now_;
        report_.clear();
        core::fold(state_, record_, report_);
        take_report();
        record_ = JournalView{};
    } while (report_.more_work);
}

void Stage::take_report() {
    for (const FindingEdge& edge : report_.findings) {
        if (edge.state == FindingState::kResolved) {
            found_.erase(edge.id);
            continue;
        }
        Found& found = found_[edge.id];
        found.edge = edge;
        if (holds(edge.reason)) found.holds.emplace(edge.reason, edge.reason_name());
    }
    for (const Command& command : report_.commands) {
        Found& found = found_[command.finding_id];
        if (found.command) continue;
        found.command = command;
        found.turn = ++turns_;
    }
}

}  // namespace trueup::apps
