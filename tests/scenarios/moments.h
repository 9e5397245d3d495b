// Moments of stories, to be looked at and changed: one subject, one rule, and all that the engine
// knew then. What a person would be told is asked of each with core::look_at.
#pragma once

#include "engine/core/look.h"
#include "engine/core/row.h"
#include "engine/core/why.h"
#include "engine/model/object_builder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace trueup::testing {

/// A state of its own with the subject, and what it refers to.
class Moment {
  public:
    Moment(const core::State& from, std::string key, std::string rule)
        : key_(std::move(key)), rule_(std::move(rule)) {
        core::adopt_meta(state_, from.meta);
        from.subjects.each_cached([&](const Subject& subject) {
            core::adopt_waits(state_, subject);
            if (subject.key == key_ || subject.reference()) {
                state_.subjects.at(subject.key).subject = subject;
            }
        });
        settle();
    }

    core::State& state() { return state_; }
    core::Meta& meta() { return state_.meta; }
    Subject& subject() { return state_.subjects.find(key_)->subject; }
    const std::string& rule() const { return rule_; }
    const core::Plan& plan() const { return *state_.plan; }

    /// As it was when the story was there.
    void restore() {
        state_.meta = meta_;
        state_.waits = waits_;
        std::vector<std::string> keys;
        state_.subjects.each_cached([&](const Subject& each) { keys.push_back(each.key); });
        for (const std::string& key : keys) {
            const auto known = subjects_.find(key);
            Subject& now = state_.subjects.find(key)->subject;
            now = known == subjects_.end() ? Subject{} : known->second;
            now.key = key;
        }
    }
    /// As it is now is how `restore` makes it again.
    void settle() {
        meta_ = state_.meta;
        waits_ = state_.waits;
        subjects_.clear();
        state_.subjects.each_cached([&](const Subject& each) { subjects_[each.key] = each; });
    }

    RuleTrace trace() {
        const auto look = core::look_at(state_, key_);
        for (const RuleTrace& each : look->why) {
            if (each.rule == rule_) return each;
        }
        return {};
    }

  private:
    core::NoRows rows_;
    core::State state_{rows_};
    std::string key_;
    std::string rule_;
    core::Meta meta_;
    core::Waits waits_;
    std::map<std::string, Subject> subjects_;
};

/// Contents that objects of a role have in stories.
using Pool = std::map<std::string, std::set<std::string>>;

inline std::string pool_of(const core::State& state, SourceId source) {
    const Role role = state.meta.settings.sources[source].role;
    if (role >= state.plan->roles.size()) return {};
    return state.meta.settings.policy + "/" + state.plan->roles[role].name;
}

/// Ways to change one fact that a trace names, and nothing else. `make(i)` makes the i-th of them;
/// false: there are no more.
class Change {
  public:
    Change(Moment& moment, const DecidingFact& fact, const Pool& pool)
        : moment_(moment), fact_(fact) {
        source_ = source_of(fact.source);
        if (fact.kind == DecidingFact::Kind::kField) values();
        const auto known = pool.find(moment.meta().settings.policy + "/" + fact.role);
        if (known != pool.end()) objects_.assign(known->second.begin(), known->second.end());
        objects_.emplace_back();
    }

    bool make(std::size_t i) {
        switch (fact_.kind) {
            case DecidingFact::Kind::kField:
                return set_field(i);
            case DecidingFact::Kind::kObject:
                return i == 0 && take_away();
            case DecidingFact::Kind::kNoObject:
                return put_one(i);
            case DecidingFact::Kind::kClaims:
                return claim(i);
            case DecidingFact::Kind::kSource:
                return i == 0 && hear();
            case DecidingFact::Kind::kClock:
                return i < 2 && set_clock(i);
            case DecidingFact::Kind::kTime:
                return i == 0 && wait();
            case DecidingFact::Kind::kTally:
                return i == 0 && count();
            case DecidingFact::Kind::kKept:
                return i == 0 && say();
        }
        return false;
    }

  private:
    SourceId source_of(const std::string& name) const {
        const auto& all = moment_.meta().sources;
        for (std::size_t id = 0; id < all.size(); ++id) {
            if (all[id].name == name) return static_cast<SourceId>(id);
        }
        return kNoSource;
    }

    Facet* facet() {
        const auto in = [&](Subject& subject) -> Facet* {
            for (Facet& facet : subject.facets) {
                if (facet.source == source_ && facet.object_id == fact_.object) return &facet;
            }
            return nullptr;
        };
        if (Facet* own = in(moment_.subject())) return own;
        Facet* found = nullptr;
        moment_.state().subjects.each_cached([&](const Subject& subject) {
            if (found == nullptr && subject.reference()) {
                found = in(moment_.state().subjects.find(subject.key)->subject);
            }
        });
        return found;
    }

    const core::PlanRole& role() const {
        return moment_.plan().roles[moment_.meta().settings.sources[source_].role];
    }

    /// Values that the field may have: those that a test knows, those of others, and odd ones.
    void values() {
        std::set<std::string> all{"true",
                                  "false",
                                  "0",
                                  "1",
                                  "5",
                                  "1000000",
                                  "odd",
                                  "2001-01-01 00:00:00+00",
                                  "2100-01-01 00:00:00+00"};
        for (const core::PlanField& field : role().fields) {
            if (field.name == fact_.name) all.insert(field.words.begin(), field.words.end());
        }
        for (const core::PlanTest& test : role().tests) {
            all.insert(test.values.begin(), test.values.end());
            for (const std::int64_t by : {-1, 0, 1}) all.insert(std::to_string(test.number + by));
        }
        for (const Facet& other : moment_.subject().facets) {
            other.fields().each([&](const Field& field) {
                if (field.value) all.insert(std::string(*field.value));
            });
        }
        all.erase(fact_.value);
        values_.assign(all.begin(), all.end());
    }

    bool set_field(std::size_t i) {
        if (i >= values_.size() + 3) return false;
        if (fact_.name == "failures" || fact_.name == "succeeded") return set_ends(i);
        Facet* changed = facet();
        if (changed == nullptr) return true;
        std::map<std::string, std::optional<std::string>> texts;
        std::set<std::string> unchanged;
        changed->fields().each([&](const Field& field) {
            const std::string name(field.name);
            texts[name] = field.value ? std::optional(std::string(*field.value)) : std::nullopt;
            if (field.unchanged) unchanged.insert(name);
        });
        unchanged.erase(fact_.name);
        texts[fact_.name] = i < values_.size() ? std::optional(values_[i]) : std::nullopt;
        if (i == values_.size() + 1) unchanged.insert(fact_.name);
        if (i == values_.size() + 2) texts.erase(fact_.name);
        ObjectBuilder made;
        for (const auto& [name, value] : texts) {
            if (unchanged.count(name) > 0) {
                made.add_unchanged(name);
            } else if (value) {
                made.add(name, *value);
            } else {
                made.add_null(name);
            }
        }
        changed->object = made.take();
        changed->answers = {};
        return true;
    }

    /// These are of the ledger: other ends than there were.
    bool set_ends(std::size_t i) {
        Subject& subject = moment_.subject();
        if (!subject.ledger) subject.ledger = Ledger{};
        const bool succeeded = i % 2 == 1;
        auto& entries = subject.ledger->entries;
        entries.clear();
        for (std::size_t failures = i / 2; failures > 0; --failures) {
            entries.push_back({"f" + std::to_string(failures), End::kFailed, {}});
        }
        if (succeeded) entries.push_back({"s", End::kSucceeded, {}});
        core::forget_answers(subject);
        return true;
    }

    bool take_away() {
        Facet* gone = facet();
        if (gone == nullptr) return false;
        gone->absence = Absence::kSwept;
        gone->object.clear();
        return true;
    }

    /// Of what is looked up by name: the reference of that name.
    Subject& subject_of_source() {
        if (!role().reference) return moment_.subject();
        return moment_.state().subjects.at("!" + fact_.source + "/" + fact_.name).subject;
    }

    /// One more object of the source, as some story has it.
    bool put_one(std::size_t i) {
        if (i >= objects_.size()) return false;
        Facet facet;
        facet.source = source_;
        facet.object_id = "another";
        facet.first_seen = facet.evidence = moment_.meta().broker_now;
        facet.offset = moment_.meta().applied;
        facet.object = objects_[i];
        auto& all = subject_of_source().facets;
        while (is_there(all, facet)) facet.object_id += 'z';
        const auto place = std::find_if(all.begin(), all.end(), [&](const Facet& each) {
            return each.source > source_ ||
                   (each.source == source_ && each.object_id >= facet.object_id);
        });
        all.insert(place, std::move(facet));
        return true;
    }

    /// As many as were claiming and one more, or one less.
    bool claim(std::size_t i) {
        std::vector<Facet*> theirs;
        for (Facet& each : moment_.subject().facets) {
            const Role number = moment_.meta().settings.sources[each.source].role;
            const bool same = each.present() && number < moment_.plan().roles.size() &&
                              moment_.plan().roles[number].name == fact_.role;
            if (same) theirs.push_back(&each);
        }
        if (i >= theirs.size() * 2) return two(i - theirs.size() * 2);
        Facet& one = *theirs[i / 2];
        if (i % 2 == 0) {
            one.absence = Absence::kSwept;
            return true;
        }
        Facet twin = one;
        auto& all = moment_.subject().facets;
        while (is_there(all, twin)) twin.object_id += 'z';
        all.insert(all.begin() + (&one - all.data()) + 1, std::move(twin));
        return true;
    }

    /// Two more of what some story has.
    bool two(std::size_t i) {
        for (SourceId id = 0; source_ == kNoSource && id < moment_.meta().sources.size(); ++id) {
            const Role number = moment_.meta().settings.sources[id].role;
            if (number >= moment_.plan().roles.size()) continue;
            if (moment_.plan().roles[number].name == fact_.role) source_ = id;
        }
        return source_ != kNoSource && put_one(i) && put_one(i);
    }

    static bool is_there(const std::vector<Facet>& all, const Facet& facet) {
        return std::any_of(all.begin(), all.end(), [&](const Facet& each) {
            return each.source == facet.source && each.object_id == facet.object_id;
        });
    }

    bool hear() {
        core::SourceState& source = moment_.meta().sources[source_];
        if (fact_.answer == DecidingFact::Answer::kYes) {
            source.known = false;
            source.complete_as_of = {};
            return true;
        }
        source.known = true;
        source.quarantine = core::Quarantine::kNone;
        source.on_trial = false;
        const BrokerTime heard = std::max(moment_.meta().broker_now, fact_.past + Millis{1});
        // Its own clock went on as long.
        source.source_clock += heard - source.complete_as_of;
        source.complete_as_of = heard;
        moment_.meta().broker_now = heard;
        return true;
    }

    /// Where its clock is right, or just behind the deadline.
    bool set_clock(std::size_t i) {
        core::SourceState& source = moment_.meta().sources[source_];
        const Millis past = fact_.past.time_since_epoch();
        source.source_clock = i == 0 ? SourceTime(past + Millis{1})
                                     : SourceTime(source.complete_as_of.time_since_epoch());
        return true;
    }

    bool wait() {
        moment_.meta().now += fact_.left.value_or(Millis{0}) + Millis{1};
        if (fact_.name == "window") moment_.meta().settings.windows.clear();
        if (fact_.name == "dropped ending") moment_.subject().aftermath->quiet_until = {};
        return true;
    }

    bool count() {
        core::Meta& meta = moment_.meta();
        for (std::size_t i = 0; i < moment_.plan().tallies.size(); ++i) {
            if (moment_.plan().tallies[i].name != fact_.name) continue;
            meta.tallies[i] = fact_.answer == DecidingFact::Answer::kYes ? 1 : 0;
        }
        if (fact_.answer != DecidingFact::Answer::kYes) meta.sweeps.clear();
        return true;
    }

    /// What the engine keeps itself.
    bool say() {
        core::Meta& meta = moment_.meta();
        Subject& subject = moment_.subject();
        const RuleNumber number = moment_.plan().rule(moment_.rule());
        RuleSettings& settings = meta.settings.rules[number.value()];
        const std::string& name = fact_.name;
        if (name == "mode") settings.mode = Mode::kEnforce;
        if (name == "hold") subject.held = false;
        if (name == "pause") meta.pauses.clear();
        if (name == "window") meta.settings.windows.clear();
        if (name == "outbox") meta.outbox = 0;
        if (name == "budget") {
            settings.budget = Budget{1'000'000, 100, Millis{300'000}};
            moment_.state().waits = core::Waits();
        }
        if (name == "request") {
            const std::string& wanted = moment_.plan().rules[number.value()].requested;
            const bool other = !subject.request || subject.request->name != wanted;
            if (other) subject.request = StandingRequest{wanted, "somebody", false, {}};
            subject.request->owners = false;
        }
        if (name == "recurring") subject.aftermath->mended.clear();
        if (name == "refusal") subject.aftermath->refusals.clear();
        if (name == "ending") {
            subject.ending.reset();
            if (subject.aftermath) subject.aftermath->ended.reset();
            for (Finding& each : subject.findings) each.command.reset();
        }
        if (name == "command" || name == "finding") {
            for (Finding& each : subject.findings) {
                each.command.reset();
                each.dismissed = false;
            }
        }
        if (name == "enabled")
            meta.enabling[number.value()].add(moment_.plan().rules[number.value()].text);
        if (name == "approval") approve(subject, number);
        return name != "step" && name != "key";
    }

    void approve(Subject& subject, RuleNumber rule) {
        const RuleTrace now = moment_.trace();
        for (Finding& each : subject.findings) {
            if (each.rule != rule || !now.draft) continue;
            each.proposal = core::hash_of(*now.draft);
            each.approved = true;
        }
    }

    Moment& moment_;
    const DecidingFact& fact_;
    SourceId source_ = kNoSource;
    std::vector<std::string> values_;
    std::vector<std::string> objects_;
};

}  // namespace trueup::testing
