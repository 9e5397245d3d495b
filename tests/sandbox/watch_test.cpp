// Proves sandbox/world.h: watches from a version, their window, bookmarks and ends.
#include "tests/sandbox/support.h"

#include <gtest/gtest.h>

namespace trueup::sandbox::testing {
namespace {

using Lines = std::vector<std::string>;

const Labels kWrapper{{"app", "ryugraph-wrapper"}};
constexpr const char* kSelector = "app in (ryugraph-wrapper, falkordb-wrapper)";

World::Settings small_window() {
    World::Settings settings;
    settings.watch_window = 5;
    settings.chunk_bytes = 17;
    return settings;
}

class SandboxWatch : public ::testing::Test {
  protected:
    ManualClock clock;
    World world{7, clock, small_window()};
    ClusterClient client{world};
};

TEST_F(SandboxWatch, DeletionIsThreeEventsThatSayRunning_S9) {
    world.create_pod("p", kWrapper, "Running");
    const ports::CallId watch = client.watch(1'001);
    world.delete_pod("p", 30);
    EXPECT_EQ(client.lines(watch), (Lines{"MODIFIED p@1002"}));
    clock.advance(Millis(1'999));
    EXPECT_EQ(client.lines(watch), Lines{});
    clock.advance(Millis(1));
    client.poll();
    const std::string body = client.answer(watch).body;
    const Json last(body.substr(body.find('\n') + 1));
    EXPECT_EQ(last.text("/object/status/phase"), "Running");
    EXPECT_EQ(last.number("/object/metadata/deletionGracePeriodSeconds"), 0);
    EXPECT_EQ(client.lines(watch), (Lines{"MODIFIED p@1003", "DELETED p@1004"}));
    EXPECT_TRUE(world.truth().pods.empty());
}

TEST_F(SandboxWatch, ItMayLackTheLabels_S23) {
    world.fail_next(Op::kWatch, Failure::of(Failure::Kind::kBare));
    const ports::CallId watch = client.watch(1'000, kSelector);
    world.create_pod("p", kWrapper, "Running");
    client.poll();
    EXPECT_FALSE(Json(client.answer(watch).body).has("/object/metadata/labels"));
    EXPECT_EQ(client.lines(watch), (Lines{"ADDED p@1001"}));
}

TEST_F(SandboxWatch, LeavingTheSelectorIsADeletedWithOldLabelsAndNewVersion_S5) {
    world.create_pod("p", kWrapper, "Running");
    const ports::CallId watch = client.watch(1'001, kSelector);
    world.set_labels("p", {{"app", "other"}});
    client.poll();
    const Json left(client.answer(watch).body);
    EXPECT_EQ(left.text("/object/metadata/labels/app"), "ryugraph-wrapper");
    EXPECT_FALSE(left.has("/object/metadata/deletionTimestamp"));
    EXPECT_EQ(client.lines(watch), (Lines{"DELETED p@1002"}));
    world.set_phase("p", "Failed");
    world.set_labels("p", {{"app", "falkordb-wrapper"}});
    world.set_phase("p", "Running");
    EXPECT_EQ(client.lines(watch), (Lines{"ADDED p@1004", "MODIFIED p@1005"}));
    world.recreate_pod("p");
    EXPECT_EQ(client.lines(watch), (Lines{"DELETED p@1006", "ADDED p@1007"}));
}

TEST_F(SandboxWatch, GoesOnFromAnyVersionInItsWindow) {
    world.create_pod("p", kWrapper, "Running");
    for (int i = 0; i < 3; ++i) world.set_phase("p", i % 2 == 0 ? "Unknown" : "Running");
    const ports::CallId first = client.watch(1'002);
    EXPECT_EQ(client.lines(first), (Lines{"MODIFIED p@1003", "MODIFIED p@1004"}));
    const ports::CallId second = client.watch(1'003);
    EXPECT_EQ(client.lines(second), (Lines{"MODIFIED p@1004"}));
}

TEST_F(SandboxWatch, AnOldVersionGets200AndAnErrorEvent410_S11) {
    world.create_pod("p", kWrapper, "Running");
    for (int i = 0; i < 6; ++i) world.set_phase("p", i % 2 == 0 ? "Unknown" : "Running");
    const ports::CallId fell_out = client.watch(1'001);
    EXPECT_EQ(client.answer(fell_out).status, 200);
    EXPECT_EQ(client.lines(fell_out), (Lines{"ERROR 410"}));
    EXPECT_TRUE(client.answer(fell_out).ended);
    const ports::CallId fits = client.watch(1'002);
    EXPECT_EQ(client.lines(fits).size(), 5U);
    world.compact();
    EXPECT_EQ(client.lines(client.watch(1'006)), (Lines{"ERROR 410"}));
    EXPECT_EQ(client.lines(client.watch(1'007)), Lines{});
}

TEST_F(SandboxWatch, AReaderThatFallsBehindIsCutOffPlainly) {
    world.create_pod("p", kWrapper, "Running");
    const ports::CallId watch = client.watch(1'001);
    for (int i = 0; i < 7; ++i) world.set_phase("p", i % 2 == 0 ? "Unknown" : "Running");
    EXPECT_EQ(client.lines(watch), Lines{});
    EXPECT_TRUE(client.answer(watch).ended);
}

TEST_F(SandboxWatch, BookmarksCarryTheNewestVersion) {
    world.create_pod("p", kWrapper, "Running");
    const ports::CallId quiet = client.watch(1'001);
    world.write_elsewhere();
    clock.advance(Millis(59'999));
    EXPECT_EQ(client.lines(quiet), Lines{});
    clock.advance(Millis(1));
    EXPECT_EQ(client.lines(quiet), (Lines{"BOOKMARK @1002"}));
    EXPECT_EQ(client.lines(quiet), Lines{});

    const ports::CallId probe = client.watch(1'001, kSelector, 5);
    const ports::CallId hasty = client.watch(1'001, kSelector, 2);
    clock.advance(Millis(3'000));
    EXPECT_EQ(client.lines(probe), (Lines{"BOOKMARK @1002"}));
    EXPECT_FALSE(client.answer(probe).ended);
    EXPECT_EQ(client.lines(hasty), Lines{});
    EXPECT_TRUE(client.answer(hasty).ended);
    clock.advance(Millis(2'000));
    EXPECT_EQ(client.lines(probe), Lines{});
    EXPECT_TRUE(client.answer(probe).ended) << "EOF at timeoutSeconds";
}

TEST_F(SandboxWatch, AFutureVersionHangsSilently_S13) {
    world.create_pod("p", kWrapper, "Running");
    const ports::CallId watch = client.watch(1'003);
    world.set_phase("p", "Failed");
    clock.advance(Millis(61'000));
    EXPECT_EQ(client.answer(watch).status, 200);
    EXPECT_EQ(client.lines(watch), Lines{});
    world.set_phase("p", "Running");
    world.set_phase("p", "Failed");
    EXPECT_EQ(client.lines(watch).at(0), "MODIFIED p@1004");
}

TEST_F(SandboxWatch, VersionZeroStartsAnywhereWithoutAnEndMark) {
    world.create_pod("p", kWrapper, "Running");
    world.create_pod("q", {}, "Running");
    const ports::CallId watch = client.watch(0, kSelector);
    EXPECT_EQ(client.lines(watch), (Lines{"ADDED p@1001"}));
}

TEST_F(SandboxWatch, CanBeCutAndCanGoDeaf_S11) {
    world.create_pod("p", kWrapper, "Running");
    const ports::CallId deaf = client.watch(1'001);
    world.stall_watch(true);
    world.set_phase("p", "Failed");
    clock.advance(Millis(400'000));
    EXPECT_EQ(client.lines(deaf), Lines{});
    EXPECT_FALSE(client.answer(deaf).ended);
    world.stall_watch(false);
    EXPECT_EQ(client.lines(deaf).at(0), "MODIFIED p@1002");

    const ports::CallId cut = client.watch(1'002);
    world.cut_watch();
    EXPECT_EQ(client.lines(cut), Lines{});
    EXPECT_TRUE(client.answer(cut).ended);
    EXPECT_FALSE(client.answer(cut).failed) << "a plain EOF";
}

TEST_F(SandboxWatch, PreparedFailuresComeAsErrorEventOrStatus) {
    world.fail_next(Op::kWatch, Failure::error_event(500));
    world.fail_next(Op::kWatch, Failure::http(410));
    EXPECT_EQ(client.lines(client.watch(1'000)), (Lines{"ERROR 500"}));
    EXPECT_EQ(client.answer(client.watch(1'000)).status, 410);
}

}  // namespace
}  // namespace trueup::sandbox::testing
