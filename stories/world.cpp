#include "stories/world.h"

#include "engine/base/suggest.h"
#include "engine/core/plan.h"
#include "policies/shipped.h"
#include "stories/script.h"

#include <algorithm>
#include <utility>

namespace trueup::stories {

namespace {

/// `ingresses` → `ingress`, `pods` → `pod`; a word that is no plural stays.
std::string singular(const std::string& noun) {
    if (noun.ends_with("sses")) return noun.substr(0, noun.size() - 2);
    if (noun.ends_with("ss") || !noun.ends_with('s')) return noun;
    return noun.substr(0, noun.size() - 1);
}

std::vector<std::string> names_of(const std::vector<policy::Role>& roles) {
    std::vector<std::string> names;
    names.reserve(roles.size());
    for (const policy::Role& role : roles) names.push_back(role.name);
    return names;
}

/// Takes up the lines of a setting.
class Setter {
  public:
    explicit Setter(World& world) : world_(world) {}

    void take(const Statement& statement) {
        Saying said(statement);
        const std::string& verb = said.verb();
        if (verb == "use") use(said);
        if (verb == "shards") shards(said);
        if (verb == "with") with(said);
        if (verb == "source") source(said);
        if (verb == "usual") usual(said);
        if (verb == "table") table(said);
        if (verb == "rules") rules(said);
        if (verb == "rule") set_rule(said, world_.settings);
        said.end();
    }

  private:
    Settings& settings() { return world_.settings; }

    const policy::Role& role(Saying& said) {
        const std::string noun = said.word("a role of the policy");
        if (const policy::Role* found = world_.role_of(noun)) return *found;
        said.fail("the policy has no role `" + noun + "`; " +
                  did_you_mean(noun, names_of(settings().text->roles)));
    }

    /// `use processors`: the story is about no other policy.
    void use(Saying& said) {
        const std::string name = said.word("the name of a policy");
        if (name == settings().policy) return;
        said.fail("this story is about the policy `" + name + "`, and `" + settings().policy +
                  "` is tested");
    }

    /// `shards 4`: what is told is what one of them hears.
    void shards(Saying& said) {
        const std::optional<std::uint64_t> read = number_of(said.word("their number"));
        if (!read || *read == 0 || *read > 64) said.fail("`shards` is followed by 1 to 64");
        world_.shards = static_cast<std::int32_t>(*read);
    }

    /// `with services ingresses`: optional roles that a source plays.
    void with(Saying& said) {
        do {
            const policy::Role& played = role(said);
            if (!world_.sources_of(played).empty()) {
                said.fail("`" + played.name + "` has a source anyway; `with` adds optional roles");
            }
            settings().sources.push_back(made(played, played.name, {}));
        } while (more(said));
    }
    static bool more(Saying& said) {
        Saying rest = said;
        return !rest.next().empty();
    }

    /// `source eu instances scope=eu-central-1`: in the place of the one called as its role.
    void source(Saying& said) {
        const std::string name = said.word("its name");
        const policy::Role& played = role(said);
        const SourceSettings source = made(played, name, said.value("scope", {}));
        if (world_.has_source(name) && name != played.name) {
            said.fail("there is a source `" + name + "` already");
        }
        std::vector<SourceSettings>& all = settings().sources;
        auto usual = std::find_if(all.begin(), all.end(), [&](const SourceSettings& each) {
            return each.role == source.role && each.name == played.name;
        });
        if (usual != all.end()) {
            *usual = source;
            return;
        }
        // Behind the others of its role, so that the order of the roles stays.
        const auto last = std::find_if(all.rbegin(), all.rend(), [&](const SourceSettings& each) {
            return each.role == source.role;
        });
        all.insert(last.base(), source);
    }

    SourceSettings made(const policy::Role& played, const std::string& name,
                        const std::string& scope) {
        const Role number = policies::role_number(*settings().text, played.name);
        return {name, policies::topic_of(played.kind), number, scope, 0};
    }

    /// `usual rows status=running`
    void usual(Saying& said) {
        std::map<std::string, std::string>& fields = world_.usual[role(said).name];
        for (const auto& [field, text] : said.take_values()) fields[field] = text;
    }

    /// `table rows public.instances`: the first part of the rows' ids.
    void table(Saying& said) {
        const std::string role_name = role(said).name;
        world_.tables[role_name] = said.word("a table's name");
    }

    /// `rules off`
    void rules(Saying& said) {
        if (said.word("`off`") != "off") said.fail("`rules` is followed by `off`");
        for (RuleSettings& rule : settings().rules) rule.mode = Mode::kOff;
    }

    World& world_;
};

void turn_off_what_cannot_be_done(Settings& settings) {
    const Result<core::Plan> plan = core::compile(*settings.text, settings);
    if (!plan) throw Unusable("policy " + settings.policy + ": " + plan.error().what);
    for (std::size_t i = 0; i < settings.rules.size(); ++i) {
        if (!plan->rules[i].unable.empty()) settings.rules[i].mode = Mode::kOff;
    }
}

}  // namespace

World World::of(const Shared<policy::Policy>& policy, const std::vector<Statement>& setting) {
    World world;
    world.settings = begun_empty(policies::usual_settings(policy, Mode::kEnforce));
    turn_off_what_cannot_be_done(world.settings);
    Setter setter(world);
    for (const Statement& statement : setting) setter.take(statement);
    return world;
}

bool World::has_source(const std::string& name) const {
    return std::any_of(settings.sources.begin(), settings.sources.end(),
                       [&](const SourceSettings& source) { return source.name == name; });
}

const policy::Role* World::role_of(const std::string& noun) const {
    for (const policy::Role& role : settings.text->roles) {
        if (noun == role.name || noun == singular(role.name)) return &role;
    }
    return nullptr;
}

std::vector<std::string> World::sources_of(const policy::Role& role) const {
    const Role number = policies::role_number(*settings.text, role.name);
    std::vector<std::string> names;
    for (const SourceSettings& source : settings.sources) {
        if (source.role == number) names.push_back(source.name);
    }
    return names;
}

void set_rule(Saying& said, Settings& settings) {
    const std::string name = said.word("the rule's name");
    const auto wanted = std::find_if(settings.rules.begin(), settings.rules.end(),
                                     [&](const RuleSettings& r) { return r.rule == name; });
    if (wanted == settings.rules.end()) {
        std::vector<std::string> known;
        for (const RuleSettings& rule : settings.rules) known.push_back(rule.rule);
        said.fail("there is no rule `" + name + "`; " + did_you_mean(name, known));
    }
    if (said.flag("observe")) wanted->mode = Mode::kObserve;
    if (said.flag("enforce")) wanted->mode = Mode::kEnforce;
    if (said.flag("approve")) wanted->mode = Mode::kApprove;
    if (said.flag("off")) wanted->mode = Mode::kOff;
    said.end_flags();
    wanted->grace = said.time("grace", wanted->grace);
    wanted->create_window = said.time("window", wanted->create_window);
    Budget& budget = wanted->budget;
    budget.max = static_cast<std::uint32_t>(said.number("budget", budget.max));
    budget.percent = static_cast<std::uint32_t>(said.number("percent", budget.percent));
    budget.window = said.time("every", budget.window);
}

}  // namespace trueup::stories
