#include "apps/pass_log.h"

#include "apps/events.h"

#include <nlohmann/json.hpp>

namespace trueup::apps {

void PassLog::look(const core::Meta& meta, const std::vector<policy::Event>& events) {
    const core::Pass& pass = meta.pass;
    const bool news = started_ && pass.completed != completed_;
    if (started_ && !news) return;
    nlohmann::ordered_json fields{{"policy", meta.settings.policy}};
    mended_.resize(meta.rules.size(), 0);
    for (const policy::Event& event : events) {
        if (event.on != policy::Event::On::kReconcile) continue;
        for (std::size_t i = 0; i < meta.rules.size() && i < meta.settings.rules.size(); ++i) {
            if (meta.settings.rules[i].rule == event.rule)
                fields[event.name] = meta.rules[i].mended - mended_[i];
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
