#include "apps/config/tree.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstddef>
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
        if (!pair.first.IsScalar()) throw Flaw{line, "has a key that is no plain word"};
        Tree value = copy(pair.second, line, depth + 1);
        value.key = pair.first.Scalar();
        return value;
    }

    std::size_t nodes_ = 0;
};

}  // namespace

Result<Tree> read_tree(std::string_view text, const std::string& file_name) {
    const auto refuse = [&file_name](int line, const std::string& what) {
        return Error{Next::kStop, fmt::format("{}:{}: {}", file_name, line, what)};
    };
    try {
        const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
        if (documents.empty() || documents[0].IsNull()) {
            return refuse(1, "the file is empty; start it with version: 1");
        }
        if (documents.size() > 1) {
            return refuse(documents[1].Mark().line + 1,
                          "a second YAML document starts here; write one document, and check the "
                          "indentation of this line");
        }
        return Copier().copy(documents[0], documents[0].Mark().line + 1, 0);
    } catch (const Flaw& flaw) {
        return refuse(flaw.line, "the file " + flaw.what);
    } catch (const YAML::Exception& broken) {
        return refuse(broken.mark.line + 1, "not YAML: " + broken.msg);
    }
}

}  // namespace trueup::config
