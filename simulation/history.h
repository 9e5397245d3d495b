// What was so in the world, at every moment of it: the sandbox's own records, kept. The oracles
// know nothing else, and nothing of what the engine believes.
#pragma once

#include "sandbox/records.h"
#include "simulation/witness.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::simulation {

class History {
  public:
    explicit History(const sandbox::WorldSettings& settings);

    void take(const std::vector<sandbox::Record>& act, SteadyTime now);
    /// How many acts there were; what is asked as of moment m knows the first m of them.
    Moment moment() const { return times_.size(); }
    /// The last moment at or before this time.
    Moment moment_at(SteadyTime time) const;

    /// One row, by the names of its columns. Valid as long as the history.
    class RowView {
      public:
        RowView(const History& history, const ports::SqlRow& values)
            : history_(&history), values_(&values) {}
        /// Empty for null and for a column that is not there.
        std::string text(std::string_view column) const { return std::string(view(column)); }
        std::string_view view(std::string_view column) const;
        bool null(std::string_view column) const;
        /// Does it name no pod? What is blank is no name.
        bool untracked() const;
        /// The correlation key: its pod_name, or else the name that its slug gives.
        std::string key() const;

      private:
        const std::optional<std::string>* cell(std::string_view column) const;

        const History* history_;
        const ports::SqlRow* values_;
    };
    struct Row {
        std::string pk;
        RowView view;
    };

    /// nullptr: there was no pod of that name.
    sandbox::PodPtr pod(std::string_view name, Moment as_of) const;
    std::vector<sandbox::PodPtr> pods(Moment as_of) const;
    /// When this pod was first there; nullopt: never.
    std::optional<SteadyTime> born(std::string_view uid) const;
    std::optional<RowView> row(std::string_view pk, Moment as_of) const;
    std::vector<Row> rows(Moment as_of) const;
    std::vector<Row> rows_of(std::string_view key, Moment as_of) const;
    /// The same, without a copy: visit(const sandbox::PodPtr&), visit(primary key, RowView).
    template <typename Visit>
    void each_pod(Moment as_of, Visit visit) const {
        for (const auto& [name, timeline] : pods_) {
            if (const sandbox::PodPtr& pod = last(timeline, as_of)) visit(pod);
        }
    }
    template <typename Visit>
    void each_row(Moment as_of, Visit visit) const {
        for (const auto& [pk, timeline] : rows_) {
            const sandbox::Values& values = last(timeline, as_of);
            if (values) visit(pk, RowView(*this, *values));
        }
    }
    /// From then on, and each later moment until then at which something about a pod of that name,
    /// or a row of it, changed. Ascending.
    std::vector<Moment> turns(std::string_view name, Moment from, Moment to) const;
    /// When there first was a row of that primary key; nullopt: never.
    std::optional<SteadyTime> first(std::string_view pk) const;
    /// When a row of that primary key first said this; nullopt: never.
    std::optional<SteadyTime> first_saying(std::string_view pk, std::string_view column,
                                           std::string_view text) const;
    /// The names of pods and rows that there were at any of these moments.
    std::set<std::string> names(Moment from, Moment to) const;
    /// When anything about a pod of that name, or a row of it or of that primary key, changed last.
    SteadyTime news(std::string_view name, std::string_view pk) const;

  private:
    template <typename Value>
    struct At {
        Moment moment;  ///< from here on
        Value value;    ///< nullptr: gone
    };
    template <typename Value>
    using Timelines = std::map<std::string, std::vector<At<Value>>, std::less<>>;

    /// The last value at or before a moment; nullptr: there was none.
    template <typename Value>
    static const Value& last(const std::vector<At<Value>>& timeline, Moment as_of) {
        static const Value kNone = nullptr;
        const auto after =
            std::upper_bound(timeline.begin(), timeline.end(), as_of,
                             [](Moment wanted, const auto& at) { return wanted < at.moment; });
        return after == timeline.begin() ? kNone : std::prev(after)->value;
    }

    std::vector<SteadyTime> times_;  ///< of the acts
    std::vector<std::string> columns_;
    std::size_t pk_ = 0;
    std::map<std::string, SteadyTime, std::less<>> born_;  ///< by uid
    Timelines<sandbox::PodPtr> pods_;                      ///< by name
    Timelines<sandbox::Values> rows_;                      ///< by primary key
};

}  // namespace trueup::simulation
