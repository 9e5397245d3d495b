// The verbs of a story's statements: what objects are seen, what sources prove, what operators ask,
// what came of commands, and how rules are set.
#include "stories/teller.h"

#include "engine/base/suggest.h"
#include "stories/object.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace trueup::stories {

Teller::Teller(const Story& story, const Shared<policy::Policy>& policy, const Manner& manner)
    : world_(World::of(policy, story.setting)), script_(world_.settings, 1, manner, world_.shards) {
    if (!script_.state().halted.empty()) throw Unusable(story.path + ": " + halted());
}

void Teller::say(const Statement& statement) {
    Saying said(statement);
    act(said);
    said.end();
    if (!script_.state().halted.empty()) said.fail(halted());
}

std::string Teller::halted() { return "no engine goes on from here: it" + script_.state().halted; }

std::string Teller::source(Saying& said) const {
    std::string name = said.word("a source");
    if (world_.has_source(name)) return name;
    std::vector<std::string> known;
    for (const SourceSettings& each : world_.settings.sources) known.push_back(each.name);
    said.fail("there is no source `" + name + "`; " + did_you_mean(name, known));
}

std::string Teller::key_of(const std::string& name) const {
    return world_.settings.policy + '/' + name;
}

void Teller::act(Saying& said) {
    const std::string& verb = said.verb();
    if (verb == "quiet") return void(script_.quiet_until(said.at()));
    if (verb == "silent") return void(script_.silent_until(said.at()));
    script_.at(said.at());
    if (speak_of_object(said)) return;
    if (verb == "outcome") return outcome(said);
    if (verb == "count") return count(said);
    if (verb == "rule") return rule(said);
    if (verb == "policy") return policy(said);
    if (verb == "enable" || verb == "disable") return enabling(said);
    if (verb == "text") return write_again(said);
    if (asks(said)) return;
    if (verb == "tick") return void(script_.tick());
    speak_of_source(said);
}

/// `pods w-7 …`, `pod w-7 …`, `pod-gone w-7 …`
bool Teller::speak_of_object(Saying& said) {
    const std::string& verb = said.verb();
    const bool gone = verb.ends_with("-gone");
    const std::string noun = gone ? verb.substr(0, verb.size() - 5) : verb;
    const policy::Role* role = world_.role_of(noun);
    if (role == nullptr) return false;
    const Seen seen = read_object(world_, *role, said, gone, version_);
    gone ? script_.gone(seen) : script_.seen(seen);
    return true;
}

void Teller::speak_of_source(Saying& said) {
    const std::string& verb = said.verb();
    if (verb == "known") {
        if (said.flag("all")) return said.end_flags(), script_.all_known();
        return script_.known(source(said));
    }
    if (verb == "own") return void(script_.own(source(said)));
    if (verb == "begin") {
        const std::string name = source(said);
        const std::uint64_t as_of = said.number("as-of", ++version_);
        const bool rewound = said.flag("rewound");
        said.end_flags();
        return script_.begin(name, as_of, rewound);
    }
    if (verb == "end") {
        const std::string name = source(said);
        const std::uint64_t listed = script_.owner(name).listed;
        return script_.end(name, said.number("count", listed));
    }
    if (verb == "progress") {
        const std::string name = source(said);
        return script_.progress(name, said.time("upto", said.at()));
    }
    if (verb == "clock") return clock(said);
    if (verb == "expect") return expect(said);
    if (verb == "alive") return script_.alive(source(said));
    if (verb == "hole") return script_.hole(source(said));
    fail_verb(said);
}

void Teller::fail_verb(const Saying& said) const {
    std::vector<std::string> known{"known",   "own",          "begin",   "end",       "progress",
                                   "alive",   "hole",         "clock",   "expect",    "quiet",
                                   "silent",  "tick",         "count",   "outcome",   "rule",
                                   "policy",  "hold",         "approve", "dismiss",   "pause",
                                   "release", "unquarantine", "resume",  "reconcile", "terminate",
                                   "request", "enable",       "disable", "text"};
    for (const policy::Role& role : world_.settings.text->roles) known.push_back(role.name);
    std::sort(known.begin(), known.end());
    said.fail("`" + said.verb() + "` is no verb of a story; " + did_you_mean(said.verb(), known));
}

/// `count nameless_rows 2`, `count wrapper_pods 3 of=Running`: how many there are now.
void Teller::count(Saying& said) {
    const std::string name = said.word("the name of a count");
    const std::optional<std::uint64_t> wanted = number_of(said.word("a number"));
    if (!wanted) said.fail("`count " + name + "` is followed by a number");
    const std::string of = said.value("of", {});
    const std::vector<core::PlanTally>& tallies = script_.state().plan->tallies;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        if (tallies[i].name != name || tallies[i].value != of) continue;
        const std::uint64_t now = script_.meta().tallies[i];
        if (now == *wanted) return;
        said.stumble(name + " is " + std::to_string(now) + ", not " + std::to_string(*wanted));
    }
    said.stumble("there is no count `" + name + "`" + (of.empty() ? "" : " of `" + of + "`") +
                 "; `trueup policy show` has those that there are");
}

/// `clock rows +10m`
void Teller::clock(Saying& said) {
    const std::string name = source(said);
    const std::string ahead = said.word("how far it is ahead, as +10m or -10m");
    const bool plus = ahead.starts_with('+');
    const std::optional<Millis> by = moment_of(plus ? ahead.substr(1) : ahead);
    if (!by) said.fail("`clock " + name + "` is followed by +10m or -10m");
    script_.owner(name).clock = *by;
}

/// `expect rows 1`: a first list of fewer objects proves nothing.
void Teller::expect(Saying& said) {
    Settings settings = script_.settings();
    const std::string name = source(said);
    const std::optional<std::uint64_t> least = number_of(said.word("how many objects"));
    if (!least) said.fail("`expect " + name + "` is followed by a number");
    for (SourceSettings& each : settings.sources) {
        if (each.name == name) each.at_least = static_cast<std::uint32_t>(*least);
    }
    script_.put_in_force(settings);
}

namespace {

/// `reason=nameless_rows`: as findings say it in this policy.
void name_reason(Saying& said, RequestScope& scope) {
    scope.reason = said.value("reason", {});
    scope.reason_of_policy = !scope.reason.empty();
}

}  // namespace

/// `approve wrapper-7`, `approve all reason=uncorrelated_rows`, `pause orphaned_pod`, …
bool Teller::asks(Saying& said) {
    const std::string& verb = said.verb();
    static const std::map<std::string, RequestKind> kKinds{{"approve", RequestKind::kApprove},
                                                           {"dismiss", RequestKind::kDismiss},
                                                           {"hold", RequestKind::kHold},
                                                           {"release", RequestKind::kRelease},
                                                           {"unquarantine", RequestKind::kRelease},
                                                           {"pause", RequestKind::kPause},
                                                           {"resume", RequestKind::kResume},
                                                           {"terminate", RequestKind::kTerminate},
                                                           {"request", RequestKind::kRequest},
                                                           {"reconcile", RequestKind::kReconcile}};
    const auto kind = kKinds.find(verb);
    if (kind == kKinds.end()) return false;
    Request request;
    request.kind = kind->second;
    request.issued_by = said.value("by", "operator");
    request.role = said.value("role", {});
    name_reason(said, request.scope);
    request.scope.rule = said.value("rule", {});
    const std::string seen = said.value("seen", {});
    const bool refused = said.flag("refused");
    const bool forged = said.flag("forged");
    request.drop = verb == "dismiss" && said.flag("drop");
    if (verb == "request") request.name = said.word("the name of one of the policy's requests");
    const bool on_all = verb == "pause" || verb == "resume" || verb == "reconcile";
    if (!on_all) aim(said, request.scope);
    said.end_flags();
    if (verb == "approve") request.scope.finding_offset = offset_seen(said, seen);
    if (forged) {
        script_.raw(Topic::kRequests, "forged");
        return true;
    }
    script_.request(request);
    if (script_.answered().granted == refused) {
        said.stumble("it was " + std::string(refused ? "granted: " : "refused: ") +
                     script_.answered().sentence);
    }
    return true;
}

/// By its name: a source, a subject, or `all`.
void Teller::aim(Saying& said, RequestScope& scope) {
    const std::string name = said.word("the name that it is about, or `all`");
    const bool vouches = said.verb() == "unquarantine";
    if (vouches != world_.has_source(name)) {
        said.fail(vouches ? "`unquarantine` is followed by a source"
                          : "`" + name + "` is a source: write `unquarantine " + name + "`");
    }
    if (vouches) {
        scope.source = name;
    } else if (name != "all") {
        scope.subject = key_of(name);
    }
}

/// As the operator saw it: now, or at that time.
Offset Teller::offset_seen(Saying& said, const std::string& seen) {
    const std::optional<Millis> then = seen.empty() ? said.at() : time_of(seen);
    if (!then) said.fail("`seen=` is followed by a time such as 90s");
    return offset_at(*then);
}

/// `enable orphaned_pod`, as it was looked at now or `seen=90s`; `disable all`.
void Teller::enabling(Saying& said) {
    const bool enable = said.verb() == "enable";
    Request request;
    request.kind = enable ? RequestKind::kEnable : RequestKind::kDisable;
    request.role = "admin";
    request.issued_by = said.value("by", "operator");
    const std::string seen = said.value("seen", {});
    const bool refused = said.flag("refused");
    const std::string name = said.word("the rule's name, or `all`");
    said.end_flags();
    for (const core::PlanRule& rule : script_.state().plan->rules) {
        if (name == "all" || rule.name == name) request.rules.push_back({rule.name, rule.text});
    }
    const std::optional<Millis> then = seen.empty() ? said.at() : time_of(seen);
    if (!then) said.fail("`seen=` is followed by a time such as 90s");
    if (enable) request.seen = {offset_at(*then)};
    script_.request(request);
    if (script_.answered().granted == refused) {
        said.stumble("it was " + std::string(refused ? "granted: " : "refused: ") +
                     script_.answered().sentence);
    }
}

/// `text orphaned_pod without=ask_while`, `text orphaned_pod as-before`: the rule says
/// something else, and nobody has enabled that.
void Teller::write_again(Saying& said) {
    Settings settings = script_.settings();
    const bool before = said.flag("as-before");
    const std::string without = said.value("without", {});
    const std::string name = said.word("the rule's name");
    said.end_flags();
    if (!before && without != "ask_while") {
        said.fail("write `without=ask_while`, or `as-before`");
    }
    policy::Policy written = *(before ? world_.settings : settings).text;
    const auto rule = std::find_if(written.rules.begin(), written.rules.end(),
                                   [&](const policy::Rule& r) { return r.name == name; });
    if (rule == written.rules.end()) said.fail("there is no rule `" + name + "`");
    for (policy::Case& each : rule->cases) {
        if (!before) each.ask_while.clear();
    }
    settings.text = std::move(written);
    settings.enabled_by.clear();
    script_.put_in_force(settings);
}

/// The last journal record up to that time.
Offset Teller::offset_at(Millis time) {
    Offset offset = kNoOffset;
    for (const Recorded& record : script_.records()) {
        if (record.append_time <= broker(time)) offset = record.offset;
    }
    return offset;
}

/// `policy reconcile=5m opens=10m lasts=5m`: a window that opens so long after the start, each
/// day.
void Teller::policy(Saying& said) {
    Settings settings = script_.settings();
    settings.reconcile_every = said.time("reconcile", settings.reconcile_every);
    const std::string opens = said.value("opens", {});
    if (!opens.empty()) {
        // In minutes since the first record, on any day.
        const std::optional<Millis> from = time_of(opens);
        if (!from) said.fail("`opens=` is followed by a time such as 5m");
        const auto minute = [&](Millis since) {
            const auto of_day = to_millis(broker(since)) / 60'000 % 1'440;  // of a day
            return static_cast<std::uint16_t>(of_day);
        };
        settings.windows = {
            {0x7f, minute(*from), minute(*from + said.time("lasts", Millis(600'000)))}};
    }
    script_.put_in_force(settings);
}

void Teller::outcome(Saying& said) {
    static const std::map<std::string, std::pair<OutcomeKind, bool>> kKinds{
        {"done", {OutcomeKind::kDone, false}},
        {"already_done", {OutcomeKind::kAlreadyDone, false}},
        {"refused", {OutcomeKind::kRefused, false}},
        {"refused-by-brake", {OutcomeKind::kRefused, true}},
        {"expired", {OutcomeKind::kExpired, false}},
        {"failed", {OutcomeKind::kFailed, false}},
        {"failed-for-now", {OutcomeKind::kFailed, true}}};
    const std::string name = said.word("the name that a command was about");
    const auto kind = kKinds.find(said.word("what came of it"));
    if (kind == kKinds.end()) {
        said.fail(
            "an outcome is done, already_done, refused, refused-by-brake, expired, failed or "
            "failed-for-now");
    }
    const std::vector<Command>& commands = script_.commands();
    const auto last = std::find_if(commands.rbegin(), commands.rend(), [&](const Command& command) {
        return command.subject == key_of(name);
    });
    if (last == commands.rend()) said.stumble("there was no command about " + name);
    script_.outcome(*last, kind->second.first, kind->second.second);
}

/// `rule orphaned_pod observe grace=30s window=10s`
void Teller::rule(Saying& said) {
    Settings settings = script_.settings();
    set_rule(said, settings);
    script_.put_in_force(settings);
}

}  // namespace trueup::stories
