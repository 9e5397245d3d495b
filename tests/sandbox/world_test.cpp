// Proves sandbox/world.h and sandbox/world_file.h: determinism, threads, and a world that outlives
// its process.
#include "sandbox/drama.h"
#include "sandbox/world_file.h"
#include "tests/sandbox/support.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace trueup::sandbox::testing {
namespace {

namespace fs = std::filesystem;

class TempDir {
  public:
    TempDir() {
        std::string pattern = (fs::temp_directory_path() / "sandbox-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~TempDir() { fs::remove_all(path_); }
    std::string file(const char* name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

/// A world's truth and effects as one text.
std::string describe(const World& world) {
    const Truth truth = world.truth();
    std::string said =
        std::to_string(truth.resource_version) + " " + std::to_string(truth.lsn) + "\n";
    for (const Pod& pod : truth.pods) {
        said += pod.name + " " + pod.uid + " " + pod.phase + " " + pod.node + " " +
                std::to_string(pod.resource_version) + " " + (pod.deletion_ms ? "deleting " : "");
        for (const auto& [label, value] : pod.labels) said += label + "=" + value;
        said += "\n";
    }
    for (const RowTruth& row : truth.rows) {
        said += row.pk + " " + row.xmin;
        for (const auto& [name, value] : row.columns) said += " " + value.value_or("NULL");
        said += "\n";
    }
    for (const Effect& effect : world.effects()) {
        said += effect.name + effect.pk + effect.uid + effect.xmin + effect.why + "\n";
    }
    return said;
}

/// Lets a drama play and a client watch it; everything that the client saw, as bytes.
std::string play(std::uint64_t seed, std::string* notes = nullptr) {
    ManualClock clock;
    World world(seed, clock);
    Drama drama(world, seed);
    ClusterClient cluster(world);
    DatabaseClient database(world);
    database.ensure_slot();
    const ports::CallId stream = database.stream();
    const ports::CallId watch = cluster.watch(1'000);
    std::string bytes;
    for (int i = 0; i < 400; ++i) {
        drama.step(clock.steady_now());
        for (const std::string& one : drama.take_notes()) {
            if (notes) *notes += one + "\n";
        }
        bytes += std::exchange(cluster.answer(watch).body, {});
        for (const std::string& one : std::exchange(database.answer(stream).wal, {})) bytes += one;
        clock.advance(Millis(250));
    }
    return bytes + describe(world);
}

TEST(SandboxWorld, SameSeedAndSameCallsGiveTheSameBytes) {
    const std::string first = play(11);
    EXPECT_GT(first.size(), 10'000U);
    EXPECT_EQ(first, play(11));
    EXPECT_NE(first, play(12));
}

TEST(SandboxDrama, TellsEachIncidentAndKeepsThePopulation) {
    std::string notes;
    play(11, &notes);
    for (const char* sentence :
         {"10:00:05 the scene is set", "somebody deleted the row of wrapper-", " vanished; row",
          " failed; row", "of the same name", "cut all watches", "(500, 503, 429)", "(410)",
          "a new instance"}) {
        EXPECT_NE(notes.find(sentence), std::string::npos) << sentence << "\n" << notes;
    }
}

TEST(SandboxDrama, KeepsAReadablePace) {
    ManualClock clock;
    World world(3, clock);
    Drama drama(world, 3);
    std::size_t most = 0;
    std::size_t all = 0;
    for (int i = 0; i < 600; ++i) {
        drama.step(clock.steady_now());
        const std::size_t notes = drama.take_notes().size();
        most = std::max(most, notes);
        all += notes;
        clock.advance(Millis(100));
    }
    EXPECT_LE(most, 2U);
    EXPECT_GE(all, 20U);
    EXPECT_LE(all, 61U);
    EXPECT_LE(world.truth().pods.size(), 25U);
}

TEST(SandboxWorld, WhatABackupDoesNotHoldNeverWas) {
    ManualClock clock;
    World world(1, clock);
    world.create_pod("a", {{"app", "x"}}, "Running");
    const std::string pk = world.insert_row({{"name", "n"}, {"status", "running"}});
    world.update_row(pk, {{"status", "starting"}});
    const std::string before = describe(world);
    const std::string uid = world.create_pod("b", {}, "Running");
    world.set_phase("a", "Failed");
    world.delete_pod("a", 0);
    world.restore_cluster(3);
    world.update_row(pk, {{"status", "stopping"}});
    world.insert_row({{"name", "m"}});
    world.truncate_table();
    world.fail_over(3);
    EXPECT_EQ(describe(world), before) << "versions, positions and transaction ids, too";
    EXPECT_NE(world.create_pod("b", {}, "Running"), uid);
}

TEST(SandboxWorldFile, RestoresTheSameWorldASlotsPositionIncluded_S37) {
    const TempDir dir;
    ManualClock clock;
    std::string before;
    ports::Lsn confirmed = 0;
    std::uint64_t seen = 0;
    {
        World world(5, clock);
        ASSERT_TRUE(world.restore(dir.file("world")).ok());
        world.create_pod("p\n\"1\"", {{"app", "a"}}, "Running");
        world.create_pod("p2", {{"app", "a"}}, "Running");
        world.insert_row(instance("a", "running"));
        DatabaseClient database(world);
        database.ensure_slot();
        const ports::CallId stream = database.stream();
        world.insert_row(instance("b", "running"));
        confirmed = world.truth().lsn;
        database.port->wal_status(stream, confirmed, confirmed, false);
        database.update("1", database.read("1").rows.at(0).at(1).value(), {{"status", "running"}},
                        {{"status", std::nullopt}});
        seen = world.truth().resource_version;
        ClusterClient cluster(world);
        cluster.erase("p2", world.truth().pods.at(1).uid, seen);
        cluster.erase("p2", "nobody", seen);
        world.write_elsewhere();
        world.write_wal_elsewhere(300);
        before = describe(world);
        ASSERT_TRUE(world.file_status().ok());
    }
    World world(5, clock);
    ASSERT_TRUE(world.restore(dir.file("world")).ok());
    EXPECT_EQ(describe(world), before);

    ClusterClient cluster(world);
    const ports::CallId watch = cluster.watch(seen);
    clock.advance(Millis(2'000));
    EXPECT_EQ(cluster.lines(watch).size(), 3U) << "the deletion began before and ends after";
    DatabaseClient database(world);
    const ports::CallId stream = database.stream();
    EXPECT_EQ(outline(database.answer(stream).wal), "B R U(1) C k");
    EXPECT_EQ(world.insert_row(instance("c", "running")), "3");
    const std::string uid = world.create_pod("p3", {}, "Running");
    for (const Pod& pod : world.truth().pods) EXPECT_EQ(pod.uid == uid, pod.name == "p3");
}

TEST(SandboxWorldFile, CutsOffATornLastLineAndRefusesAFlawInTheMiddle) {
    const TempDir dir;
    ManualClock clock;
    std::string before;
    {
        World world(5, clock);
        ASSERT_TRUE(world.restore(dir.file("world")).ok());
        world.create_pod("p", {}, "Running");
        before = describe(world);
        world.set_phase("p", "Failed");
    }
    const auto size = fs::file_size(dir.file("world"));
    for (const std::uintmax_t torn : {size - 1, size - 20}) {
        fs::resize_file(dir.file("world"), torn);
        World world(5, clock);
        ASSERT_TRUE(world.restore(dir.file("world")).ok());
        EXPECT_EQ(describe(world), before);
        world.set_phase("p", "Failed");
    }
    {
        World other(6, clock);
        EXPECT_FALSE(other.restore(dir.file("world")).ok()) << "another seed";
        // `demo --state-dir` could not be started twice: each time it made up another seed.
        const auto kept = kept_seed(dir.file("world"));
        ASSERT_TRUE(kept.ok());
        EXPECT_EQ(*kept, 5U);
        EXPECT_EQ(*kept_seed(dir.file("none")), std::nullopt);
        EXPECT_FALSE(fs::exists(dir.file("none"))) << "a look makes nothing";
    }
    std::fstream file(dir.file("world"));
    file.seekp(3);
    file << "\"\"\"";
    file.close();
    World world(5, clock);
    EXPECT_FALSE(world.restore(dir.file("world")).ok());
}

TEST(SandboxWorldFile, WhatWasAnsweredSurvivesAKill_S37) {
    const TempDir dir;
    ManualClock clock;
    std::array<int, 2> answers{};
    ASSERT_EQ(::pipe(answers.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        World world(5, clock);
        if (!world.restore(dir.file("world")).ok()) ::_exit(1);
        for (int i = 0;; ++i) {
            const std::string uid = world.create_pod("p" + std::to_string(i), {}, "Running");
            if (::write(answers[1], uid.data(), uid.size()) < 0) ::_exit(1);
        }
    }
    ::close(answers[1]);
    std::string told;
    std::array<char, 36> buffer{};
    while (told.size() < 36 * 20) {
        const ssize_t n = ::read(answers[0], buffer.data(), buffer.size());
        ASSERT_GT(n, 0);
        told.append(buffer.data(), static_cast<std::size_t>(n));
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (ssize_t n = 1; n > 0;) {
        n = ::read(answers[0], buffer.data(), buffer.size());
        if (n > 0) told.append(buffer.data(), static_cast<std::size_t>(n));
    }
    ::close(answers[0]);
    World world(5, clock);
    ASSERT_TRUE(world.restore(dir.file("world")).ok());
    std::map<std::string, std::string> uids;
    for (const Pod& pod : world.truth().pods) uids[pod.name] = pod.uid;
    const std::size_t whole = told.size() / 36;
    EXPECT_GE(uids.size(), whole);
    EXPECT_LE(uids.size(), whole + 1);
    for (std::size_t i = 0; i < whole; ++i) {
        EXPECT_EQ(uids["p" + std::to_string(i)], told.substr(i * 36, 36));
    }
}

TEST(SandboxWorldFile, ADramaGoesOnOverARestoredWorld) {
    const TempDir dir;
    ManualClock clock;
    std::string before;
    for (int life = 0; life < 4; ++life) {
        World world(5, clock);
        ASSERT_TRUE(world.restore(dir.file("world")).ok());
        if (life > 0) {
            EXPECT_EQ(describe(world), before);
        }
        Drama drama(world, 5);
        for (int i = 0; i < 80; ++i) {
            drama.step(clock.steady_now());
            clock.advance(Millis(250));
        }
        before = describe(world);
    }
}

TEST(SandboxWorldFile, EachLifeTellsAnotherStory) {
    // A demo that was started again and again over one folder left two pods for ever: each process
    // brought the same names, and what comes for the third time waits for an approval.
    const TempDir dir;
    ManualClock clock;
    std::set<std::string> told;
    for (int life = 0; life < 4; ++life) {
        World world(5, clock);
        ASSERT_TRUE(world.restore(dir.file("world")).ok());
        Drama(world, 5).step(clock.steady_now());
        const Truth scene = world.truth();
        EXPECT_EQ(scene.pods.size(), 10U);
        for (const Pod& pod : scene.pods) {
            EXPECT_TRUE(told.insert(pod.name).second) << pod.name << " came again";
            EXPECT_TRUE(world.delete_pod(pod.name, 0));
        }
        for (const RowTruth& row : scene.rows) EXPECT_TRUE(world.delete_row(row.pk));
    }
}

TEST(SandboxWorld, ServesSeveralThreads) {
    ManualClock clock;
    World world(9, clock);
    std::atomic<bool> done{false};
    std::thread watcher([&] {
        ClusterClient client(world);
        const ports::CallId watch = client.watch(1'000);
        std::size_t lines = 0;
        while (lines < 200) {
            lines += client.lines(watch).size();
        }
        done = true;
    });
    std::thread reader([&] {
        DatabaseClient client(world);
        client.ensure_slot();
        const ports::CallId stream = client.stream();
        while (!done) client.answer(stream).wal.clear();
    });
    for (int i = 0; i < 100; ++i) {
        world.create_pod("p" + std::to_string(i), {}, "Running");
        world.insert_row(instance("a", "running"));
        world.set_phase("p" + std::to_string(i), "Failed");
    }
    watcher.join();
    reader.join();
    EXPECT_EQ(world.truth().rows.size(), 100U);
}

TEST(SandboxWorld, AWaitingPollWakesWithTheNews) {
    World world(9, ports::system_clock());
    const std::unique_ptr<ports::Cluster> port = world.cluster();
    port->watch(1, {ClusterClient::graph_pods(), {}, "1000", 290, true});
    std::vector<ports::ClusterEvent> events;
    port->poll(Millis(0), events);
    std::thread god([&] { world.create_pod("p", {}, "Running"); });
    events.clear();
    for (int i = 0; i < 100 && events.empty(); ++i) port->poll(Millis(10'000), events);
    god.join();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].kind, ports::ClusterEvent::Kind::kData);
}

TEST(SandboxPorts, AWakeEndsThePollThatWaits) {
    ManualClock clock;
    World world(7, clock);
    const auto cluster = world.cluster();
    const auto database = world.database();
    constexpr Millis kForEver = std::chrono::hours(1);
    std::vector<ports::ClusterEvent> pods;
    std::vector<ports::DatabaseEvent> rows;
    for (int i = 0; i < 2; ++i) {
        cluster->wake();
        cluster->poll(kForEver, pods);
        database->wake();
        database->poll(kForEver, rows);
        std::thread waker([&] {
            cluster->wake();
            database->wake();
        });
        cluster->poll(kForEver, pods);
        database->poll(kForEver, rows);
        waker.join();
    }
    EXPECT_TRUE(pods.empty());
    EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace trueup::sandbox::testing
