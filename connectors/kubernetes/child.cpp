#include "connectors/kubernetes/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace trueup::connectors {

namespace {

constexpr int kReadsAtOnce = 64;  // who prints for ever must not hold us up
constexpr int kLastTries = 50;
constexpr std::chrono::milliseconds kLastWait{2};

std::vector<std::string> environment(const std::map<std::string, std::string>& env,
                                     const std::set<std::string>& withheld) {
    std::vector<std::string> lines;
    for (char** line = environ; *line != nullptr; ++line) {
        const std::string_view text = *line;
        const std::string name(text.substr(0, text.find('=')));
        if (!env.contains(name) && !withheld.contains(name)) lines.emplace_back(text);
    }
    for (const auto& [name, value] : env) lines.emplace_back(name).append("=").append(value);
    return lines;
}

/// As posix_spawn wants them; the strings must stay.
std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> all;
    all.reserve(strings.size() + 1);
    for (std::string& one : strings) all.push_back(one.data());
    all.push_back(nullptr);
    return all;
}

/// The settings of a spawn.
struct Plan {
    Plan() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    ~Plan() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    void set(int out, int err) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
        // Sockets and files of ours are none of its business, whoever forgot to mark them.
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
        sigset_t all;
        sigset_t none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all);  // we ignore SIGPIPE; it need not
        posix_spawnattr_setsigmask(&attributes, &none);
        // A group of its own, so that `kill` reaches what it started as well.
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    }

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

Error failed(int code) {
    return Error{Next::kRetry, Code::kInternal, std::generic_category().message(code)};
}

/// Appends what can be read at once, but keeps no more than `most`. False: there was more.
bool read_into(std::string& text, int from, std::size_t most) {
    bool all = true;
    std::array<char, 4096> buffer{};
    for (int reads = 0; reads < kReadsAtOnce; ++reads) {
        const ssize_t got = ::read(from, buffer.data(), buffer.size());
        if (got <= 0) break;
        const std::size_t kept = std::min(most - text.size(), static_cast<std::size_t>(got));
        text.append(buffer.data(), kept);
        all = all && kept == static_cast<std::size_t>(got);
    }
    return all;
}

}  // namespace

Child::Pipe::~Pipe() {
    if (reader >= 0) ::close(reader);
    if (writer >= 0) ::close(writer);
}

Result<std::unique_ptr<Child>> Child::start(const std::string& program,
                                            const std::vector<std::string>& args,
                                            const std::map<std::string, std::string>& env,
                                            const std::set<std::string>& withheld) {
    std::unique_ptr<Child> child(new Child);
    for (Pipe* pipe : {&child->out_, &child->err_}) {
        int ends[2] = {};
        if (::pipe2(ends, O_CLOEXEC) != 0) return failed(errno);
        pipe->reader = ends[0];
        pipe->writer = ends[1];
        if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return failed(errno);
    }
    std::vector<std::string> words{program};
    words.insert(words.end(), args.begin(), args.end());
    std::vector<std::string> lines = environment(env, withheld);
    Plan plan;
    plan.set(child->out_.writer, child->err_.writer);
    const int flaw = ::posix_spawnp(&child->pid_, program.c_str(), &plan.actions, &plan.attributes,
                                    pointers(words).data(), pointers(lines).data());
    for (Pipe* pipe : {&child->out_, &child->err_}) ::close(std::exchange(pipe->writer, -1));
    if (flaw != 0) {
        child->pid_ = -1;
        return failed(flaw);
    }
    return child;
}

Child::~Child() {
    kill();
    for (int tries = 0; tries < kLastTries && pid_ > 0; ++tries) {
        if (!watch()) std::this_thread::sleep_for(kLastWait);
    }
}

void Child::drain() {
    if (!read_into(ending_.output, out_.reader, kMaxOutput)) kill();
    (void)read_into(ending_.complaint, err_.reader, kMaxComplaint);
}

std::optional<Child::Ending> Child::watch() {
    if (pid_ <= 0) return std::nullopt;
    drain();
    int status = 0;
    const pid_t gone = ::waitpid(pid_, &status, WNOHANG);
    if (gone == 0) return std::nullopt;
    drain();  // what it printed last; whoever inherited the pipe is not waited for
    ending_.code = gone == pid_ && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    pid_ = -1;
    return std::move(ending_);
}

void Child::kill() const {
    if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

}  // namespace trueup::connectors
