#include "apps/config_watch.h"

#include "apps/config/config.h"

#include <utility>

namespace trueup::apps {

ConfigWatch::ConfigWatch(std::string path, Hash128 digest,
                         std::function<void(const std::string&)> warn)
    : path_(std::move(path)), digest_(digest), warn_(std::move(warn)) {}

void ConfigWatch::look(SteadyTime now) {
    {
        const MutexLock lock(mutex_);
        if (now < next_) return;
        next_ = now + kEvery;
    }
    // A folder that does not answer keeps nobody waiting who only asks.
    std::string seen = judged();
    std::string news;
    {
        const MutexLock lock(mutex_);
        const bool settled = seen == last_;
        last_ = std::move(seen);
        if (!settled || last_ == settled_) return;
        news = settled_ = last_;
    }
    if (!news.empty()) warn_(news);
}

std::string ConfigWatch::sentence() const {
    const MutexLock lock(mutex_);
    return settled_;
}

std::string ConfigWatch::judged() const {
    const auto wrong = [](const std::string& what) {
        return "the configuration has changed since this process started, and could not be put in "
               "force: " +
               what.substr(0, what.find('\n')) +
               "; this process goes on with the policies that are in its journals";
    };
    const Result<config::Config> now = config::load_sound_policies(path_);
    if (!now) return wrong(now.error().what);
    if (now->digest == digest_) return {};
    if (!now->left_out.empty()) return wrong(now->left_out.front().why);
    return path_ +
           " or a policy file that it names has changed since this process started; restart it to "
           "put the change in force";
}

}  // namespace trueup::apps
