// One map of the configuration, read key by key. What is wrong is noted and reading goes on, so
// that an operator sees every flaw of a file at once.
//
// Each reading function takes a key's default and returns it when the key is missing or wrong. A
// key that no function asked for is unknown: `finish()` says so, and what was probably meant.
#pragma once

#include "apps/config/problems.h"
#include "apps/config/tree.h"
#include "engine/base/time.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::config {

/// Notes each key of a map that was there before.
void refuse_twins(const Tree& map, const std::string& path, Problems& problems);

/// A view: the tree and the problems outlive it.
class Section {
  public:
    /// `tree` is nullptr where the file has no such map; `line` is then that of the map around it.
    Section(const Tree* tree, std::string path, int line, Problems& problems);

    bool has(std::string_view key) const { return find(key) != nullptr; }
    /// The file has the map itself, and it is a map.
    bool present() const { return tree_ != nullptr; }
    const std::string& path() const { return path_; }
    /// `path.key`, as it is called in sentences.
    std::string path_of(std::string_view key) const;
    int line() const { return line_; }
    /// The key's own line, or the section's.
    int line_of(std::string_view key) const;

    /// Notes that `key` has to be there; `example` is what to write. False when it is missing.
    bool require(std::string_view key, std::string_view example);

    std::string text(std::string_view key, std::string_view fallback = {});
    bool flag(std::string_view key, bool fallback);
    Millis duration(std::string_view key, Millis fallback);
    std::uint64_t size(std::string_view key, std::uint64_t fallback);
    /// `1%` to `99%`. `most` is what its error says may be written.
    std::uint32_t percent(std::string_view key, std::uint32_t fallback, std::uint32_t most = 99);
    std::uint32_t count(std::string_view key, std::uint32_t fallback);
    /// The index of the text in `choices`.
    std::size_t choice(std::string_view key, std::size_t fallback,
                       const std::vector<std::string>& choices);
    std::vector<std::string> texts(std::string_view key);
    /// The same where one may stand for itself, without a list.
    std::vector<std::string> one_or_more_texts(std::string_view key);
    Section section(std::string_view key);
    /// Of a map whose keys are names; none where there is no map.
    std::vector<std::string> keys() const;
    /// Every entry of a map whose keys are names, or every item of a list.
    std::vector<Section> entries();
    std::vector<Section> items(std::string_view key);
    /// The same where one item may stand for itself, without a list.
    std::vector<Section> one_or_more(std::string_view key);

    /// The value of `key` as it stands, of whatever kind; nullptr: there is none.
    const Tree* take_tree(std::string_view key);

    /// `key` has no place here, and the sentence says why; nobody is told to write it.
    void refuse(std::string_view key, std::string_view sentence);
    /// Something is wrong with the value of `key`; the sentence follows the key's name.
    void problem(std::string_view key, std::string_view sentence);
    /// To be called once every known key was read.
    void finish();

    /// The same section under another name in sentences.
    Section called(std::string path) const;
    const std::string& key() const { return key_; }

  private:
    const Tree* find(std::string_view key) const;
    void know(std::string_view key);
    const Tree* take(std::string_view key, Tree::Kind kind);
    const std::string* scalar(std::string_view key) {
        const Tree* value = take(key, Tree::Kind::kText);
        return value == nullptr ? nullptr : &value->text;
    }

    const Tree* tree_;
    std::string path_;
    std::string key_;
    int line_;
    Problems* problems_;
    std::vector<std::string> known_;
    std::vector<std::string> refused_;
    std::vector<std::string> broken_;  ///< of a wrong kind: nothing more is said of them
};

}  // namespace trueup::config
