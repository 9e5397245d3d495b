// Proves C1 and C2 on what a process left behind: the stored projection is the fold of the journal,
// every input was accepted once and in order, and what the engine believes is what is so.
//
//     verify_state --state-dir D [--seed S]
//     verify_state --config trueup.yaml --shard K    over Kafka
//
// Opens log and projection of the one policy in D/policies and, with --seed, a copy of the
// sandbox's D/world.jsonl; nobody else may hold them. Without a sandbox the world is somebody
// else's to check, and findings may be open. Prints one JSON object; `problems` lists what is not
// as it should be. Exit code 0: there are none.
#include "apps/bus.h"
#include "engine/codec/change_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/core/fold.h"
#include "engine/core/row.h"
#include "engine/ports/clock.h"
#include "projections/rocksdb_store.h"
#include "sandbox/world.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trueup {
namespace {

constexpr std::size_t kLogMemory = std::size_t{128} << 20U;
constexpr std::size_t kPage = std::size_t{4} << 20U;
constexpr const char* kSelected[] = {"ryugraph-wrapper", "falkordb-wrapper"};

struct Report {
    std::vector<std::string> problems;
    std::map<std::string, std::uint64_t> counts;
    void problem(std::string what) {
        if (problems.size() < 50) problems.push_back(std::move(what));
    }
    void expect(bool right, const std::string& what) {
        if (!right) problem(what);
    }
};

/// What the projection says: the meta row and the subjects' rows (keys as in projection.h).
struct Image {
    std::optional<core::Meta> meta;
    std::string meta_bytes;
    std::map<std::string, std::string> subjects;
};

Image read_image(ports::Store& store, Report& report) {
    Image image;
    const auto rows = store.scan({}, {}, 10'000'000);
    if (!rows) {
        report.problem("the projection cannot be read: " + rows.error().what);
        return image;
    }
    for (const auto& [key, bytes] : *rows) {
        if (key.size() < 3) continue;
        if (key[2] == 's') image.subjects[key.substr(3)] = bytes;
        if (key[2] != 'm') continue;
        image.meta_bytes = bytes;
        image.meta = core::decode_meta(bytes);
    }
    report.expect(image.meta.has_value(), "the projection has no meta row");
    return image;
}

/// Follows the acceptance rule by itself: prev <= last < offset, once each, without a hole.
class Accepted {
  public:
    Accepted(ports::Log& log, PartitionNumber shard) : log_(log), shard_(shard) {
        last_.fill(kNoOffset);
    }

    void take(const JournalView& record, Report& report) {
        for (const ItemView& item : record.items) {
            Offset& last = last_[static_cast<std::size_t>(item.topic)];
            if (item.offset <= last || item.prev_offset > last) continue;
            const std::string name =
                std::string(name_of(item.topic)) + '@' + std::to_string(item.offset.value());
            report.expect(item.offset == next(last), name + " was accepted over a hole");
            report.expect(bytes_of(item.topic, item.offset) == item.bytes,
                          name + " is not what the topic holds");
            last = item.offset;
            ++count_;
        }
    }

    /// What came after the last record may say that somebody lives, and nothing else.
    void check_rest(const core::Meta& meta, Report& report) {
        report.expect(meta.counters.items == count_, "the fold counted other items");
        for (const Topic topic : kInputTopics) {
            const Offset last = last_[static_cast<std::size_t>(topic)];
            report.expect(meta.last[static_cast<std::size_t>(topic)] == last,
                          std::string(name_of(topic)) + ": the fold stands elsewhere");
            report.counts["last." + std::string(name_of(topic))] =
                static_cast<std::uint64_t>(next(last).value());
            const auto rest = log_.read({topic, shard_}, next(last), kPage);
            if (!rest) return report.problem(rest.error().what);
            for (const ports::Record& record : rest->records) {
                if (record.value.empty()) continue;
                const auto change = codec::decode_change(record.value);
                const bool idle = change && (change->kind == ChangeKind::kMarker ||
                                             change->kind == ChangeKind::kProgress ||
                                             change->kind == ChangeKind::kAlive);
                report.expect(idle, std::string(name_of(topic)) + '@' +
                                        std::to_string(record.offset.value()) +
                                        " was never accepted");
            }
        }
        report.counts["items"] = count_;
    }

  private:
    std::string bytes_of(Topic topic, Offset offset) {
        const auto fetched = log_.read({topic, shard_}, offset, 1);
        if (!fetched || fetched->records.empty() || fetched->records[0].offset != offset) return {};
        return std::string(fetched->records[0].value);
    }
    ports::Log& log_;
    const PartitionNumber shard_;
    std::array<Offset, kTopics> last_{};
    std::uint64_t count_ = 0;
};

void compare(core::State& state, const Image& image, Report& report) {
    std::map<std::string, std::string> rows;
    state.subjects.take_dirty(state.meta.digest, [&](std::string_view key, auto row) {
        if (row) rows[std::string(key)] = *row;
    });
    std::string meta;
    core::encode_meta(state.meta, meta);
    report.expect(state.meta.digest == image.meta->digest, "the digests differ");
    report.expect(meta == image.meta_bytes, "the meta rows differ");
    report.expect(rows == image.subjects,
                  "the subjects' rows differ: " + std::to_string(rows.size()) + " folded, " +
                      std::to_string(image.subjects.size()) + " stored");
}

/// Folds the whole journal with nothing stored.
void fold_all(ports::Log& log, PartitionNumber shard, const Image& image, core::State& state,
              Report& report) {
    Accepted accepted(log, shard);
    core::FoldReport folded;
    JournalView view;
    std::set<std::string> commands;
    Offset next;
    for (;;) {
        const auto page = log.read({Topic::kJournal, shard}, next, kPage);
        if (!page) return report.problem("the journal cannot be read: " + page.error().what);
        if (page->records.empty()) break;
        for (const ports::Record& record : page->records) {
            const Status read =
                codec::decode_journal(record.value, record.offset, record.append_time, view);
            if (!read) return report.problem(read.error().what);
            accepted.take(view, report);
            folded.clear();
            core::fold(state, view, folded);
            for (const Command& command : folded.commands) commands.insert(to_hex(command.id));
            if (image.meta && record.offset == image.meta->applied) compare(state, image, report);
        }
        next = page->next_offset;
    }
    report.expect(state.halted.empty(), state.halted);
    report.expect(image.meta && image.meta->applied <= state.meta.applied,
                  "the projection is ahead of the journal");
    report.counts["journal"] = static_cast<std::uint64_t>(distance(kFirstOffset, next));
    report.counts["commands"] = commands.size();
    report.counts["parked"] = state.meta.counters.parked;
    report.counts["open_findings"] = state.meta.open_findings;
    report.counts["outbox"] = state.meta.outbox;
    report.expect(state.meta.outbox == 0, "commands have no outcome");
    report.expect(state.meta.counters.parked == 0, "items were parked");
    accepted.check_rest(state.meta, report);
}

/// What is believed to be there, as `pod <uid> <phase>` and `row <pk> <status> <pod_name>`.
std::set<std::string> believed(core::State& state) {
    std::set<std::string> objects;
    const auto text = [](const Facet& facet, std::string_view field) {
        return std::string(facet.fields().text(field).value_or("-"));
    };
    state.subjects.each_cached([&](const Subject& subject) {
        for (const Facet& facet : subject.facets) {
            if (!facet.present() || facet.fields().is("in_scope", "false")) continue;
            if (state.meta.sources[facet.source].name == "pods") {
                objects.insert("pod " + facet.object_id + ' ' + text(facet, "phase"));
            } else {
                objects.insert("row " + facet.object_id.substr(facet.object_id.find('/') + 1) +
                               ' ' + text(facet, "status") + ' ' + text(facet, "pod_name"));
            }
        }
    });
    return objects;
}

std::set<std::string> true_objects(const sandbox::Truth& truth) {
    std::set<std::string> objects;
    for (const sandbox::Pod& pod : truth.pods) {
        const auto app = pod.labels.find("app");
        if (app == pod.labels.end()) continue;
        if (std::find(std::begin(kSelected), std::end(kSelected), app->second) ==
            std::end(kSelected)) {
            continue;
        }
        objects.insert("pod " + pod.uid + ' ' + pod.phase);
    }
    for (const sandbox::RowTruth& row : truth.rows) {
        const auto text = [&](const std::string& column) {
            const auto found = row.columns.find(column);
            return found != row.columns.end() && found->second ? *found->second : std::string("-");
        };
        objects.insert("row " + row.pk + ' ' + text("status") + ' ' + text("pod_name"));
    }
    return objects;
}

void compare_with_world(core::State& state, const std::string& file, std::uint64_t seed,
                        Report& report) {
    report.expect(state.meta.open_findings == 0, "findings are open");
    const std::string copy = file + ".verify";
    std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
    {
        sandbox::World world(seed, ports::system_clock());
        if (const Status restored = world.restore(copy); !restored) {
            return report.problem(restored.error().what);
        }
        const std::set<std::string> there = true_objects(world.truth());
        const std::set<std::string> seen = believed(state);
        report.counts["objects"] = there.size();
        for (const std::string& one : there) {
            report.expect(seen.count(one) != 0, "not seen: " + one);
        }
        for (const std::string& one : seen) {
            report.expect(there.count(one) != 0, "seen, but not there: " + one);
        }
    }
    std::filesystem::remove(copy);
}

struct Place {
    std::string state_dir;
    std::string config;  ///< empty: the log is the one in the state folder
    PartitionNumber shard;
};

void verify(const Place& place, std::optional<std::uint64_t> seed, Report& report) {
    Result<std::unique_ptr<ports::Log>> log = Error{};
    projections::RocksdbStore::Settings store_settings;
    if (place.config.empty()) {
        const std::string dir = config::policy_folder(place.state_dir, "graph-instances");
        log = apps::open_embedded(dir, true, kLogMemory);
        store_settings.path = dir + "/projection";
    } else {
        const auto config = config::load_config(place.config);
        if (!config) return report.problem(config.error().what);
        const config::Config policy = config::of_each_policy(*config).front();
        log = apps::open_bus(policy, "verify");
        store_settings.path =
            policy.state_dir + "/shard-" + std::to_string(place.shard.value()) + "/projection";
    }
    if (!log) return report.problem(log.error().what);
    auto store = projections::RocksdbStore::open(store_settings);
    if (!store) return report.problem(store.error().what);
    const Image image = read_image(**store, report);
    core::NoRows none;
    core::State state(none);
    fold_all(**log, place.shard, image, state, report);
    if (seed) compare_with_world(state, place.state_dir + "/world.jsonl", *seed, report);
}

}  // namespace
}  // namespace trueup

int main(int argc, char** argv) {
    CLI::App app{"Checks what a trueup left behind in its state folder."};
    trueup::Place place;
    std::optional<std::uint64_t> seed;
    app.add_option("--state-dir", place.state_dir);
    app.add_option("--config", place.config, "of an engine over Kafka; state_dir is read from it");
    app.add_option("--shard", place.shard);
    app.add_option("--seed", seed, "of a `trueup demo`: also compare with its world");
    CLI11_PARSE(app, argc, argv);
    trueup::Report report;
    trueup::verify(place, seed, report);
    nlohmann::json out{{"problems", report.problems}, {"counts", report.counts}};
    std::puts(out.dump().c_str());
    return report.problems.empty() ? 0 : 1;
}
