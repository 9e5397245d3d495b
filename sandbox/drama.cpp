#include "sandbox/drama.h"

#include "sandbox/json.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace trueup::sandbox {

namespace {

constexpr std::size_t kFewest = 6;
constexpr std::size_t kMost = 14;
constexpr std::size_t kMostLoose = 5;
/// How long an owner looks at a failed row before removing it.
constexpr Millis kTidyAfter{15'000};

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::array<const char*, 5> kOwners{"ada", "grace", "edsger", "barbara", "tony"};

const Labels& wrapper_labels() {
    static const Labels kLabels{{"app", "ryugraph-wrapper"}};
    return kLabels;
}

std::string text(const Row& row, const std::string& column) {
    const auto found = row.find(column);
    return found != row.end() && found->second ? *found->second : std::string();
}

}  // namespace

Drama::Drama(World& world, std::uint64_t seed) : world_(world), random_(seed) {}

std::uint64_t Drama::draw(std::uint64_t below) { return random_.next() % below; }

const Drama::Instance& Drama::pick(const std::vector<Instance>& from) {
    return from[draw(from.size())];
}

void Drama::note(const std::string& sentence) {
    notes_.push_back(time_of_day(world_.clock().wall_millis()) + " " + sentence);
}

std::vector<std::string> Drama::take_notes() { return std::exchange(notes_, {}); }

void Drama::later(SteadyTime at, std::function<void(SteadyTime)> act) {
    plans_.emplace(at, std::move(act));
}

Drama::Scene Drama::look() const {
    const Truth truth = world_.truth();
    Scene scene;
    std::set<std::string> named;
    std::map<std::string, const Pod*> pods;
    for (const Pod& pod : truth.pods) pods[pod.name] = &pod;
    for (const RowTruth& row : truth.rows) {
        const std::string pod_name = text(row.columns, "pod_name");
        const std::string status = text(row.columns, "status");
        named.insert(pod_name);
        if (status == "failed") scene.failed.push_back({row.pk, pod_name});
        const auto pod = pods.find(pod_name);
        const bool runs =
            pod != pods.end() && pod->second->phase == "Running" && !pod->second->deletion_ms;
        if (status == "running" && runs) scene.healthy.push_back({row.pk, pod_name});
    }
    for (const Pod& pod : truth.pods) {
        if (!named.contains(pod.name) && !pod.deletion_ms) scene.loose.push_back(pod.name);
    }
    scene.pods = truth.pods.size();
    return scene;
}

std::string Drama::fresh_name() {
    const Truth truth = world_.truth();
    for (;;) {
        std::string name = "wrapper-";
        for (int i = 0; i < 4; ++i) name += kDigits[draw(16)];
        const bool taken =
            std::any_of(truth.pods.begin(), truth.pods.end(),
                        [&](const Pod& pod) { return pod.name == name; }) ||
            std::any_of(truth.rows.begin(), truth.rows.end(),
                        [&](const RowTruth& row) { return text(row.columns, "pod_name") == name; });
        if (!taken) return name;
    }
}

Row Drama::new_row(const std::string& pod_name, const std::string& status) {
    const std::string owner = kOwners[draw(kOwners.size())];
    const std::string slug = pod_name.substr(std::string_view("wrapper-").size());
    return {{"name", "graph " + slug},
            {"owner_username", owner},
            {"owner_email", owner + "@example.com"},
            {"url_slug", slug},
            {"status", status},
            {"pod_name", pod_name},
            {"created_at", rfc3339(world_.clock().wall_millis())},
            {"memory_usage_bytes", std::to_string((1 + draw(16)) << 28U)}};
}

bool Drama::arrive_row_first(const Scene& scene, SteadyTime now) {
    if (scene.pods >= kMost) return false;
    const std::string name = fresh_name();
    const std::string pk = world_.insert_row(new_row(name, "starting"));
    note("a new instance: row " + pk + " first, " + name + " follows");
    later(now + Millis(800 + draw(800)),
          [=, this](SteadyTime) { world_.create_pod(name, wrapper_labels(), "Pending"); });
    later(now + Millis(2'000 + draw(500)), [=, this](SteadyTime) {
        world_.set_phase(name, "Running");
        world_.update_row(pk, {{"status", "running"}});
    });
    return true;
}

bool Drama::arrive_pod_first(const Scene& scene, SteadyTime now) {
    if (scene.pods >= kMost) return false;
    const std::string name = fresh_name();
    world_.create_pod(name, wrapper_labels(), "Running");
    note("a new instance: " + name + " first, its row follows");
    const Row row = new_row(name, "running");
    later(now + Millis(1'000 + draw(1'500)), [=, this](SteadyTime) { world_.insert_row(row); });
    return true;
}

bool Drama::leave(const Scene& scene, SteadyTime now) {
    if (scene.healthy.size() <= kFewest) return false;
    const Instance one = pick(scene.healthy);
    world_.update_row(one.pk, {{"status", "stopping"}});
    note("the owner stopped " + one.pod_name);
    later(now + Millis(700), [=, this](SteadyTime) { world_.delete_pod(one.pod_name, 30); });
    later(now + Millis(4'000), [=, this](SteadyTime) { world_.delete_row(one.pk); });
    return true;
}

bool Drama::orphan(const Scene& scene, SteadyTime) {
    if (scene.healthy.size() <= kFewest / 2 || scene.loose.size() >= kMostLoose) return false;
    const Instance one = pick(scene.healthy);
    world_.delete_row(one.pk);
    note("somebody deleted the row of " + one.pod_name + "; its pod still runs");
    return true;
}

bool Drama::vanish(const Scene& scene, SteadyTime) {
    if (scene.healthy.size() <= kFewest / 2) return false;
    const Instance one = pick(scene.healthy);
    world_.delete_pod(one.pod_name, 0);
    note(one.pod_name + " vanished; row " + one.pk + " still says running");
    return true;
}

bool Drama::fail(const Scene& scene, SteadyTime) {
    if (scene.healthy.size() <= kFewest / 2) return false;
    const Instance one = pick(scene.healthy);
    world_.set_phase(one.pod_name, "Failed");
    note(one.pod_name + " failed; row " + one.pk + " still says running");
    return true;
}

bool Drama::recreate(const Scene& scene, SteadyTime) {
    const bool loose = !scene.loose.empty();
    if (!loose && scene.healthy.empty()) return false;
    const std::string name =
        loose ? scene.loose[draw(scene.loose.size())] : pick(scene.healthy).pod_name;
    world_.recreate_pod(name);
    note(name + " was replaced by another pod of the same name");
    return true;
}

bool Drama::cut_watch(const Scene&, SteadyTime) {
    world_.cut_watch();
    note("the API server cut all watches");
    return true;
}

bool Drama::api_errors(const Scene&, SteadyTime) {
    world_.fail_next(Op::kList, Failure::http(500), 2);
    world_.fail_next(Op::kGet, Failure::http(503), 1);
    world_.fail_next(Op::kDelete, Failure::http(429, 1000), 1);
    world_.cut_watch();
    world_.fail_next(Op::kWatch, Failure::http(503), 2);
    note("the API server fails some calls (500, 503, 429)");
    return true;
}

bool Drama::compact(const Scene&, SteadyTime) {
    world_.compact();
    world_.cut_watch();
    note(
        "the API server compacted its history: clients that missed something must list again "
        "(410)");
    return true;
}

bool Drama::cut_stream(const Scene&, SteadyTime) {
    world_.kill_walsender();
    note("the database ended the replication connection");
    return true;
}

void Drama::tidy(const Scene& scene, SteadyTime now) {
    std::map<std::string, SteadyTime> still;
    for (const Instance& one : scene.failed) {
        const auto known = failed_since_.find(one.pk);
        const SteadyTime since = known == failed_since_.end() ? now : known->second;
        if (now - since < kTidyAfter) {
            still[one.pk] = since;
            continue;
        }
        world_.delete_pod(one.pod_name, 0);
        world_.delete_row(one.pk);
        note("the owner of " + one.pod_name + " removed its failed row");
    }
    failed_since_ = std::move(still);
}

void Drama::shuffle() {
    deck_ = {&Drama::arrive_row_first, &Drama::arrive_row_first,
             &Drama::arrive_row_first, &Drama::arrive_pod_first,
             &Drama::arrive_pod_first, &Drama::leave,
             &Drama::orphan,           &Drama::orphan,
             &Drama::vanish,           &Drama::fail,
             &Drama::recreate,         &Drama::cut_watch,
             &Drama::api_errors,       &Drama::compact,
             &Drama::cut_stream};
    for (std::size_t i = deck_.size(); i > 1; --i) std::swap(deck_[i - 1], deck_[draw(i)]);
}

void Drama::step(SteadyTime now) {
    while (!plans_.empty() && plans_.begin()->first <= now) {
        const auto act = std::move(plans_.begin()->second);
        plans_.erase(plans_.begin());
        act(now);
    }
    Scene scene = look();
    if (!opened_) {
        opened_ = true;
        next_ = now + Millis(3'000);
        for (; scene.pods < kFewest + 4; ++scene.pods) {
            const std::string name = fresh_name();
            world_.create_pod(name, wrapper_labels(), "Running");
            world_.insert_row(new_row(name, "running"));
        }
        note("the scene is set: " + std::to_string(scene.pods) + " pods and their rows");
        return;
    }
    tidy(scene, now);
    if (now < next_) return;
    next_ = now + Millis(1'000 + draw(2'000));
    if (deck_.empty()) shuffle();
    const Incident incident = deck_.back();
    deck_.pop_back();
    if (!(this->*incident)(scene, now)) arrive_row_first(scene, now);
}

}  // namespace trueup::sandbox
