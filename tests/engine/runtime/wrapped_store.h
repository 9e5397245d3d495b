// A store in memory that a test looks into: what it is asked, and what a batch waits for or fails
// by.
#pragma once

#include "projections/memory_store.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::runtime::testing {

class WrappedStore final : public ports::Store {
  public:
    std::function<Status()> before_apply = [] { return Done{}; };
    std::function<void()> before_read = [] {};
    std::optional<Error> read_fails;  ///< what each read answers from now on
    projections::MemoryStore below;

    Result<std::optional<std::string>> get(std::string_view key) override {
        before_read();
        if (read_fails) return *read_fails;
        return below.get(key);
    }
    Result<std::vector<std::optional<std::string>>> get_many(
        const std::vector<std::string_view>& keys) override {
        before_read();
        if (read_fails) return *read_fails;
        return below.get_many(keys);
    }
    Status each(std::string_view prefix, std::string_view after, std::size_t limit,
                const Visit& visit) override {
        before_read();
        if (read_fails) return *read_fails;
        return below.each(prefix, after, limit, visit);
    }
    Status apply(const ports::StoreBatch& batch) override {
        if (Status allowed = before_apply(); !allowed) return allowed;
        return below.apply(batch);
    }
    Status flush() override { return Done{}; }
    Result<std::string> checkpoint(const std::string& folder, const NameImage& name) override {
        return below.checkpoint(folder, name);
    }
};

}  // namespace trueup::runtime::testing
