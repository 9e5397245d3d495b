// What people do that is not quite right: names, holds and slugs that may mean anything, hosts
// whose clock is wrong, floods of requests, words about what is not there yet, and settings that
// change.
#include "engine/codec/request_codec.h"
#include "simulation/instances.h"
#include "simulation/staging.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace trueup::simulation {

namespace {

std::string odd(const std::string& name, Random& random) {
    switch (random.below(4)) {
        case 0:
            return "graph/" + name;
        case 1:
            return name + std::string(300, 'x');
        case 2:
            return " ";
        default:
            return "";
    }
}

void name_oddly(Stage& stage, Random& random, bool blank) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr || row->view.key() != "wrapper-" + row->view.text("url_slug")) return;
    const std::string name = row->view.key();
    stage.world.update_row(
        row->pk, {{"pod_name", blank ? (random.chance(500) ? "" : " ") : odd(name, random)}});
}

/// What an ORM writes for a name that is not set.
void blank_name(Stage& stage, Random& random) { name_oddly(stage, random, true); }
void odd_names(Stage& stage, Random& random) { name_oddly(stage, random, false); }

/// The slug does not name the pod; now and then nothing else does.
void odd_slug(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr || row->view.untracked()) return;
    sandbox::Row changed{{"url_slug", "of-its-own-" + std::to_string(random.below(1'000))}};
    if (random.chance(500)) changed["pod_name"] = std::nullopt;
    stage.world.update_row(row->pk, changed);
}

/// An instance whose row names its pod oddly from the beginning.
void odd_start(Stage& stage, Random& random) {
    const std::string name = fresh_name(stage);
    stage.world.create_pod(name, labels(), "Running");
    sandbox::Row row = row_for(name, "running");
    row["pod_name"] = odd(name, random);
    stage.world.insert_row(row);
}

constexpr const char* kSpellings[] = {"yes", "true", "ada", "1", "false", "0",
                                      "no",  "off",  "n",   "f", "",      "False"};

void hold_row(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    stage.world.update_row(row->pk,
                           {{kHoldColumn, kSpellings[random.below(std::size(kSpellings))]}});
    later(stage, random.between(Millis{60'000}, Millis{400'000}), [&stage, pk = row->pk] {
        stage.world.update_row(pk, {{kHoldColumn, std::nullopt}});
    });
}

/// Mostly on a pod of which something is wrong: that is where it says anything.
void odd_hold(Stage& stage, Random& random) {
    const auto all = pods(stage);
    const auto* pod = pick(all, random);
    if (pod == nullptr) return;
    sandbox::Labels changed = labels();
    changed[kHoldLabel] = kSpellings[random.below(std::size(kSpellings))];
    stage.world.set_labels((*pod)->name, changed);
    if (random.chance(500)) stage.world.set_phase((*pod)->name, "Failed");
    later(stage, random.between(Millis{60'000}, Millis{400'000}),
          [&stage, name = (*pod)->name] { stage.world.set_labels(name, labels()); });
}

/// The host on which operators type has another time for a while.
void host_clock(Stage& stage, Random& random) {
    const Millis most = random.chance(500) ? Millis{600'000} : Millis{172'800'000};
    stage.host_ahead = random.between(-most, most);
    later(stage, random.between(Millis{20'000}, Millis{90'000}),
          [&stage] { stage.host_ahead = Millis{0}; });
    RequestScope scope;
    if (random.chance(500)) scope.rule = "orphaned_pod";
    brake(stage, random, scope);
}

/// More requests than anybody means, and then one that somebody does.
void flood(Stage& stage, Random& random) {
    constexpr int kMany = 300;
    Request request;
    request.kind = RequestKind::kApprove;
    request.scope = about("graph-instances/nobody");
    request.issued_by = "crowd";
    request.role = "ops";
    std::vector<ports::Entry> entries;
    for (int i = 0; i < kMany; ++i) {
        request.id = RequestId({kMeant, ++stage.requests});
        request.issued_ms = to_millis(stage.broker.now());
        std::string bytes = codec::encode_request(request);
        stage.keys.sign(codec::kRequestSignature, bytes);
        entries.push_back({request.scope.subject, std::move(bytes)});
    }
    for (std::int32_t shard = 0; shard < stage.fleet.shards(); ++shard) {
        (void)ports::append_now(stage.operators, {Topic::kRequests, PartitionNumber(shard)},
                                entries);
    }
    RequestScope scope;
    if (random.chance(500)) scope.rule = "missing_pod";
    brake(stage, random, scope);
}

/// Somebody says of what is not there yet that it is not to be touched.
void hold_early(Stage& stage, Random& random) {
    const std::string name = fresh_name(stage);
    brake(stage, random, about("graph-instances/" + name));
    later(stage, random.delay(Millis{5'000}),
          [&stage, name] { stage.world.create_pod(name, labels(), "Running"); });
}

/// Somebody ends an instance whose pod is not there yet.
void end_early(Stage& stage, Random& random) {
    const std::string name = fresh_name(stage);
    const std::string pk = stage.world.insert_row(row_for(name, "starting"));
    later(stage, Millis{3'000}, [&stage, name] {
        Request request;
        request.kind = RequestKind::kTerminate;
        request.scope = about("graph-instances/" + name);
        request.role = "ops";
        request.issued_by = "somebody";
        terminate(stage, std::move(request));
    });
    later(stage, random.between(Millis{8'000}, Millis{15'000}), [&stage, name, pk] {
        if (!has_pod(stage, name)) stage.world.create_pod(name, labels(), "Running");
        stage.world.update_row(pk, {{"status", "running"}});
    });
}

/// A rule does not act for a while; engines have that one after the other.
void change_mode(Stage& stage, Random& random) {
    const std::string rule =
        any_rule(stage, random, {"orphaned_pod", "missing_pod", "status_drift"});
    Settings changed = settings_now(stage);
    for (RuleSettings& one : changed.rules) {
        if (one.rule == rule) one.mode = random.chance(500) ? Mode::kObserve : Mode::kOff;
    }
    const Millis apart = random.delay(Millis{40'000});
    // What was ordered before is then still to be carried out.
    if (random.chance(500))
        stage.fleet.delay_executors(random.between(Millis{10'000}, Millis{50'000}));
    stage.reconfigured = true;
    stage.fleet.configure(changed, apart);
    later(stage, apart + random.between(Millis{10'000}, Millis{90'000}),
          [&stage, apart] { stage.fleet.configure(settings_now(stage), apart); });
}

/// Somebody starts engines with a mistake in their settings and takes it back at once, while what
/// they append is stored late, some of it twice; and there is something to do, for a rule that acts
/// at once.
void change_mode_and_back(Stage& stage, Random& random) {
    const auto configure = [&stage](bool acts, Millis after) {
        later(stage, after, [&stage, acts] {
            Settings settings = settings_now(stage);
            for (RuleSettings& one : settings.rules) {
                if (one.rule == "status_drift" && !acts) one.mode = Mode::kOff;
            }
            stage.fleet.configure(settings, Millis{0});
        });
    };
    stage.reconfigured = true;
    configure(false, Millis{0});
    const Millis begins = random.between(Millis{5'000}, Millis{15'000});
    const Millis ends = begins + random.between(Millis{1'000}, Millis{1'500});
    configure(true, begins);
    const auto late = [&stage](unsigned often, Millis after) {
        later(stage, after, [&stage, often] {
            stage.broker.troubles().doubled = stage.broker.troubles().late = often;
        });
    };
    late(400, begins);
    late(0, ends);  // what takes it back is there at once
    configure(false, ends);
    const Millis again = ends + random.between(Millis{30'000}, Millis{60'000});
    for (Millis at = ends; at < again; at += Millis{5'000}) {
        later(stage, at, [&stage, draw = random.next()] {
            Random which(draw);
            const auto all = pods(stage);
            if (const auto* pod = pick(all, which)) stage.world.set_phase((*pod)->name, "Failed");
        });
    }
    configure(true, again);
}

/// Another policy is put in force; engines have it one after the other.
void change_text(Stage& stage, Random& random) {
    if (stage.texts.size() < 2) return;
    stage.text = (stage.text + 1 + random.below(stage.texts.size() - 1)) % stage.texts.size();
    // What was ordered before is then still to be carried out.
    if (random.chance(500))
        stage.fleet.delay_executors(random.between(Millis{10'000}, Millis{50'000}));
    stage.reconfigured = true;
    stage.fleet.configure(settings_now(stage), random.delay(Millis{40'000}));
}

/// Somebody writes anything into one column of a row, or another row of its name.
void scribble_row(Stage& stage, Random& random) {
    const auto all = rows(stage);
    const auto* row = pick(all, random);
    if (row == nullptr) return;
    using Text = std::optional<std::string>;
    const auto any = [&](std::initializer_list<Text> of) {
        return of.begin()[random.below(of.size())];
    };
    switch (random.below(8)) {
        case 0:
        case 1:
        case 2:
            stage.world.update_row(row->pk, {{"status", any({"starting", "running", "stopping",
                                                             "failed", "hibernated", "odd"})}});
            return;
        case 3:
            stage.world.update_row(row->pk,
                                   {{"owner_username", any({{}, "ada", "bob", "ada-2", " "})}});
            return;
        case 4:
            stage.world.update_row(row->pk,
                                   {{"memory_usage_bytes", any({{}, "0", "1", "5", "9", "10"})}});
            return;
        case 5:
            stage.world.update_row(row->pk, {{"error_code", any({{}, "X", "Y"})}});
            return;
        case 6:
            stage.world.update_row(
                row->pk,
                {{"last_activity_at", random.chance(300) ? Text{} : Text{database_time(stage)}}});
            return;
        default:
            stage.world.insert_row(
                row_for(row->view.key(), random.chance(500) ? "running" : "failed"));
    }
}

void scribble_pod(Stage& stage, Random& random) {
    const auto all = pods(stage);
    const auto* pod = pick(all, random);
    if (pod == nullptr) return;
    if (random.chance(250)) {
        const bool gone = random.chance(500);
        stage.world.annotate((*pod)->name, kNote, gone ? std::nullopt : std::optional("odd"));
        return;
    }
    const char* const phases[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown", "Odd"};
    stage.world.set_phase((*pod)->name, phases[random.below(std::size(phases))]);
}

/// Somebody makes what serves an instance.
void serve(Stage& stage, Random& random) {
    const auto all = pods(stage);
    const auto* pod = pick(all, random);
    if (pod == nullptr || stage.services == nullptr) return;
    const std::string& name = (*pod)->name;
    if (stage.served.count(name) != 0) return;
    stage.services->create_pod(name, labels(), "Running");
    stage.served[name] = stage.scheduler.steady_now();
}

/// The source of services leaves the configuration, and mostly comes back.
void drop_source(Stage& stage, Random& random) {
    if (stage.services == nullptr || stage.dropped) return;
    const Millis apart = random.delay(Millis{20'000});
    stage.dropped = true;
    stage.oracles.endings().services_known(false);
    stage.fleet.configure(settings_now(stage), apart);
    if (random.chance(300)) return;
    later(stage, apart + random.between(Millis{30'000}, Millis{120'000}), [&stage, apart] {
        constexpr Millis kKnown{60'000};
        stage.dropped = false;
        stage.fleet.configure(settings_now(stage), apart);
        later(stage, apart + kKnown, [&stage] {
            if (!stage.dropped) stage.oracles.endings().services_known(true);
        });
    });
}

/// Both are late by more than a command lives.
void late_executors(Stage& stage, Random& random) {
    stage.fleet.delay_executors(random.between(Millis{20'000}, Millis{100'000}));
}

/// The row goes and another one comes under its key, in one commit.
void reinsert_row(Stage& stage, Random& random) {
    std::vector<History::Row> all = rows(stage);
    // What names it is made of its key, which must be a name.
    std::erase_if(all, [](const History::Row& row) { return odd_name(row.view.key()); });
    std::vector<History::Row> alone = all;
    std::erase_if(alone, [&](const History::Row& row) { return has_pod(stage, row.view.key()); });
    const auto* row = pick(alone.empty() ? all : alone, random);
    if (row == nullptr) return;
    sandbox::Row again = row_for(row->view.key(), "running");
    again["id"] = row->pk;
    sandbox::Transaction both = stage.world.begin();
    both.delete_row(row->pk);
    both.insert_row(again);
    both.commit();
    stage.oracles.reinsertions().reinserted(row->pk);
}

/// Instances come and go in good order.
void come_and_go(Stage& stage, Random& random) {
    constexpr int kMany = 15;
    for (int i = 0; i < kMany; ++i) {
        const std::string name = fresh_name(stage);
        stage.world.create_pod(name, labels(), "Running");
        const std::string pk = stage.world.insert_row(row_for(name, "running"));
        later(stage, random.between(Millis{10'000}, Millis{30'000}), [&stage, name, pk] {
            stage.world.update_row(pk, {{"status", "stopping"}});
            later(stage, Millis{500}, [&stage, name] { stage.world.delete_pod(name, 0); });
            later(stage, Millis{3'000}, [&stage, pk] { stage.world.delete_row(pk); });
        });
    }
}

void many_orphans(Stage& stage, Random& /*random*/) {
    constexpr int kMany = 20;
    for (int i = 0; i < kMany; ++i) {
        stage.world.create_pod(fresh_name(stage), labels(), "Running");
    }
}

void keep_up_pod(Stage& stage, const std::string& name, Millis every) {
    if (!has_pod(stage, name)) stage.world.create_pod(name, labels(), "Running");
    later(stage, every, [&stage, name, every] { keep_up_pod(stage, name, every); });
}

void keep_up_row(Stage& stage, const std::string& pk, Millis every) {
    stage.world.update_row(pk, {{"status", "running"}});
    later(stage, every, [&stage, pk, every] { keep_up_row(stage, pk, every); });
}

/// Somebody has seen what comes again and again, and lets one more round go.
void approve_recurring(Stage& stage, Random& /*random*/) {
    approve_reason(stage, Reason::kRecurring);
}

/// Another controller does the opposite each time: it makes the pod anew that no row wants, or says
/// that an instance runs whose pod has failed.
void fight(Stage& stage, Random& random) {
    const std::string name = fresh_name(stage);
    const Millis every = random.between(Millis{2'000}, Millis{20'000});
    if (random.chance(500)) return keep_up_pod(stage, name, every);
    stage.world.create_pod(name, labels(), "Failed");
    keep_up_row(stage, stage.world.insert_row(row_for(name, "running")), every);
}

}  // namespace

Settings settings_now(const Stage& stage) {
    Settings settings = stage.texts.empty() ? stage.fleet.settings() : stage.texts.at(stage.text);
    if (stage.dropped) {
        std::erase_if(settings.sources,
                      [](const SourceSettings& source) { return source.name == "services"; });
    }
    if (stage.formerly) {
        for (SourceSettings& source : settings.sources) source.mapping = kFormerMapping;
    }
    return settings;
}

bool served_since(const Stage& stage, const std::string& name, SteadyTime before) {
    const auto made = stage.served.find(name);
    if (made == stage.served.end() || made->second >= before) return false;
    const std::vector<sandbox::Pod> there = stage.services->truth().pods;
    return std::any_of(there.begin(), there.end(),
                       [&](const sandbox::Pod& service) { return service.name == name; });
}

std::vector<ActKind> odd_workload() {
    return {
        {"blank-name", Actor::kWorkload, 0, blank_name},
        {"odd-name", Actor::kWorkload, 0, odd_names},
        {"odd-slug", Actor::kWorkload, 0, odd_slug},
        {"odd-start", Actor::kWorkload, 0, odd_start},
        {"hold-row", Actor::kWorkload, 0, hold_row},
        {"odd-hold", Actor::kWorkload, 0, odd_hold},
        {"host-clock", Actor::kWorkload, 0, host_clock},
        {"flood", Actor::kWorkload, 0, flood},
        {"hold-early", Actor::kWorkload, 0, hold_early},
        {"end-early", Actor::kWorkload, 0, end_early},
        {"change-mode", Actor::kWorkload, 0, change_mode},
        {"change-mode-and-back", Actor::kWorkload, 0, change_mode_and_back},
        {"change-text", Actor::kWorkload, 0, change_text},
        {"scribble-row", Actor::kWorkload, 0, scribble_row},
        {"scribble-pod", Actor::kWorkload, 0, scribble_pod},
        {"serve", Actor::kWorkload, 0, serve},
        {"drop-source", Actor::kWorkload, 0, drop_source},
        {"late-executors", Actor::kWorkload, 0, late_executors},
        {"reinsert-row", Actor::kWorkload, 0, reinsert_row},
        {"come-and-go", Actor::kWorkload, 0, come_and_go},
        {"fight", Actor::kWorkload, 0, fight},
        {"approve-recurring", Actor::kWorkload, 0, approve_recurring},
        {"many-orphans", Actor::kWorkload, 0, many_orphans},
    };
}

}  // namespace trueup::simulation
