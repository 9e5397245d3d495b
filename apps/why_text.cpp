#include "apps/why_text.h"

#include "apps/json_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace trueup::apps {

namespace {

using Json = nlohmann::ordered_json;

/// `rows/42`; of a role whose source has another name that one stands first.
std::string object_of(const Json& fact) {
    return text(fact, "source") + "/" + plain(text(fact, "object"));
}

std::string changed(const Json& fact) {
    if (!fact.contains("offset")) return "";
    return fmt::format(" (journal offset {}, {})", fact["offset"].get<std::int64_t>(),
                       time_text(fact, "at_ms", "never"));
}

std::string field_text(const Json& fact) {
    const std::string name = text(fact, "name");
    const std::string read = text(fact, "read");
    const std::string value = read == "null"        ? name + " is null"
                              : read == "not_there" ? "has no " + name
                              : read == "not_sent"  ? name + " was not sent"
                                                    : name + " = " + plain(text(fact, "value"));
    if (!fact.contains("object")) {
        return text(fact, "role") + "." + name + " is not known, asked: " + text(fact, "asked");
    }
    const std::string why = text(fact, "why");
    const char* const remark = why == "unreadable"     ? ", which cannot be read"
                               : why == "unknown_word" ? ", a word that the policy does not list"
                                                       : "";
    return object_of(fact) + " " + value + remark + ", asked: " + text(fact, "asked") +
           changed(fact);
}

std::string none_text(const Json& fact) {
    const std::string source = text(fact, "source");
    if (fact.contains("object")) {
        return object_of(fact) + " is gone: " + text(fact, "value") + changed(fact);
    }
    return source + " shows none, heard up to " + time_text(fact, "at_ms", "never");
}

std::string source_text(const Json& fact) {
    const std::string source = text(fact, "source");
    const std::string name = text(fact, "name");
    const std::string value = text(fact, "value");
    if (name == "known") {
        return fmt::format("{} is {}, since {}; needs {}", source, value,
                           time_text(fact, "at_ms", "never"), text(fact, "asked"));
    }
    if (name == "believed") {
        return fmt::format("{} is not believed: {}; needs {}", source, value, text(fact, "asked"));
    }
    std::string said =
        fmt::format("{}{} heard up to {}", source, value.empty() ? "" : " is " + value + ",",
                    time_text(fact, "at_ms", "never"));
    if (fact.contains("past_ms")) {
        said += fmt::format("; must be {}: {}", text(fact, "asked"),
                            time_text(fact, "past_ms", "never"));
    }
    return said;
}

std::string left_text(const Json& fact) {
    const auto left = fact.find("left_seconds");
    return left == fact.end() ? "" : fmt::format(", {} s left", left->get<std::int64_t>());
}

std::string fact_text(const Json& fact) {
    const std::string kind = text(fact, "kind");
    const std::string name = text(fact, "name");
    const std::string value = plain(text(fact, "value"));
    if (kind == "field") return field_text(fact);
    if (kind == "object") return object_of(fact) + " is there" + changed(fact);
    if (kind == "no_object") return none_text(fact);
    if (kind == "claims") return value + " of " + text(fact, "role") + " claim it";
    if (kind == "source") return source_text(fact);
    if (kind == "clock") {
        return fmt::format("the clock of {} is at {}, the deadline is {}", text(fact, "source"),
                           time_text(fact, "at_ms", "never"), time_text(fact, "past_ms", "never"));
    }
    if (kind == "time")
        return fmt::format("{}: {} of {}{}", name, value, text(fact, "asked"), left_text(fact));
    if (kind == "tally") return fmt::format("{} is {}, asked: 0", name, value);
    std::string said = name + ": " + value;
    if (fact.contains("object")) said += ", about " + object_of(fact);
    if (fact.contains("offset")) return said + changed(fact);
    if (fact.contains("at_ms")) said += ", since " + time_text(fact, "at_ms", "never");
    return said;
}

/// The stage that `stopped_at` names: of several cases the last one, unless that stopped elsewhere.
const Json* stop_of(const Json& rule) {
    const Json& stages = rule["stages"];
    const std::string at = text(rule, "stopped_at");
    const bool stopped = !stages.empty() && stages.back().value("stopped", false);
    if (!stopped || text(stages.back(), "stage") == at) return stopped ? &stages.back() : nullptr;
    const auto named = std::find_if(stages.begin(), stages.end(), [&](const Json& each) {
        return each.value("stopped", false) && text(each, "stage") == at;
    });
    return named == stages.end() ? nullptr : &*named;
}

std::string because(const Json& rule) {
    const Json* stop = stop_of(rule);
    if (stop == nullptr) return "nothing holds it: " + plain(text(rule, "orders"));
    const Json& facts = (*stop)["facts"];
    const std::string asked = text(*stop, "asked");
    std::string said = asked.empty() ? "" : asked + "; ";
    if (!facts.empty()) said += fact_text(facts.front());
    if (facts.size() > 1) said += fmt::format("; and {} more", facts.size() - 1);
    return said;
}

std::string verdict_of(const Json& rule) {
    const std::string reason = text(rule, "reason");
    return text(rule, "verdict") + (reason.empty() ? "" : ", " + reason);
}

}  // namespace

std::string rules_text(const Json& why) {
    std::string out;
    const auto row = [&out](const std::string& rule, const std::string& verdict,
                            const std::string& stage, const std::string& said) {
        fmt::format_to(std::back_inserter(out), "{:<21} {:<27} {:<11} {}\n", rule, verdict, stage,
                       said);
    };
    row("RULE", "VERDICT", "STOPPED AT", "BECAUSE");
    for (const Json& rule : why["rules"]) {
        row(text(rule, "rule"), verdict_of(rule), text(rule, "stopped_at"), because(rule));
    }
    return out;
}

std::string rule_text(const Json& rule) {
    std::string out = fmt::format("{}: {}; mode {}\n{}", text(rule, "rule"), text(rule, "finds"),
                                  text(rule, "mode"), verdict_of(rule));
    if (rule.contains("again_seconds")) {
        out += fmt::format(", again in {} s", rule["again_seconds"].get<std::int64_t>());
    }
    if (rule.contains("until")) out += ", until there is news of " + text(rule, "until");
    out += "\n";
    if (rule.contains("orders")) out += plain(text(rule, "orders")) + "\n";
    return out + stages_text(rule);
}

std::string stages_text(const Json& rule) {
    std::string out;
    const auto add = [&out](const std::string& line) { out += line + "\n"; };
    for (const Json& stage : rule["stages"]) {
        const bool stopped = stage.value("stopped", false);
        std::string asked = plain(text(stage, "asked"));
        if (stage.contains("case")) {
            asked = fmt::format("case {}{}{}", stage["case"].get<int>(), asked.empty() ? "" : ", ",
                                asked);
        }
        std::string line = fmt::format("  {:<4} {:>2} {:<10} {}", stopped ? "stop" : "ok",
                                       stage["number"].get<int>(), text(stage, "stage"), asked);
        line.erase(line.find_last_not_of(' ') + 1);
        add(line);
        for (const Json& fact : stage["facts"]) add("                     " + fact_text(fact));
    }
    return out;
}

}  // namespace trueup::apps
