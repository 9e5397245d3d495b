// A command's read set, evaluated over fresh reads: the closed list of predicates of
// engine/model/command.h. An executor judges nothing itself; it finds out whether what the rule
// relied on still holds.
//
// Predicates on the target object are evaluated over the very read that the write is conditioned on
// (`holds_on_pod`, `holds_on_row`). All others are the *other sides*: `start` reads each of them
// live, and `others()` says what came of it.
//
// Over objects of a cluster, `label.KEY` asks which of them have the label with that value: a list,
// and who is on it has to be one of those that the predicate names.
//
// Over rows, a field other than `key` asks which rows may mean the value as a name
// (engine/world/row_text.h): ` wrapper-a` and `graph/wrapper-a` have `wrapper-a` too.
//
// Where the command was decided by another configuration of a source (`kReadBy`), nothing is asked.
//
//   R1  What cannot be evaluated does not hold: an unknown kind, source or field stops the command.
//   R2  A read that failed is never an absence.
//
// Not thread-safe; the free functions, which keep no state, are.
#pragma once

#include "engine/model/command.h"
#include "executors/async_calls.h"
#include "executors/pod.h"
#include "executors/sources.h"
#include "executors/standing.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::executors {

/// One row as read_rows gave it, with the names of its columns.
struct Row {
    std::string pk;
    std::string xmin;
    std::map<std::string, std::optional<std::string>, std::less<>> columns;
};

/// Rows of an answer with their columns' names; kSkip when the shape is wrong.
Result<std::vector<Row>> decode_rows(const Answer& answer, const std::vector<std::string>& columns);

/// The pk text of `<schema.table>/<pk>`; nullopt when the object is not of this table.
std::optional<std::string> pk_of(const RowSource& source, std::string_view object_id);

/// Does the row's hold column say so? False where the source has none.
bool row_held(const RowSource& source, const Row& row);

class ReadSet {
  public:
    /// Keeps references to all three.
    ReadSet(const Command& command, const Sources& sources, AsyncCalls& calls, Owner owner);

    /// Starts to read every other side anew; nothing of an earlier round is kept.
    void start(SteadyTime now);
    /// Takes the answer if it belongs to a read of this round.
    bool answered(Answer& answer);
    /// True once every read of the round was answered.
    bool complete() const { return waiting_ == 0; }
    /// The first predicate that is refused, else the first that could not be read, else holds.
    Standing others() const;

    /// The predicates on the target over the pod just read.
    Standing holds_on_pod(const PodSource& source, const Pod& pod) const;
    /// The predicates on the target over the row just read.
    Standing holds_on_row(const RowSource& source, const Row& row) const;

    /// The columns of the target row that the read set names, hold column included.
    std::vector<std::string> target_columns(const RowSource& source) const;

    /// As which rows the target may be there already, though it is to be inserted; empty: the read
    /// set does not say, or says what nobody can look for.
    std::vector<ports::RowName> target_names(const RowSource& source) const;

    /// Where a GET finds the object of this name in that source. nullopt: nobody says in which
    /// namespace, or the target is said to be outside of its source.
    std::optional<ports::GetObject> locate(const std::string& name_of_source,
                                           const PodSource& source, std::string name) const;

  private:
    struct Read {
        std::string key;  ///< what is read; predicates on the same thing share one read
        ports::CallId call = 0;
        std::vector<std::string> columns;
        std::string name;  ///< of the pod
        Standing trouble;  ///< why the read was not even started
        std::optional<Answer> answer;
    };
    struct Question {
        const Predicate* predicate = nullptr;
        std::size_t read = 0;
    };

    bool on_target(const Predicate& predicate) const;
    /// nullopt: this executor has no source of that name.
    std::optional<std::uint64_t> mapping_here(const std::string& source) const;
    /// The first that says of a source another mapping than it has here; nullptr: none does.
    const Predicate* known_otherwise() const;
    /// The predicate cannot be evaluated.
    void give_up(const Predicate& predicate, std::string_view why);
    /// True where the source may not be asked yet.
    template <typename Source>
    bool in_doubt(const Predicate& predicate, const Source& source);
    std::string pod_name_for(const Predicate& predicate) const;
    void ask_pod(const Predicate& predicate, const PodSource& source, SteadyTime now);
    void ask_label(const Predicate& predicate, const PodSource& source, SteadyTime now);
    static ports::RowName name_in(const Predicate& predicate, const RowSource& source);
    void ask_row(const Predicate& predicate, const RowSource& source, SteadyTime now);
    std::vector<std::string> other_columns(const RowSource& source,
                                           const Predicate& predicate) const;
    Read& read_for(const Predicate& predicate, std::string key);
    Standing judge(const Question& question) const;
    Standing judge_pod(const Predicate& predicate, const PodSource& source, const Read& read) const;
    static Standing judge_label(const Predicate& predicate, const Read& read);
    Standing judge_row(const Predicate& predicate, const RowSource& source, const Read& read) const;

    const Command& command_;
    const Sources& sources_;
    AsyncCalls& calls_;
    Owner owner_;
    std::vector<Read> reads_;
    std::vector<Question> questions_;
    std::size_t waiting_ = 0;
};

}  // namespace trueup::executors
