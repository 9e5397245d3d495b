#include "tests/support/scenario.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace trueup::testing {

namespace {

[[noreturn]] void refuse(const std::string& path, int line, const std::string& what) {
    throw ScenarioError(path + ":" + std::to_string(line) + ": " + what);
}

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// `90s`, `2m`, `500ms`; nullopt: no time.
std::optional<Millis> time_of(const std::string& text) {
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    if (digits == 0 || digits > 9) return std::nullopt;
    const Millis count(std::stoll(text.substr(0, digits)));
    const std::string unit = text.substr(digits);
    if (unit == "ms") return count;
    if (unit == "s") return count * 1'000;
    if (unit == "m") return count * 60'000;
    if (unit == "h") return count * 3'600'000;
    return std::nullopt;
}

/// nullopt: no number.
std::optional<std::uint64_t> number_of(const std::string& text) {
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
    if (text.empty() || text.size() > 18 || !digits) return std::nullopt;
    return std::stoull(text);
}

/// Takes a file apart.
class Reader {
  public:
    explicit Reader(const std::string& path) {
        scenario_.path = path;
        scenario_.world = *world_of("graph-instances");
    }

    Scenario read(std::istream& text) {
        if (!text) refuse(scenario_.path, 0, "cannot be read");
        for (std::string line; std::getline(text, line);) {
            ++line_;
            take(trimmed(line));
        }
        if (expecting_) close();
        if (!block_.statements.empty()) fail("what comes of it? end with a line of `=>`");
        if (scenario_.blocks.empty()) fail("a story without a word; begin with `0s known all`");
        return std::move(scenario_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { refuse(scenario_.path, line_, what); }

    void take(const std::string& text) {
        if (text.starts_with("=>")) return expect(trimmed(text.substr(2)));
        if (expecting_) close();
        if (text.starts_with("#")) {
            if (scenario_.title.empty()) scenario_.title = trimmed(text.substr(1));
            return;
        }
        if (text.starts_with("use ")) return use(trimmed(text.substr(4)));
        if (text.starts_with("shards ")) return shards(trimmed(text.substr(7)));
        if (!text.empty()) block_.statements.push_back(statement(trimmed(text)));
    }

    /// `use processors`
    void use(const std::string& policy) {
        std::optional<World> world = world_of(policy);
        if (!world) fail("there is no policy `" + policy + "`");
        if (!block_.statements.empty() || !scenario_.blocks.empty()) {
            fail("`use` comes before everything else");
        }
        world->shards = scenario_.world.shards;
        scenario_.world = *std::move(world);
    }

    /// `shards 4`: what is told is what one of them hears.
    void shards(const std::string& count) {
        const std::optional<std::uint64_t> read = number_of(count);
        if (!read || *read == 0 || *read > 64) fail("`shards` is followed by 1 to 64");
        if (!block_.statements.empty() || !scenario_.blocks.empty()) {
            fail("`shards` comes before everything else");
        }
        scenario_.world.shards = static_cast<std::int32_t>(*read);
    }

    void expect(const std::string& what) {
        if (what.empty()) fail("`=>` is followed by one line of news, or by `nothing`");
        if (!expecting_) block_.line = line_;
        expecting_ = block_.asks = true;
        if (what != "nothing") block_.expected.push_back(what);
    }

    void close() {
        expecting_ = false;
        scenario_.blocks.push_back(std::exchange(block_, {}));
    }

    Statement statement(std::string text) {
        text = trimmed(text.substr(0, text.find(" #")));
        std::istringstream words(text);
        Statement made;
        made.line = line_;
        std::string word;
        words >> word;
        const std::optional<Millis> at = time_of(word);
        if (!at) fail("a statement begins with its time, as in `100s pod wrapper-7 uid=a`");
        if (*at < last_) fail("time runs backwards");
        made.at = last_ = *at;
        if (!(words >> made.verb)) fail("a time alone says nothing");
        while (words >> word) {
            const std::size_t equals = word.find('=');
            if (equals == std::string::npos) {
                made.words.push_back(word);
            } else {
                made.values[word.substr(0, equals)] = word.substr(equals + 1);
            }
        }
        return made;
    }

    Scenario scenario_;
    Block block_;
    Millis last_{0};
    int line_ = 0;
    bool expecting_ = false;
};

/// Tells one statement after the other.
class Teller {
  public:
    Teller(const Scenario& scenario, const Manner& manner)
        : scenario_(scenario), script_(scenario.world.settings, 1, manner, scenario.world.shards) {}

    void say(const Statement& statement) {
        said_ = &statement;
        used_.clear();
        act();
        for (const auto& [name, value] : statement.values) {
            if (used_.count(name) == 0) fail("`" + statement.verb + "` has no `" + name + "=`");
        }
        const std::size_t taken = words_used_;
        words_used_ = 0;
        if (taken < statement.words.size()) {
            fail("`" + statement.verb + "` cannot be followed by `" + statement.words[taken] + "`");
        }
    }
    JournalScript& script() { return script_; }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        refuse(scenario_.path, said_->line, what);
    }
    /// The next word, which must be there.
    std::string word(const char* what) {
        if (words_used_ >= said_->words.size()) {
            fail("`" + said_->verb + "` needs " + std::string(what));
        }
        return said_->words[words_used_++];
    }
    std::string value(const std::string& name, const std::string& otherwise) {
        used_.insert(name);
        const auto found = said_->values.find(name);
        return found == said_->values.end() ? otherwise : found->second;
    }
    std::string must(const std::string& name) {
        const std::string text = value(name, {});
        if (text.empty()) fail("`" + said_->verb + "` needs `" + name + "=`");
        return text;
    }
    std::uint64_t number(const std::string& name, std::uint64_t otherwise) {
        const std::optional<std::uint64_t> read = number_of(value(name, std::to_string(otherwise)));
        if (!read) fail("`" + name + "=` is followed by a number");
        return *read;
    }
    Millis time(const std::string& name, Millis otherwise) {
        const std::string text = value(name, {});
        if (text.empty()) return otherwise;
        const std::optional<Millis> read = time_of(text);
        if (!read) fail("`" + name + "=` is followed by a time such as 30s");
        return *read;
    }
    bool flag(const std::string& name) {
        const auto from = said_->words.begin() + static_cast<std::ptrdiff_t>(words_used_);
        const auto found = std::find(from, said_->words.end(), name);
        if (found == said_->words.end()) return false;
        flags_.insert(name);
        return true;
    }
    /// Takes the rest of the words, all of them flags that were asked for.
    void end_flags() {
        while (words_used_ < said_->words.size() && flags_.count(said_->words[words_used_]) != 0) {
            ++words_used_;
        }
        flags_.clear();
    }
    std::uint64_t version() { return number("v", ++version_); }
    std::string source() {
        std::string name = word("a source");
        if (!is_source(name)) fail("there is no source `" + name + "`");
        return name;
    }
    bool is_source(const std::string& name) const {
        const std::vector<SourceSettings>& sources = scenario_.world.settings.sources;
        return std::any_of(sources.begin(), sources.end(),
                           [&](const SourceSettings& source) { return source.name == name; });
    }
    std::string key_of(const std::string& name) const {
        return scenario_.world.settings.policy + '/' + name;
    }

    void act() {
        const std::string& verb = said_->verb;
        if (verb == "quiet") return void(script_.quiet_until(said_->at));
        if (verb == "silent") return void(script_.silent_until(said_->at));
        script_.at(said_->at);
        if (speak_of_object(verb)) return;
        if (verb == "outcome") return outcome();
        if (verb == "rule") return rule();
        if (verb == "policy") return policy();
        if (verb == "enable" || verb == "disable") return enabling(verb == "enable");
        if (verb == "text") return write_anew();
        if (asks(verb)) return;
        if (verb == "tick") return void(script_.tick());
        speak_of_source(verb);
    }

    bool speak_of_object(const std::string& verb) {
        for (const Noun& noun : scenario_.world.nouns) {
            const bool gone = verb == noun.word + "-gone";
            if (verb == noun.word || gone) return object(noun, gone), true;
        }
        if (scenario_.world.settings.text->name != "graph-instances") return false;
        if (verb == "pod") return pod(), true;
        if (verb == "row") return row(), true;
        if (verb == "pod-gone") return pod_gone(), true;
        if (verb == "row-gone") return row_gone(), true;
        return false;
    }

    /// `instance i-a in=eu state=running`: every other value is a field of the object.
    void object(const Noun& noun, bool gone) {
        Seen seen;
        const std::string name = word("a name");
        seen.source = noun.source.empty() ? must("in") : noun.source;
        if (!is_source(seen.source)) fail("there is no source `" + seen.source + "`");
        seen.name = noun.reference ? '!' + seen.source + '/' + name : name;
        seen.id = value("id", name);
        seen.version = {version(), 0};
        seen.listed = flag("listed");
        std::map<std::string, std::string> fields = said_->values;
        for (const char* own : {"id", "in", "v"}) fields.erase(own);
        for (const char* state : {"deleting", "hold"}) {
            if (flag(state)) fields[state] = "true";
        }
        end_flags();
        ObjectBuilder object;
        for (auto& [field, text] : fields) {
            used_.insert(field);
            std::replace(text.begin(), text.end(), ',', ' ');
            text == "null" ? object.add_null(field) : object.add(field, text);
        }
        seen.object = object.take();
        gone ? script_.gone(seen) : script_.seen(seen);
    }

    void speak_of_source(const std::string& verb) {
        if (verb == "known") {
            if (said_->words == std::vector<std::string>{"all"}) {
                ++words_used_;
                return script_.all_known();
            }
            return script_.known(source());
        }
        if (verb == "own") return void(script_.own(source()));
        if (verb == "begin") {
            const std::string name = source();
            const std::uint64_t as_of = number("as-of", ++version_);
            const bool rewound = flag("rewound");
            end_flags();
            return script_.begin(name, as_of, rewound);
        }
        if (verb == "end") {
            const std::string name = source();
            const std::uint64_t listed = script_.owner(name).listed;
            return script_.end(name, number("count", listed));
        }
        if (verb == "progress") {
            const std::string name = source();
            return script_.progress(name, time("upto", said_->at));
        }
        if (verb == "clock") return clock();
        if (verb == "expect") return expect();
        if (verb == "alive") return script_.alive(source());
        if (verb == "hole") return script_.hole(source());
        fail("nobody knows how to `" + verb +
             "`; known are pod, pod-gone, row, row-gone, known, own, begin, end, progress, alive, "
             "hole, clock, expect, quiet, silent, tick, outcome, rule, policy, text, approve, "
             "dismiss, hold, release, enable, disable, pause, resume, terminate, reconcile");
    }

    void pod() {
        Pod seen;
        seen.name = word("the pod's name");
        seen.uid = must("uid");
        seen.version = version();
        seen.phase = value("phase", seen.phase);
        seen.deleting = flag("deleting");
        seen.in_scope = !flag("out-of-scope");
        seen.hold = flag("hold");
        seen.unlabelled = flag("unlabelled");
        seen.listed = flag("listed");
        end_flags();
        script_.pod(seen);
    }

    void row() {
        Row seen;
        seen.name = word("the name of the pod that it means");
        seen.pk = must("pk");
        seen.version = version();
        const std::string status = value("status", "running");
        seen.status = status == "null" ? std::nullopt : std::optional(status);
        seen.tracked = !flag("untracked");
        seen.toast = flag("toast");
        seen.hold = flag("hold");
        seen.listed = flag("listed");
        end_flags();
        const auto text = [&](const std::string& name) {
            return said_->values.count(name) == 0 ? std::nullopt : std::optional(value(name, {}));
        };
        const auto moment = [&](const std::string& name) {
            const std::optional<std::string> said = text(name);
            return said ? std::optional(time_before(*said)) : std::nullopt;
        };
        seen.created = moment("created");
        seen.ttl = text("ttl");
        seen.active = moment("active");
        seen.timeout = text("timeout");
        seen.owner = value("owner", {});
        script_.row(seen);
    }

    /// `-1h`: so long before the start; `90s`: after it.
    Millis time_before(const std::string& text) {
        const bool before = text.starts_with('-');
        const std::optional<Millis> read = time_of(text.substr(before ? 1 : 0));
        if (!read) fail("a moment is a time since the start, such as 90s or -1h");
        return before ? -*read : *read;
    }

    /// `clock rows +10m`
    void clock() {
        const std::string name = source();
        const std::string ahead = word("how far it is ahead, as +10m or -10m");
        const bool plus = ahead.starts_with('+');
        script_.owner(name).clock = plus ? time_before(ahead.substr(1)) : time_before(ahead);
    }

    /// `expect rows 1`: a first list of fewer objects proves nothing.
    void expect() {
        Settings settings = script_.settings();
        const std::string name = source();
        const std::optional<std::uint64_t> least = number_of(word("how many objects"));
        if (!least) fail("`expect " + name + "` is followed by a number");
        for (SourceSettings& each : settings.sources) {
            if (each.name == name) each.at_least = static_cast<std::uint32_t>(*least);
        }
        script_.put_in_force(settings);
    }

    /// `approve wrapper-7`, `approve all reason=uncorrelated_rows`, `pause orphaned_pod`, …
    bool asks(const std::string& verb) {
        static const std::map<std::string, RequestKind> kKinds{
            {"approve", RequestKind::kApprove},     {"dismiss", RequestKind::kDismiss},
            {"hold", RequestKind::kHold},           {"release", RequestKind::kRelease},
            {"pause", RequestKind::kPause},         {"resume", RequestKind::kResume},
            {"terminate", RequestKind::kTerminate}, {"reconcile", RequestKind::kReconcile}};
        const auto kind = kKinds.find(verb);
        if (kind == kKinds.end()) return false;
        Request request;
        request.kind = kind->second;
        request.issued_by = value("by", "operator");
        request.role = value("role", {});
        request.scope.reason = value("reason", {});
        request.scope.rule = value("rule", {});
        const std::string seen = value("seen", {});
        const bool refused = flag("refused");
        const bool forged = flag("forged");
        request.drop = verb == "dismiss" && flag("drop");
        const bool names_subject = verb != "pause" && verb != "resume" && verb != "reconcile";
        if (names_subject) {
            const std::string name = word("the name that it is about, or `all`");
            if (is_source(name)) {
                request.scope.source = name;
            } else if (name != "all") {
                request.scope.subject = key_of(name);
            }
        }
        end_flags();
        if (verb == "approve") {
            // As the operator saw it: now, or at that time.
            const std::optional<Millis> then = seen.empty() ? said_->at : time_of(seen);
            if (!then) fail("`seen=` is followed by a time such as 90s");
            request.scope.finding_offset = offset_at(*then);
        }
        if (forged) {
            script_.raw(Topic::kRequests, "forged");
            return true;
        }
        script_.request(request);
        if (script_.answered().granted == refused) {
            fail("it was " + std::string(refused ? "granted: " : "refused: ") +
                 script_.answered().sentence);
        }
        return true;
    }

    /// `enable orphaned_pod`, as it was looked at now or `seen=90s`; `disable all`.
    void enabling(bool enable) {
        Request request;
        request.kind = enable ? RequestKind::kEnable : RequestKind::kDisable;
        request.role = "admin";
        request.issued_by = value("by", "operator");
        const std::string name = word("the rule's name, or `all`");
        for (const core::PlanRule& rule : script_.state().plan->rules) {
            if (name == "all" || rule.name == name) request.rules.push_back({rule.name, rule.text});
        }
        const std::string seen = value("seen", {});
        const std::optional<Millis> then = seen.empty() ? said_->at : time_of(seen);
        if (!then) fail("`seen=` is followed by a time such as 90s");
        if (enable) request.seen = {offset_at(*then)};
        const bool refused = flag("refused");
        end_flags();
        script_.request(request);
        if (script_.answered().granted == refused) {
            fail("it was " + std::string(refused ? "granted: " : "refused: ") +
                 script_.answered().sentence);
        }
    }

    /// `text orphaned_pod without=ask_while`, `text orphaned_pod as-before`: the rule is written
    /// anew, and nobody has enabled that.
    void write_anew() {
        Settings settings = script_.settings();
        const std::string name = word("the rule's name");
        const bool before = flag("as-before");
        const std::string without = value("without", {});
        end_flags();
        if (!before && without != "ask_while") fail("write `without=ask_while`, or `as-before`");
        policy::Policy written = *(before ? scenario_.world.settings : settings).text;
        const auto rule = std::find_if(written.rules.begin(), written.rules.end(),
                                       [&](const policy::Rule& r) { return r.name == name; });
        if (rule == written.rules.end()) fail("there is no rule `" + name + "`");
        for (policy::Case& each : rule->cases) {
            if (!before) each.ask_while.clear();
        }
        settings.text = std::move(written);
        settings.enabled_by.clear();
        script_.put_in_force(settings);
    }

    /// The last journal record up to that time.
    std::int64_t offset_at(Millis time) {
        std::int64_t offset = -1;
        for (const Recorded& record : script_.records()) {
            if (record.append_time <= broker(time)) offset = record.offset;
        }
        return offset;
    }

    /// `policy reconcile=5m opens=10m lasts=5m`: a window that opens so long after the start, each
    /// day.
    void policy() {
        Settings settings = script_.settings();
        settings.reconcile_every = time("reconcile", settings.reconcile_every);
        const std::string opens = value("opens", {});
        if (!opens.empty()) {
            // In minutes since the first record, on any day.
            const std::optional<Millis> from = time_of(opens);
            if (!from) fail("`opens=` is followed by a time such as 5m");
            const auto minute = [&](Millis since) {
                const auto of_day = to_millis(broker(since)) / 60'000 % (24 * 60);
                return static_cast<std::uint16_t>(of_day);
            };
            settings.windows = {{0x7f, minute(*from), minute(*from + time("lasts", 10min))}};
        }
        script_.put_in_force(settings);
    }

    void pod_gone() {
        const std::string name = word("the pod's name");
        const std::string uid = must("uid");
        script_.pod_gone(name, uid, version());
    }

    void row_gone() {
        const std::string name = word("the name of the pod that it meant");
        const std::string pk = must("pk");
        script_.row_gone(name, pk, version());
    }

    /// Of the last command about this name. A brake is an operator's word, not a look at the world.
    void outcome() {
        static const std::map<std::string, std::pair<OutcomeKind, bool>> kKinds{
            {"done", {OutcomeKind::kDone, false}},
            {"already_done", {OutcomeKind::kAlreadyDone, false}},
            {"refused", {OutcomeKind::kRefused, false}},
            {"refused-by-brake", {OutcomeKind::kRefused, true}},
            {"expired", {OutcomeKind::kExpired, false}},
            {"failed", {OutcomeKind::kFailed, false}},
            {"failed-for-now", {OutcomeKind::kFailed, true}}};
        const std::string name = word("the name that a command was about");
        const auto kind = kKinds.find(word("what came of it"));
        if (kind == kKinds.end()) {
            fail(
                "an outcome is done, already_done, refused, refused-by-brake, expired, failed or "
                "failed-for-now");
        }
        const std::vector<Command>& commands = script_.commands();
        const auto last =
            std::find_if(commands.rbegin(), commands.rend(),
                         [&](const Command& command) { return command.subject == key_of(name); });
        if (last == commands.rend()) fail("there was no command about " + name);
        script_.outcome(*last, kind->second.first, kind->second.second);
    }

    /// `rule orphaned_pod observe grace=30s window=10s`
    void rule() {
        Settings settings = script_.settings();
        const std::string name = word("the rule's name");
        const auto wanted = std::find_if(settings.rules.begin(), settings.rules.end(),
                                         [&](const RuleSettings& r) { return r.rule == name; });
        if (wanted == settings.rules.end()) fail("there is no rule `" + name + "`");
        if (flag("observe")) wanted->mode = Mode::kObserve;
        if (flag("enforce")) wanted->mode = Mode::kEnforce;
        if (flag("approve")) wanted->mode = Mode::kApprove;
        if (flag("off")) wanted->mode = Mode::kOff;
        end_flags();
        wanted->grace = time("grace", wanted->grace);
        wanted->create_window = time("window", wanted->create_window);
        Budget& budget = wanted->budget;
        budget.max = static_cast<std::uint32_t>(number("budget", budget.max));
        budget.percent = static_cast<std::uint32_t>(number("percent", budget.percent));
        budget.window = time("every", budget.window);
        script_.put_in_force(settings);
    }

    const Scenario& scenario_;
    JournalScript script_;
    const Statement* said_ = nullptr;
    std::size_t words_used_ = 0;
    std::set<std::string> used_;
    std::set<std::string> flags_;
    std::uint64_t version_ = 9;
};

std::string lines(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) (text += "    => ") += line + '\n';
    return text.empty() ? "    => nothing\n" : text;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

/// `160s suspected orphaned_pod wrapper-7 a: own_write` without its state and reason.
std::string finding_of(const std::string& line) {
    std::istringstream words(line.substr(0, line.find(':')));
    std::string when;
    std::string state;
    std::string rest;
    words >> when >> state;
    std::getline(words, rest);
    return when + rest;
}

bool is_passing(const std::string& line) {
    return line.find(" suspected ") != std::string::npos ||
           line.find(" confirmed ") != std::string::npos;
}

/// Leaves out where a finding was for less than a second: that hangs on who spoke first.
std::vector<std::string> lasting(const std::vector<std::string>& news) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < news.size(); ++i) {
        const auto follows = [&](const std::string& later) {
            return finding_of(later) == finding_of(news[i]);
        };
        const auto after = news.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (is_passing(news[i]) && std::any_of(after, news.end(), follows)) continue;
        kept.push_back(news[i]);
    }
    return kept;
}

}  // namespace

Scenario Scenario::read(const std::string& path) {
    std::ifstream file(path);
    return read(file, path);
}

Scenario Scenario::read(std::istream& text, const std::string& path) {
    return Reader(path).read(text);
}

std::vector<std::string> stories_in(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".scn") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

Telling tell(const Scenario& scenario, const Manner& manner) {
    Teller teller(scenario, manner);
    Telling telling;
    for (const Block& block : scenario.blocks) {
        for (const Statement& statement : block.statements) teller.say(statement);
        const std::vector<std::string> news = split(teller.script().news());
        if (news == block.expected) continue;
        if (manner.reversed && lasting(news) == lasting(block.expected)) continue;
        telling.flaws += scenario.path + ":" + std::to_string(block.line) + ": expected\n" +
                         lines(block.expected) + "  but there was\n" + lines(news);
    }
    telling.records = teller.script().records();
    return telling;
}

}  // namespace trueup::testing
