// A child process that does a test's dangerous half and is killed in the middle of it.
//
// The child is this test binary, executed anew with one disabled test as its filter, and not a
// plain fork: RocksDB's thread pool, once started in the parent, does not exist in a forked child.
//
//   TEST(LogVictim, DISABLED_Run) { auto job = VictimJob::of_this_process(); ...; job.say(n); }
//   Victim victim("LogVictim.DISABLED_Run", path);
//   while (victim.hear(n) && n < 100) {}
//   victim.kill();  // then hear() what it had said before it died
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace trueup::testing {

inline constexpr const char* kVictimPath = "TRUEUP_VICTIM_PATH";
inline constexpr const char* kVictimPipe = "TRUEUP_VICTIM_PIPE";

class Victim {
  public:
    Victim(const std::string& test, const std::string& path) {
        int ends[2];
        if (::pipe(ends) != 0) throw std::runtime_error("pipe");
        const std::string filter = "--gtest_filter=" + test;
        const std::string pipe_text = std::to_string(ends[1]);
        pid_ = ::fork();
        if (pid_ < 0) throw std::runtime_error("fork");
        if (pid_ == 0) {
            ::setenv(kVictimPath, path.c_str(), 1);
            ::setenv(kVictimPipe, pipe_text.c_str(), 1);
            const int null = ::open("/dev/null", O_WRONLY);
            ::dup2(null, STDOUT_FILENO);
            ::close(ends[0]);
            ::execl("/proc/self/exe", "victim", filter.c_str(), "--gtest_also_run_disabled_tests",
                    static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(ends[1]);
        pipe_ = ends[0];
    }
    ~Victim() {
        kill();
        ::close(pipe_);
    }
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    /// The next number that the child said; false once it is dead and everything was heard.
    bool hear(std::uint64_t& number) const {
        return ::read(pipe_, &number, sizeof number) == static_cast<ssize_t>(sizeof number);
    }

    /// SIGKILL, and waits for the end.
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

  private:
    pid_t pid_ = -1;
    int pipe_ = -1;
};

/// The child's side.
struct VictimJob {
    std::string path;
    int pipe = -1;

    /// An empty path in a process that is no victim.
    static VictimJob of_this_process() {
        const char* path = ::getenv(kVictimPath);
        const char* pipe = ::getenv(kVictimPipe);
        if (path == nullptr || pipe == nullptr) return {};
        return {path, static_cast<int>(::strtol(pipe, nullptr, 10))};
    }
    /// One write of eight bytes: whole or not at all.
    void say(std::uint64_t number) const {
        if (::write(pipe, &number, sizeof number) != static_cast<ssize_t>(sizeof number)) {
            ::_exit(1);
        }
    }
};

}  // namespace trueup::testing
