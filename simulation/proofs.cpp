#include "simulation/proofs.h"

#include "engine/base/id.h"
#include "simulation/instances.h"

#include <algorithm>
#include <map>

namespace trueup::simulation {

namespace {

constexpr const char* kPolicy = "graph-instances/";

/// What there is to know of an object; empty: it is not there, or none of ours.
using Said = std::string;
/// By object: the name under which it was seen, and what was said of it.
using View = std::map<std::string, std::pair<std::string, Said>>;

Said of_pod(const sandbox::PodPtr& pod, const std::string& uid) {
    if (!pod || pod->uid != uid || !selected(*pod)) return {};
    return pod->phase + (pod->deletion_ms ? ", being deleted" : "") + (held(*pod) ? ", held" : "");
}

Said of_pod(const Facet& facet) {
    const ObjectView fields = facet.fields();
    if (!facet.present() || fields.is("in_scope", "false")) return {};
    return std::string(fields.text("phase").value_or("")) +
           (fields.is("deleting", "true") ? ", being deleted" : "") +
           (fields.is("hold", "true") ? ", held" : "");
}

Said of_row(const Facet& facet) {
    if (!facet.present()) return {};
    const ObjectView fields = facet.fields();
    return std::string(fields.text("status").value_or("")) + " of " +
           std::string(fields.text("pod_name").value_or(""));
}

/// What a shard should know of a source at some moment, and what it does know.
class Comparison {
  public:
    Comparison(const Proof& proof, bool pods, const History& history)
        : proof_(proof), pods_(pods), history_(history) {}

    View view(const core::State& state) const {
        View seen;
        state.subjects.each_cached([&](const Subject& subject) {
            for (const Facet& facet : subject.facets) {
                if (facet.source != proof_.source) continue;
                Said said = pods_ ? of_pod(facet) : of_row(facet);
                auto& known = seen[facet.object_id];
                if (known.second.empty()) {
                    known = {subject.key.substr(subject.key.find('/') + 1), std::move(said)};
                }
            }
        });
        return seen;
    }

    /// Adds what was there, and is not in the view.
    void add_world(Moment moment, View& seen) const {
        if (pods_) {
            for (const sandbox::PodPtr& pod : history_.pods(moment)) {
                if (is_ours(pod->name)) seen.try_emplace(pod->uid, pod->name, Said());
            }
            return;
        }
        for (const History::Row& row : history_.rows(moment)) {
            const std::string name = row.view.key();
            if (is_ours(name)) seen.try_emplace(kTable + row.pk, name, Said());
        }
    }

    Said truth(const std::string& id, const std::string& name, Moment moment) const {
        if (pods_) return of_pod(history_.pod(name, moment), id);
        const auto row = history_.row(id.substr(kTable.size()), moment);
        if (!row || !is_ours(row->key())) return {};
        return row->text("status") + " of " + row->text("pod_name");
    }

  private:
    inline static const std::string kTable = "public.instances/";
    bool is_ours(const std::string& name) const {
        return partition_of(kPolicy + name, proof_.shards) == proof_.shard;
    }

    const Proof& proof_;
    const bool pods_;
    const History& history_;
};

}  // namespace

std::string against_proof(const core::State& state, const Proof& proof, const History& history) {
    const std::string& source = state.meta.sources[proof.source].name;
    const Comparison comparison(proof, source == "pods", history);
    // What happens at the very moment may be before it, or behind.
    const Moment from = history.moment_at(proof.as_of - Millis{1});
    const Moment to = history.moment_at(proof.taken);
    View seen = comparison.view(state);
    comparison.add_world(from, seen);
    for (const auto& [id, known] : seen) {
        const auto& [name, said] = known;
        bool was_so = false;
        for (Moment moment = from; !was_so && moment <= to; ++moment) {
            was_so = comparison.truth(id, name, moment) == said;
        }
        if (was_so) continue;
        const Said truth = comparison.truth(id, name, from);
        std::string what = source;
        what.append(" has proven everything, and shows ").append(id).append(" (").append(name);
        what.append(") as ").append(said.empty() ? "absent" : said).append(", which was ");
        return what.append(truth.empty() ? "absent" : truth);
    }
    return {};
}

}  // namespace trueup::simulation
