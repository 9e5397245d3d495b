#include "sandbox/world.h"

#include "sandbox/cluster_port.h"
#include "sandbox/database_port.h"

#include <algorithm>

namespace trueup::sandbox {

World::World(std::uint64_t seed, ports::Clock& clock, Settings settings)
    : realm_(std::make_shared<Realm>(seed, clock, std::move(settings))) {}

World::~World() = default;

std::unique_ptr<ports::Cluster> World::cluster(bool second) {
    return std::make_unique<ClusterPort>(realm_, second);
}

std::unique_ptr<ports::Database> World::database() {
    return std::make_unique<DatabasePort>(realm_);
}

ports::Clock& World::clock() const { return realm_->clock; }

namespace {

void take_past(Realm& realm, const Record& record, std::optional<std::uint64_t>& born)
    TRUEUP_REQUIRES(realm.mutex) {
    if (const auto* one = std::get_if<Born>(&record)) born = one->seed;
    if (const auto* one = std::get_if<PodEvent>(&record)) realm.api.apply(*one);
    if (const auto* one = std::get_if<ClusterMark>(&record)) realm.api.apply(*one);
    if (const auto* one = std::get_if<Commit>(&record)) realm.table.apply(*one);
    if (const auto* one = std::get_if<WalMark>(&record)) realm.table.apply(*one);
    if (const auto* one = std::get_if<Slot>(&record)) realm.table.apply(*one);
    if (const auto* one = std::get_if<SlotDropped>(&record)) realm.table.apply(*one);
    if (const auto* one = std::get_if<Effect>(&record)) realm.effects.push_back(*one);
}

}  // namespace

Status World::restore(const std::string& path) {
    const Act act(*realm_);
    std::optional<std::uint64_t> born;
    Result<WorldFile> file = WorldFile::open(path, [&](const Record& record) {
        realm_->mutex.assert_held();
        take_past(*realm_, record, born);
    });
    if (!file) return file.error();
    if (born && *born != realm_->seed) {
        return Error{Next::kStop, Code::kConfiguration,
                     path + ": it keeps the world of seed " + std::to_string(*born) + ", not of " +
                         std::to_string(realm_->seed) + "; use that seed, or another folder"};
    }
    realm_->api.resume(act.now());
    realm_->file.emplace(std::move(*file));
    if (!born) realm_->records.insert(realm_->records.begin(), Born{realm_->seed});
    return Done{};
}

Status World::file_status() const {
    const Act act(*realm_);
    return realm_->file_status;
}

std::string World::create_pod(const std::string& name, const Labels& labels,
                              const std::string& phase) {
    Pod pod;
    pod.name_space = realm_->settings.name_space;
    pod.name = name;
    pod.labels = labels;
    pod.phase = phase;
    if (phase != "Pending") pod.node = "node-1";
    return create_pod(std::move(pod));
}

std::string World::create_pod(Pod pod) {
    const Act act(*realm_);
    if (pod.created_ms == 0) pod.created_ms = act.wall_ms();
    return realm_->api.create(std::move(pod))->uid;
}

namespace {

/// Where the pod of that name is, or would be.
ApiServer::Key place_of(const Realm& realm, const std::string& name) TRUEUP_REQUIRES(realm.mutex) {
    const ApiServer::Key other{realm.settings.other_name_space, name};
    const bool there = !other.first.empty() && realm.api.find(other) != nullptr;
    return there ? other : ApiServer::Key{realm.settings.name_space, name};
}

/// Stores a changed copy of the pod of that name; false: there is none.
template <typename Change>
bool change_pod(Realm& realm, const std::string& name, Change change) {
    const Act act(realm);
    const PodPtr pod = realm.api.find(place_of(realm, name));
    if (!pod) return false;
    Pod next = *pod;
    change(next);
    realm.api.modify(std::move(next));
    return true;
}

}  // namespace

bool World::set_phase(const std::string& name, const std::string& phase) {
    return change_pod(*realm_, name, [&](Pod& pod) {
        pod.phase = phase;
        if (phase != "Pending" && pod.node.empty()) pod.node = "node-1";
    });
}

bool World::set_labels(const std::string& name, const Labels& labels) {
    return change_pod(*realm_, name, [&](Pod& pod) { pod.labels = labels; });
}

bool World::annotate(const std::string& name, const std::string& key,
                     const std::optional<std::string>& value) {
    return change_pod(*realm_, name, [&](Pod& pod) {
        if (value) {
            pod.annotations[key] = *value;
        } else {
            pod.annotations.erase(key);
        }
    });
}

bool World::set_finalizers(const std::string& name, const std::vector<std::string>& finalizers) {
    return change_pod(*realm_, name, [&](Pod& pod) { pod.finalizers = finalizers; });
}

bool World::delete_pod(const std::string& name, std::int64_t grace_seconds) {
    const Act act(*realm_);
    const ApiServer::Key key = place_of(*realm_, name);
    if (!realm_->api.find(key)) return false;
    realm_->api.begin_deletion(key, grace_seconds, act.now(), act.wall_ms());
    return true;
}

std::string World::recreate_pod(const std::string& name) {
    const Act act(*realm_);
    const ApiServer::Key key = place_of(*realm_, name);
    Pod next;
    next.name_space = key.first;
    next.name = name;
    next.node = "node-1";
    next.phase = "Running";
    next.created_ms = act.wall_ms();
    if (const PodPtr before = realm_->api.find(key)) {
        next.labels = before->labels;
        next.annotations = before->annotations;
        realm_->api.remove(key);
    }
    return realm_->api.create(std::move(next))->uid;
}

void World::write_elsewhere() {
    const Act act(*realm_);
    realm_->api.write_elsewhere();
}

void World::compact() {
    const Act act(*realm_);
    realm_->api.compact();
}

void World::cut_watch() {
    const Act act(*realm_);
    ++realm_->watch_cuts;
    realm_->changed.notify_all();
}

void World::stall_watch(bool stalled) {
    const Act act(*realm_);
    realm_->watches_stalled = stalled;
    realm_->changed.notify_all();
}

void World::leave_second_behind(bool yes) {
    const Act act(*realm_);
    realm_->second_knows = yes ? std::optional(realm_->api.newest()) : std::nullopt;
}

void World::restart_cluster() {
    const Act act(*realm_);
    ++realm_->cluster_restarts;
    realm_->changed.notify_all();
}

void World::restore_cluster(std::uint64_t writes, bool bumped) {
    const Act act(*realm_);
    realm_->api.restore(writes, bumped, act.now());
    ++realm_->cluster_restarts;
    realm_->changed.notify_all();
}

void World::fail_next(Op op, const Failure& failure, int times) {
    const Act act(*realm_);
    for (int i = 0; i < times; ++i) realm_->failures[op].push_back(failure);
}

std::size_t World::prepared(Op op) const {
    const Act act(*realm_);
    const auto found = realm_->failures.find(op);
    return found == realm_->failures.end() ? 0 : found->second.size();
}

std::size_t World::prepared(Op op, Failure::Kind kind) const {
    const Act act(*realm_);
    const std::deque<Failure>& failures = realm_->failures[op];
    return static_cast<std::size_t>(
        std::count_if(failures.begin(), failures.end(),
                      [kind](const Failure& failure) { return failure.kind == kind; }));
}

std::optional<SteadyTime> World::short_page_at() const {
    const Act act(*realm_);
    return realm_->short_page_at;
}

Truth World::truth() const {
    const Act act(*realm_);
    Truth truth;
    truth.resource_version = realm_->api.newest();
    truth.lsn = realm_->table.lsn();
    for (const auto& [key, pod] : realm_->api.pods()) truth.pods.push_back(*pod);
    for (const auto& [pk, row] : realm_->table.rows()) {
        truth.rows.push_back({pk, realm_->table.named(*row.values), std::to_string(row.xmin)});
    }
    return truth;
}

void World::fail_no_more() {
    const Act act(*realm_);
    realm_->failures.clear();
}

std::vector<Effect> World::effects() const {
    const Act act(*realm_);
    return realm_->effects;
}

void World::observe(std::function<void(const std::vector<Record>&)> observer) {
    const Act act(*realm_);
    realm_->observer = std::move(observer);
}

}  // namespace trueup::sandbox
