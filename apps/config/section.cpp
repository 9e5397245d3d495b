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
