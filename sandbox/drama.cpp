#include "sandbox/drama.h"

#include "sandbox/json.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace trueup::sandbox {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::array<const char*, 5> kOwners{"ada", "grace", "edsger", "barbara", "tony"};

std::string text(const Row& row, const std::string& column) {
    const auto found = row.find(column);
    return found != row.end() && found->second ? *found->second : std::string();
}

}  // namespace

const Labels& Drama::wrapper_labels() {
    static const Labels kLabels{{"app", "ryugraph-wrapper"}};
    return kLabels;
}

// The version is how far the world has come. With the seed alone each process over a kept world
// would tell the same story again: pods and rows of the same names, which for the engine is what
// comes again and again, and from the third time on somebody is asked (`recurring`).
Drama::Drama(World& world, std::uint64_t seed)
    : world_(world), random_(seed ^ world.truth().resource_version) {}

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
