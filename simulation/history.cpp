#include "simulation/history.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trueup::simulation {

History::History(const sandbox::WorldSettings& settings) {
    for (const sandbox::Column& column : settings.columns) {
        if (column.name == settings.pk_column) pk_ = columns_.size();
        columns_.push_back(column.name);
    }
}

Moment History::moment_at(SteadyTime time) const {
    return static_cast<Moment>(std::upper_bound(times_.begin(), times_.end(), time) -
                               times_.begin());
}

void History::take(const std::vector<sandbox::Record>& act, SteadyTime now) {
    times_.push_back(now);
    const Moment here = times_.size();
    for (const sandbox::Record& record : act) {
        if (const auto* pod = std::get_if<sandbox::PodEvent>(&record)) {
            born_.emplace(pod->subject().uid, now);
            pods_[pod->subject().name].push_back({here, pod->after});
        } else if (const auto* commit = std::get_if<sandbox::Commit>(&record)) {
            for (const sandbox::RowChange& change : commit->changes) {
                if (change.before) rows_[*(*change.before)[pk_]].push_back({here, nullptr});
                if (change.after) rows_[*(*change.after)[pk_]].push_back({here, change.after});
            }
        }
    }
}

/// nullptr: there is no such column.
const std::optional<std::string>* History::RowView::cell(std::string_view column) const {
    const auto& columns = history_->columns_;
    const auto found = std::find(columns.begin(), columns.end(), column);
    if (found == columns.end()) return nullptr;
    return &(*values_)[static_cast<std::size_t>(found - columns.begin())];
}

bool History::RowView::null(std::string_view column) const {
    const auto* found = cell(column);
    return found == nullptr || !*found;
}

std::string_view History::RowView::view(std::string_view column) const {
    const auto* found = cell(column);
    return found != nullptr && *found ? std::string_view(**found) : std::string_view();
}

bool History::RowView::untracked() const {
    return view("pod_name").find_first_not_of(" \t") == std::string_view::npos;
}

std::string History::RowView::key() const {
    return untracked() ? "wrapper-" + text("url_slug") : text("pod_name");
}

sandbox::PodPtr History::pod(std::string_view name, Moment as_of) const {
    const auto found = pods_.find(name);
    return found == pods_.end() ? nullptr : last(found->second, as_of);
}

std::optional<SteadyTime> History::born(std::string_view uid) const {
    const auto found = born_.find(uid);
    if (found == born_.end()) return std::nullopt;
    return found->second;
}

std::vector<sandbox::PodPtr> History::pods(Moment as_of) const {
    std::vector<sandbox::PodPtr> there;
    each_pod(as_of, [&](const sandbox::PodPtr& pod) { there.push_back(pod); });
    return there;
}

std::optional<History::RowView> History::row(std::string_view pk, Moment as_of) const {
    const auto found = rows_.find(pk);
    if (found == rows_.end()) return std::nullopt;
    const sandbox::Values& values = last(found->second, as_of);
    if (!values) return std::nullopt;
    return RowView(*this, *values);
}

std::vector<History::Row> History::rows(Moment as_of) const {
    std::vector<Row> there;
    each_row(as_of, [&](const std::string& pk, const RowView& view) {
        there.push_back({pk, view});
    });
    return there;
}

std::vector<History::Row> History::rows_of(std::string_view key, Moment as_of) const {
    std::vector<Row> there;
    each_row(as_of, [&](const std::string& pk, const RowView& view) {
        if (view.key() == key) there.push_back({pk, view});
    });
    return there;
}

std::vector<Moment> History::turns(std::string_view name, Moment from, Moment to) const {
    std::set<Moment> turns{from};
    const auto add = [&](Moment at) {
        if (from < at && at <= to) turns.insert(at);
    };
    if (const auto pod = pods_.find(name); pod != pods_.end()) {
        for (const auto& at : pod->second) add(at.moment);
    }
    for (const auto& [pk, timeline] : rows_) {
        bool named = false;  // and so its next change is one as well
        for (const auto& at : timeline) {
            const bool before = std::exchange(
                named, at.value != nullptr && RowView(*this, *at.value).key() == name);
            if (before || named) add(at.moment);
        }
    }
    return {turns.begin(), turns.end()};
}

std::optional<SteadyTime> History::first(std::string_view pk) const {
    const auto found = rows_.find(pk);
    if (found == rows_.end()) return std::nullopt;
    return times_[found->second.front().moment - 1];
}

std::optional<SteadyTime> History::first_saying(std::string_view pk, std::string_view column,
                                                std::string_view text) const {
    const auto found = rows_.find(pk);
    if (found == rows_.end()) return std::nullopt;
    for (const auto& at : found->second) {
        if (at.value && RowView(*this, *at.value).view(column) == text) {
            return times_[at.moment - 1];
        }
    }
    return std::nullopt;
}

std::set<std::string> History::names(Moment from, Moment to) const {
    std::set<std::string> all;
    for (Moment moment = from; moment <= to; ++moment) {
        each_pod(moment, [&](const sandbox::PodPtr& pod) { all.insert(pod->name); });
        each_row(moment, [&](std::string_view, const RowView& row) { all.insert(row.key()); });
    }
    return all;
}

SteadyTime History::news(std::string_view name, std::string_view pk) const {
    Moment last = 0;
    const auto pod = pods_.find(name);
    if (pod != pods_.end()) last = pod->second.back().moment;
    for (const auto& [key, timeline] : rows_) {
        const auto names = [&](const auto& at) {
            return at.value && RowView(*this, *at.value).key() == name;
        };
        if (key != pk && std::none_of(timeline.begin(), timeline.end(), names)) continue;
        last = std::max(last, timeline.back().moment);
    }
    return last == 0 ? SteadyTime{} : times_[last - 1];
}

}  // namespace trueup::simulation
