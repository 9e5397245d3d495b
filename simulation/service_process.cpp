#include "engine/codec/command_codec.h"
#include "engine/codec/outcome_codec.h"
#include "simulation/process.h"

#include <set>
#include <utility>
#include <vector>

namespace trueup::simulation {

namespace {

constexpr Millis kNap{1'000};
constexpr std::size_t kReadBytes = 1U << 20U;

class ServiceExecutor final : public Process {
  public:
    using Process::Process;

  private:
    void start() override {
        connect({Topic::kCommands});
        next_.assign(static_cast<std::size_t>(around_.settings.shards), kFirstOffset);
        ended_.clear();
    }
    void end() override {}

    Millis step() override {
        for (std::size_t shard = 0; shard < next_.size(); ++shard) {
            const ports::Partition at{Topic::kCommands,
                                      PartitionNumber(static_cast<std::int32_t>(shard))};
            const auto read = log_->read(at, next_[shard], kReadBytes);
            if (!read) continue;
            next_[shard] = read->next_offset;
            for (const ports::Record& record : read->records) take(at.index, record);
        }
        return kNap;
    }

    void take(PartitionNumber shard, const ports::Record& record) {
        const auto command = codec::decode_command(record.value);
        if (!command || command->draft.action.kind != Action::Kind::kDeleteObject) return;
        if (!ended_.insert(command->id).second || !life_.call()) return;
        Outcome outcome;
        outcome.command_id = command->id;
        outcome.subject = command->subject;
        outcome.executor = name();
        outcome.kind = carry_out(*command);
        const std::vector<ports::Entry> entries{{command->subject, codec::encode_outcome(outcome)}};
        const bool told = ports::append_now(*log_, {Topic::kOutcomes, shard}, entries).ok();
        if (!told) ended_.erase(command->id);
    }

    OutcomeKind carry_out(const Command& command) const {
        if (around_.broker.now() > command.not_after) return OutcomeKind::kExpired;
        for (const sandbox::Pod& service : around_.asked.services->truth().pods) {
            if (service.uid != command.draft.target.object_id) continue;
            around_.asked.services->delete_pod(service.name, 0);
            return OutcomeKind::kDone;
        }
        return OutcomeKind::kAlreadyDone;
    }

    std::vector<Offset> next_;
    std::set<CommandId> ended_;
};

}  // namespace

std::unique_ptr<Process> make_service_executor(std::string name, Environment& around) {
    return std::make_unique<ServiceExecutor>(std::move(name), around);
}

}  // namespace trueup::simulation
