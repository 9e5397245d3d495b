#include "engine/model/key.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace trueup::policy {

namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxText = 4096;
constexpr std::string_view kExpected =
    "expected a field, a 'literal', coalesce(…), lower(…) or "
    "after('x', …)";

bool begins_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool continues_word(char c) { return begins_word(c) || (c >= '0' && c <= '9') || c == '$'; }
/// What a label's bare name may have beside that.
bool continues_label(char c) { return continues_word(c) || c == '-' || c == '/' || c == '.'; }

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

/// Recursive descent; the first thing that does not fit is the error.
class KeyParser {
  public:
    explicit KeyParser(std::string_view text) : text_(text) {}

    Result<Key> parse() {
        if (text_.size() > kMaxText) fail("is longer than 4096 bytes");
        Key key = expression(0);
        skip_blanks();
        if (!error_ && at_ != text_.size()) fail("expected || or the end");
        if (!error_ && fields_of(key).empty()) {
            at_ = 0;
            fail("names no field, so all objects would belong to one subject");
        }
        if (error_) return *error_;
        return key;
    }

  private:
    using Op = Key::Op;

    Key expression(std::size_t depth) {
        Key first = operand(depth);
        if (!take("||")) return first;
        Key all{Op::kConcat, {}, {}};
        all.parts.push_back(std::move(first));
        do {
            all.parts.push_back(operand(depth));
        } while (!error_ && take("||"));
        return all;
    }

    Key operand(std::size_t depth) {
        skip_blanks();
        if (depth > kMaxDepth) return fail("is nested too deeply");
        if (at_ == text_.size()) return fail(kExpected);
        const char c = text_[at_];
        if (c == '\'') return {Op::kLiteral, between('\''), {}};
        if (c == '"') return {Op::kField, between('"'), {}};
        if (c == '(') {
            ++at_;
            Key inner = expression(depth + 1);
            expect(")");
            return inner;
        }
        if (!begins_word(c)) return fail(kExpected);
        return word(depth);
    }

    Key word(std::size_t depth) {
        const std::size_t start = at_;
        while (at_ < text_.size() && continues_word(text_[at_])) ++at_;
        std::string name(text_.substr(start, at_ - start));
        if (name == "coalesce" && take("(")) return list(Op::kCoalesce, {}, depth);
        if (name == "lower" && take("(")) return one(Op::kLower, {}, depth);
        if (name == "after" && take("(")) {
            skip_blanks();
            if (at_ == text_.size() || text_[at_] != '\'') return fail("expected a 'literal'");
            std::string what = between('\'');
            if (what.empty() && !error_) return fail("after('', …) finds nothing");
            expect(",");
            return one(Op::kAfter, std::move(what), depth);
        }
        const bool map = name == "label" || name == "annotation" || name == "tag";
        if (map && at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            return {Op::kField, name + '.' + label(), {}};
        }
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '(') {
            at_ = start;
            return fail("coalesce, lower and after are the functions that there are");
        }
        return {Op::kField, std::move(name), {}};
    }

    std::string label() {
        if (at_ < text_.size() && text_[at_] == '\'') return between('\'');
        const std::size_t start = at_;
        while (at_ < text_.size() && continues_label(text_[at_])) ++at_;
        if (at_ == start) fail("expected the name of a label, an annotation or a tag");
        return std::string(text_.substr(start, at_ - start));
    }

    Key one(Op op, std::string text, std::size_t depth) {
        Key key{op, std::move(text), {}};
        key.parts.push_back(expression(depth + 1));
        expect(")");
        return key;
    }

    Key list(Op op, std::string text, std::size_t depth) {
        Key key{op, std::move(text), {}};
        do {
            key.parts.push_back(expression(depth + 1));
        } while (!error_ && take(","));
        expect(")");
        return key;
    }

    /// The text between two quotes, doubled ones inside made single.
    std::string between(char quote) {
        std::string text;
        for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
            if (text_[i] == quote) {
                if (i + 1 >= text_.size() || text_[i + 1] != quote) {
                    at_ = i + 1;
                    return text;
                }
                ++i;
            }
            text += text_[i];
        }
        fail("this quote does not end");
        return text;
    }

    bool take(std::string_view token) {
        skip_blanks();
        if (error_ || text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!error_ && !take(token)) fail("expected " + std::string(token));
    }

    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }

    // What follows the first error is only what the parser made of it.
    Key fail(std::string_view what) {
        if (!error_) {
            error_ = Error{Next::kStop, Code::kConfiguration,
                           "position " + std::to_string(at_ + 1) + ": " + std::string(what)};
        }
        return {};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::optional<Error> error_;
};

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

Result<Key> parse_key(std::string_view text) { return KeyParser(text).parse(); }

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
