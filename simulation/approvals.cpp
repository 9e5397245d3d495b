#include "simulation/approvals.h"

#include "engine/model/reason.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace trueup::simulation {

namespace {

/// How long ago a source may have shown its clock, and a command been given because of it.
constexpr Millis kClockAge{120'000};

/// In milliseconds, by the simulation's notion of 1970; nullopt: the row names none.
std::optional<std::int64_t> deadline(const History::RowView& row, const char* from,
                                     const char* length) {
    const std::optional<std::int64_t> begins = from_timestamp(row.text(from));
    const std::string lasts = row.text(length);
    const bool number = !lasts.empty() && lasts.size() < 10 &&
                        lasts.find_first_not_of("0123456789") == std::string::npos;
    if (!begins || !number || std::stol(lasts) == 0) return std::nullopt;
    return *begins + std::stol(lasts) * 1'000;
}

bool passed(const History::RowView& row, std::int64_t clock) {
    const auto ttl = deadline(row, "created_at", "ttl");
    const auto idle = deadline(row, "last_activity_at", "inactivity_timeout");
    return (ttl && *ttl < clock) || (idle && *idle < clock && row.text("status") == "running");
}

}  // namespace

std::string to_timestamp(std::int64_t wall_millis) {
    using namespace std::chrono;
    const sys_time<milliseconds> at{milliseconds(wall_millis)};
    const auto day = floor<days>(at);
    const year_month_day date(day);
    const hh_mm_ss time(floor<seconds>(at - day));
    char text[40];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d+00",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text;
}

std::optional<std::int64_t> from_timestamp(const std::string& text) {
    using namespace std::chrono;
    int y = 0;
    unsigned m = 0;
    unsigned d = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (std::sscanf(text.c_str(), "%d-%u-%u %d:%d:%d+00", &y, &m, &d, &hour, &minute, &second) !=
        6) {
        return std::nullopt;
    }
    const auto at =
        sys_days(year(y) / month(m) / day(d)) + hours(hour) + minutes(minute) + seconds(second);
    return duration_cast<milliseconds>(at.time_since_epoch()).count();
}

void Approvals::asked(const Request& request) {
    const std::string& subject = request.scope.subject;
    const bool may = request.role == "ops" || request.role == "admin";
    if (request.kind == RequestKind::kApprove) {
        approved_[subject] = scheduler_.steady_now();
        const std::string& reason = request.scope.reason;
        const bool all_else = !reason.empty() && reason != name_of(Reason::kRecurring);
        if (!all_else) approved_again_[subject] = scheduler_.steady_now();
    }
    if (request.kind == RequestKind::kDismiss) dismissed_.insert(subject);
    if (request.kind == RequestKind::kTerminate) {
        ends_[subject].insert(may ? std::string() : request.issued_by);
    }
}

void Approvals::database_clock(Millis ahead) {
    clocks_.emplace_back(scheduler_.steady_now(), ahead);
}

bool Approvals::to_end(const History::RowView& row) const {
    Millis most = ahead();
    for (std::size_t i = 1; i < clocks_.size(); ++i) {
        const bool shown_lately = clocks_[i].first + kClockAge > scheduler_.steady_now();
        if (shown_lately) most = std::max(most, clocks_[i - 1].second);
    }
    if (passed(row, scheduler_.wall_millis() + most.count())) return true;
    const auto found = ends_.find("graph-instances/" + row.key());
    if (found == ends_.end()) return false;
    const auto& who = found->second;
    const std::string owner = row.text("owner_username");
    return who.count("") != 0 || (!owner.empty() && who.count(owner) != 0);
}

bool Approvals::overdue(const History::RowView& row) const {
    return passed(row, database_millis());
}

bool Approvals::to_order(const Command& command, SteadyTime issued) {
    SteadyTime& last = orders_[command.rule + " " + command.draft.target.object_id];
    return since(approved_, command.subject, std::exchange(last, issued));
}

bool Approvals::again_since(const std::string& subject, SteadyTime time) const {
    return since(approved_again_, subject, time);
}

bool Approvals::since(const Given& given, const std::string& subject, SteadyTime time) {
    for (const std::string& scope : {std::string(), subject}) {
        const auto found = given.find(scope);
        if (found != given.end() && found->second > time) return true;
    }
    return false;
}

}  // namespace trueup::simulation
