#include "apps/first_policy.h"

#include "apps/noun.h"
#include "apps/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace trueup::apps {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string quoted(const std::string& text) { return yaml_text(text); }

std::string list(const std::vector<std::string>& words) {
    std::vector<std::string> all;
    all.reserve(words.size());
    for (const std::string& word : words) all.push_back(quoted(word));
    return "[" + fmt::format("{}", fmt::join(all, ", ")) + "]";
}

/// A test for these words: one of them, or the list.
std::string any_of(const std::vector<std::string>& words) {
    return words.size() == 1 ? quoted(words.front()) : list(words);
}

/// Can it stand in a story, and in a text that is set?
bool is_sayable(const std::string& word) {
    return !word.empty() && word != "null" && word != "unsent" && word.front() != ' ' &&
           word.back() != ' ' && std::all_of(word.begin(), word.end(), [](char c) {
               const bool odd = std::string_view(",#={}\"\\'").find(c) != std::string_view::npos;
               return !odd && static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
           });
}

bool is_plain_column(const std::string& name) {
    return (is_letter(name.front()) || name.front() == '_') &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || is_digit(c); });
}

/// A name that roles and rules may have.
std::string word_of(std::string plural) {
    std::replace_if(
        plural.begin(), plural.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    return plural;
}

/// In a story a comma stands for a blank.
std::string told(std::string word) {
    std::replace(word.begin(), word.end(), ' ', ',');
    return word;
}

/// The texts of one policy.
class Writer {
  public:
    explicit Writer(const FirstPolicy& p)
        : p_(p),
          pods_(p.plural == "pods"),
          objects_(p.plural == "rows" ? "objects" : word_of(p.plural)),
          object_(p.plural == "rows" ? "object" : one_of(objects_)),
          judges_(!p.state.empty() && !p.live.empty()),
          writes_(judges_ && !p.dead.empty()) {}

    std::string policy() const {
        std::string text = fmt::format(
            "# Holds the rows of {0} against {1}. As a table: trueup policy show {2}.yaml\n"
            "policy: {2}\nlanguage: 1\nsubject: the name of a {3}\n\nroles:\n"
            "  {4}: {{kind: {5}, key: name}}\n  rows:\n    kind: row\n    key: {6}\n",
            p_.table, p_.plural, p_.name, object_, objects_, pods_ ? "pod" : "object",
            quoted(p_.key));
        if (judges_) {
            text += fmt::format(
                "    fields: {{{0}: {1}}}    # another word is unknown: nothing is done beside it\n"
                "    live: {{{0}: {2}}}    # such a row should have a {3}\n",
                quoted(p_.state), list(words()), list(p_.live), object_);
        }
        return text + "\nrules:\n" + duplicates() + lost() + (writes_ ? leftover() : "") +
               unknown();
    }

    std::string config() const {
        std::string text = fmt::format(
            "# Nothing acts in it: `trueup plan` shows what the rules would do.\n"
            "version: 1\nbus: {{embedded: {{fsync: true}}}}\nstate_dir: ./state\n\nsources:\n"
            "  {}:\n    kubernetes:\n{}",
            objects_, p_.cluster.empty() ? "      in_cluster: true\n" : settings(p_.cluster));
        text += p_.name_space.empty() ? "      all_namespaces: true\n"
                                      : fmt::format("      namespace: {}\n", quoted(p_.name_space));
        if (!pods_) text += fmt::format("      resource: {}\n", quoted(p_.resource));
        if (!p_.selector.empty()) {
            text += fmt::format("      selector: {}    # nothing else is ever looked at\n",
                                quoted(p_.selector));
        }
        text += fmt::format(
            "  rows:\n    postgres:\n{}      table: {}\n      publication: {}\n"
            "      slot: {}\n\npolicies:\n  - name: {}\n    file: {}.yaml\n"
            "    roles: {{{}: {}, rows: rows}}\n    rules:    # of those that act: observe, "
            "approve or enforce\n",
            settings(p_.database), quoted(p_.table), published(), published(), p_.name, p_.name,
            objects_, objects_);
        text += fmt::format("      lost_{}: {{mode: observe}}\n", object_);
        if (writes_) text += fmt::format("      leftover_{}: {{mode: \"off\"}}\n", object_);
        text += fmt::format("      unknown_{}: {{mode: observe}}\n", object_);
        text += "      two_of_a_name: {mode: observe}\n";
        if (!writes_) return text;
        text += "\nexecutors:    # what carries out the commands of rules that act\n";
        text += pods_ ? fmt::format("  delete_pod: {{source: {}}}\n", objects_)
                      : fmt::format("  delete_object: {{sources: [{}]}}\n", objects_);
        return text + "  update_row: {source: rows}\n";
    }

    std::vector<std::pair<std::string, std::string>> stories() const {
        std::vector<std::pair<std::string, std::string>> all{{"well.scn", well_story()},
                                                             {"two_rows.scn", two_rows_story()},
                                                             {"lost.scn", lost_story()},
                                                             {"unknown.scn", unknown_story()}};
        if (writes_) all.emplace_back("leftover.scn", leftover_story());
        return all;
    }

  private:
    /// Those about which something is said. Beside a row of any other nothing is done.
    std::vector<std::string> words() const {
        std::vector<std::string> all = p_.live;
        if (writes_) all.push_back(p_.dead);
        return all;
    }

    /// `{state: [ACTIVE, DRAINING]}`, or nothing to ask.
    std::string if_live() const {
        return judges_ ? fmt::format("{{one: {{{}: {}}}}}", quoted(p_.state), any_of(p_.live))
                       : "one";
    }

    std::string duplicates() const {
        return fmt::format(
            "  two_of_a_name:\n    finds: two {0} of a name, or two rows{1}\n"
            "    when: duplicates\n    do: report\n",
            objects_, judges_ ? " that live" : "");
    }

    std::string lost() const {
        return fmt::format(
            "  lost_{0}:\n    finds: row {1}, its {0} is gone\n"
            "    when: {{rows: {2}, {3}: none}}\n    grace: 60s\n    create_window: 30s\n"
            "    do: {4}\n",
            object_, judges_ ? "lives" : "is there", if_live(), objects_,
            writes_ ? fmt::format("{{update: rows, set: {{{}: {}}}}}", quoted(p_.state),
                                  quoted(p_.dead))
                    : "report");
    }

    std::string leftover() const {
        const std::string finds = fmt::format("row is {}, its {} is still there", p_.dead, object_);
        return fmt::format(
            "  leftover_{0}:\n    finds: {1}\n"
            "    mode: \"off\"    # only where no {0} ever gets a name again, as those of a "
            "StatefulSet do\n"
            "    when: {{rows: {{one: {{{2}: {3}}}}}, {4}: one}}\n    grace: 5m\n"
            "    do: {{delete: {4}}}\n",
            object_, is_plain_yaml(p_.dead) ? finds : quoted(finds), quoted(p_.state),
            quoted(p_.dead), objects_);
    }

    std::string unknown() const {
        return fmt::format(
            "  unknown_{0}:    # `do: {{delete: {1}}}` only if nothing else ever makes such a "
            "{0}\n    finds: {0} without a row\n    when: {{{1}: one, rows: none}}\n"
            "    grace: 30s\n    do: report\n",
            object_, objects_);
    }

    static std::string settings(const std::vector<FirstPolicy::Setting>& all) {
        std::string text;
        for (const auto& [key, value] : all)
            text += fmt::format("      {}: {}\n", key, quoted(value));
        return text;
    }

    /// `trueup_workers`: of the publication and the slot.
    std::string published() const {
        std::string name = "trueup_";
        for (const char c : p_.name) {
            const bool upper = c >= 'A' && c <= 'Z';
            const char lower = static_cast<char>(upper ? c - 'A' + 'a' : c);
            name += is_letter(lower) || is_digit(lower) ? lower : '_';
        }
        return name.substr(0, 63);
    }

    std::string object() const {
        // By the name of the role: `box` would be no noun of `boxes`.
        return fmt::format("100s  {} w-1 {}=a\n", objects_, pods_ ? "uid" : "id");
    }

    std::string row(std::size_t number, std::size_t pk, const std::string& word) const {
        return judges_
                   ? fmt::format("100s  row w-{} pk={} {}={}\n", number, pk, p_.state, told(word))
                   : fmt::format("100s  row w-{} pk={}\n", number, pk);
    }

    std::string live_row(std::size_t pk) const {
        return row(1, pk, judges_ ? p_.live.front() : "");
    }

    static std::string story(const std::string& title, const std::string& world,
                             const std::string& ends, const std::string& settings = {}) {
        return "# " + title + '\n' + settings + "0s    known all\n100s  quiet\n" + world + ends;
    }

    /// Until its row is heard of, which is a moment later in these stories.
    std::string stranger() const {
        return fmt::format("      => 100s suspected unknown_{} w-1 a: grace\n", object_);
    }
    std::string stranger_no_more() const {
        return fmt::format("      => 100s resolved unknown_{} w-1 a: retracted\n", object_);
    }

    std::string well_story() const {
        return story("A row and its " + object_ + " agree", object() + live_row(1),
                     "400s  quiet\n" + stranger() + stranger_no_more());
    }

    std::string two_rows_story() const {
        return story("Two rows of a name are reported, and nothing is done",
                     object() + live_row(1) + live_row(2),
                     "400s  quiet\n" + stranger() + stranger_no_more() +
                         "      => 100s confirmed two_of_a_name w-1 public.rows/2: report_only\n");
    }

    std::string unknown_story() const {
        return story(
            fmt::format("A {} without a row is reported, and stays", object_), object(),
            "110s  quiet\n" + stranger() + "500s  quiet\n" +
                fmt::format("      => 130s confirmed unknown_{} w-1 a: report_only\n", object_));
    }

    /// Each word of a row that lives, and one row that does not.
    std::string lost_story() const {
        const std::vector<std::string> words = judges_ ? p_.live : std::vector<std::string>{""};
        std::string rows;
        std::string first;
        std::string then;
        std::string done;
        for (std::size_t i = 1; i <= words.size(); ++i) {
            const std::string about = fmt::format("lost_{0} w-{1} public.rows/{1}", object_, i);
            rows += row(i, i, words[i - 1]);
            first += fmt::format("      => 100s suspected {}: grace\n", about);
            then += writes_ ? fmt::format("      => 160s commanded {}\n", about)
                            : fmt::format("      => 160s confirmed {}: report_only\n", about);
            if (!writes_) continue;
            done += fmt::format("      => 160s update_row w-{0} public.rows/{0} set {1}={2}\n", i,
                                p_.state, told(p_.dead));
        }
        if (writes_) rows += row(words.size() + 1, words.size() + 1, p_.dead);
        return story("A row without a " + object_ + (writes_ ? " is put right" : " is reported"),
                     rows, "165s  quiet\n" + first + then + done);
    }

    std::string leftover_story() const {
        return story(
            fmt::format("A {} of a row that is {} is deleted", object_, p_.dead),
            object() + row(1, 1, p_.dead),
            "400s  quiet\n" + stranger() +
                fmt::format("      => 100s suspected leftover_{0} w-1 a: grace\n", object_) +
                stranger_no_more() +
                fmt::format("      => 400s commanded leftover_{0} w-1 a\n"
                            "      => 400s {1} w-1 a\n",
                            object_, pods_ ? "delete_pod" : "delete_object"),
            "rule leftover_" + object_ + " enforce\n");
    }

    const FirstPolicy& p_;
    const bool pods_;
    const std::string objects_;  ///< the role and its source
    const std::string object_;
    const bool judges_;  ///< there is a column that says what is to be
    const bool writes_;
};

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> first_files(const FirstPolicy& policy) {
    const auto by_hand = [](std::string what) {
        return Error{Next::kStop, Code::kConfiguration,
                     std::move(what) + "; write the policy by hand (docs/policies/your-own.md)"};
    };
    // What a story says of a row beside its fields.
    constexpr std::array<std::string_view, 5> kTaken{"pk", "id", "uid", "in", "v"};
    const bool taken = std::find(kTaken.begin(), kTaken.end(), policy.state) != kTaken.end();
    if (taken) return by_hand("column " + policy.state + " is called as stories call other things");
    if (!policy.state.empty() && !is_plain_column(policy.state)) {
        return by_hand(fmt::format(
            "column \"{}\" is no name of lower-case letters, digits and _, as stories need it",
            policy.state));
    }
    std::vector<std::string> words = policy.live;
    if (!policy.dead.empty()) words.push_back(policy.dead);
    for (const std::string& word : words) {
        if (is_sayable(word)) continue;
        return by_hand(fmt::format("column {} has the word \"{}\", which stories cannot have",
                                   policy.state, word));
    }
    const Writer writer(policy);
    std::vector<std::pair<std::string, std::string>> files{{policy.name + ".yaml", writer.policy()},
                                                           {"trueup.yaml", writer.config()}};
    for (auto& [name, text] : writer.stories()) {
        files.emplace_back(policy.name + "/" + name, std::move(text));
    }
    return files;
}

}  // namespace trueup::apps
