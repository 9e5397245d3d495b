#include "stories/saying.h"

#include <algorithm>

namespace trueup::stories {

void refuse(const std::string& file, int line, const std::string& what) {
    throw Unusable(file + ":" + std::to_string(line) + ": " + what);
}

std::optional<Millis> time_of(const std::string& text) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    if (digits == 0 || digits > 9) return std::nullopt;
    const Millis count(std::stoll(text.substr(0, digits)));
    const std::string unit = text.substr(digits);
    if (unit == "ms") return count;
    if (unit == "s") return count * 1'000;
    if (unit == "m") return count * 60'000;
    if (unit == "h") return count * 3'600'000;
    return std::nullopt;
}

std::optional<Millis> moment_of(const std::string& text) {
    const bool before = text.starts_with('-');
    const std::optional<Millis> read = time_of(text.substr(before ? 1 : 0));
    if (!read) return std::nullopt;
    return before ? -*read : *read;
}

std::optional<std::uint64_t> number_of(const std::string& text) {
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
    if (text.empty() || text.size() > 18 || !digits) return std::nullopt;
    return std::stoull(text);
}

void Saying::fail(const std::string& what) const { refuse(said_->file, said_->line, what); }

void Saying::stumble(const std::string& what) const {
    throw Stumbled(said_->file + ":" + std::to_string(said_->line) + ": " + what);
}

std::string Saying::word(const std::string& what) {
    if (words_used_ >= said_->words.size()) fail("`" + verb() + "` needs " + what);
    return said_->words[words_used_++];
}

std::string Saying::next() {
    return words_used_ < said_->words.size() ? said_->words[words_used_++] : std::string();
}

std::string Saying::value(const std::string& name, const std::string& otherwise) {
    used_.insert(name);
    const auto found = said_->values.find(name);
    return found == said_->values.end() ? otherwise : found->second;
}

std::string Saying::must(const std::string& name) {
    std::string text = value(name, {});
    if (text.empty()) fail("`" + verb() + "` needs `" + name + "=`");
    return text;
}

std::uint64_t Saying::number(const std::string& name, std::uint64_t otherwise) {
    const std::optional<std::uint64_t> read = number_of(value(name, std::to_string(otherwise)));
    if (!read) fail("`" + name + "=` is followed by a number");
    return *read;
}

Millis Saying::time(const std::string& name, Millis otherwise) {
    const std::string text = value(name, {});
    if (text.empty()) return otherwise;
    const std::optional<Millis> read = time_of(text);
    if (!read) fail("`" + name + "=` is followed by a time such as 30s");
    return *read;
}

bool Saying::flag(const std::string& name) {
    const auto from = said_->words.begin() + static_cast<std::ptrdiff_t>(words_used_);
    if (std::find(from, said_->words.end(), name) == said_->words.end()) return false;
    flags_.insert(name);
    return true;
}

void Saying::end_flags() {
    while (words_used_ < said_->words.size() && flags_.count(said_->words[words_used_]) != 0) {
        ++words_used_;
    }
    flags_.clear();
}

std::map<std::string, std::string> Saying::take_values() {
    std::map<std::string, std::string> left;
    for (const auto& [name, text] : said_->values) {
        if (used_.insert(name).second) left[name] = text;
    }
    return left;
}

void Saying::end() {
    for (const auto& [name, text] : said_->values) {
        if (used_.count(name) == 0) fail("`" + verb() + "` has no `" + name + "=`");
    }
    if (words_used_ < said_->words.size()) {
        fail("`" + verb() + "` cannot be followed by `" + said_->words[words_used_] + "`");
    }
}

}  // namespace trueup::stories
