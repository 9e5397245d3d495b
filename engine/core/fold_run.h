// The inside of one `fold` call, split by subject over several source files. Not for other users.
#pragma once

#include "engine/core/brake.h"
#include "engine/core/ending.h"
#include "engine/core/fold.h"

#include <vector>

namespace trueup::core {

Reason reason_of(OutcomeKind kind);

class FoldRun {
  public:
    FoldRun(State& state, const JournalView& record, FoldReport& report)
        : state_(state), meta_(state.meta), record_(record), report_(report) {}

    void run();

    /// For who asks, too (core/why.h): what the fold holds an act by.
    Brake brake_on(const Subject& subject, const Finding& finding, const Verdict& verdict) const;

  private:
    using Entry = SubjectTable::Entry;

    SourceId source_count() const { return static_cast<SourceId>(meta_.sources.size()); }

    // fold.cpp: the record
    void advance_time();
    void take_genesis(const Genesis& genesis);
    void take_items();
    void take_item(const ItemView& item);
    void park(const ItemView& item, std::string reason);
    void wake();
    void rouse(std::vector<std::string>& keys);
    Entry* find(std::string_view key);
    void mark(Entry& entry);
    void look(Entry& entry, Facts& facts);
    void count(Entry& entry);
    void judge_all();
    void begin_anew(Entry& entry, const Sweep& sweep);
    void note_reference(const Entry& entry, SourceId id);
    void judge_dependents();
    const Subject& about(SourceId source, std::string_view name);
    bool counting() const;
    References references();

    // settings.cpp: settings that come into force
    void forget_other_views(const Settings& former, const Settings& ours, bool other_text);
    void take_settings(const Settings& settings);
    std::vector<SourceSettings> numbered(const std::vector<SourceSettings>& listed,
                                         std::vector<SourceState>& states) const;
    std::vector<RuleSettings> numbered(const std::vector<RuleSettings>& listed) const;

    // sources.cpp: who owns a source, what it has proven
    SourceId source_of(const ItemView& item, const ChangeView& change);
    bool owned(SourceState& source, const ChangeView& change);
    void break_source(SourceState& source);
    void begin_epoch(SourceState& source, const ChangeView& change);
    void end_epoch(SourceId id, const ChangeView& change);
    void take_progress(SourceState& source, const ItemView& item, const ChangeView& change);
    void forget_source(SourceId id);

    // trust.cpp: epochs that may be the answer to a wrong question
    bool believable(SourceId id, const OpenEpoch& epoch, const ChangeView& change);
    void trust(SourceId id, const OpenEpoch& epoch);
    void tend_trial();
    void end_trial();
    bool in_doubt() const;

    // evolve.cpp: what is said of one object
    void take_change(const ItemView& item, const ChangeView& change);
    Entry& subject_of(std::string_view key);
    Facet& facet_of(Entry& entry, SourceId id, const ItemView& item, std::string_view object_id);
    void upsert(SourceId id, const ItemView& item, const ChangeView& change);
    void same(SourceId id, const ItemView& item, const ChangeView& change);
    const Facet* known_facet(SourceId id, const ChangeView& change);
    std::optional<std::uint64_t> said(const Entry& entry, const Facet& facet) const;
    void refresh(Entry& entry, Facet& facet, SourceId id, const ItemView& item,
                 const ChangeView& change);
    void count_in(Facet& facet, SourceId id);
    void begin_anew(Entry& entry, Facet& facet, const ItemView& item);
    void remove(SourceId id, const ItemView& item, const ChangeView& change);

    // sweep.cpp: complete epochs on their way over the subjects
    void sweep_step();
    void apply_sweeps(Entry& entry);
    void collect(Entry& entry);

    // requests.cpp: what operators ask
    struct Answer {
        bool granted = false;
        std::string sentence;
    };
    void take_request(const ItemView& item, const Request& request);
    Answer answer(const ItemView& item, const Request& request);
    Answer grant(const ItemView& item, const Request& request);
    /// Why nobody can have seen that journal offset; empty: somebody can.
    std::string not_yet_written(Offset seen) const;
    Answer hold(const Request& request, bool held);
    Answer release_source(const Request& request);
    Answer pause(const ItemView& item, const Request& request);
    Answer resume(const Request& request);
    Answer relist(const Request& request);
    Answer no_such_source(const Request& request) const;
    Answer make_request(const Request& request);
    std::string may_not_ask(Entry& entry, const Request& request, const PlanRule& rule);
    std::string being_ended(const Subject& subject) const;
    Answer join_ending(Entry& entry, RuleNumber rule);
    RuleNumber rule_for(std::string_view name) const;
    Answer no_such_request(const Request& request) const;
    bool paused(RuleNumber rule) const;

    // approvals.cpp: what they say of findings
    Answer approve(const Request& request);
    Answer approve_all(const Request& request, RuleNumber rule);
    std::uint32_t approve(Entry& entry, const Approval& approval, std::optional<FindingId> only);
    Answer dismiss(const Request& request);
    void dismiss(Entry& entry, Finding& finding);
    std::string withdraw(Entry& entry, RuleNumber rule, const std::optional<FindingId>& id);
    Answer drop_ending(Entry& entry, const Request& request, RuleNumber rule);

    // enabling.cpp: who may act by himself
    bool enabled(RuleNumber rule) const;
    bool withdrawn(const Ending& ending) const;
    void note_texts(const Plan& former, const std::string& changed);
    void enable_by_settings();
    void note_looks();
    Answer enable(const Request& request);
    Answer disable(const Request& request);
    std::string against_enabling(const NamedRule& named, Offset seen) const;
    bool shown_whole(const PlanRule& rule) const;

    // pass.cpp
    void tend_pass();
    void end_pass();

    // judge.cpp: one subject is judged
    void judge(std::size_t marked);
    void recount(Entry& entry);
    void expire_request(Entry& entry);
    bool acting(RuleNumber rule) const;
    bool goes_on(const Ending& ending) const;
    Aftermath& aftermath_of(Entry& entry);
    bool stopped(const Subject& subject, const Finding& finding) const;
    bool news_since(const Subject& subject, const Refusal& refusal) const;
    void tend_aftermath(Entry& entry);
    void judge_rules(Entry& entry, const Word& word);
    void keep_ledger(Entry& entry, Word& word);
    void wait_for(const Wait& wait);
    void forget_seen_writes(Entry& entry);
    void renew_waits(Entry& entry);
    bool given_up(const Finding& finding) const;
    void tend_commands(Entry& entry);

    // findings.cpp: verdicts become findings
    void void_dismissals(Entry& entry);
    void settle(Entry& entry, RuleNumber rule, Verdict verdict);
    void settle_others(Entry& entry, RuleNumber rule, const Verdict& verdict);
    Finding& open(Entry& entry, RuleNumber rule, std::string_view object_id);
    void set_waiting(Entry& entry, Finding& finding, Reason reason);
    void resolve(Entry& entry, std::size_t index, Reason reason);
    void note_edge(Entry& entry, Finding& finding);

    // act.cpp: what is proposed is held, or ordered
    bool may_act(Entry& entry, Finding& finding, const Verdict& verdict);
    bool refused_before(const Subject& subject, const Finding& finding) const;
    std::optional<Wait> busy(const Subject& subject, const Finding& finding,
                             const Verdict& verdict) const;
    bool moved(const Finding& finding, const Hash128& proposal) const;
    Reason unapproved(const Finding& finding, const Verdict& verdict) const;
    void ask_approval(Entry& entry, Finding& finding, const Verdict& verdict, Reason why);
    bool has_turn(RuleNumber rule, const Finding& finding) const;
    void act(Entry& entry, Finding& finding, Verdict& verdict);
    void issue(Entry& entry, Finding& finding, CommandDraft draft, Millis lasts);

    // ending.cpp: what was begun is carried to its end
    void tend_ending(Entry& entry);
    Reason carry_on(Entry& entry, Finding& face);
    Reason settle_taking(Entry& entry, Finding& face);
    Reason order_step(Entry& entry, Finding& face, const PlanStep& step);
    bool over(const Subject& subject, const Ended& ended) const;
    bool passed(const Subject& subject, const PlanStep& step) const;
    bool superseded(const Subject& subject) const;
    bool proven_past(SourceId id, BrokerTime time) const;
    Reason await_proof(SourceId id, BrokerTime time);
    std::span<const PlanStep> steps_of(const Ending& ending) const;
    Truth claims(const Facet& object) const;
    bool plays(SourceId source) const;
    CommandDraft draft_of(const Subject& subject, const PlanStep& step, const Facet& object) const;

    // ending_stages.cpp: what an ending has come to
    void begin_ending(Entry& entry, const Finding& finding, const CommandDraft& draft);
    void settle_step(Entry& entry, Finding& face, OutcomeKind kind, bool retryable,
                     BrokerTime time);
    void close_ending(Entry& entry, Reason reason);
    void forget_ending(Entry& entry);
    void stand_back(Entry& entry);
    void enter(Ending& ending, Ending::Stage stage);
    void pass_step(Ending& ending);

    // outcomes.cpp
    void take_outcome(const ItemView& item, const Outcome& outcome);
    static bool of_a_former(const Subject& subject, const Finding& finding);
    void settle_finding(Entry& entry, std::size_t index, const Outcome& outcome);
    void end_request(Entry& entry, const Finding& finding);
    void note_refusal(Entry& entry, const Finding& finding, const Outcome& outcome);
    void late_write(Entry& entry, BrokerTime time);
    void note_write(Entry& entry, const Command& command, OutcomeKind kind, BrokerTime time);

    State& state_;
    Meta& meta_;
    const JournalView& record_;
    FoldReport& report_;
    /// One that is to be judged, and what its objects came to when it was counted.
    struct Marked {
        Entry* entry = nullptr;
        Word word;
    };
    std::vector<Marked> marked_;
    std::vector<Wait> waits_;   ///< of the subject being judged
    Facts facts_;               ///< of the subject being judged
    Entry* seems_ = nullptr;    ///< the subject of the item that is taken; or not
    std::uint32_t index_ = 0;   ///< of the next emission
    std::uint32_t budget_ = 0;  ///< subjects that this record may still wake or sweep
    bool reference_changed_ = false;
    bool trial_heard_ = false;  ///< its sweep ended with this record
    const Subject nobody_{};    ///< a reference that nobody spoke of
};

}  // namespace trueup::core
