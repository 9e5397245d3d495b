#include "stories/replay.h"

#include "engine/codec/journal_codec.h"

#include <stdexcept>
#include <utility>

namespace trueup::stories {

namespace {

void demand(const Status& status) {
    if (!status) throw std::logic_error(status.error().what);
}

}  // namespace

Replay::Replay() : Replay(own_store_) {}

Replay::Replay(ports::Store& store)
    : store_(&store),
      projection_(std::make_unique<runtime::Projection>(store, PartitionNumber(0))),
      state_(std::make_unique<core::State>(*projection_)) {}

Emissions Replay::fold(const Recorded& record) {
    JournalView view;
    demand(codec::decode_journal(record.bytes, record.offset, record.append_time, view));
    demand(projection_->read_ahead(*state_, view));
    core::FoldReport report;
    core::fold(*state_, view, report);
    for (core::Parked& item : report.parked) parked_.push_back(std::move(item));
    return {{report.findings.begin(), report.findings.end()},
            std::move(report.commands),
            std::move(report.gaps),
            std::move(report.wants_epoch),
            report.more_work};
}

std::vector<Emissions> Replay::fold(const std::vector<Recorded>& records, std::size_t from,
                                    std::size_t to) {
    std::vector<Emissions> all;
    for (std::size_t i = from; i < to; ++i) all.push_back(fold(records[i]));
    return all;
}

void Replay::write_behind() { demand(projection_->write_behind(*state_, parked_)); }

void Replay::restart(std::size_t budget) {
    projection_ = std::make_unique<runtime::Projection>(*store_, PartitionNumber(0));
    state_ = std::make_unique<core::State>(*projection_);
    parked_.clear();
    demand(projection_->load(*state_, budget));
}

core::Meta Replay::settled_meta() {
    write_behind();
    return state_->meta;
}

}  // namespace trueup::stories
