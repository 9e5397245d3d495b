// The text of a key (key.h) as its parser reads it: where it is, and the first thing that does not
// fit, which is the error. What follows it is only what the parser made of it. Not for other users.
#pragma once

#include "engine/base/result.h"
#include "engine/model/key.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trueup::policy {

class KeyScanner {
  protected:
    explicit KeyScanner(std::string_view text) : text_(text) {}

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

}  // namespace trueup::policy
