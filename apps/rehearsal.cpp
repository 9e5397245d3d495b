#include "apps/rehearsal.h"

#include "engine/base/check.h"
#include "engine/core/fold.h"
#include "engine/core/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace trueup::apps {

namespace {

constexpr std::size_t kMostItems = 2'000;  // of one record
constexpr Millis kForEver = std::chrono::hours(24 * 365);
constexpr std::uint64_t kMostWrong = 10;  // so many may be wrong, whatever share of all they are

/// What would hold a command in earnest, and not only for the time of a grace.
bool holds(Reason reason) {
    return reason == Reason::kBudget || reason == Reason::kUncorrelatedRows ||
           reason == Reason::kQuarantine;
}

/// As configured, but that every rule acts which is judged, and nothing is over before it is seen.
Settings enforced(Settings settings, bool whatever_is_shown) {
    for (RuleSettings& rule : settings.rules) {
        if (rule.mode != Mode::kOff) rule.mode = Mode::kEnforce;
    }
    // An empty first list is to be gone by here: it is what the answer is about.
    if (whatever_is_shown) {
        for (SourceSettings& source : settings.sources) source.at_least = 0;
    }
    settings.enabled_by = "plan";
    settings.windows.clear();
    settings.reconcile_every = Millis{0};
    settings.command_ttl = settings.emit_again = kForEver;
    settings.max_outbox = std::numeric_limits<std::uint32_t>::max();
    return settings;
}

Settings without_budgets(Settings settings) {
    for (RuleSettings& rule : settings.rules) {
        rule.budget.max = std::numeric_limits<std::uint32_t>::max();
    }
    return settings;
}

/// Beyond it every grace and every create window is over.
Millis horizon(const Settings& settings) {
    Millis longest{0};
    for (const RuleSettings& rule : settings.rules) {
        if (rule.mode != Mode::kOff) longest = std::max(longest, rule.grace + rule.create_window);
    }
    return longest + settings.max_broker_skew + 3 * settings.max_clock_step;
}

/// A shard's fold over records that are made here.
class Stage {
  public:
    Stage(Settings settings, const std::vector<Look>& looks, BrokerTime start)
        : settings_(std::move(settings)),
          looks_(looks),
          owners_(looks.size()),
          now_(start),
          state_(rows_) {
        record_.genesis = Genesis{JournalId({1, 1}), 1, PartitionNumber(0)};
        put_in_force(settings_);
    }

    void put_in_force(const Settings& settings) {
        record_.settings = settings;
        flush();
        TRUEUP_CHECK(state_.halted.empty());  // the configuration was checked
    }

    /// Each source begins, and lists what it has.
    void open() {
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

    /// Time passes, and every source proves itself all the while.
    void wait(Millis length) {
        const BrokerTime end = now_ + length;
        while (now_ < end) {
            now_ = std::min(end, now_ + settings_.max_clock_step);
            prove();
        }
    }

    /// An operator vouches for what a quarantined source listed. False: none is quarantined.
    bool vouch() {
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

    void approve_all() {
        for (const char* because : {"uncorrelated_rows", "approval"}) {
            Request request;
            request.kind = RequestKind::kApprove;
            request.scope.reason = because;
            request.scope.finding_offset = state_.meta.applied;
            ask(std::move(request));
        }
        flush();
    }

    struct Found {
        FindingEdge edge;
        std::optional<Command> command;
        std::size_t turn = 0;    ///< the how-manieth command it got
        std::set<Reason> holds;  ///< that held it at some time
    };
    const std::map<FindingId, Found>& found() const { return found_; }

    std::vector<Rehearsed::UnknownWords> unknown_words() const {
        std::vector<Rehearsed::UnknownWords> found;
        const std::vector<core::PlanTally>& tallies = state_.plan->tallies;
        for (std::size_t i = 0; i < tallies.size(); ++i) {
            const std::uint64_t objects = state_.meta.tallies[i];
            if (tallies[i].unlisted.role == kNoRole || objects == 0) continue;
            found.push_back({tallies[i].label + "." + tallies[i].value, objects,
                             words_of(tallies[i].unlisted)});
        }
        return found;
    }

  private:
    /// Those of a field that the policy does not list.
    std::set<std::string> words_of(const core::FieldAt& at) const {
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

    struct Owner {
        Incarnation token = kNoOffset;
        std::uint64_t seq = 0;
        std::uint64_t epoch = 0;
    };

    Topic topic_of(std::size_t look) const {
        for (const SourceSettings& source : settings_.sources) {
            if (source.name == looks_[look].source) return source.topic;
        }
        TRUEUP_CHECK(false);  // looks are of the configuration's sources
    }

    Offset add(Topic topic, ItemView item) {
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

    Offset add(Topic topic, const ChangeView& change) {
        ItemView item;
        item.body = change;
        return add(topic, std::move(item));
    }

    void say(std::size_t look, ChangeView change) {
        Owner& owner = owners_[look];
        change.source = looks_[look].source;
        change.incarnation = owner.token;
        change.seq = ++owner.seq;
        add(topic_of(look), change);
    }

    void list(std::size_t look) {
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

    void prove() {
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

    void ask(Request request) {
        request.id = RequestId({2, ++requests_});
        request.issued_ms = to_millis(now_);
        request.issued_by = "plan";
        ItemView item;
        item.authentic = true;
        item.body = std::move(request);
        add(Topic::kRequests, std::move(item));
    }

    /// Folds what was put together, and goes on for as long as there is work left of it.
    void flush() {
        do {
            record_.offset = next(state_.meta.applied);
            record_.append_time = now_;
            report_.clear();
            core::fold(state_, record_, report_);
            take_report();
            record_ = JournalView{};
        } while (report_.more_work);
    }

    void take_report() {
        for (const FindingEdge& edge : report_.findings) {
            if (edge.state == FindingState::kResolved) {
                found_.erase(edge.id);
                continue;
            }
            Found& found = found_[edge.id];
            found.edge = edge;
            if (holds(edge.reason)) found.holds.insert(edge.reason);
        }
        for (const Command& command : report_.commands) {
            Found& found = found_[command.finding_id];
            if (found.command) continue;
            found.command = command;
            found.turn = ++turns_;
        }
    }

    Settings settings_;
    const std::vector<Look>& looks_;
    std::vector<Owner> owners_;
    std::map<Topic, Offset> ends_;  ///< the offset that the next item gets
    BrokerTime now_;
    core::NoRows rows_;
    core::State state_;
    JournalView record_;
    core::FoldReport report_;
    std::map<FindingId, Found> found_;
    std::size_t turns_ = 0;
    std::uint64_t requests_ = 0;
};

/// The rule's place in the settings, which have it.
RuleNumber number_of(const Settings& settings, std::string_view rule) {
    std::uint8_t number = 0;
    while (settings.rules[number].rule != rule) ++number;
    return RuleNumber(number);
}

Proposal proposal_of(const Stage::Found& found, const Settings& settings, bool in_window) {
    Proposal proposal;
    proposal.rule = found.edge.rule;
    proposal.subject = found.edge.subject;
    proposal.object_id = found.edge.object_id;
    const RuleNumber number = number_of(settings, proposal.rule);
    for (const policy::Rule& rule : settings.text->rules) {
        if (rule.name == proposal.rule) proposal.finds = rule.finds;
    }
    if (!found.command) {
        proposal.held = {std::string(name_of(found.edge.reason))};
        return proposal;
    }
    proposal.command = found.command->draft;
    const Mode mode = settings.rules[number.value()].mode;
    if (mode != Mode::kEnforce) proposal.held.push_back(fmt::format("mode {}", name_of(mode)));
    if (!in_window) proposal.held.emplace_back(name_of(Reason::kWindow));
    for (const Reason reason : found.holds) proposal.held.emplace_back(name_of(reason));
    return proposal;
}

std::uint64_t subjects_of(const std::vector<Look>& looks) {
    std::set<std::string_view> keys;
    for (const Look& look : looks) {
        for (const Fact& fact : look.facts) {
            const bool names_one = !fact.subject_key.empty() && fact.subject_key.front() != '!';
            if (names_one) keys.insert(fact.subject_key);
        }
    }
    return keys.size();
}

/// From the first lists to beyond every grace.
Stage played(const Settings& acting, const std::vector<Look>& looks, BrokerTime now) {
    const Millis length = horizon(acting);
    Stage stage(acting, looks, now - 2 * length);
    stage.open();
    stage.wait(length);
    stage.vouch();
    stage.wait(length);
    stage.put_in_force(without_budgets(acting));
    stage.approve_all();
    return stage;
}

/// A disagreement: its rule, subject and object.
using Case = std::tuple<std::string, std::string, std::string>;

/// About which of them something is done.
std::set<Case> ordered(const Settings& acting, const std::vector<Look>& looks, BrokerTime now) {
    std::set<Case> cases;
    const Stage stage = played(acting, looks, now);
    for (const auto& [id, each] : stage.found()) {
        if (each.command) cases.insert({each.edge.rule, each.edge.subject, each.edge.object_id});
    }
    return cases;
}

std::vector<Rehearsed::TooFew> too_few(const Settings& settings, const std::vector<Look>& looks) {
    std::vector<Rehearsed::TooFew> found;
    for (const Look& look : looks) {
        for (const SourceSettings& source : settings.sources) {
            const bool enough = look.objects() >= source.at_least;
            if (source.name != look.source || source.role == kNoRole || enough) continue;
            found.push_back({source.name, look.objects(), source.at_least});
        }
    }
    return found;
}

}  // namespace

std::uint64_t Rehearsed::of_rule(std::string_view rule) const {
    return static_cast<std::uint64_t>(
        std::count_if(proposals.begin(), proposals.end(),
                      [&](const Proposal& proposal) { return proposal.rule == rule; }));
}

std::string Rehearsed::UnknownWords::text() const {
    return fmt::format(
        "{} objects have a word in {} that the policy does not list ({}) and that may mean "
        "anything: what depends on it waits (unknown_word)",
        objects, field, fmt::join(words, ", "));
}

bool Rehearsed::mostly_wrong() const { return wrong > kMostWrong && 2 * wrong > subjects; }

Rehearsed rehearse(const Settings& settings, const std::vector<Look>& looks, BrokerTime now) {
    const Stage stage = played(enforced(settings, true), looks, now);
    std::vector<const Stage::Found*> found;
    for (const auto& [id, each] : stage.found()) found.push_back(&each);
    std::sort(found.begin(), found.end(), [&](const auto* a, const auto* b) {
        const auto place = [&](const Stage::Found& one) {
            return std::tuple(number_of(settings, one.edge.rule), !one.command, one.turn,
                              std::string_view(one.edge.subject));
        };
        return place(*a) < place(*b);
    });
    const std::optional<Millis> opens = core::opens_in(settings.windows, now);
    Rehearsed result;
    result.subjects = subjects_of(looks);
    std::set<std::string_view> wrong;
    for (const Stage::Found* each : found) {
        result.proposals.push_back(proposal_of(*each, settings, opens && *opens == Millis{0}));
        if (each->command) wrong.insert(each->edge.subject);
    }
    result.wrong = wrong.size();
    result.too_few = too_few(settings, looks);
    result.unknown_words = stage.unknown_words();
    if (!result.quarantined()) return result;
    const std::set<Case> go =
        result.mostly_wrong() ? std::set<Case>() : ordered(enforced(settings, false), looks, now);
    const std::string quarantine(name_of(Reason::kQuarantine));
    for (Proposal& proposal : result.proposals) {
        std::vector<std::string>& held = proposal.held;
        const bool said = std::find(held.begin(), held.end(), quarantine) != held.end();
        const bool goes = go.count({proposal.rule, proposal.subject, proposal.object_id}) != 0;
        if (proposal.command && !said && !goes) held.push_back(quarantine);
    }
    return result;
}

}  // namespace trueup::apps
