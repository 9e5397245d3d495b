#include "connectors/kubernetes/exec_plugin.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::connectors {

namespace {

constexpr std::size_t kMaxQuoted = 300;

/// Of somebody else's words what fits into one line of a log.
std::string one_line(std::string_view words) {
    std::string line;
    for (const char c : words.substr(0, kMaxQuoted)) {
        const bool blank = static_cast<unsigned char>(c) <= ' ';
        if (!blank) line += c;
        if (blank && !line.empty() && line.back() != ' ') line += ' ';
    }
    if (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

}  // namespace

ExecPlugin::State ExecPlugin::advance() {
    const SteadyTime now = clock_.steady_now();
    // Asked early for the next ones: calls go on with those of now while it runs.
    if (!tend() && !last(kMargin) && now >= next_run_) start(now);
    if (last(Millis(0))) return State::kReady;
    if (child_ && !late_) return State::kRunning;
    // Fresh from the plugin, and yet refused or expired: none better are to be had so soon.
    return failed_ ? State::kFailed : State::kReady;
}

bool ExecPlugin::last(Millis more) const {
    if (generation_ == 0 || refused_) return false;
    const std::optional<std::int64_t> end = credential_.expires_ms;
    return !end || clock_.wall_millis() + more.count() < *end;
}

void ExecPlugin::refused(std::uint64_t generation) {
    refused_ = refused_ || generation == generation_;
}

void ExecPlugin::start(SteadyTime now) {
    next_run_ = now + kRunGap;
    began_ = now;
    late_ = false;
    Result<std::unique_ptr<Child>> child =
        Child::start(config_.program, config_.args, config_.env, config_.withheld);
    if (child) {
        child_ = std::move(*child);
        return;
    }
    const std::string hint = one_line(config_.install_hint);
    fail("cannot be run (" + child.error().what + "): " +
         (hint.empty() ? "install it, or give the user a client certificate, a token or a "
                         "tokenFile"
                       : hint));
}

bool ExecPlugin::tend() {
    if (!child_) return false;
    if (const std::optional<Child::Ending> ending = child_->watch()) {
        child_.reset();
        if (!late_) take(*ending);
        return false;
    }
    if (!late_ && clock_.steady_now() - began_ >= kRunLimit) {
        // Killed and still waited for: a child that is not reaped would stay a zombie.
        late_ = true;
        child_->kill();
        fail("printed no credentials within " + std::to_string(kRunLimit.count() / 1000) +
             " s: run it by hand to see what it waits for");
    }
    return true;
}

void ExecPlugin::take(const Child::Ending& ending) {
    if (ending.code != 0) {
        const std::string words = one_line(ending.complaint);
        fail((ending.code < 0 ? "was killed" : "ended with " + std::to_string(ending.code)) +
             (words.empty() ? "" : ": " + words));
        return;
    }
    Result<ExecCredential> credential = parse_exec_credential(ending.output, config_.api_version);
    if (!credential) {
        fail(credential.error().what);
        return;
    }
    credential_ = std::move(*credential);
    ++generation_;
    refused_ = false;
    failed_ = false;
}

void ExecPlugin::fail(const std::string& why) {
    failed_ = true;
    failure_ = Error{Next::kRetry, Code::kDenied,
                     "credentials: the kubeconfig's exec command '" + config_.command + "' " + why};
}

}  // namespace trueup::connectors
