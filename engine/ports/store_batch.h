// What is written to a store (store.h) at once: whole, or not at all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::ports {

/// Puts and erases, all in one buffer; of several words on one key the last one holds. Cheap to
/// fill again after `clear`. Not thread-safe.
class StoreBatch {
  public:
    struct Word {
        std::string_view key;
        std::optional<std::string_view> value;  ///< nullopt: the key is erased
    };

    void put(std::string_view key, std::string_view value) {
        add(key, value.size());
        bytes_ += value;
    }
    void erase(std::string_view key) { add(key, kErased); }

    bool empty() const { return places_.empty(); }
    std::size_t size() const { return places_.size(); }
    std::size_t bytes() const { return bytes_.size(); }
    /// Valid until the batch is changed.
    Word operator[](std::size_t i) const {
        const Place& place = places_[i];
        const std::string_view from = std::string_view(bytes_).substr(place.at);
        Word word{from.substr(0, place.key), std::nullopt};
        if (place.value != kErased) word.value = from.substr(place.key, place.value);
        return word;
    }
    void clear() {
        bytes_.clear();
        places_.clear();
    }

  private:
    static constexpr std::size_t kErased = ~std::size_t{0};
    struct Place {
        std::size_t at;
        std::size_t key;    ///< its size
        std::size_t value;  ///< likewise, or kErased
    };
    void add(std::string_view key, std::size_t value) {
        places_.push_back({bytes_.size(), key.size(), value});
        bytes_ += key;
    }
    std::string bytes_;
    std::vector<Place> places_;
};

}  // namespace trueup::ports
