// Proves design §4.1, §4.4 and §4.7 by random walks: a connector on the sandbox's API server, with
// everything going wrong that can. An oracle folds the facts as the engine would and holds them
// against the truth: no absence that is none (K1, K2), no progress over something that was not
// published (K3), and the same picture in the end.
#include "connectors/kubernetes/connector.h"
#include "engine/model/object.h"
#include "sandbox/world.h"
#include "tests/support/manual_clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

namespace trueup::testing {
namespace {

using sandbox::Failure;
using sandbox::Op;
using sandbox::World;

bool in_scope(const sandbox::Pod& pod) {
    const auto label = pod.labels.find("app");
    return label != pod.labels.end() && label->second == "w";
}

/// What an engine would believe.
struct Belief {
    std::uint64_t version = 0;
    std::uint64_t epoch = 0;
    bool present = true;
    bool in_scope = true;
    std::string phase;
};

class Walk {
  public:
    explicit Walk(std::uint64_t seed)
        : random_(seed),
          world_(seed, clock_),
          port_(world_.cluster()),
          connector_(*port_, settings()) {
        connector_.restart(clock_.steady_now());
    }

    void run(int steps) {
        for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
            if (random_() % 3 == 0) disturb();
            step(Millis(static_cast<std::int64_t>(random_() % 1500)));
        }
        world_.stall_watch(false);
        // Long enough to meet every failure that is still to come.
        for (int i = 0; i < 2000 && !::testing::Test::HasFailure(); ++i) step(Millis(500));
        compare();
    }
    int proven() const { return proven_; }

  private:
    static connectors::KubernetesSettings settings() {
        connectors::KubernetesSettings settings;
        settings.resource.name_space = "graph";
        settings.label_selector = "app=w";
        settings.subject_prefix = "g/";
        settings.page_limit = 3;
        settings.watch_seconds = 30;
        settings.watch_slack = Millis(5'000);
        settings.call_timeout = Millis(5'000);
        settings.backoff_min = Millis(100);
        settings.backoff_max = Millis(2'000);
        return settings;
    }
    std::string any_name() { return "w" + std::to_string(random_() % 8); }

    void disturb() {
        const std::string name = any_name();
        switch (random_() % 16) {
            case 0:
            case 1:
            case 2:
                if (!exists(name)) world_.create_pod(name, {{"app", "w"}}, "Running");
                return;
            case 3:
                world_.set_phase(name, random_() % 2 == 0 ? "Failed" : "Running");
                return;
            case 4:
            case 5:
                world_.set_labels(name, {{"app", random_() % 2 == 0 ? "w" : "other"}});
                return;
            case 6:
            case 7:
                world_.delete_pod(name, random_() % 2 == 0 ? 0 : 30);
                return;
            case 8:
                if (exists(name)) world_.recreate_pod(name);
                return;
            case 9:
                world_.set_finalizers(name, random_() % 2 == 0 ? std::vector<std::string>{"f"}
                                                               : std::vector<std::string>{});
                return;
            case 10:
                world_.write_elsewhere();
                return;
            default:
                break_something();
        }
    }

    void break_something() {
        switch (random_() % 10) {
            case 0:
                world_.compact();
                return;
            case 1:
                world_.cut_watch();
                return;
            case 2:
                world_.stall_watch(random_() % 2 == 0);
                return;
            case 3:
                world_.restart_cluster();
                return;
            case 4:
                connector_.relist();
                return;
            case 5:
                if (random_() % 4 == 0) restart();
                return;
            default:
                break;
        }
        const std::vector<Failure> failures{Failure::http(500),
                                            Failure::http(404),
                                            Failure::http(410),
                                            Failure::http(429, 1'000),
                                            Failure::of(Failure::Kind::kCutBody),
                                            Failure::of(Failure::Kind::kNotJson),
                                            Failure::of(Failure::Kind::kHang),
                                            Failure::of(Failure::Kind::kRefused)};
        const std::vector<Op> ops{Op::kList, Op::kWatch, Op::kGet};
        const Op op = ops[random_() % ops.size()];
        Failure failure = failures[random_() % failures.size()];
        if (op == Op::kWatch && random_() % 3 == 0) {
            failure = Failure::error_event(random_() % 2 == 0 ? 410 : 500);
        }
        world_.fail_next(op, failure, 1 + static_cast<int>(random_() % 3));
    }

    bool exists(const std::string& name) const {
        for (const sandbox::Pod& pod : world_.truth().pods) {
            if (pod.name == name) return true;
        }
        return false;
    }

    /// A new incarnation: the epoch that was open is void, and so is every marker.
    void restart() {
        connector_.restart(clock_.steady_now());
        epoch_open_ = false;
        marked_.clear();
    }

    void step(Millis passed) {
        clock_.advance(passed);
        std::vector<Fact> facts;
        connector_.step(clock_.steady_now(), Millis(0), facts);
        for (const Fact& fact : facts) fold(fact);
        // A marker takes its time; what happens meanwhile is not behind it.
        if (marker_wanted_ && random_() % 2 == 0) {
            marker_wanted_ = false;
            marked_.emplace(++markers_, world_.truth().pods);
            connector_.marker_appended(from_millis<BrokerTime>(markers_), clock_.steady_now());
        }
    }

    void fold(const Fact& fact) {
        switch (fact.kind) {
            case Fact::Kind::kUpsert:
                return fold_upsert(fact);
            case Fact::Kind::kRemove:
                return set_absent(fact.object_id, fact.version.hi, "removed");
            case Fact::Kind::kSnapshotBegin:
                ++epoch_;
                epoch_open_ = true;
                return;
            case Fact::Kind::kSnapshotEnd:
                return sweep(fact.version.hi);
            case Fact::Kind::kMarker:
                marker_wanted_ = true;
                return;
            case Fact::Kind::kProgress:
                return check_progress(to_millis(fact.complete_as_of));
            default:
                return;
        }
    }

    void fold_upsert(const Fact& fact) {
        EXPECT_TRUE(!fact.in_epoch || epoch_open_);
        Belief& belief = beliefs_[fact.object_id];
        if (fact.in_epoch) belief.epoch = epoch_;
        if (fact.version.hi <= belief.version) return;
        const ObjectView object(fact.object);
        belief.version = fact.version.hi;
        belief.present = true;
        belief.in_scope = !object.is("in_scope", "false");
        belief.phase = std::string(object.text("phase").value_or(""));
    }

    void set_absent(const std::string& uid, std::uint64_t version, const char* how) {
        Belief& belief = beliefs_[uid];
        if (version < belief.version) return;
        belief.version = version;
        belief.present = false;
        for (const sandbox::Pod& pod : world_.truth().pods) {
            EXPECT_NE(pod.uid, uid) << how << " while it exists: " << pod.name;
        }
    }

    void sweep(std::uint64_t as_of) {
        EXPECT_TRUE(epoch_open_);
        epoch_open_ = false;
        for (auto& [uid, belief] : beliefs_) {
            if (!belief.present || belief.epoch == epoch_ || belief.version > as_of) continue;
            set_absent(uid, belief.version, "swept");
        }
    }

    /// Everything that was so when the marker was appended is believed, or something newer is.
    void check_progress(std::int64_t marker) {
        const auto then = marked_.find(marker);
        ASSERT_NE(then, marked_.end());
        ++proven_;
        std::set<std::string> existed;
        for (const sandbox::Pod& pod : then->second) {
            existed.insert(pod.uid);
            const auto belief = beliefs_.find(pod.uid);
            if (in_scope(pod)) {
                ASSERT_NE(belief, beliefs_.end()) << pod.name << " was never published";
                EXPECT_GE(belief->second.version, pod.resource_version) << pod.name;
            } else if (belief != beliefs_.end() && belief->second.present &&
                       belief->second.in_scope) {
                EXPECT_GT(belief->second.version, pod.resource_version) << pod.name << " had left";
            }
        }
        for (const auto& [uid, belief] : beliefs_) {
            const bool gone = !existed.contains(uid) && belief.version < newest(then->second);
            EXPECT_FALSE(gone && belief.present && belief.in_scope) << uid << " was gone";
        }
        marked_.erase(marked_.begin(), std::next(then));
    }
    static std::uint64_t newest(const std::vector<sandbox::Pod>& pods) {
        std::uint64_t version = 0;
        for (const sandbox::Pod& pod : pods) version = std::max(version, pod.resource_version);
        return version;
    }

    void compare() {
        std::set<std::string> alive;
        for (const sandbox::Pod& pod : world_.truth().pods) {
            alive.insert(pod.uid);
            const auto belief = beliefs_.find(pod.uid);
            if (!in_scope(pod)) {
                EXPECT_TRUE(belief == beliefs_.end() ||
                            (belief->second.present && !belief->second.in_scope))
                    << pod.name << " left the selector";
                continue;
            }
            ASSERT_NE(belief, beliefs_.end()) << pod.name;
            EXPECT_TRUE(belief->second.present && belief->second.in_scope) << pod.name;
            EXPECT_EQ(belief->second.phase, pod.phase) << pod.name;
        }
        for (const auto& [uid, belief] : beliefs_) {
            EXPECT_EQ(belief.present, alive.contains(uid)) << uid;
        }
        EXPECT_TRUE(connector_.health().answering) << connector_.health().trouble;
    }

    std::mt19937_64 random_;
    ManualClock clock_;
    World world_;
    std::unique_ptr<ports::Cluster> port_;
    connectors::KubernetesConnector connector_;
    std::map<std::string, Belief> beliefs_;
    std::uint64_t epoch_ = 0;
    bool epoch_open_ = false;
    bool marker_wanted_ = false;
    std::int64_t markers_ = 0;
    std::map<std::int64_t, std::vector<sandbox::Pod>> marked_;
    int proven_ = 0;
};

/// The API server is away for so long that each watch is refused twelve times.
class Outage {
  public:
    explicit Outage(bool compacted)
        : world_(1, clock_), port_(world_.cluster()), connector_(*port_, settings()) {
        world_.create_pod("w1", {{"app", "w"}}, "Running");
        connector_.restart(clock_.steady_now());
        run(10);
        world_.restart_cluster();
        for (const Op op : {Op::kList, Op::kWatch, Op::kGet}) {
            world_.fail_next(op, Failure::of(Failure::Kind::kRefused), op == Op::kWatch ? 12 : 2);
        }
        run(30);
        world_.create_pod("w2", {{"app", "w"}}, "Running");
        world_.delete_pod("w1", 0);
        if (compacted) world_.compact();
        run(2'000);
    }
    int begun() const { return begun_; }
    const std::map<std::string, bool>& present() const { return present_; }
    bool answering() const { return connector_.health().answering; }

  private:
    static connectors::KubernetesSettings settings() {
        connectors::KubernetesSettings settings;
        settings.resource.name_space = "graph";
        settings.subject_prefix = "g/";
        settings.watch_seconds = 3600;
        return settings;
    }
    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            clock_.advance(Millis(500));
            std::vector<Fact> facts;
            connector_.step(clock_.steady_now(), Millis(0), facts);
            for (const Fact& fact : facts) {
                if (fact.kind == Fact::Kind::kSnapshotBegin) ++begun_;
                if (fact.kind == Fact::Kind::kUpsert) present_[fact.subject_key] = true;
                if (fact.kind == Fact::Kind::kRemove) present_[fact.subject_key] = false;
            }
        }
    }

    ManualClock clock_;
    World world_;
    std::unique_ptr<ports::Cluster> port_;
    connectors::KubernetesConnector connector_;
    std::map<std::string, bool> present_;
    int begun_ = 0;
};

TEST(KubernetesSimulated, AnOutageCostsNoListUnlessTheServerForgotWhereWeWere_S11) {
    const std::map<std::string, bool> told{{"g/w1", false}, {"g/w2", true}};
    for (const bool compacted : {false, true}) {
        const Outage outage(compacted);
        EXPECT_EQ(outage.begun(), compacted ? 2 : 1);
        EXPECT_EQ(outage.present(), told);
        EXPECT_TRUE(outage.answering());
    }
}

TEST(KubernetesSimulated, RandomWalksNeverReportAnAbsenceThatIsNoneAndAgreeInTheEnd) {
    const char* given = std::getenv("TRUEUP_SEED");
    const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
    const std::uint64_t last = given != nullptr ? first : 200;
    int proven = 0;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        SCOPED_TRACE("TRUEUP_SEED=" + std::to_string(seed) + " replays");
        Walk walk(seed);
        walk.run(400);
        proven += walk.proven();
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(proven, static_cast<int>(last - first + 1) * 10) << "the walks prove too little";
}

}  // namespace
}  // namespace trueup::testing
