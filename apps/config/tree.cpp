#include "apps/config/tree.h"

#include "apps/config/words.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace trueup::config {

namespace {

// Aliases may name one node a thousand times, and even a node around themselves.
constexpr std::size_t kMaxNodes = 20'000;
constexpr int kMaxDepth = 32;

struct Flaw {
    int line;
    std::string what;
};

class Copier {
  public:
    Tree copy(const YAML::Node& node, int line, int depth) {
        if (depth > kMaxDepth) throw Flaw{line, "is nested more than 32 levels deep"};
        if (++nodes_ > kMaxNodes) throw Flaw{line, "has more than 20000 values"};
        Tree tree;
        tree.line = line;
        if (node.IsScalar()) {
            tree.kind = Tree::Kind::kText;
            tree.text = node.Scalar();
            tree.plain = node.Tag() == "?";
        } else if (node.IsSequence()) {
            tree.kind = Tree::Kind::kList;
            for (const YAML::Node& item : node) {
                tree.children.push_back(copy(item, item.Mark().line + 1, depth + 1));
            }
        } else if (node.IsMap()) {
            tree.kind = Tree::Kind::kMap;
            for (const auto& pair : node) tree.children.push_back(entry(pair, depth));
        }
        return tree;
    }

  private:
    template <typename Pair>
    Tree entry(const Pair& pair, int depth) {
        const int line = pair.first.Mark().line + 1;
        if (!pair.first.IsScalar()) throw Flaw{line, "has a key that is not a plain word"};
        if (pair.first.Scalar() == "<<") {
            throw Flaw{line, "has a YAML merge key ('<<') here; write the keys out"};
        }
        Tree value = copy(pair.second, line, depth + 1);
        value.key = pair.first.Scalar();
        return value;
    }

    std::size_t nodes_ = 0;
};

/// Throws at the second document.
class OneDocument final : public YAML::EventHandler {
  public:
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            throw Flaw{mark.line + 1,
                       "has a second YAML document here; write one document, and check the "
                       "indentation of this line"};
        }
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
    void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
    void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  const std::string& /*value*/) override {}
    void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                         YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                    YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
    void OnMapEnd() override {}

  private:
    int documents_ = 0;
};

/// Two documents at most are looked at: on some texts yaml-cpp 0.7 finds one empty document after
/// the other without end, and LoadAll with it.
void refuse_second_document(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    OneDocument handler;
    if (parser.HandleNextDocument(handler)) parser.HandleNextDocument(handler);
}

/// The first line, from 1, that is indented with a tab; 0: none is.
int line_with_tab(std::string_view text) {
    int number = 1;
    for (bool indented = true; const char c : text) {
        if (c == '\t' && indented) return number;
        if (c != ' ') indented = false;
        if (c != '\n') continue;
        ++number;
        indented = true;
    }
    return 0;
}

}  // namespace

const Tree* Tree::child(std::string_view wanted) const {
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](const Tree& each) { return each.key == wanted; });
    return found == children.end() ? nullptr : &*found;
}

Result<std::string> read_file(const std::string& path, const std::string& what, std::size_t most) {
    const auto refuse = [&](const std::string& why) {
        return Error{Next::kStop, Code::kConfiguration,
                     fmt::format("{}: cannot read {}: {}", path, what, why)};
    };
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed)) return refuse("it is a folder");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return refuse(std::generic_category().message(errno));
    std::string text(most + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) return refuse(std::generic_category().message(errno));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > most) return refuse("it is longer than " + size_text(most));
    return text;
}

Result<Tree> read_tree(std::string_view text, const std::string& file_name) {
    const auto refuse = [&file_name](int line, const std::string& what) {
        return Error{Next::kStop, Code::kConfiguration,
                     fmt::format("{}:{}: {}", file_name, line, what)};
    };
    try {
        const std::string copy(text);
        refuse_second_document(copy);
        const YAML::Node document = YAML::Load(copy);
        if (document.IsNull())
            return refuse(1,
                          "the file is empty; begin a configuration with version: 1, a policy with "
                          "policy: NAME");
        return Copier().copy(document, document.Mark().line + 1, 0);
    } catch (const Flaw& flaw) {
        return refuse(flaw.line, "the file " + flaw.what);
    } catch (const YAML::Exception& broken) {
        if (const int line = line_with_tab(text); line > 0) {
            return refuse(line, "not YAML: the indentation has a tab; write spaces");
        }
        return refuse(broken.mark.line + 1, "not YAML: " + broken.msg);
    }
}

}  // namespace trueup::config
