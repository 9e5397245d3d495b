// Proves that a secret is read only from a file that is private enough, and that one that is gets
// read: an account's own, or a Secret that Kubernetes mounted for it.
#include "engine/ports/private_file.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace trueup::ports {
namespace {

using trueup::testing::TempDir;

constexpr std::uint32_t kUser = 10'001;
constexpr std::uint32_t kGroup = 20'002;

std::string flaw(std::uint32_t owner, std::uint32_t group, std::uint32_t mode) {
    return flaw_of("/f", {owner, group, mode}, {kUser, {kUser, kGroup}});
}

TEST(PrivateFile, OurOwnIsTakenWhereOnlyWeMayReadIt) {
    for (const std::uint32_t mode : {0400U, 0600U, 0700U}) EXPECT_EQ(flaw(kUser, 5, mode), "");
}

// Symptom: the keys in a Secret could be read by nobody but root: without fsGroup the files are
// root's own, with it they were refused.
TEST(PrivateFile, ASecretThatIsMountedForOurGroupIsTaken) {
    EXPECT_EQ(flaw(0, kGroup, 0440), "");
    EXPECT_EQ(flaw(0, kGroup, 0640), "");
    EXPECT_EQ(flaw(kUser, kGroup, 0640), "");
}

TEST(PrivateFile, WhatAnybodyElseMayReadIsRefusedWithWhatToRun) {
    EXPECT_EQ(flaw(kUser, kUser, 0604),
              "/f (mode 0604, owner 10001, group 10001) may be read by others; write chmod 600 /f "
              "(of a Secret's volume: defaultMode: 0440, with fsGroup)");
    EXPECT_EQ(flaw(0, kGroup, 0644),
              "/f (mode 0644, owner 0, group 20002) may be read by others; write chmod 440 /f (of "
              "a Secret's volume: defaultMode: 0440, with fsGroup)");
    EXPECT_NE(flaw(kUser, 5, 0640), "") << "a group that is not ours";
    EXPECT_NE(flaw(0, 0, 0440), "");
    EXPECT_NE(flaw(kUser, kGroup, 0650), "");
}

TEST(PrivateFile, WhatAnybodyElseMayWriteIsRefused) {
    for (const std::uint32_t mode : {0620U, 0660U, 0602U}) {
        EXPECT_NE(flaw(kUser, kGroup, mode).find("may be written by others"), std::string::npos);
    }
}

TEST(PrivateFile, WhatBelongsToAnotherAccountIsRefusedWhateverItsMode) {
    EXPECT_EQ(flaw(7, kGroup, 0440),
              "/f (mode 0440, owner 7, group 20002) belongs to another account, which could change "
              "it; write chown 10001 /f && chmod 600 /f");
    EXPECT_NE(flaw(7, 7, 0600), "");
}

// Symptom: root, who runs a look by hand, was told to take the file from the service's account.
TEST(PrivateFile, RootIsToldToRunAsTheOwner) {
    EXPECT_EQ(flaw_of("/f", {7, 7, 0600}, {0, {0}}),
              "/f (mode 0600, owner 7, group 7) belongs to another account, which could change it; "
              "run as that account (sudo -u '#7')");
}

TEST(PrivateFile, BitsThatLetNobodyReadItAreNoFlaw) {
    EXPECT_EQ(flaw(kUser, 5, 02600), "");
    EXPECT_NE(flaw(kUser, 5, 02640), "");
}

// Symptom: a pipe where a key should be held the start up for ever.
TEST(PrivateFile, APipeIsRefusedAndNotWaitedFor) {
    const TempDir folder;
    const std::string pipe = folder.path() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(read_private_file(pipe).error().what,
              "cannot read " + pipe + ": it is not a regular file");
}

TEST(RegularFile, APipeADeviceAndAFolderAreRefusedBehindLinksToo) {
    const TempDir folder;
    const std::string pipe = folder.path() + "/pipe";
    const std::string link = folder.path() + "/link";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0644), 0);
    std::filesystem::create_symlink("pipe", link);
    for (const std::string& odd : {pipe, link, std::string("/dev/zero")}) {
        EXPECT_EQ(read_regular_file(odd).error().what,
                  "cannot read " + odd + ": it is not a regular file");
    }
    EXPECT_EQ(read_regular_file(folder.path()).error().what,
              "cannot read " + folder.path() + ": it is a folder");
    const std::string file = folder.path() + "/file";
    std::ofstream(file) << "text";
    ::chmod(file.c_str(), 0666);
    EXPECT_EQ(read_regular_file(file).value(), "text");
}

TEST(PrivateFile, WhatMayBeReadByOthersIsOwnAndNoPlaceForASecret) {
    const TempDir folder;
    const std::string file = folder.path() + "/file";
    std::ofstream(file) << "text";
    ::chmod(file.c_str(), 0644);
    const Result<OwnFile> own = read_own_file(file);
    ASSERT_TRUE(own.ok()) << own.error().what;
    EXPECT_EQ(own->text, "text");
    EXPECT_NE(own->shown.find("may be read by others"), std::string::npos);
    ::chmod(file.c_str(), 0646);
    EXPECT_NE(read_own_file(file).error().what.find("may be written by others"), std::string::npos);
}

TEST(PrivateFile, IsReadThroughTheLinksOfASecretsVolume) {
    const TempDir folder;
    const std::filesystem::path at = folder.path();
    std::filesystem::create_directory(at / "..2026");
    std::ofstream(at / "..2026" / "key") << "s3cret\n";
    std::filesystem::create_symlink("..2026", at / "..data");
    std::filesystem::create_symlink("..data/key", at / "key");
    ::chmod((at / "..2026" / "key").c_str(), 0440);
    const Result<std::string> text = read_private_file((at / "key").string());
    ASSERT_TRUE(text.ok()) << text.error().what;
    EXPECT_EQ(*text, "s3cret\n");
    ::chmod((at / "..2026" / "key").c_str(), 0444);
    EXPECT_FALSE(read_private_file((at / "key").string()).ok())
        << "the link's own mode says nothing";
}

TEST(PrivateFile, AFolderOrNothingAtAllIsAnErrorThatNamesIt) {
    const TempDir folder;
    EXPECT_EQ(read_private_file(folder.path()).error().what,
              "cannot read " + folder.path() + ": it is a folder");
    const std::string none = folder.path() + "/none";
    EXPECT_EQ(read_private_file(none).error().what,
              "cannot read " + none + ": No such file or directory");
}

}  // namespace
}  // namespace trueup::ports
