// Whether an epoch answers the question that was meant (design §4.6;
// docs/adr/0023-first-snapshots.md).
//
// A complete epoch proves what its source has. It does not prove that somebody asked in the right
// place: a wrong database, a namespace that does not exist, a table that is being restored answer
// as completely as the right ones. Three things are held back therefore: an epoch that lost
// suspiciously much, a first one that lists too little, and a first one by which most of the world
// would be wrong. And a source that is known to have gone back in time lists everything but what
// was made since then.
#include "engine/core/trust.h"

#include "engine/base/guard.h"
#include "engine/core/answer.h"
#include "engine/core/marks.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

constexpr std::uint64_t kFew = 10;  // of so few anything may be the truth

/// A shard's part of what is few over all of them.
std::uint64_t few_of(std::int32_t partitions) {
    const auto shards = static_cast<std::uint64_t>(std::max(partitions, 1));
    return (kFew + shards - 1) / shards;
}

/// Did the population fall to zero, or by more than the allowed share (and more than a few)?
bool suspicious(std::uint64_t before, std::uint64_t now, std::uint32_t max_drop_percent,
                std::int32_t partitions) {
    if (now >= before) return false;
    const std::uint64_t lost = before - now;
    return now == 0 || (lost > few_of(partitions) && lost * 100 > before * max_drop_percent);
}

}  // namespace

bool unknown_by(Quarantine quarantine) {
    return quarantine == Quarantine::kDrop || quarantine == Quarantine::kEmpty;
}

/// May this epoch be believed? If not, the source is unknown until one is, or an operator vouches.
bool Trust::believable(SourceId id, const OpenEpoch& epoch, const ChangeView& change) {
    SourceState& source = meta_.sources[id];
    if (source.believed) return true;
    const bool dropped = source.quarantine == Quarantine::kDrop;
    const std::uint64_t before =
        std::max(source.population, dropped ? source.quarantined_at : std::uint64_t{0});
    const std::uint64_t listed = std::max(epoch.count, change.total);
    Quarantine why = Quarantine::kNone;
    if (suspicious(before, epoch.count, meta_.settings.max_drop_percent, meta_.partitions) &&
        TRUEUP_GUARD("suspicious_drop")) {
        why = Quarantine::kDrop;
    } else if (source.epochs == 0 && listed < meta_.settings.sources[id].at_least &&
               meta_.settings.sources[id].role != kNoRole &&
               TRUEUP_GUARD("first_epoch_shows_something")) {
        why = Quarantine::kEmpty;
    }
    if (why == Quarantine::kNone) return true;
    ++meta_.counters.quarantines;
    break_source(source, meta_.broker_now);
    if (!unknown_by(source.quarantine)) source.beneath = source.quarantine;
    source.quarantine = why;
    source.quarantined_at = why == Quarantine::kDrop ? before : listed;
    return false;
}

/// The epoch is believed. Is anything to be taken away on its word?
void Trust::trust(SourceId id, const OpenEpoch& epoch) {
    SourceState& source = meta_.sources[id];
    if (unknown_by(source.quarantine)) {
        source.quarantine = source.beneath;
        source.quarantined_at =
            source.quarantine == Quarantine::kWrong ? meta_.wrong : source.population;
    }
    if (source.believed) source.quarantine = Quarantine::kNone;
    source.beneath = Quarantine::kNone;
    if (source.quarantine == Quarantine::kNone) source.quarantined_at = 0;
    if (source.believed) {
        // Who vouches for it has seen what it makes of the others.
        for (SourceState& other : meta_.sources) other.on_trial = false;
    }
    if (source.believed || meta_.settings.sources[id].role == kNoRole) return;
    if (epoch.rewound && TRUEUP_GUARD("rewind_takes_nothing")) {
        ++meta_.counters.quarantines;
        source.quarantine = Quarantine::kRewound;
        source.quarantined_at = source.population;
    }
    if (source.epochs == 0) source.on_trial = TRUEUP_GUARD("first_epoch_on_trial");
}

/// Holds a first epoch against what the other sources show, once they show something: each subject
/// is judged, and nothing is taken away before the last one was.
void Trust::tend_trial() {
    const auto ids = meta_.source_count();
    bool wanted = false;
    for (SourceId id = 0; id < ids; ++id) {
        wanted = wanted || (meta_.sources[id].on_trial && meta_.sources[id].known);
    }
    if (!wanted) return;
    const auto roles = static_cast<Role>(state_.plan->roles.size());
    for (Role role = 0; role < roles; ++role) {
        if (state_.plan->roles[role].optional) continue;
        bool known = false;
        for (SourceId id = 0; id < ids; ++id) {
            known = known || (meta_.settings.sources[id].role == role && meta_.sources[id].known);
        }
        if (!known) return;
    }
    const bool under_way =
        std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(),
                    [](const Sweep& sweep) { return sweep.what == Sweep::What::kTrial; });
    if (under_way) return;
    Sweep sweep;
    sweep.what = Sweep::What::kTrial;
    meta_.sweeps.push_back(std::move(sweep));
}

/// Every subject was judged by it.
void Trust::end_trial() {
    if (!std::exchange(trial_heard_, false)) return;
    // Another epoch came in between: what it makes of the world is not known yet.
    if (marks_.counting()) return;
    // Of a shard's own part: a few wrong ones of a few are no news of the whole.
    const bool wrong = meta_.wrong > kFew && meta_.wrong * 2 > meta_.present;
    for (SourceState& source : meta_.sources) {
        if (!source.on_trial || !source.known) continue;
        source.on_trial = false;
        if (!wrong || source.quarantine != Quarantine::kNone) continue;
        ++meta_.counters.quarantines;
        source.quarantine = Quarantine::kWrong;
        source.quarantined_at = meta_.wrong;
    }
    if (meta_.wrong == 0) return;
    marks_.judge_all();  // what was held back for as long as this was not known
    report_.more_work = true;
}

/// An operator vouches for what a source lists.
Answer Trust::release_source(const Request& request) {
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        SourceState& source = meta_.sources[id];
        if (source.name != request.scope.source) continue;
        if (source.misread) {
            return {false, "the connector of " + source.name +
                               " reads it by another configuration than this engine has; start "
                               "anew whichever of the two has the older one"};
        }
        if (source.quarantine == Quarantine::kNone) {
            return {false, source.name + " is not in quarantine"};
        }
        if (unknown_by(source.quarantine)) {
            source.believe_next = true;
            report_.wants_epoch.push_back(id);
            return {true, "the next complete list of " + source.name + " is believed"};
        }
        // What one epoch makes of the world it makes together with the others.
        const Quarantine why = source.quarantine;
        for (SourceState& other : meta_.sources) {
            const bool same =
                &other == &source || (why == Quarantine::kWrong && other.quarantine == why);
            if (!same) continue;
            other.quarantine = Quarantine::kNone;
            other.quarantined_at = 0;
        }
        marks_.judge_all();
        return {true, "what " + source.name + " lists is believed"};
    }
    return no_such_source(meta_, request);
}

}  // namespace trueup::core
