#include "apps/commands_diff.h"

#include "apps/refold.h"
#include "apps/rehearsal.h"
#include "engine/base/hash.h"
#include "engine/codec/journal_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace trueup::apps {

namespace {

constexpr std::size_t kReadBytes = std::size_t{4} << 20U;
constexpr std::size_t kSides = 2;  // the old text, the new one

/// A folder that is gone with it.
class ScratchFolder {
  public:
    static Result<std::unique_ptr<ScratchFolder>> make() {
        std::error_code error;
        const auto below = std::filesystem::temp_directory_path(error);
        std::string path = (below / "trueup-diff-XXXXXX").string();
        if (error || ::mkdtemp(path.data()) == nullptr) {
            return Error{Next::kStop, Code::kUnavailable,
                         "cannot make a folder in " + below.string() +
                             " for the rows of the comparison: set TMPDIR to one that is writable"};
        }
        return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path)));
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

/// All that makes two commands the same one. The time of issue does not.
Hash128 identity_of(const Command& command) {
    std::string text;
    const auto add = [&](std::string_view part) {
        text += std::to_string(part.size());
        text += ':';
        text += part;
    };
    const Target& target = command.draft.target;
    const Action& action = command.draft.action;
    for (const std::string* part : {&command.rule, &command.subject, &target.source,
                                    &target.object_id, &target.name, &target.name_space}) {
        add(*part);
    }
    add(name_of(action.kind));
    add(action.grace_seconds ? std::to_string(*action.grace_seconds) : "its own");
    add(action.propagation);
    for (const Assignment& set : action.sets) {
        add(set.column);
        add(set.now ? "now" : set.value ? "is" : "null");
        add(set.value && !set.now ? *set.value : "");
        add(set.bare ? "bare" : "");
    }
    return hash128(text);
}

/// What both sides ordered, held against each other as it comes.
class Ledger {
  public:
    /// Returns false where there are more that differ than can be kept.
    bool take(std::size_t side, PartitionNumber shard, Offset offset,
              const core::FoldReport& report) {
        for (const Command& command : report.commands) {
            if (command.emission == 1) order(side, shard, offset, command);
        }
        for (const FindingEdge& edge : report.findings) {
            if (edge.state == FindingState::kResolved) open_[side].erase(edge.id);
        }
        return waiting_ <= CommandsDiff::kMost;
    }

    /// Ids of findings are of one shard's journal.
    void next_shard() {
        for (auto& open : open_) open.clear();
    }

    void into(CommandsDiff& diff) {
        diff.before = count_[0];
        diff.now = count_[1];
        diff.both = both_;
        for (auto& [identity, waiting] : waits_) {
            auto& only = waiting.side == 0 ? diff.only_before : diff.only_now;
            std::move(waiting.commands.begin(), waiting.commands.end(), std::back_inserter(only));
        }
        for (auto* only : {&diff.only_before, &diff.only_now}) {
            std::sort(only->begin(), only->end(), [](const Ordered& one, const Ordered& other) {
                return std::tie(one.at, one.shard, one.offset, one.rule, one.subject, one.target) <
                       std::tie(other.at, other.shard, other.offset, other.rule, other.subject,
                                other.target);
            });
        }
    }

  private:
    /// Those of one identity that one side ordered and the other has not, or not yet.
    struct Waiting {
        std::size_t side = 0;
        std::deque<Ordered> commands;
    };

    void order(std::size_t side, PartitionNumber shard, Offset offset, const Command& command) {
        const Hash128 identity = identity_of(command);
        std::vector<Hash128>& known = open_[side][command.finding_id];
        if (std::find(known.begin(), known.end(), identity) != known.end()) return;
        known.push_back(identity);
        ++count_[side];
        const auto found = waits_.find(identity);
        if (found != waits_.end() && found->second.side != side) {
            ++both_;
            --waiting_;
            found->second.commands.pop_front();
            if (found->second.commands.empty()) waits_.erase(found);
            return;
        }
        ++waiting_;
        Waiting& waiting = waits_[identity];
        waiting.side = side;
        const CommandDraft& draft = command.draft;
        waiting.commands.push_back({command.rule, command.subject, draft.target.source,
                                    draft.target.object_id, std::string(name_of(draft.action.kind)),
                                    text_of(draft), command.issued, shard, offset});
    }

    /// Of each side's open findings, what they ordered.
    std::array<std::map<FindingId, std::vector<Hash128>>, kSides> open_;
    std::array<std::uint64_t, kSides> count_{};
    std::uint64_t both_ = 0;
    std::map<Hash128, Waiting> waits_;
    std::size_t waiting_ = 0;
};

class Comparison {
  public:
    Comparison(ports::Log& log, const OtherText& before, const OtherText& now,
               const WatchFold& watch)
        : log_(log), texts_{before, now}, watch_(watch) {}

    Result<CommandsDiff> run();

  private:
    /// What a record with settings brings under each text.
    struct Brought {
        Settings recorded;
        std::array<Settings, kSides> ours;
        std::set<std::string> enabled;
    };

    Status fold_shard(PartitionNumber shard, const std::string& folder);
    Status begin_shard(PartitionNumber shard, const std::string& folder);
    Status fold_record(const ports::Record& record);
    Status fold_under(std::size_t side, const std::optional<Brought>& brought);
    Result<Brought> bring(const Settings& recorded) const;
    void note(const Brought& brought);
    void say(const std::string& note);
    void note_idle_rules();

    ports::Log& log_;
    const std::array<OtherText, kSides> texts_;
    const WatchFold& watch_;
    PartitionNumber shard_;
    std::int32_t partitions_ = 1;
    std::unique_ptr<ScratchFolder> scratch_;  ///< outlives what is open in it
    std::array<std::unique_ptr<Refold>, kSides> folds_;
    std::optional<Brought> in_force_;
    JournalView view_;
    Ledger ledger_;
    CommandsDiff diff_;
    std::map<std::string, bool> acted_;  ///< rules, and whether their mode ever let them act
};

Result<CommandsDiff> Comparison::run() {
    if (std::string flaw = not_comparable(texts_[0], texts_[1]); !flaw.empty()) {
        return Error{Next::kStop, Code::kConfiguration, std::move(flaw)};
    }
    auto scratch = ScratchFolder::make();
    if (!scratch) return scratch.error();
    scratch_ = std::move(*scratch);
    for (std::int32_t shard = 0; shard < partitions_ && !diff_.cut; ++shard) {
        const std::string folder = scratch_->path() + "/" + std::to_string(shard);
        if (Status folded = fold_shard(PartitionNumber(shard), folder); !folded) {
            return folded.error();
        }
        folds_ = {};
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    ledger_.into(diff_);
    note_idle_rules();
    return std::move(diff_);
}

Status Comparison::begin_shard(PartitionNumber shard, const std::string& folder) {
    shard_ = shard;
    in_force_.reset();
    ledger_.next_shard();
    std::error_code ignored;
    std::filesystem::create_directory(folder, ignored);  // the store says what is wrong with it
    for (std::size_t side = 0; side < kSides; ++side) {
        auto begun = Refold::begin(folder + (side == 0 ? "/old" : "/new"), shard);
        if (!begun) return begun.error();
        folds_[side] = std::move(*begun);
    }
    return Done{};
}

Status Comparison::fold_shard(PartitionNumber shard, const std::string& folder) {
    const ports::Partition journal{Topic::kJournal, shard};
    const auto extent = log_.describe(journal);
    if (!extent) return extent.error();
    const std::string named = "the journal of shard " + std::to_string(shard.value());
    if (extent->next_offset == kFirstOffset) {
        return Error{Next::kStop, Code::kNotFound, named + " is empty: nothing was recorded yet"};
    }
    if (extent->first_offset != kFirstOffset) {
        return Error{Next::kStop, Code::kLost,
                     named + " begins at offset " + std::to_string(extent->first_offset.value()) +
                         ", what was before it has been forgotten (bus.retention.journal), and a "
                         "journal is folded from its first record: use a copy from before, or "
                         "compare with `trueup plan`"};
    }
    if (Status begun = begin_shard(shard, folder); !begun) return begun;
    Offset offset = kFirstOffset;
    while (offset < extent->next_offset && !diff_.cut) {
        const auto fetched = log_.read(journal, offset, kReadBytes);
        if (!fetched) return fetched.error();
        if (fetched->records.empty()) break;
        for (const ports::Record& record : fetched->records) {
            if (record.offset >= extent->next_offset || diff_.cut) break;
            if (Status folded = fold_record(record); !folded) return folded;
        }
        offset = fetched->next_offset;
        for (const auto& fold : folds_) {
            if (Status kept = fold->make_room(); !kept) return kept;
        }
        if (!watch_(diff_.records)) {
            return Error{Next::kStop, Code::kCancelled, "interrupted; nothing was changed"};
        }
    }
    return Done{};
}

Status Comparison::fold_record(const ports::Record& record) {
    Status decoded = codec::decode_journal(record.value, record.offset, record.append_time, view_);
    if (!decoded) return decoded;
    if (view_.genesis && shard_ == PartitionNumber(0)) {
        partitions_ = std::max(partitions_, view_.genesis->partitions);
    }
    std::optional<Brought> brought;
    if (view_.settings) {
        Result<Brought> all = bring(*view_.settings);
        if (!all) return all.error();
        brought = *std::move(all);
    }
    if (Status folded = fold_under(0, brought); !folded) return folded;
    // What the first side read was made over for its own text.
    decoded = codec::decode_journal(record.value, record.offset, record.append_time, view_);
    if (!decoded) return decoded;
    if (Status folded = fold_under(1, brought); !folded) return folded;
    ++diff_.records;
    if (diff_.from == BrokerTime{}) diff_.from = record.append_time;
    diff_.from = std::min(diff_.from, record.append_time);
    diff_.to = std::max(diff_.to, record.append_time);
    // Settings that came late are passed over by the fold.
    if (brought && folds_[0]->state().meta.settings_at == record.offset) {
        note(*brought);
        in_force_ = std::move(brought);
    }
    return Done{};
}

/// The record that was read last, made over for the side's text.
Status Comparison::fold_under(std::size_t side, const std::optional<Brought>& brought) {
    const std::optional<Brought>& says = brought ? brought : in_force_;
    if (brought) view_.settings = brought->ours[side];
    for (ItemView& item : view_.items) {
        auto* request = std::get_if<Boxed<Request>>(&item.body);
        if (request != nullptr && says) translate(**request, says->recorded, says->ours[side]);
    }
    static const std::set<std::string> kNone;
    Status folded = folds_[side]->fold(view_, brought ? brought->enabled : kNone);
    if (!folded) {
        return Error{folded.error().next, folded.error().code,
                     "under " + texts_[side].called + ": " + folded.error().what};
    }
    if (!ledger_.take(side, shard_, view_.offset, folds_[side]->report())) diff_.cut = true;
    return Done{};
}

Result<Comparison::Brought> Comparison::bring(const Settings& recorded) const {
    // As they were recorded: else what this build lacks would look like a fault of one text.
    if (std::string flaw = core::flaw_of(recorded, kLogic, partitions_); !flaw.empty()) {
        return Error{Next::kStop, Code::kUnsupported,
                     "journal offset " + std::to_string(view_.offset.value()) + flaw};
    }
    Brought brought;
    brought.recorded = recorded;
    for (std::size_t side = 0; side < kSides; ++side) {
        Result<Settings> ours = with_text(recorded, texts_[side]);
        if (!ours) return ours.error();
        brought.ours[side] = *std::move(ours);
    }
    for (const Settings& ours : brought.ours) brought.enabled.merge(other_rules(recorded, ours));
    return brought;
}

/// What is to be said of settings that came into force.
void Comparison::note(const Brought& brought) {
    diff_.enabled.insert(brought.enabled.begin(), brought.enabled.end());
    if (!other_rules(brought.recorded, brought.ours[0]).empty()) {
        say(
            fmt::format("{} is not what the journal had in force all the time: what it orders is "
                        "counterfactual, too",
                        texts_[0].called));
    }
    for (std::size_t side = 0; side < kSides; ++side) {
        for (const std::string& said :
             unrecorded(brought.recorded, brought.ours[side], texts_[side].called)) {
            say(said);
        }
        for (const RuleSettings& rule : brought.ours[side].rules) {
            acted_[rule.rule] = acted_[rule.rule] || acts(rule.mode);
        }
    }
}

/// Once, however often it is so.
void Comparison::say(const std::string& note) {
    std::vector<std::string>& notes = diff_.notes;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

/// Rules that order nothing whatever their text says: no difference of theirs can be seen.
void Comparison::note_idle_rules() {
    std::vector<std::string> idle;
    for (const auto& [name, acted] : acted_) {
        const auto orders = [&, called = std::string_view(name)](const policy::Rule& rule) {
            return rule.name == called &&
                   std::any_of(rule.cases.begin(), rule.cases.end(),
                               [](const policy::Case& one) { return one.acts(); });
        };
        const bool any = std::any_of(texts_.begin(), texts_.end(), [&](const OtherText& each) {
            const auto& rules = each.text->rules;
            return std::any_of(rules.begin(), rules.end(), orders);
        });
        if (!acted && any) idle.push_back(name);
    }
    if (idle.empty()) return;
    say(fmt::format("off or in mode observe all the time, so that they order nothing here: {}",
                    fmt::join(idle, ", ")));
}

}  // namespace

Result<CommandsDiff> commands_that_differ(ports::Log& log, const OtherText& before,
                                          const OtherText& now, const WatchFold& watch) {
    return Comparison(log, before, now, watch).run();
}

}  // namespace trueup::apps
