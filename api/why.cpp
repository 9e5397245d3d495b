#include "api/why.h"

#include <utility>

namespace trueup::api {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t seconds(Millis left) { return (left.count() + 999) / 1000; }

std::string_view name_of(DecidingFact::Answer answer) {
    if (answer == DecidingFact::Answer::kYes) return "yes";
    return answer == DecidingFact::Answer::kNo ? "no" : "unknown";
}

/// What does not apply is left out.
Json json_of(const DecidingFact& fact) {
    Json json{{"kind", trueup::name_of(fact.kind)}, {"answer", name_of(fact.answer)}};
    const auto add = [&json](const char* name, const std::string& text) {
        if (!text.empty()) json[name] = text;
    };
    if (fact.why != Reason::kNone) json["why"] = trueup::name_of(fact.why);
    add("role", fact.role);
    add("source", fact.source);
    add("object", fact.object);
    add("name", fact.name);
    if (fact.kind == DecidingFact::Kind::kField) {
        json["read"] = trueup::name_of(fact.read);
        if (fact.read == DecidingFact::Read::kText) json["value"] = fact.value;
    } else {
        add("value", fact.value);
    }
    add("asked", fact.asked);
    if (fact.offset >= kFirstOffset) json["offset"] = fact.offset.value();
    if (fact.at != BrokerTime{}) json["at_ms"] = to_millis(fact.at);
    if (fact.past != BrokerTime{}) json["past_ms"] = to_millis(fact.past);
    if (fact.left) json["left_seconds"] = seconds(*fact.left);
    return json;
}

Json json_of(const StageAnswer& answer) {
    Json json{{"number", static_cast<int>(answer.stage)}, {"stage", trueup::name_of(answer.stage)}};
    if (answer.of_case > 0) json["case"] = answer.of_case;
    if (!answer.asked.empty()) json["asked"] = answer.asked;
    json["stopped"] = answer.stopped;
    Json facts = Json::array();
    for (const DecidingFact& fact : answer.facts) facts.push_back(json_of(fact));
    json["facts"] = std::move(facts);
    return json;
}

}  // namespace

Json json_of(const RuleWhyView& rule) {
    const RuleTrace& trace = rule.trace;
    Json json{{"rule", trace.rule},
              {"finds", trace.finds},
              {"mode", trueup::name_of(trace.mode)},
              {"verdict", trace.verdict()}};
    if (trace.reason != Reason::kNone) json["reason"] = trace.reason_name();
    if (!trace.object_id.empty()) json["object"] = trace.object_id;
    if (trace.finding) json["finding"] = to_hex(*trace.finding);
    if (!rule.orders.empty()) json["orders"] = rule.orders;
    if (trace.again) json["again_seconds"] = seconds(*trace.again);
    if (!trace.until.empty()) json["until"] = trace.until;
    const StageAnswer* stop = trace.stop();
    json["stopped_at"] = trueup::name_of(stop == nullptr ? Stage::kAct : stop->stage);
    Json stages = Json::array();
    for (const StageAnswer& each : trace.stages) stages.push_back(json_of(each));
    json["stages"] = std::move(stages);
    return json;
}

Json json_of(const WhyView& why) {
    Json rules = Json::array();
    for (const RuleWhyView& rule : why.rules) rules.push_back(json_of(rule));
    return {{"subject", why.subject},
            {"shard", why.shard.value()},
            {"offset", why.offset.value()},
            {"held", why.held},
            {"rules", std::move(rules)}};
}

}  // namespace trueup::api
