#include "simulation/proofs.h"

#include "engine/base/id.h"
#include "simulation/instances.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr const char* kPolicy = "graph-instances/";

/// What there is to know of an object, or that it is not there, or none of ours.
struct Said {
    bool there = false;
    std::string_view state;  ///< the phase of a pod, the status of a row
    std::string_view names;  ///< the pod that a row names
    bool deleting = false;
    bool held = false;
    bool unclear = false;  ///< whether it is held: somebody wrote `false`, or the like

    bool operator==(const Said&) const = default;
    std::string text() const {
        if (!there) return "absent";
        return std::string(state) + (names.empty() ? "" : " of ") + std::string(names) +
               (deleting ? ", being deleted" : "") + (held ? ", held" : "");
    }
};

/// A pod by its uid, or a row by its primary key.
struct Seen {
    std::string_view id;
    std::string_view name;  ///< under which it was seen
    Said said;
};

Said of_pod(const sandbox::PodPtr& pod, std::string_view uid, std::string_view source) {
    if (!pod || pod->uid != uid || !selected_by(*pod, source)) return {};
    const bool says = pod->labels.count("trueup.io/hold") != 0;
    return {true, pod->phase, {}, pod->deletion_ms.has_value(), held(*pod), says && !held(*pod)};
}

Said of_pod(const Facet& facet) {
    if (!facet.present()) return {};
    Said said;
    said.there = true;
    facet.fields().each([&said](const Field& field) {
        const std::string_view text = field.value.value_or("");
        if (field.name == "in_scope" && text == "false") said.there = false;
        if (field.name == "phase") said.state = text;
        if (field.name == "deleting") said.deleting = text == "true";
        if (field.name == "hold") said.held = text == "true";
    });
    return said.there ? said : Said{};
}

Said of_row(const Facet& facet) {
    if (!facet.present()) return {};
    Said said;
    said.there = true;
    facet.fields().each([&said](const Field& field) {
        if (field.name == "status") said.state = field.value.value_or("");
        if (field.name == "pod_name") said.names = field.value.value_or("");
    });
    return said;
}

/// What a shard should know of a source at some moment, and what it does know.
class Comparison {
  public:
    Comparison(const Proof& proof, std::string_view source, const History& history)
        : proof_(proof), source_(source), pods_(of_pods(source)), history_(history) {}

    /// In the order of the ids, each once.
    std::vector<Seen> view(const core::State& state) const {
        std::vector<Seen> seen;
        state.subjects.each_cached([&](const Subject& subject) {
            for (const Facet& facet : subject.facets) {
                if (facet.source != proof_.source) continue;
                std::string_view id = facet.object_id;
                if (!pods_) id.remove_prefix(kTable.size());
                std::string_view name = subject.key;
                name.remove_prefix(name.find('/') + 1);
                seen.push_back({id, name, pods_ ? of_pod(facet) : of_row(facet)});
            }
        });
        // Where it was moved from it is absent.
        std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) {
            return a.id != b.id ? a.id < b.id : a.said.there > b.said.there;
        });
        const auto same = [](const Seen& a, const Seen& b) { return a.id == b.id; };
        seen.erase(std::unique(seen.begin(), seen.end(), same), seen.end());
        return seen;
    }

    /// What was there, and is not among these.
    std::vector<Seen> lacking(const std::vector<Seen>& seen, Moment moment) const {
        std::vector<Seen> lacks;
        const auto known = [&](std::string_view id) {
            const auto here = std::lower_bound(
                seen.begin(), seen.end(), id,
                [](const Seen& one, std::string_view wanted) { return one.id < wanted; });
            return here != seen.end() && here->id == id;
        };
        if (pods_) {
            history_.each_pod(moment, [&](const sandbox::PodPtr& pod) {
                if (!known(pod->uid) && is_ours(pod->name)) {
                    lacks.push_back({pod->uid, pod->name, {}});
                }
            });
        } else {
            history_.each_row(moment, [&](std::string_view pk, const History::RowView& row) {
                if (!known(pk) && is_ours(row.key())) {
                    lacks.push_back({pk, row.view("pod_name"), {}});
                }
            });
        }
        return lacks;
    }

    bool was_so(const Seen& seen, Moment from, Moment to) const {
        for (Moment moment = from; moment <= to; ++moment) {
            Said then = truth(seen, moment);
            if (std::exchange(then.unclear, false)) then.held = seen.said.held;
            if (then == seen.said) return true;
        }
        return false;
    }

    Said truth(const Seen& seen, Moment moment) const {
        if (pods_) return of_pod(history_.pod(seen.name, moment), seen.id, source_);
        const auto row = history_.row(seen.id, moment);
        if (!row || (proof_.shards > 1 && !is_ours(row->key()))) return {};
        return {true, row->view("status"), row->view("pod_name")};
    }

  private:
    static constexpr std::string_view kTable = "public.instances/";
    bool is_ours(const std::string& name) const {
        return proof_.shards == 1 || partition_of(kPolicy + name, proof_.shards) == proof_.shard;
    }

    const Proof& proof_;
    const std::string_view source_;
    const bool pods_;
    const History& history_;
};

}  // namespace

std::string against_proof(const core::State& state, const Proof& proof, const History& history) {
    const std::string& source = state.meta.sources[proof.source].name;
    const Comparison comparison(proof, source, history);
    // What happens at the very moment may be before it, or behind.
    const Moment from = history.moment_at(proof.as_of - Millis{1});
    const Moment to = history.moment_at(proof.taken);
    const std::vector<Seen> view = comparison.view(state);
    const auto against = [&](const std::vector<Seen>& some) -> std::string {
        for (const Seen& seen : some) {
            if (comparison.was_so(seen, from, to)) continue;
            std::string what = source + " has proven everything, and shows ";
            what.append(seen.id).append(" (").append(seen.name).append(") as ");
            what.append(seen.said.text()).append(", which was ");
            return what.append(comparison.truth(seen, from).text());
        }
        return {};
    };
    const std::string wrong = against(view);
    return wrong.empty() ? against(comparison.lacking(view, from)) : wrong;
}

}  // namespace trueup::simulation
