// The pages about findings and subjects: lists, one finding, why, and what a policy means.
#include "api/pages.h"
#include "api/why.h"
#include "engine/base/suggest.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trueup::api {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const FindingEdge& edge, const Snapshot& snapshot) {
    Json json{{"id", to_hex(edge.id)},
              {"policy", snapshot.policy},
              {"rule", edge.rule},
              {"subject", edge.subject},
              {"object", edge.object_id},
              {"state", name_of(edge.state)},
              {"reason", edge.reason_name()},
              {"approvable", waits_for_approval(edge.reason)},
              {"shard", edge.shard.value()},
              {"offset", edge.offset.value()}};
    for (const ShardView& shard : snapshot.shards) {
        if (shard.index != edge.shard) continue;
        json["age_seconds"] = (shard.now_ms - to_millis(edge.since)) / 1000;
    }
    for (const RuleView& rule : snapshot.rules) {
        if (rule.rule == edge.rule && !rule.does.empty()) json["does"] = rule.does;
    }
    json["sentence"] = edge.sentence;
    if (edge.command_id) json["command_id"] = to_hex(*edge.command_id);
    Json& evidence = json["evidence"] = Json::array();
    for (const Offset offset : edge.evidence) evidence.push_back(offset.value());
    return json;
}

/// What stands in the way of findings as a whole.
void add_pauses(const Snapshot& snapshot, Json& pauses) {
    for (const PauseView& pause : snapshot.pauses) {
        Json one{{"policy", snapshot.policy}, {"by", pause.by}, {"since_ms", pause.since_ms}};
        if (!pause.rule.empty()) one["rule"] = pause.rule;
        if (!pause.comment.empty()) one["comment"] = pause.comment;
        pauses.push_back(std::move(one));
    }
}

void add_quarantines(const Snapshot& snapshot, Json& quarantines) {
    for (const SourceView& source : snapshot.sources) {
        std::string why = sentence_of(source.name, source.quarantine);
        if (why.empty()) continue;
        quarantines.push_back(
            {{"policy", snapshot.policy}, {"source", source.name}, {"sentence", std::move(why)}});
    }
}

/// A filter by what does not exist would find nothing, and look like good news.
std::optional<Answer> flaw_of(const projections::FindingsFilter& filter,
                              const std::vector<Snapshot>& policies) {
    const auto unknown = [](const char* what, const std::string& word,
                            const std::vector<std::string>& known) -> std::optional<Answer> {
        const bool there = std::find(known.begin(), known.end(), word) != known.end();
        if (word.empty() || there) return std::nullopt;
        return refusal(400, "there is no " + std::string(what) + " '" + word + "'; " +
                                did_you_mean(word, known));
    };
    std::vector<std::string> rules;
    std::vector<std::string> reasons = reason_names();
    for (const Snapshot& snapshot : policies) {
        reasons.insert(reasons.end(), snapshot.count_reasons.begin(), snapshot.count_reasons.end());
        for (const RuleView& rule : snapshot.rules) {
            // Policies may have the same rules.
            const bool said = std::find(rules.begin(), rules.end(), rule.rule) != rules.end();
            if (!said) rules.push_back(rule.rule);
        }
    }
    if (auto flaw = unknown("rule", filter.rule, rules); flaw && !rules.empty()) return flaw;
    return unknown("reason", filter.reason, reasons);
}

/// The error is a sentence.
Result<projections::FindingsFilter> filter_of(const Plan& plan) {
    projections::FindingsFilter filter;
    filter.id = value_of(plan, "id");
    filter.rule = value_of(plan, "rule");
    filter.reason = value_of(plan, "reason");
    filter.subject = value_of(plan, "subject");
    const std::string text = value_of(plan, "limit");
    if (text.empty()) return filter;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), filter.limit);
    if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return filter;
    return Error{Next::kSkip, Code::kInvalid, "limit must be a number, as in ?limit=100"};
}

/// As an approval says it: of several shards one for each, -1 where nothing was judged yet.
Json json_of(std::vector<Offset> seen, std::int32_t shards) {
    seen.resize(static_cast<std::size_t>(std::max(shards, 1)), kNoOffset);
    if (seen.size() == 1) return seen.front().value();
    Json all = Json::array();
    for (const Offset offset : seen) all.push_back(offset.value());
    return all;
}

/// The findings of several policies, one policy after the other.
class List {
  public:
    explicit List(projections::FindingsFilter filter) : filter_(std::move(filter)) {}

    void add(const Backend& policy, const Snapshot& snapshot) {
        projections::FindingsFilter filter = filter_;
        const bool bare = !filter.subject.empty() && filter.subject.find('/') == std::string::npos;
        if (bare) filter.subject = policy.policy + "/" + filter.subject;
        const auto page = policy.findings(filter);
        for (const FindingEdge& edge : page.findings) {
            if (findings_.size() < filter.limit) {
                findings_.push_back(json_of(edge, snapshot));
            } else {
                ++more_;
            }
        }
        more_ += page.more;
        not_kept_ += page.hidden;
        add_pauses(snapshot, pauses_);
        add_quarantines(snapshot, quarantines_);
        policies_.push_back({{"policy", policy.policy},
                             {"seen", json_of(page.seen, snapshot.partitions)},
                             {"shards", snapshot.partitions}});
    }
    void add_unavailable(const Backend& policy, const std::string& why) {
        policies_.push_back({{"policy", policy.policy}, {"unavailable", why}});
    }
    Answer answer() {
        Json json{{"policies", policies_}};
        // Each policy has a journal, and offsets, of its own.
        if (policies_.size() == 1) json.update(policies_.front());
        json["pauses"] = std::move(pauses_);
        json["quarantines"] = std::move(quarantines_);
        json["findings"] = std::move(findings_);
        json["more"] = more_;
        json["not_kept"] = not_kept_;
        return reply(200, json);
    }

  private:
    projections::FindingsFilter filter_;
    Json policies_ = Json::array();
    Json pauses_ = Json::array();
    Json quarantines_ = Json::array();
    Json findings_ = Json::array();
    std::uint64_t more_ = 0;
    std::uint64_t not_kept_ = 0;
};

Json json_of(const FacetView& facet) {
    Json fields = Json::object();
    Json not_sent = Json::array();
    for (const FieldView& field : facet.fields) {
        if (!field.sent) {
            not_sent.push_back(field.name);
        } else {
            fields[field.name] = field.value ? Json(*field.value) : Json(nullptr);
        }
    }
    Json json{{"source", facet.source},           {"object", facet.object},
              {"present", facet.absence.empty()}, {"first_seen_ms", facet.first_seen_ms},
              {"changed_ms", facet.changed_ms},   {"offset", facet.offset.value()},
              {"fields", std::move(fields)}};
    if (!facet.absence.empty()) json["absence"] = facet.absence;
    if (!not_sent.empty()) json["not_sent"] = std::move(not_sent);
    return json;
}

}  // namespace

Answer list_findings(const Backends& backends, const Plan& plan) {
    const Result<projections::FindingsFilter> filter = filter_of(plan);
    if (!filter) return refusal(400, filter.error().what);
    Scope scope = named(backends, value_of(plan, "policy"));
    if (scope.refusal) return std::move(*scope.refusal);
    std::vector<std::pair<const Backend*, std::string>> unavailable;
    std::vector<const Backend*> there;
    std::vector<Snapshot> snapshots;
    for (const Backend* policy : scope.policies) {
        if (std::string why = policy->unavailable(); !why.empty()) {
            unavailable.emplace_back(policy, std::move(why));
            continue;
        }
        there.push_back(policy);
        snapshots.push_back(policy->snapshot());
    }
    // Nobody knows yet what there is: no finding would be a lie.
    if (there.empty()) return not_yet(unavailable.front().second);
    if (std::optional<Answer> flaw = flaw_of(*filter, snapshots)) return std::move(*flaw);
    List list(*filter);
    for (std::size_t i = 0; i < there.size(); ++i) list.add(*there[i], snapshots[i]);
    for (const auto& [policy, why] : unavailable) list.add_unavailable(*policy, why);
    return list.answer();
}

namespace {

Answer json_of_finding(const FindingEdge& edge, const SubjectView& subject,
                       const Snapshot& snapshot) {
    Json json = json_of(edge, snapshot);
    json["held"] = subject.held;
    if (subject.command) {
        Json command{{"text", subject.command->text}};
        if (!subject.command->id.empty()) {
            command["id"] = subject.command->id;
            command["issued_ms"] = subject.command->issued_ms;
            command["not_after_ms"] = subject.command->not_after_ms;
        }
        json[subject.command->id.empty() ? "proposes" : "command"] = std::move(command);
    }
    json["sources"] = subject.sources;
    Json facets = Json::array();
    for (const FacetView& facet : subject.facets) facets.push_back(json_of(facet));
    json["objects"] = std::move(facets);
    if (subject.why) json["why"] = json_of(*subject.why);
    return reply(200, json);
}

}  // namespace

/// Digits of an id may begin those of several policies.
Answer show_finding(const Backends& backends, const std::string& id) {
    std::optional<Answer> found;
    std::optional<Answer> other;
    std::optional<Error> missing;
    for (const Backend& policy : backends.policies) {
        if (const std::string why = policy.unavailable(); !why.empty()) {
            other = not_yet(why);
            continue;
        }
        const auto one = policy.finding(id);
        if (!one && one.error().code == Code::kNotFound) {
            missing = one.error();
        } else if (!one) {
            other = refusal(one.error().next == Next::kSkip ? 404 : 503, one.error().what);
        } else if (found) {
            return refusal(404,
                           "findings of several policies begin with " + id + "; write more digits");
        } else {
            found = json_of_finding(one->first, one->second, policy.snapshot());
        }
    }
    if (found) return std::move(*found);
    return other ? std::move(*other) : refusal(404, missing->what);
}

Answer show_why(const Backends& backends, const Plan& plan) {
    const std::string subject = value_of(plan, "subject");
    if (subject.empty()) {
        return refusal(400, "name a subject, as in ?subject=graph-instances/wrapper-7");
    }
    // An object whose key cannot be told has no policy in its name.
    const bool keyless = subject.front() == '!';
    Scope scope =
        keyless ? named(backends, value_of(plan, "policy")) : of_subject(backends, subject);
    if (scope.refusal) return std::move(*scope.refusal);
    std::optional<Answer> answer;
    for (const Backend* policy : scope.policies) {
        if (const std::string why = policy->unavailable(); !why.empty()) {
            answer = not_yet(why);
            continue;
        }
        const Result<WhyView> why = policy->why(subject, value_of(plan, "rule"));
        if (why) return reply(200, json_of(*why));
        answer = refusal(why.error().next == Next::kSkip ? 404 : 503, why.error().what);
    }
    return std::move(*answer);
}

/// What each rule means, and whether somebody has enabled that.
Answer show_policy(const Backends& backends, const Plan& plan) {
    Scope scope = one_named(backends, value_of(plan, "policy"), "several policies run here");
    if (scope.refusal) return std::move(*scope.refusal);
    const Backend& policy = *scope.policies.front();
    if (const std::string why = policy.unavailable(); !why.empty()) return not_yet(why);
    const Snapshot snapshot = policy.snapshot();
    Json shards = Json::array();
    for (const ShardView& shard : snapshot.shards) {
        shards.push_back({{"shard", shard.index.value()}, {"seen", shard.seen.value()}});
    }
    Json rules = Json::array();
    for (const RuleView& rule : snapshot.rules) {
        if (rule.text.empty()) continue;
        rules.push_back({{"rule", rule.rule},
                         {"mode", rule.mode},
                         {"does", rule.does},
                         {"text", rule.text},
                         {"enabled", rule.enabled},
                         {"former", rule.former},
                         {"shown", rule.shown},
                         {"waits_ms", rule.waits_ms}});
    }
    return reply(200, {{"policy", snapshot.policy},
                       {"partitions", snapshot.partitions},
                       {"shards", std::move(shards)},
                       {"rules", std::move(rules)}});
}

/// What is in force, as the journal has it.
Answer show_settings(const Backends& backends, const Plan& plan) {
    Scope scope = one_named(backends, value_of(plan, "policy"), "several policies run here");
    if (scope.refusal) return std::move(*scope.refusal);
    const Backend& policy = *scope.policies.front();
    if (const std::string why = policy.unavailable(); !why.empty()) return not_yet(why);
    const Result<std::string> settings = policy.settings();
    if (settings) return reply(200, Json::parse(*settings));
    const auto& [next, code, what] = settings.error();
    return next == Next::kRetry ? not_yet(what) : refusal(404, what);
}

}  // namespace trueup::api
