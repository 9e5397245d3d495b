// A connector that says what a test told it to say, and writes down what it was told. The facts of
// pods and rows that most tests need are made here.
#pragma once

#include "engine/model/fact.h"
#include "engine/model/object_builder.h"
#include "engine/ports/connector.h"

#include <string>
#include <utility>
#include <vector>

namespace trueup::runtime::testing {

class ScriptedConnector final : public ports::Connector {
  public:
    // For the test.
    ScriptedConnector& say(Fact fact) {
        next_.push_back(std::move(fact));
        return *this;
    }
    bool fenced = false;
    bool repeats = false;  ///< after each restart it says `story` again, from the start
    std::vector<Fact> story;

    int restarts = 0;
    int steps = 0;
    int wakes = 0;
    Millis last_wait{0};  ///< that the last step was ready for
    int relists = 0;
    Millis pace{0};
    ports::SourceHealth told;  ///< what it says of how it is
    std::vector<BrokerTime> markers;
    std::vector<std::uint64_t> confirmed;

    // The port.
    void restart(SteadyTime) override {
        ++restarts;
        fenced = false;
        if (repeats) next_ = story;
    }
    void wake() override { ++wakes; }
    void step(SteadyTime, Millis max_wait, std::vector<Fact>& out) override {
        ++steps;
        last_wait = max_wait;
        for (Fact& fact : next_) out.push_back(std::move(fact));
        next_.clear();
    }
    void marker_appended(BrokerTime t, SteadyTime) override { markers.push_back(t); }
    void delivered(std::uint64_t confirm) override { confirmed.push_back(confirm); }
    void pace_progress(Millis interval) override { pace = interval; }
    void relist() override { ++relists; }
    bool needs_new_incarnation() const override { return fenced; }
    ports::SourceHealth health() const override { return told; }

  private:
    std::vector<Fact> next_;
};

inline Fact fact(Fact::Kind kind) {
    Fact made;
    made.kind = kind;
    return made;
}
inline Fact epoch_begins(std::uint64_t as_of) {
    Fact made = fact(Fact::Kind::kSnapshotBegin);
    made.version = {as_of, 0};
    return made;
}
inline Fact epoch_ends() { return fact(Fact::Kind::kSnapshotEnd); }
inline Fact progress(BrokerTime complete_as_of) {
    Fact made = fact(Fact::Kind::kProgress);
    made.complete_as_of = complete_as_of;
    return made;
}
inline Fact confirm(std::uint64_t number) {
    Fact made = fact(Fact::Kind::kConfirm);
    made.confirm = number;
    return made;
}
inline Fact pod(const std::string& name, const std::string& uid, std::uint64_t version,
                const std::string& phase = "Running") {
    Fact made = fact(Fact::Kind::kUpsert);
    made.object_id = uid;
    made.subject_key = "graph-instances/" + name;
    made.version = {version, 0};
    made.object =
        ObjectBuilder().add("name", name).add("namespace", "graph").add("phase", phase).take();
    return made;
}
inline Fact row(const std::string& name, const std::string& pk, std::uint64_t version,
                const std::string& status = "running") {
    Fact made = fact(Fact::Kind::kUpsert);
    made.object_id = "public.instances/" + pk;
    made.subject_key = "graph-instances/" + name;
    made.version = {version, 0};
    made.object = ObjectBuilder().add("pod_name", name).add("status", status).take();
    return made;
}
inline Fact listed(Fact made) {
    made.in_epoch = true;
    return made;
}
inline Fact gone(Fact made, std::uint64_t version) {
    made.kind = Fact::Kind::kRemove;
    made.version = {version, 0};
    made.object.clear();
    return made;
}

}  // namespace trueup::runtime::testing
