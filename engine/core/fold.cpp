#include "engine/core/fold.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/core/budget.h"
#include "engine/core/command_id.h"
#include "engine/core/fold_run.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace trueup::core {

void FoldReport::clear() {
    findings.clear();
    commands.clear();
    gaps.clear();
    parked.clear();
    wants_epoch.clear();
    more_work = false;
}

namespace {

/// What follows on "journal offset 5"; empty: this build has that logic.
std::string flaw_of_logic(std::uint32_t logic, std::uint32_t newest) {
    if (logic >= kOldestLogic && logic <= newest) return {};
    const std::string oldest = kOldestLogic == newest ? "" : std::to_string(kOldestLogic) + " to ";
    return " puts logic version " + std::to_string(logic) +
           " in force, and this build has version " + oldest + std::to_string(newest) +
           ": use the build that has it, or begin a new journal";
}

}  // namespace

namespace {

/// Of which rule of their policy these settings say nothing; empty: of none.
std::string flaw_of_rules(const Settings& settings) {
    for (const policy::Rule& rule : settings.text->rules) {
        const bool said =
            std::any_of(settings.rules.begin(), settings.rules.end(),
                        [&](const RuleSettings& each) { return each.rule == rule.name; });
        if (said) continue;
        return " puts the policy '" + settings.text->name +
               "' in force, and says nothing of its rule " + rule.name;
    }
    return {};
}

/// Why this build cannot go by these settings, which it compiles into `plan` and numbers; empty: it
/// can.
std::string flaw_of(const Settings& settings, std::uint32_t newest, std::uint32_t number,
                    std::shared_ptr<const Plan>& plan) {
    if (std::string logic = flaw_of_logic(settings.logic, newest); !logic.empty()) return logic;
    if (!settings.text) return " puts no policy in force";
    const std::string policy = " puts the policy '" + settings.text->name + "' in force";
    for (std::size_t i = 0; i < std::min(settings.text->roles.size(), kMostRoles); ++i) {
        const policy::Role& role = settings.text->roles[i];
        const bool played = settings.source(static_cast<Role>(i)) != kNoSource;
        if (!played && !role.optional) return " names no source of " + role.name;
    }
    Result<Plan> compiled = compile(*settings.text, settings);
    if (!compiled) return policy + ", which this build cannot read: " + compiled.error().what;
    if (std::string flaw = flaw_of_rules(settings); !flaw.empty()) return flaw;
    for (std::size_t i = 0; i < settings.rules.size(); ++i) {
        if (settings.rules[i].mode == Mode::kOff || compiled->rules[i].unable.empty()) continue;
        return policy + " with " + settings.rules[i].rule + " switched on, and " +
               compiled->rules[i].unable;
    }
    for (const SourceSettings& source : settings.sources) {
        if (source.role == kNoRole || source.role < compiled->roles.size()) continue;
        return " gives " + source.name + " a role that the policy does not have";
    }
    compiled->number = number;
    plan = std::make_shared<const Plan>(std::move(*compiled));
    return {};
}

}  // namespace

std::string flaw_of(const Settings& settings, std::uint32_t newest) {
    std::shared_ptr<const Plan> plan;
    return flaw_of(settings, newest, 0, plan);
}

void adopt_meta(State& state, Meta meta) {
    state.meta = std::move(meta);
    state.meta.enabling.resize(state.meta.settings.rules.size());
    state.plan = nullptr;
    if (!state.meta.settings.text) return;
    const std::string flaw =
        flaw_of(state.meta.settings, state.newest_logic, ++state.plans, state.plan);
    if (!flaw.empty()) state.halted = "the journal of these rows" + flaw;
}

void adopt_waits(State& state, const Subject& subject) {
    for (const Wait& wait : subject.waits) state.waits.add(subject.key, wait);
}

void fold(State& state, const JournalView& record, FoldReport& report) {
    TRUEUP_CHECK(record.offset > state.meta.applied);
    if (!state.halted.empty()) return;
    FoldRun(state, record, report).run();
}

void FoldRun::run() {
    advance_time();
    if (record_.genesis) take_genesis(*record_.genesis);
    if (record_.settings) take_settings(*record_.settings);
    if (!state_.halted.empty()) return;
    take_items();
    if (state_.plan != nullptr) {
        budget_ = meta_.settings.sweep_step;
        tend_pass();
        tend_trial();
        judge_dependents();
        sweep_step();
        // What wakes has news as a rule, and telling them takes longer than a look.
        budget_ = std::min(budget_, std::max(meta_.settings.sweep_step / 2, 1U));
        wake();
        // Judged at the end and once each, so that no verdict of this record leans on half of it.
        for (std::size_t i = 0; i < marked_.size(); ++i) judge(*marked_[i]);
        for (Entry* entry : marked_) collect(*entry);
        end_trial();
        judge_dependents();  // of references that a sweep changed
    }
    for (SourceId id = 0; id < source_count(); ++id) {
        const SourceState& source = meta_.sources[id];
        const bool unwell = source.hole || unknown_by(source.quarantine);
        if (unwell && !source.open) report_.wants_epoch.push_back(id);
    }
    meta_.applied = record_.offset;
    meta_.record = record_.digest;
}

/// Some items at a time, so that the subjects of all of them are on their way from memory at once.
void FoldRun::take_items() {
    constexpr std::size_t kGroup = SubjectTable::kMostAhead;
    std::array<std::string_view, kGroup> keys;
    const std::span<const ItemView> items(record_.items);
    for (std::size_t from = 0; from < items.size(); from += kGroup) {
        const auto group = items.subspan(from, std::min(kGroup, items.size() - from));
        std::size_t count = 0;
        for (const ItemView& item : group) {
            const auto* change = std::get_if<ChangeView>(&item.body);
            if (change != nullptr && !change->subject_key.empty()) {
                keys[count++] = change->subject_key;
            }
        }
        state_.subjects.prefetch(std::span(keys).first(count));
        for (const ItemView& item : group) take_item(item);
    }
}

/// Journal time is watched time: a step that is longer than max_clock_step was not watched, so it
/// counts as max_clock_step only, nothing that was proven before it is fresh any more (design
/// §4.8), and create windows begin anew at its end (docs/adr/0020).
void FoldRun::advance_time() {
    const BrokerTime before = meta_.broker_now;
    const bool first = before == BrokerTime{};
    const Millis step = first ? Millis{0} : Millis(record_.append_time - before);
    const Millis longest = meta_.settings.max_clock_step;
    const bool unwatched = step < Millis{0} || (step > longest && TRUEUP_GUARD("max_clock_step"));
    if (unwatched) {
        ++meta_.counters.clamped_steps;
        for (SourceState& source : meta_.sources) source.complete_as_of = BrokerTime{};
        meta_.now += step < Millis{0} ? Millis{0} : longest;
        if (TRUEUP_GUARD("window_is_watched")) {
            meta_.watched_since = std::max(before, record_.append_time);
        }
    } else {
        meta_.now += step;
    }
    meta_.broker_now = std::max(before, record_.append_time);
}

void FoldRun::take_genesis(const Genesis& genesis) {
    // Two engines may both have written one to an empty journal; the first one counts.
    if (!meta_.journal_id.none()) return;
    meta_.journal_id = genesis.journal_id;
    meta_.partitions = genesis.partitions;
    meta_.shard = genesis.shard;
}

namespace {

/// The numbers, a byte each, of the rules that mean something else than before.
std::string changed_rules(const Plan& before, const Plan& after) {
    std::string numbers;
    for (std::size_t i = 0; i < before.rules.size(); ++i) {
        if (before.rules[i].text != after.rules[i].text) numbers += static_cast<char>(i);
    }
    return numbers;
}

}  // namespace

/// Of sources that left, and of those whose objects are filed by another key now: that is another
/// view of the world, until it was listed anew.
void FoldRun::forget_other_views(const Settings& former, const Settings& ours, bool other_text) {
    const auto known = static_cast<SourceId>(former.sources.size());
    for (SourceId id = 0; id < known; ++id) {
        const bool leaves = former.sources[id].role != kNoRole && ours.sources[id].role == kNoRole;
        if (leaves && TRUEUP_GUARD("who_left_says_nothing")) forget_source(id);
    }
    for (SourceId id = 0; other_text && id < known; ++id) {
        const Role role = ours.sources[id].role;
        if (role == kNoRole || role >= former.text->roles.size()) continue;
        if (former.text->roles[role].key == ours.text->roles[role].key) continue;
        forget_source(id);
        report_.wants_epoch.push_back(id);
    }
}

void FoldRun::take_settings(const Settings& settings) {
    // An engine of the build before that has not read on yet: it halts when it does.
    const Settings& former = meta_.settings;
    if (settings.logic < former.logic && former.text) return;
    Settings ours = settings;
    ours.rules = numbered(settings.rules);
    std::vector<SourceState> sources = meta_.sources;
    ours.sources = numbered(settings.sources, sources);
    std::shared_ptr<const Plan> plan;
    std::string flaw = flaw_of(ours, state_.newest_logic, ++state_.plans, plan);
    // A rule that is known from before is off where nothing is said of it: that hides it there.
    if (flaw.empty()) flaw = flaw_of_rules(settings);
    if (!flaw.empty()) {
        state_.halted = "journal offset " + std::to_string(record_.offset) + flaw;
        return;
    }
    meta_.sources = std::move(sources);
    const std::shared_ptr<const Plan> former_plan = std::exchange(state_.plan, std::move(plan));
    meta_.rules.resize(ours.rules.size());
    meta_.enabling.resize(ours.rules.size());
    if (ours == former) return;
    if (ours.reconcile_every != former.reconcile_every)
        meta_.pass.next = meta_.now + ours.reconcile_every;
    std::string changed =
        former_plan == nullptr ? std::string() : changed_rules(*former_plan, *state_.plan);
    const bool other = former.text && (ours.text != former.text || !changed.empty());
    forget_other_views(former, ours, other);
    meta_.settings = std::move(ours);
    if (former_plan != nullptr) note_texts(*former_plan, changed);
    enable_by_settings();
    if (!other) return judge_all();  // once under the new settings
    // What the new text compares may have changed a moment ago without being news to the old one.
    if (TRUEUP_GUARD("window_of_a_new_text")) meta_.watched_since = meta_.broker_now;
    // What is counted is another thing, and so is what a rule of the same name finds.
    Sweep sweep;
    sweep.what = Sweep::What::kPolicy;
    sweep.changed = std::move(changed);
    sweep.since = meta_.now;
    meta_.sweeps.push_back(std::move(sweep));
}

/// The rules by their numbers, which they keep for ever: findings are filed under them. One that
/// left the policy is off.
std::vector<RuleSettings> FoldRun::numbered(const std::vector<RuleSettings>& listed) const {
    std::vector<RuleSettings> rules;
    const auto in = [](const std::vector<RuleSettings>& all, const std::string& name) {
        return std::find_if(all.begin(), all.end(),
                            [&](const RuleSettings& each) { return each.rule == name; });
    };
    for (const RuleSettings& known : meta_.settings.rules) {
        const auto wanted = in(listed, known.rule);
        rules.push_back(wanted == listed.end() ? known : *wanted);
        if (wanted == listed.end()) rules.back().mode = Mode::kOff;
    }
    for (const RuleSettings& each : listed) {
        if (in(rules, each.rule) == rules.end()) rules.push_back(each);
    }
    return rules;
}

/// The sources by their numbers, which they keep for ever: facets are filed under them. One that is
/// not listed any more plays no role. New ones are added to `states`.
std::vector<SourceSettings> FoldRun::numbered(const std::vector<SourceSettings>& listed,
                                              std::vector<SourceState>& states) const {
    for (const SourceSettings& wanted : listed) {
        const bool known =
            std::any_of(states.begin(), states.end(),
                        [&](const SourceState& source) { return source.name == wanted.name; });
        if (known) continue;
        SourceState fresh;
        fresh.name = wanted.name;
        fresh.topic = wanted.topic;
        fresh.unknown_since = meta_.broker_now;
        states.push_back(std::move(fresh));
    }
    std::vector<SourceSettings> sources;
    for (const SourceState& source : states) {
        const auto wanted =
            std::find_if(listed.begin(), listed.end(),
                         [&](const SourceSettings& s) { return s.name == source.name; });
        sources.push_back({source.name, source.topic, kNoRole, {}});
        if (wanted == listed.end()) continue;
        sources.back().role = wanted->role;
        sources.back().scope = wanted->scope;
        sources.back().at_least = wanted->at_least;
        sources.back().selects = wanted->selects;
    }
    return sources;
}

/// Has every subject judged, some with each record.
void FoldRun::judge_all() {
    // One that has not begun yet will do.
    const bool waiting =
        std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
            return sweep.what == Sweep::What::kJudgement && sweep.cursor.empty();
        });
    if (!waiting) meta_.sweeps.push_back({});
}

void FoldRun::take_item(const ItemView& item) {
    std::int64_t& last = meta_.last[static_cast<std::size_t>(item.topic)];
    if (item.offset <= last && TRUEUP_GUARD("duplicate_dropped")) {
        ++meta_.counters.duplicates;
        return;
    }
    if (item.prev_offset > last && TRUEUP_GUARD("gap_not_folded")) {
        ++meta_.counters.gaps;
        const Gap gap{item.topic, last};
        if (std::find(report_.gaps.begin(), report_.gaps.end(), gap) == report_.gaps.end()) {
            report_.gaps.push_back(gap);
        }
        return;
    }
    last = std::max(last, item.offset);
    ++meta_.counters.items;
    meta_.chain = extend_chain(meta_.chain, item.topic, item.offset, item.bytes);
    if (const auto* change = std::get_if<ChangeView>(&item.body)) {
        take_change(item, *change);
    } else if (const auto* outcome = std::get_if<Outcome>(&item.body)) {
        take_outcome(item, *outcome);
    } else if (const auto* request = std::get_if<Request>(&item.body)) {
        take_request(item, *request);
    } else if (!item.bytes.empty()) {  // an empty record is an executor's heartbeat
        park(item, std::get<Undecodable>(item.body).reason);
    }
}

void FoldRun::park(const ItemView& item, std::string reason) {
    ++meta_.counters.parked;
    report_.parked.push_back({item.topic, item.offset, std::move(reason), std::string(item.bytes)});
}

FoldRun::Entry* FoldRun::find(std::string_view key) { return state_.subjects.find(key); }

/// Has the subject judged at the end of this record. Epochs that are still on their way over the
/// subjects count for it at once.
void FoldRun::mark(Entry& entry) {
    if (!entry.marked) {
        entry.marked = true;
        marked_.push_back(&entry);
    }
    apply_sweeps(entry);
    count(entry);
}

/// What the plan's conditions make of the subject now.
void FoldRun::look(Entry& entry, Facts& facts) {
    keep_answers(*state_.plan, meta_.settings, entry.subject);
    look_at(*state_.plan, entry.subject, meta_.settings, meta_.sources, facts);
}

/// Keeps the policy's tallies: what the subject counts for now in place of what it counted before.
void FoldRun::count(Entry& entry) {
    if (state_.plan == nullptr) return;
    look(entry, counted_);
    const Tally now = tally_of(*state_.plan, entry.subject, counted_);
    Tally& before = entry.subject.counted;
    if (now == before) return;
    for (std::size_t i = 0; i < now.size(); ++i) {
        meta_.tallies[i] = meta_.tallies[i] + now[i] - before[i];
    }
    before = now;
    state_.subjects.mark_dirty(entry);
}

/// Whoever needs this object is to be judged again.
void FoldRun::note_reference(const Entry& entry, SourceId id) {
    if (!entry.subject.reference() || state_.plan == nullptr) return;
    const Role role = meta_.settings.sources[id].role;
    if (role != kNoRole && state_.plan->roles[role].reference) reference_changed_ = true;
}

void FoldRun::judge_dependents() {
    if (!std::exchange(reference_changed_, false)) return;
    judge_all();
    report_.more_work = true;
}

const Subject& FoldRun::about(SourceId source, std::string_view name) {
    TRUEUP_CHECK(source < meta_.sources.size());
    std::string key = "!";
    key += meta_.sources[source].name;
    key += '/';
    key += name;
    Entry* entry = find(key);
    if (entry == nullptr) return nobody_;
    apply_sweeps(*entry);
    return entry->subject;
}

bool FoldRun::counting() const {
    return std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
        return sweep.what == Sweep::What::kEpoch || sweep.what == Sweep::What::kPolicy;
    });
}

/// Marks them, and takes the names away.
void FoldRun::rouse(std::vector<std::string>& keys) {
    state_.subjects.read_ahead(keys);
    for (const std::string& key : keys) {
        Entry* entry = find(key);
        if (entry == nullptr) continue;
        entry->woken = true;
        mark(*entry);
    }
    keys.clear();
}

/// Marks the subjects whose wait is over, as many as the budget of this record allows.
void FoldRun::wake() {
    std::vector<std::string> keys;
    const auto take = [&](auto&& next) {
        for (; budget_ > 0; --budget_) {
            std::optional<std::string> key = next();
            if (!key) return;
            keys.push_back(*std::move(key));
        }
        report_.more_work = true;
    };
    take([&] { return state_.waits.take_due(meta_.now); });
    for (SourceId id = 0; id < source_count(); ++id) {
        take([&] { return state_.waits.take_seen(id, meta_.sources[id].complete_as_of); });
    }
    const auto rules = static_cast<std::uint8_t>(meta_.rules.size());
    for (std::uint8_t number = 0; number < rules; ++number) {
        const RuleNumber rule(number);
        std::uint64_t room = left_of(meta_.settings.rules[rule.value()].budget,
                                     meta_.rules[rule.value()].spending, meta_);
        take([&] {
            return room-- > 0 ? state_.waits.take_turn(rule) : std::optional<std::string>();
        });
    }
    rouse(keys);
    if (counting()) return;
    const auto tallies = static_cast<TallyId>(state_.plan->tallies.size());
    for (TallyId tally = 0; tally < tallies; ++tally) {
        if (meta_.tallies[tally] != 0) continue;
        take([&] { return state_.waits.take_none_of(tally); });
    }
    rouse(keys);
}

}  // namespace trueup::core
