#include "apps/config/section.h"

#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::config {

namespace {

std::string_view name_of(Tree::Kind kind) {
    switch (kind) {
        case Tree::Kind::kText:
            return "a single value";
        case Tree::Kind::kList:
            return "a list";
        case Tree::Kind::kMap:
            return "a map of keys";
        case Tree::Kind::kNull:
            break;
    }
    return "empty";
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void refuse_twins(const Tree& map, const std::string& path, Problems& problems) {
    for (const Tree& child : map.children) {
        const Tree* first = map.child(child.key);
        if (first == &child) continue;
        problems.add(child.line,
                     fmt::format("{}{}{} comes twice, first in line {}; leave one out", path,
                                 path.empty() ? "" : ".", child.key, first->line));
    }
}

Section::Section(const Tree* tree, std::string path, int line, Problems& problems)
    : tree_(tree), path_(std::move(path)), line_(line), problems_(&problems) {
    if (tree_ == nullptr) return;
    line_ = tree_->line;
    key_ = tree_->key;
    if (tree_->kind != Tree::Kind::kMap) {
        problems_->add(
            line_, fmt::format("{} is {}; write a map of keys", path_.empty() ? "the file" : path_,
                               name_of(tree_->kind)));
        tree_ = nullptr;
        return;
    }
    refuse_twins(*tree_, path_, *problems_);
}

std::string Section::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Tree* Section::find(std::string_view key) const {
    return tree_ == nullptr ? nullptr : tree_->child(key);
}

int Section::line_of(std::string_view key) const {
    const Tree* value = find(key);
    return value == nullptr ? line_ : value->line;
}

void Section::know(std::string_view key) {
    if (!contains(known_, key)) known_.emplace_back(key);
}

const Tree* Section::take(std::string_view key, Tree::Kind kind) {
    know(key);
    const Tree* value = find(key);
    if (value == nullptr || value->kind == kind) return value;
    problem(key, value->kind == Tree::Kind::kNull
                     ? "is empty; write a value or leave the key out"
                     : fmt::format("is {}; write {}", name_of(value->kind), name_of(kind)));
    broken_.emplace_back(key);
    return nullptr;
}

const Tree* Section::take_tree(std::string_view key) {
    know(key);
    return find(key);
}

bool Section::require(std::string_view key, std::string_view example) {
    if (has(key)) return true;
    know(key);
    if (tree_ == nullptr) return false;
    problems_->add(line_, fmt::format("{} needs the key '{}'; write {}",
                                      path_.empty() ? "the file" : path_, key, example));
    return false;
}

std::string Section::text(std::string_view key, std::string_view fallback) {
    const std::string* value = scalar(key);
    return value == nullptr ? std::string(fallback) : *value;
}

bool Section::flag(std::string_view key, bool fallback) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    if (*value != "true" && *value != "false") {
        problem(key, fmt::format("is '{}'; write true or false", *value));
        return fallback;
    }
    return *value == "true";
}

Millis Section::duration(std::string_view key, Millis fallback) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const std::optional<Millis> parsed = parse_duration(*value);
    if (parsed) return *parsed;
    problem(key, parse_number(*value) ? fmt::format("has no unit; write {0}s, not {0}", *value)
                                      : fmt::format("is '{}', which is not a duration; write it as "
                                                    "500ms, 30s, 5m, 6h or 30d, at most 366d",
                                                    *value));
    return fallback;
}

std::uint64_t Section::size(std::string_view key, std::uint64_t fallback) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const std::optional<std::uint64_t> parsed = parse_size(*value);
    if (parsed && *parsed > 0) return *parsed;
    problem(key,
            parse_number(*value)
                ? fmt::format("has no unit; write {0}MiB, not {0}", *value)
                : fmt::format("is '{}', which is not a size; write it as 64KiB, 512MiB or 2GiB",
                              *value));
    return fallback;
}

std::uint32_t Section::percent(std::string_view key, std::uint32_t fallback, std::uint32_t most) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const std::optional<std::uint32_t> parsed = parse_percent(*value);
    if (parsed) return *parsed;
    const bool bare = parse_percent(*value + "%").has_value();
    problem(key,
            bare ? fmt::format("has no unit; write {0}%, not {0}", *value)
                 : fmt::format("is '{}'; write a whole percentage from 1% to {}%", *value, most));
    return fallback;
}

std::uint32_t Section::count(std::string_view key, std::uint32_t fallback) {
    constexpr std::size_t kDigits = 9;
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const bool digits = value->find_first_not_of("0123456789") == std::string::npos;
    if (digits && !value->empty() && value->size() <= kDigits) {
        return static_cast<std::uint32_t>(std::stoul(*value));
    }
    problem(key, fmt::format("is '{}'; write a whole number", *value));
    return fallback;
}

std::size_t Section::choice(std::string_view key, std::size_t fallback,
                            const std::vector<std::string>& choices) {
    const std::string* value = scalar(key);
    if (value == nullptr) return fallback;
    const auto found = std::find(choices.begin(), choices.end(), *value);
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    problem(key, fmt::format("is '{}'; write {}", *value, enumerate(choices, "or")));
    return fallback;
}

std::vector<std::string> Section::texts(std::string_view key) {
    std::vector<std::string> all;
    const Tree* value = take(key, Tree::Kind::kList);
    if (value == nullptr) return all;
    for (const Tree& item : value->children) {
        if (item.kind == Tree::Kind::kText && !item.text.empty()) {
            all.push_back(item.text);
        } else {
            problems_->add(
                item.line,
                fmt::format(
                    "{} has an item that is not text; write a list of names, as in [one, two]",
                    path_of(key)));
        }
    }
    return all;
}

Section Section::section(std::string_view key) {
    know(key);
    return Section(find(key), path_of(key), line_, *problems_);
}

std::vector<std::string> Section::keys() const {
    std::vector<std::string> all;
    if (tree_ == nullptr) return all;
    for (const Tree& child : tree_->children) {
        if (find(child.key) == &child) all.push_back(child.key);
    }
    return all;
}

std::vector<Section> Section::entries() {
    std::vector<Section> all;
    if (tree_ == nullptr) return all;
    for (const Tree& child : tree_->children) {
        known_.push_back(child.key);
        if (find(child.key) != &child) continue;
        all.emplace_back(&child, path_of(child.key), line_, *problems_);
    }
    return all;
}

std::vector<Section> Section::items(std::string_view key) {
    std::vector<Section> all;
    const Tree* value = take(key, Tree::Kind::kList);
    if (value == nullptr) return all;
    for (const Tree& item : value->children) {
        all.emplace_back(&item, fmt::format("{}[{}]", path_of(key), all.size()), line_, *problems_);
    }
    return all;
}

std::vector<Section> Section::one_or_more(std::string_view key) {
    const Tree* value = find(key);
    if (value != nullptr && value->kind == Tree::Kind::kList) return items(key);
    std::vector<Section> all;
    if (Section one = section(key); one.present()) all.push_back(std::move(one));
    return all;
}

void Section::refuse(std::string_view key, std::string_view sentence) {
    refused_.emplace_back(key);
    if (has(key)) problem(key, sentence);
}

void Section::problem(std::string_view key, std::string_view sentence) {
    if (contains(broken_, key)) return;
    problems_->add(line_of(key), fmt::format("{} {}", path_of(key), sentence));
}

void Section::finish() {
    if (tree_ == nullptr) return;
    for (const Tree& child : tree_->children) {
        if (contains(known_, child.key) || contains(refused_, child.key)) continue;
        const std::string where = path_.empty() ? "at the top of the file" : "under " + path_;
        if (child.kind == Tree::Kind::kNull && has("conninfo")) {
            problems_->add(child.line,
                           fmt::format("a key without a value {}; it is not shown, because it may "
                                       "be part of conninfo: put quotes around that",
                                       where));
            continue;
        }
        problems_->add(child.line, fmt::format("unknown key '{}' {}; {}", child.key, where,
                                               did_you_mean(child.key, known_)));
    }
}

Section Section::called(std::string path) const {
    Section same = *this;
    same.path_ = std::move(path);
    return same;
}

}  // namespace trueup::config
