#include "tests/simulation/drawn_policy.h"

#include "apps/config/policy_cycles.h"
#include "apps/config/policy_file.h"
#include "simulation/random.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>

namespace trueup::simulation {

namespace {

using Texts = std::vector<std::string>;

std::string list_of(const std::set<std::string>& all) {
    std::string text;
    for (const std::string& each : all) text += (text.empty() ? "[" : ", ") + each;
    return text + "]";
}

/// Of several rules the check does not go into what fields are that are compared with each other.
void take_for_equal(policy::Condition& condition) {
    const bool joins =
        condition.kind == policy::Condition::Kind::kTest && !condition.test.other.field.empty();
    if (joins) condition = {};
    for (policy::Condition& part : condition.parts) take_for_equal(part);
}

/// Rules may lead a row round by way of a deadline: whoever writes the row may put that off. In
/// this world nobody does, and it would never come to rest. Nor would it where fields that are
/// compared are as a rule wants them, as they may be.
bool comes_to_rest(policy::Policy text) {
    for (policy::Rule& rule : text.rules) {
        for (policy::Case& found : rule.cases) {
            found.past.reset();
            for (policy::Pattern& pattern : found.when) take_for_equal(pattern.condition);
        }
    }
    bool rests = true;
    config::each_cycle(
        text, [&rests](const config::Cycle& cycle) { rests = rests && cycle.size() == 1; });
    return rests;
}

/// One rule, of which only what its author must say that he knows is open yet.
struct DrawnRule {
    std::string name;
    std::string body;
    std::set<std::string> acknowledged;
};

class Author {
  public:
    Author(std::uint64_t seed, const DrawnKinds& kinds) : random_(seed), kinds_(kinds) {}

    /// What all policies of a run share: what there is, and what of it claims a name.
    void draw_roles() {
        phases_ = of({"[Pending, Running, Succeeded, Failed, Unknown]", "text"});
        words_ = of({"[starting, running, stopping, failed, hibernated]",
                     "[starting, running, stopping, failed, hibernated]", "text"});
        // A list ends what is live, and must ask for that.
        live_ = random_.chance(700) ? row_condition(1) : "";
        if (!live_.empty()) lives_ = "    live: " + live_ + "\n";
    }

    DrawnPolicy draw() {
        for (;;) {
            named_.clear();
            rules_.clear();
            const std::string head = head_text();
            for (std::uint64_t left = 2 + random_.below(3); left > 0; --left) add_rule();
            if (auto drawn = admitted(head)) return *std::move(drawn);
        }
    }

  private:
    std::string of(std::initializer_list<const char*> all) {
        return all.begin()[random_.below(all.size())];
    }

    // ---------------------------------------------------------------- conditions

    std::string words(std::initializer_list<const char*> all) {
        std::set<std::string> some;
        for (std::uint64_t left = 1 + random_.below(3); left > 0; --left) some.insert(of(all));
        const std::string listed = some.size() == 1 ? *some.begin() : list_of(some);
        return random_.chance(200) ? "{not: " + list_of(some) + "}" : listed;
    }

    std::string number() {
        const std::string limit = of({"0", "1", "5", "9"});
        return random_.chance(300)
                   ? limit
                   : "{" + of({"over", "under", "at_least", "at_most"}) + ": " + limit + "}";
    }

    std::string row_test() {
        switch (random_.below(8)) {
            case 0:
                return "owner_username: " +
                       of({"ada", "[ada, bob]", "null", "{set: true}", "{starts: ada}",
                           "{like: '*-2'}", "{not: [bob]}", "{same_as: rows.error_code}"});
            case 1:
                return "memory_usage_bytes: " + number();
            case 2:
                return "error_code: " + of({"X", "null", "{set: true}", "{not: [X]}"});
            case 3:
                return "pod_name: " + of({"{set: true}", "null", "{like: 'wrapper-*1*'}"});
            default:
                return "status: " +
                       words({"starting", "running", "stopping", "failed", "hibernated"});
        }
    }

    std::string pod_test() {
        switch (random_.below(7)) {
            case 6:
                return "note: " + of({"null", "{set: true}", "odd", "{not: [odd]}"});
            case 0:
                return std::string("deleting: ") + (random_.chance(700) ? "false" : "true");
            case 1:
                return "name: {like: '*" + std::to_string(random_.below(10)) + "*'}";
            default:
                return "phase: " + words({"Pending", "Running", "Succeeded", "Failed", "Unknown"});
        }
    }

    /// Of as many fields at most, and what else may stand in a rule.
    std::string condition(bool row, std::uint64_t most, const Texts& more = {}) {
        const auto test = [&] { return row ? row_test() : pod_test(); };
        if (random_.chance(150)) return "{any: [{" + test() + "}, {" + test() + "}]}";
        std::map<std::string, std::string> tests;  // by field: each once
        const auto add = [&](const std::string& one) {
            tests.emplace(one.substr(0, one.find(':')), one);
        };
        for (const std::string& one : more) add(one);
        for (std::uint64_t left = 1 + random_.below(most); left > 0; --left) add(test());
        std::string text;
        for (const auto& [field, one] : tests) text += (text.empty() ? "{" : ", ") + one;
        return text + "}";
    }
    std::string row_condition(std::uint64_t most) { return condition(true, most); }

    std::string rule_condition(bool row, bool beside, bool noted) {
        Texts more;
        if (noted) more.push_back("note: null");
        if (row && !named_.empty() && random_.chance(300)) {
            more.push_back(of({"is: ", "is_not: "}) + named_);
        }
        if (!row && beside && random_.chance(150)) more.push_back("name: {same_as: rows.pod_name}");
        return condition(row, 2, more);
    }

    // ---------------------------------------------------------------- the text

    std::string head_text() {
        std::string text =
            "policy: graph-instances\nlanguage: 1\nsubject: an instance\nroles:\n"
            "  pods: {kind: pod, key: name, fields: {phase: " +
            phases_ +
            ", note: {text: annotation.example.com/note}}}\n"
            "  rows:\n    kind: row\n    key: coalesce(pod_name, 'wrapper-' || url_slug)\n"
            "    fields: {status: " +
            words_ +
            ", pod_name: text, url_slug: text, owner_username: text, error_code: text, "
            "error_message: text, memory_usage_bytes: number, last_activity_at: timestamp}\n" +
            lives_;
        if (random_.chance(400)) {
            text += "conditions:\n  odd_one:\n    about: rows\n    first:\n";
            for (std::uint64_t left = 1 + random_.below(2); left > 0; --left) {
                text += "      - {if: {rows: " + row_condition(1) +
                        "}, then: " + of({"true", "false"}) + "}\n";
            }
            text += "      - {then: " + of({"true", "false"}) + "}\n";
            named_ = "odd_one";
        }
        counted_ = random_.chance(300);
        if (counted_) {
            text += "counts:\n  some:\n    subjects: {rows: {some: " + row_condition(1) +
                    "}, pods: none}\n";
        }
        return text + "rules:\n";
    }

    /// Written as one is: `one`, or a condition behind it.
    std::string pattern(const std::string& quantifier, bool row, bool beside, bool noted = false) {
        if (!noted && random_.chance(quantifier == "none" ? 700 : 250)) return quantifier;
        return "{" + quantifier + ": " + rule_condition(row, beside, noted) + "}";
    }

    void add_rule() {
        DrawnRule rule;
        rule.name = "rule_" + std::to_string(rules_.size() + 1);
        rule.body = "    finds: whatever it is\n    grace: " + of({"0s", "30s", "60s"}) + "\n";
        if (random_.chance(300)) rule.body += "    since: first_seen\n";
        if (random_.chance(250)) {
            rule.body += "    cases:\n";
            for (int left = 2; left > 0; --left) {
                const Texts lines = any_case();
                for (const std::string& line : lines) {
                    rule.body += (&line == &lines.front() ? "      - " : "        ") + line + "\n";
                }
            }
        } else {
            for (const std::string& line : any_case()) rule.body += "    " + line + "\n";
        }
        rules_.push_back(std::move(rule));
    }

    /// Its lines.
    Texts any_case() {
        bool rows = random_.chance(900);
        bool pods = !rows || random_.chance(900);
        std::string of_rows = of({"one", "one", "one", "none", "none", "some", "surplus"});
        std::string of_pods = of({"one", "one", "one", "none", "none", "some"});
        if (kinds_.creates && rules_.empty()) {
            rows = pods = true;
            of_rows = "one";
            of_pods = "none";
        }
        std::string when;
        const bool list = rows && pods && of_rows == "one" && of_pods == "one" &&
                          random_.chance(250) && !kinds_.creates;
        // Whoever finds a pod without a note writes one.
        const bool notes = pods && !list && of_pods == "one" && random_.chance(200);
        const bool records = pods && of_rows == "none" && of_pods == "one" && random_.chance(400);
        const bool creates =
            kinds_.creates && rows && pods && of_rows == "one" && of_pods == "none";
        if (rows) when = "rows: " + pattern(of_rows, true, false);
        if (records) when = "rows: none";
        if (list) when = "rows: " + (live_.empty() ? "one" : "{one: " + live_ + "}");
        if (rows && of_rows == "surplus" && when.find('{') == std::string::npos) {
            when = "rows: {surplus: {}}";
        }
        if (rows && of_rows == "surplus") {
            when.pop_back();
            when += ", keep: [" + of({"{status: running}", "{pod_name: {set: true}}"}) + "]}";
        }
        if (creates) {
            when += ", pods: none";
        } else if (pods) {
            when += (rows ? ", pods: " : "pods: ") +
                    pattern(of_pods, false, rows && of_rows == "one", notes);
        }
        Texts lines{"when: {" + when + "}"};
        if (rows && of_rows == "one" && random_.chance(200)) {
            lines.push_back("past: rows.last_activity_at + " + of({"20s", "60s"}));
        }
        if (counted_ && random_.chance(400)) lines.push_back("ask_while: some");
        const std::string done = notes     ? "{update: pods, set: {note: 'seen by {subject}'}}"
                                 : creates ? create()
                                 : records ? insert()
                                 : list    ? "[{delete: pods}, " + update() + "]"
                                           : steps(rows ? of_rows : "", pods ? of_pods : "");
        lines.push_back("do: " + done);
        return lines;
    }

    std::string steps(const std::string& rows, const std::string& pods) {
        const bool row = !rows.empty() && rows != "none";
        const bool pod = !pods.empty() && pods != "none";
        if (random_.chance(100) || (!row && !pod)) return "report";
        if (pod && (!row || random_.chance(500))) {
            // What one rule creates another one may delete because of its phase, which no text
            // says.
            return kinds_.creates ? "report" : "{delete: pods}";
        }
        return update();
    }

    /// What the sandbox keeps of a pod, and something that only the command shows.
    std::string create() {
        const std::string note = of({"'seen by {subject}'", "'is {rows.status}'", "odd"});
        return "{create: pods, name: '{subject}', object: {metadata: {labels: {app: "
               "ryugraph-wrapper}, annotations: {example.com/note: " +
               note +
               "}}, spec: {containers: [{name: main, image: 'of {subject}'}], hostNetwork: " +
               of({"true", "false"}) + "}}}";
    }

    std::string insert() {
        std::string sets =
            "pod_name: '{subject}', status: " + of({"starting", "running", "failed"});
        if (random_.chance(300)) sets += ", error_message: 'seen by {subject}'";
        return "{insert: rows, set: {" + sets + "}}";
    }

    std::string update() {
        std::string sets = "status: " + of({"starting", "running", "stopping", "failed"});
        if (random_.chance(250)) sets = "error_code: " + of({"X", "Y"});
        if (random_.chance(150)) sets = "owner_username: " + of({"ada", "null"});
        if (random_.chance(300)) sets += ", error_message: 'seen by {subject}'";
        return "{update: rows, set: {" + sets + "}}";
    }

    // ---------------------------------------------------------------- its reader

    std::string text_of(const std::string& head) const {
        std::string text = head;
        for (const DrawnRule& rule : rules_) {
            text += "  " + rule.name + ":\n" + rule.body;
            if (!rule.acknowledged.empty()) {
                text += "    acknowledge: " + list_of(rule.acknowledged) + "\n";
            }
        }
        return text;
    }

    /// With everything acknowledged that its reader asks about, if it says nothing else.
    std::optional<DrawnPolicy> admitted(const std::string& head) {
        static const std::regex kAsks(
            "^[^:]*:[0-9]+: (rule_[0-9]+)[:,].*acknowledge: \\[([a-z_]+)\\]$");
        for (int times = 0; times < 4; ++times) {
            const std::string text = text_of(head);
            Result<config::PolicyFile> file = config::parse_policy(text, "drawn.yaml");
            if (file && !comes_to_rest(file->policy)) return std::nullopt;
            if (file) return DrawnPolicy{text, std::move(file->policy)};
            std::string said = file.error().what + '\n';
            for (std::size_t end = 0; (end = said.find('\n')) != std::string::npos;) {
                std::smatch asks;
                const std::string line = said.substr(0, end);
                said.erase(0, end + 1);
                if (line.empty()) continue;
                if (!std::regex_match(line, asks, kAsks)) return std::nullopt;
                for (DrawnRule& rule : rules_) {
                    if (rule.name == asks[1]) rule.acknowledged.insert(asks[2]);
                }
            }
        }
        return std::nullopt;
    }

    Random random_;
    const DrawnKinds kinds_;
    std::string phases_;
    std::string words_;
    std::string live_;  ///< of rows; empty: all are
    std::string lives_;
    std::string named_;  ///< a condition; empty: there is none
    bool counted_ = false;
    std::vector<DrawnRule> rules_;
};

}  // namespace

std::vector<DrawnPolicy> draw_policies(std::uint64_t seed, std::size_t count,
                                       const DrawnKinds& kinds) {
    Author author(seed, kinds);
    author.draw_roles();
    std::vector<DrawnPolicy> drawn;
    while (drawn.size() < count) drawn.push_back(author.draw());
    return drawn;
}

}  // namespace trueup::simulation
