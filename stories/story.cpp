#include "stories/story.h"

#include "stories/saying.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace trueup::stories {

namespace {

/// What may stand before the first time.
constexpr std::array<std::string_view, 8> kSettings{"use",   "shards", "with",  "source",
                                                    "usual", "table",  "rules", "rule"};

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Takes a file apart; throws Unusable.
class Reader {
  public:
    explicit Reader(const std::string& path, bool whole) : whole_(whole) { story_.path = path; }

    Story read(std::istream& text) {
        if (!text) throw Unusable(story_.path + ": cannot be read");
        for (std::string line; std::getline(text, line);) {
            ++line_;
            take(trimmed(line));
        }
        if (expecting_) close();
        if (!block_.statements.empty()) fail("what comes of it? end with a line of `=>`");
        if (whole_ && story_.blocks.empty())
            fail("a story without a word; begin with `0s known all`");
        return std::move(story_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { refuse(story_.path, line_, what); }

    void take(const std::string& text) {
        if (text.starts_with("=>")) return expect(trimmed(text.substr(2)));
        if (expecting_) close();
        if (text.starts_with("#")) {
            if (story_.title.empty()) story_.title = trimmed(text.substr(1));
            return;
        }
        if (text.empty()) return;
        Statement said = statement(text);
        const bool timed = time_of(said.verb).has_value();
        if (!timed) return set(std::move(said));
        if (!whole_) fail("this file says what holds before its stories begin: nothing has a time");
        block_.statements.push_back(at(std::move(said)));
    }

    /// `with services`, `rules off`: what holds before the first moment.
    void set(Statement said) {
        if (std::find(kSettings.begin(), kSettings.end(), said.verb) == kSettings.end()) {
            fail("a statement begins with its time, as in `100s pod wrapper-7 uid=a`");
        }
        if (!block_.statements.empty() || !story_.blocks.empty()) {
            fail("`" + said.verb + "` without a time comes before everything that has one");
        }
        story_.setting.push_back(std::move(said));
    }

    void expect(const std::string& what) {
        if (what.empty()) fail("`=>` is followed by one line of news, or by `nothing`");
        if (!whole_) fail("this file says what holds before its stories begin, not what comes");
        if (!expecting_) block_.line = line_;
        expecting_ = block_.asks = true;
        if (what != "nothing") block_.expected.push_back(what);
    }

    void close() {
        expecting_ = false;
        story_.blocks.push_back(std::exchange(block_, {}));
    }

    /// The first word is its verb for now.
    Statement statement(std::string text) {
        text = trimmed(text.substr(0, text.find(" #")));
        std::istringstream words(text);
        Statement made;
        made.file = story_.path;
        made.line = line_;
        words >> made.verb;
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            if (equals == std::string::npos) {
                made.words.push_back(word);
            } else {
                made.values[word.substr(0, equals)] = word.substr(equals + 1);
            }
        }
        return made;
    }

    /// `100s pod …`
    Statement at(Statement said) {
        const Millis time = *time_of(said.verb);
        if (time < last_) fail("time runs backwards");
        said.at = last_ = time;
        if (said.words.empty()) fail("a time alone says nothing");
        said.verb = said.words.front();
        said.words.erase(said.words.begin());
        return said;
    }

    Story story_;
    Block block_;
    bool whole_;
    Millis last_{0};
    int line_ = 0;
    bool expecting_ = false;
};

Error error_of(const Unusable& flaw) { return {Next::kStop, Code::kInvalid, flaw.what()}; }

}  // namespace

Result<Story> Story::read(const std::string& path) {
    std::ifstream file(path);
    Result<Story> story = read(file, path);
    if (!story) return story;
    const auto world = std::filesystem::path(path).parent_path() / kWorldFile;
    std::ifstream beside(world);
    if (!beside) return story;
    try {
        Story setting = Reader(world.string(), false).read(beside);
        story->setting.insert(story->setting.begin(), setting.setting.begin(),
                              setting.setting.end());
    } catch (const Unusable& flaw) {
        return error_of(flaw);
    }
    return story;
}

Result<Story> Story::read(std::istream& text, const std::string& path) {
    try {
        return Reader(path, true).read(text);
    } catch (const Unusable& flaw) {
        return error_of(flaw);
    }
}

std::vector<std::string> stories_in(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code failed;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, failed)) {
        const bool story = entry.path().extension() == ".scn";
        if (story && entry.path().filename() != kWorldFile) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace trueup::stories
