#include "apps/pass_log.h"

#include "apps/events.h"

#include <nlohmann/json.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace trueup::apps {

namespace {

/// What the JSON log calls the rules' work, by rule.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kWork{
    {{"orphaned_pod", "orphaned_pods_cleaned"},
     {"missing_pod", "missing_pods_handled"},
     {"status_drift", "status_drift_fixed"},
     {"ttl_expired", "ttl_expired"},
     {"inactive", "inactive_terminated"}}};

}  // namespace

void PassLog::look(const core::Meta& meta) {
    const core::Pass& pass = meta.pass;
    const bool news = started_ && pass.completed != completed_;
    if (started_ && !news) return;
    nlohmann::ordered_json fields{{"policy", meta.settings.policy}};
    mended_.resize(meta.rules.size(), 0);
    for (const auto& [rule, name] : kWork) {
        for (std::size_t i = 0; i < meta.rules.size() && i < meta.settings.rules.size(); ++i) {
            if (meta.settings.rules[i].rule == rule)
                fields[name] = meta.rules[i].mended - mended_[i];
        }
    }
    fields["duration_seconds"] = static_cast<double>(pass.millis - millis_) / 1000.0;
    for (std::size_t i = 0; i < meta.rules.size(); ++i) mended_[i] = meta.rules[i].mended;
    completed_ = pass.completed;
    millis_ = pass.millis;
    if (news) log_event("reconciliation_pass_completed", fields);
    started_ = true;
}

}  // namespace trueup::apps
