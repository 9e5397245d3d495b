// The maps and lists of maps below a section.
#include "apps/config/section.h"

#include <fmt/format.h>

#include <utility>

namespace trueup::config {

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

}  // namespace trueup::config
