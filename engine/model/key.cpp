#include "engine/model/key.h"

#include "engine/model/key_chars.h"
#include "engine/model/own_column.h"

#include <algorithm>
#include <utility>

namespace trueup::policy {

namespace {

std::string quoted(std::string_view text, char quote) {
    std::string out(1, quote);
    for (const char c : text) out.append(c == quote ? 2 : 1, c);
    return out + quote;
}

bool has_prefix(std::string_view field, std::string_view& prefix, std::string_view& rest) {
    for (const std::string_view each : {"label.", "annotation.", "tag."}) {
        if (!field.starts_with(each)) continue;
        prefix = each;
        rest = field.substr(each.size());
        return true;
    }
    return false;
}

void collect(const Key& key, std::vector<std::string>& fields) {
    if (key.op == Key::Op::kField) fields.push_back(key.text);
    for (const Key& part : key.parts) collect(part, fields);
}

std::string field_text(std::string_view field) {
    std::string_view prefix;
    std::string_view rest;
    if (has_prefix(field, prefix, rest)) return std::string(prefix) + quoted(rest, '\'');
    // SQL would read capitals as small letters, where this is shown to somebody who writes SQL.
    const auto small = [](char c) { return continues_word(c) && !(c >= 'A' && c <= 'Z'); };
    const bool word = !field.empty() && begins_word(field.front()) &&
                      std::all_of(field.begin(), field.end(), small);
    return word ? std::string(field) : quoted(field, '"');
}

std::string joined(const Key& key, std::string_view between) {
    std::string text;
    for (const Key& part : key.parts) {
        if (&part != key.parts.data()) text += between;
        const bool apart = key.op == Key::Op::kConcat && part.op == Key::Op::kConcat;
        text += apart ? '(' + key_text(part) + ')' : key_text(part);
    }
    return text;
}

}  // namespace

std::string key_text(const Key& key) {
    switch (key.op) {
        case Key::Op::kField:
            return field_text(key.text);
        case Key::Op::kLiteral:
            return quoted(key.text, '\'');
        case Key::Op::kConcat:
            return joined(key, " || ");
        case Key::Op::kCoalesce:
            return "coalesce(" + joined(key, ", ") + ')';
        case Key::Op::kLower:
            return "lower(" + joined(key, "") + ')';
        case Key::Op::kAfter:
            return "after(" + quoted(key.text, '\'') + ", " + joined(key, "") + ')';
    }
    return {};
}

bool can_be_a_name(std::string_view text) {
    const auto no_part = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/';
    };
    return !text.empty() && text.front() != ' ' && text.back() != ' ' &&
           std::none_of(text.begin(), text.end(), no_part);
}

bool is_name(const Key& key) { return key.op == Key::Op::kField && key.text == "name"; }

bool is_label(std::string_view field) {
    std::string_view prefix;
    std::string_view rest;
    return has_prefix(field, prefix, rest);
}

std::vector<std::string> fields_of(const Key& key) {
    std::vector<std::string> fields;
    collect(key, fields);
    std::sort(fields.begin(), fields.end());
    fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
    return fields;
}

std::string own_column(const Key& key) {
    if (key.op == Key::Op::kCoalesce) return own_column(key.parts.front());
    return key.op == Key::Op::kField ? key.text : std::string();
}

std::vector<std::string> alone_in(const Key& key) {
    if (key.op == Key::Op::kField) return {key.text};
    std::vector<std::string> fields;
    if (key.op != Key::Op::kCoalesce) return fields;
    for (const Key& part : key.parts) {
        for (std::string& field : alone_in(part)) fields.push_back(std::move(field));
    }
    return fields;
}

}  // namespace trueup::policy
