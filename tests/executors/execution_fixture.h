// Where one execution is tried out: the two fakes, a clock that the test moves, the two commands.
#pragma once

#include "executors/execution.h"
#include "tests/executors/fakes.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace trueup::executors::testing {

inline Sources sources_of(FakeCluster& cluster, FakeDatabase& database) {
    Sources sources;
    sources.pods["pods"] = {&cluster, {"/api/v1", "graph", "pods"}, "trueup.io/hold"};
    sources.rows["rows"] = {&database,
                            {"public", "instances"},
                            {"id"},
                            "coalesce(pod_name, 'wrapper-' || url_slug)",
                            {"pod_name", "url_slug"},
                            "hold"};
    return sources;
}

/// G1: delete wrapper-a (uid-a), which no row owns.
inline Command delete_orphan(std::uint64_t id = 1) {
    Command command;
    command.id = CommandId({0, id});
    command.policy = "graph";
    command.rule = "orphaned_pod";
    command.finding_id = FindingId({1, id});
    command.subject = "graph/wrapper-a";
    command.draft.target = {"pods", "uid-a", "wrapper-a", "graph"};
    command.draft.action.kind = Action::Kind::kDeletePod;
    command.draft.action.grace_seconds = 30;
    command.draft.read_set = {
        {Predicate::Kind::kNone, "rows", "", "key", "wrapper-a"},
        {Predicate::Kind::kExists, "pods", "uid-a", "", std::nullopt},
        {Predicate::Kind::kNoVeto, "pods", "uid-a", "", std::nullopt},
    };
    return command;
}

/// G2: row 7 is running on wrapper-a, which is gone: mark it failed.
inline Command fail_row(std::uint64_t id = 2) {
    Command command = delete_orphan(id);
    command.rule = "missing_pod";
    command.draft.target = {"rows", "public.instances/7", "wrapper-a", ""};
    command.draft.action = {};
    command.draft.action.kind = Action::Kind::kUpdateRow;
    command.draft.action.sets = {{"status", "failed"}, {"error_code", "UNEXPECTED_TERMINATION"}};
    command.draft.read_set = {
        {Predicate::Kind::kNone, "pods", "", "name", "wrapper-a"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "status", "running"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "pod_name", "wrapper-a"},
        {Predicate::Kind::kNoVeto, "rows", "public.instances/7", "", std::nullopt},
    };
    return command;
}

/// G3: the same, since the pod has Failed.
inline Command fail_drifted_row() {
    Command command = fail_row(3);
    command.rule = "status_drift";
    command.draft.read_set[0] = {Predicate::Kind::kExists, "pods", "uid-a", "name", "wrapper-a"};
    command.draft.read_set.push_back({Predicate::Kind::kField, "pods", "uid-a", "phase", "Failed"});
    return command;
}

class ExecutionFixture : private WriteGate {
  public:
    FakeCluster cluster;
    FakeDatabase database;
    Permit permitted = Permit::kGo;
    std::optional<std::string> objected;
    SteadyTime now = from_millis<SteadyTime>(1'000);
    Millis per_answer{1};  ///< how long each round trip takes

    ExecutionFixture() {
        context.sources = sources_of(cluster, database);
        context.calls = &calls_;
        context.gate = this;
        context.executor = "fixture";
        cluster.pods["wrapper-a"] = {};
    }

    /// Row 7 as the command of fail_row expects it; no pod.
    void row_without_pod() {
        cluster.pods.clear();
        database.rows["7"].columns = {
            {"status", "running"}, {"pod_name", "wrapper-a"}, {"url_slug", "a"}};
    }

    ExecutionContext context;

    std::unique_ptr<Execution> begin(Command command) {
        auto execution =
            std::make_unique<Execution>(1, std::move(command), PartitionNumber(0), context);
        execution->advance(now);
        return execution;
    }
    /// Until it ended, or nothing happens any more.
    void pump(Execution& execution) {
        while (!execution.outcome()) {
            calls_.poll(Millis(0));
            std::vector<Answer> answers = calls_.take(now);
            if (answers.empty()) return;
            now += per_answer;
            for (Answer& answer : answers) {
                if (!execution.outcome()) execution.answered(std::move(answer), now);
            }
        }
    }
    Outcome run(Command command) {
        const auto execution = begin(std::move(command));
        pump(*execution);
        return execution->outcome().value_or(Outcome{});
    }

  private:
    Permit permit(const Command&, PartitionNumber, SteadyTime&) override { return permitted; }
    std::optional<std::string> objection(const Command&, PartitionNumber) override {
        return objected;
    }

    AsyncCalls calls_{Millis(15'000)};
};

inline bool says(const Outcome& outcome, const std::string& part) {
    return outcome.detail.find(part) != std::string::npos;
}

}  // namespace trueup::executors::testing
