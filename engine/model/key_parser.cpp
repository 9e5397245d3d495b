// Keys as they are written: recursive descent.
#include "engine/model/key.h"
#include "engine/model/key_chars.h"
#include "engine/model/key_scanner.h"

#include <cstddef>
#include <utility>

namespace trueup::policy {

namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxText = 4096;
constexpr std::string_view kExpected =
    "expected a field, a 'literal', coalesce(…), lower(…) or "
    "after('x', …)";

/// What a label's bare name may have beside that.
bool continues_label(char c) { return continues_word(c) || c == '-' || c == '/' || c == '.'; }

class KeyParser : private KeyScanner {
  public:
    explicit KeyParser(std::string_view text) : KeyScanner(text) {}

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
};

}  // namespace

Result<Key> parse_key(std::string_view text) { return KeyParser(text).parse(); }

}  // namespace trueup::policy
