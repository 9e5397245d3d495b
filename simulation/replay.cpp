#include "simulation/replay.h"

#include "engine/codec/journal_codec.h"
#include "engine/core/fold.h"
#include "engine/model/topic.h"
#include "engine/runtime/projection.h"
#include "projections/memory_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kFolded{5'000};  // until an idle engine has folded a record
constexpr auto kOutcomes = static_cast<std::size_t>(Topic::kOutcomes);

/// What a journal knows from this record on, if it had come to `told` of the outcomes before.
void note_done(const JournalView& record, Offset told, Replayed& made) {
    for (const ItemView& item : record.items) {
        const auto* outcome = std::get_if<Outcome>(&item.body);
        if (outcome == nullptr || item.offset <= told) continue;
        const bool done = outcome->kind == OutcomeKind::kDone;
        if (done) made.done.emplace(outcome->command_id, record.append_time);
        if (done || outcome->kind == OutcomeKind::kAlreadyDone) {
            made.over.emplace(outcome->command_id, record.append_time);
        }
    }
}

Disk::Rows rows_of(ports::Store& store) {
    Disk::Rows rows;
    (void)store.each({}, {}, std::size_t{1} << 30U,
                     [&](std::string_view key, std::string_view value) {
                         rows.emplace_hint(rows.end(), key, value);
                         return true;
                     });
    return rows;
}

void judge_folded(PartitionNumber shard, const core::Meta& meta, Broker& broker, Oracles& oracles,
                  SteadyTime now) {
    std::uint64_t reached = 0;
    std::uint64_t settled = 0;
    for (const Topic topic : kInputTopics) {
        reached +=
            static_cast<std::uint64_t>(next(meta.last[static_cast<std::size_t>(topic)]).value());
        const Broker::Records& records = broker.records({topic, shard});
        settled += static_cast<std::uint64_t>(
            std::count_if(records.begin(), records.end(),
                          [&](const auto& record) { return record->stored_at + kFolded <= now; }));
    }
    oracles.plain().judge_folded(shard, meta.counters.items, reached, settled);
}

std::vector<BrokerTime> proven_by(const core::Meta& meta) {
    std::vector<BrokerTime> proven;
    for (const core::SourceState& source : meta.sources) proven.push_back(source.complete_as_of);
    return proven;
}

/// Holds the proofs that a journal takes against the world, until one is wrong.
class Proofs {
  public:
    Proofs(PartitionNumber shard, Broker& broker, Oracles& oracles)
        : shard_(shard), broker_(broker), oracles_(oracles) {}

    /// Those that are newer than they were.
    void judge(const core::State& state, const std::vector<BrokerTime>& before, SteadyTime taken) {
        const std::vector<core::SourceState>& sources = state.meta.sources;
        for (const core::SourceState& source : sources) {
            const bool back = source.quarantine == core::Quarantine::kRewound ||
                              source.beneath == core::Quarantine::kRewound;
            if (back) oracles_.judge_rewind(source.name);
        }
        for (std::size_t id = 0; id < sources.size() && !wrong_; ++id) {
            const BrokerTime proven = sources[id].complete_as_of;
            if (id < before.size() && proven <= before[id]) continue;
            if (proven == BrokerTime{} || sweeps(state.meta, id)) continue;
            if (sources[id].topic == Topic::kChangesResources) continue;
            // A marker lies in the first partition.
            const SteadyTime as_of =
                broker_.stored_at({sources[id].topic, PartitionNumber(0)}, proven);
            wrong_ = !oracles_.judge_proof(
                state, {static_cast<SourceId>(id), shard_, oracles_.shards, as_of, taken});
        }
    }

  private:
    /// What a list lacks is taken away bit by bit.
    static bool sweeps(const core::Meta& meta, std::size_t id) {
        return std::any_of(meta.sweeps.begin(), meta.sweeps.end(), [&](const core::Sweep& sweep) {
            return sweep.what == core::Sweep::What::kEpoch && sweep.source == id;
        });
    }

    const PartitionNumber shard_;
    Broker& broker_;
    Oracles& oracles_;
    bool wrong_ = false;
};

}  // namespace

Replayed replay(PartitionNumber shard, Broker& broker, const std::vector<Fleet::Image>& images,
                Oracles& oracles, SteadyTime now) {
    Replayed made;
    projections::MemoryStore store;
    runtime::Projection projection(store, shard, std::launch::deferred);
    core::State state(projection);
    core::FoldReport folded;
    JournalView view;
    std::vector<core::Parked> parked;
    Proofs proofs{shard, broker, oracles};
    for (const auto& record : broker.records({Topic::kJournal, shard})) {
        const Status decoded =
            codec::decode_journal(record->value, record->offset, record->append_time, view);
        if (!decoded) {
            oracles.violate("replay", decoded.error().what);
            return made;
        }
        const Offset told = state.meta.last[kOutcomes];
        const std::vector<BrokerTime> before = proven_by(state.meta);
        folded.clear();
        core::fold(state, view, folded);
        if (proven_by(state.meta) != before) proofs.judge(state, before, record->stored_at);
        if (state.meta.last[kOutcomes] != told) note_done(view, told, made);
        std::move(folded.parked.begin(), folded.parked.end(), std::back_inserter(parked));
        for (const Fleet::Image& image : images) {
            if (image.shard != shard || image.applied != record->offset) continue;
            (void)projection.write_behind(state, parked);
            (void)projection.settle();
            oracles.plain().judge_replay(image.engine, *image.rows, rows_of(store));
        }
    }
    if (!oracles.tail_lost) judge_folded(shard, state.meta, broker, oracles, now);
    state.subjects.each_cached([&](const Subject& subject) {
        for (const Facet& facet : subject.facets) {
            const bool known = state.meta.sources[facet.source].topic != Topic::kChangesResources;
            if (known && facet.present()) made.believed.insert(facet.object_id);
        }
    });
    return made;
}

}  // namespace trueup::simulation
