// A transaction in the sandbox's table (world.h), which one thread has open. It may outlive its
// world.
#pragma once

#include "sandbox/world_settings.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trueup::sandbox {

struct Realm;
struct PendingChange;

/// Changes that become visible together. Dropped without `commit`, they never were.
class Transaction {
  public:
    explicit Transaction(std::shared_ptr<Realm> realm);
    Transaction(Transaction&&) noexcept;
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();

    /// Returns the row's primary key; a row without one gets the next of a sequence.
    std::string insert_row(const Row& columns);
    void update_row(const std::string& pk, const Row& columns);
    void delete_row(const std::string& pk);
    void truncate_table();
    /// Returns how many of the changes found their row; the others are left out.
    std::size_t commit();

  private:
    std::shared_ptr<Realm> realm_;
    std::uint64_t number_;
    std::vector<PendingChange> changes_;
};

}  // namespace trueup::sandbox
