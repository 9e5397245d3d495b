// The god's view of the database.
#include "sandbox/realm.h"
#include "sandbox/world.h"

#include <utility>

namespace trueup::sandbox {

namespace {

std::string pk_for(Realm& realm, const Row& columns) TRUEUP_REQUIRES(realm.mutex) {
    const auto given = columns.find(realm.settings.pk_column);
    const bool named = given != columns.end() && given->second;
    return named ? *given->second : realm.table.next_pk();
}

/// One change as a transaction of its own.
bool commit_one(Realm& realm, PendingChange change) {
    const Act act(realm);
    return realm.table.commit({std::move(change)}, act.database_ms()) == 1;
}

}  // namespace

Transaction::Transaction(std::shared_ptr<Realm> realm) : realm_(std::move(realm)), number_(0) {
    const Act act(*realm_);
    number_ = realm_->next_transaction++;
    realm_->open_transactions.insert(number_);
}

Transaction::Transaction(Transaction&&) noexcept = default;

Transaction::~Transaction() {
    if (!realm_) return;
    const Act act(*realm_);
    realm_->open_transactions.erase(number_);
    realm_->changed.notify_all();
}

std::string Transaction::insert_row(const Row& columns) {
    const Act act(*realm_);
    std::string pk = pk_for(*realm_, columns);
    changes_.push_back({'I', pk, columns});
    changes_.back().columns[realm_->settings.pk_column] = pk;
    return pk;
}

void Transaction::update_row(const std::string& pk, const Row& columns) {
    changes_.push_back({'U', pk, columns});
}

void Transaction::delete_row(const std::string& pk) { changes_.push_back({'D', pk, {}}); }

void Transaction::truncate_table() { changes_.push_back({'T', {}, {}}); }

std::size_t Transaction::commit() {
    const Act act(*realm_);
    realm_->open_transactions.erase(number_);
    realm_->changed.notify_all();
    return realm_->table.commit(std::exchange(changes_, {}), act.database_ms());
}

Transaction World::begin() { return Transaction(realm_); }

std::string World::insert_row(const Row& columns) {
    Transaction one = begin();
    std::string pk = one.insert_row(columns);
    one.commit();
    return pk;
}

bool World::update_row(const std::string& pk, const Row& columns) {
    return commit_one(*realm_, {'U', pk, columns});
}

bool World::delete_row(const std::string& pk) { return commit_one(*realm_, {'D', pk, {}}); }

void World::truncate_table() { commit_one(*realm_, {'T', {}, {}}); }

bool World::change_row_pk(const std::string& from, const std::string& to) {
    return commit_one(*realm_, {'U', from, {{realm_->settings.pk_column, to}}});
}

void World::write_wal_elsewhere(std::size_t bytes) {
    const Act act(*realm_);
    realm_->table.write_elsewhere(bytes);
}

void World::drop_slot() {
    const Act act(*realm_);
    ++realm_->walsender_kills;
    realm_->slot_users.clear();
    while (!realm_->table.slots().empty()) {
        const std::string name = realm_->table.slots().begin()->first;
        realm_->table.drop_slot(name);
    }
}

void World::lose_slot() {
    const Act act(*realm_);
    ++realm_->walsender_kills;
    realm_->slot_users.clear();
    for (auto& [name, slot] : realm_->table.slots()) realm_->table.lose(slot);
}

void World::kill_walsender() {
    const Act act(*realm_);
    ++realm_->walsender_kills;
    realm_->slot_users.clear();
    realm_->changed.notify_all();
}

void World::publish_table(bool yes) {
    const Act act(*realm_);
    realm_->table.publish(yes);
}

void World::restart_database(bool crash) {
    const Act act(*realm_);
    ++realm_->database_restarts;
    realm_->slot_users.clear();
    if (crash) realm_->table.rewind_slots();
    realm_->changed.notify_all();
}

void World::set_database_clock(Millis ahead) {
    const Act act(*realm_);
    realm_->database_ahead = ahead;
}

void World::fail_over(std::size_t commits) {
    drop_slot();
    const Act act(*realm_);
    realm_->table.rewind(commits);
    ++realm_->timeline;
    ++realm_->database_restarts;
    realm_->changed.notify_all();
}

}  // namespace trueup::sandbox
