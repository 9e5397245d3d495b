#include "tests/simulation/text_law.h"

#include "engine/base/json_string.h"
#include "engine/core/row_time.h"
#include "engine/core/rule_text.h"
#include "engine/model/object.h"
#include "engine/model/object_builder.h"
#include "engine/model/place.h"
#include "sandbox/json.h"
#include "simulation/instances.h"
#include "simulation/scheduler.h"
#include "tests/scenarios/text_judgement.h"

#include <algorithm>

namespace trueup::simulation {

namespace {

using Kind = Verdict::Kind;

constexpr const char* kSubjects = "graph-instances/";
/// By which the clocks of processes and of the log may differ: none of them leaps in these runs.
constexpr Millis kApart{2'000};
/// A grace goes on while a source is silent: what it counts from may be as old as that.
constexpr Millis kSilent{180'000};
constexpr Millis kTold{15'000};  ///< until what a clock passed has been acted upon
constexpr SourceId kPods = 0;
constexpr SourceId kRows = 1;

const policy::Role& role(const policy::Policy& policy, const char* name) {
    return *policy::find_role(policy, name);
}

/// One subject as the world has it, or had it: its pod as of one moment, its rows as of another.
class Scene {
  public:
    Scene(const policy::Policy& policy, const History& history, const std::string& name)
        : policy_(policy), history_(history) {
        subject.key = kSubjects + name;
        name_ = name;
    }

    /// A pod that left the selector may not be seen at all: `left` says whether it is.
    void add_pod(Moment as_of, bool left) {
        const sandbox::PodPtr pod = history_.pod(name_, as_of);
        if (!pod || (!selected(*pod) && !left)) return;
        Facet& facet = add(kPods, pod->uid, history_.born(pod->uid).value_or(SteadyTime{}));
        std::vector<std::pair<std::string, std::string>> fields{
            {"created", sandbox::rfc3339(pod->created_ms)},
            {"name", pod->name},
            {"namespace", "graph"},
            {"phase", pod->phase}};
        if (pod->deletion_ms) fields.emplace_back("deleting", "true");
        if (held(*pod)) fields.emplace_back("hold", "true");
        if (const auto note = pod->annotations.find(kNote); note != pod->annotations.end()) {
            fields.emplace_back("note", note->second);
        }
        if (!selected(*pod)) fields.emplace_back("in_scope", "false");
        std::sort(fields.begin(), fields.end());
        ObjectBuilder object;
        for (const auto& [field, value] : fields) object.add(field, value);
        facet.object = object.take();
    }

    /// The rows of `looked` each as it was when somebody looked at it.
    void add_rows(Moment as_of, const std::map<std::string, Moment>& looked = {}) {
        for (const History::Row& row : history_.rows_of(name_, as_of)) {
            if (looked.count(row.pk) == 0) add_row(row.pk, row.view);
        }
        for (const auto& [pk, at] : looked) {
            const auto row = history_.row(pk, at);
            if (row && row->key() == name_) add_row(pk, *row);
        }
    }

    Subject subject;

  private:
    void add_row(const std::string& pk, const History::RowView& row) {
        Facet& facet =
            add(kRows, "public.instances/" + pk, history_.first(pk).value_or(SteadyTime{}));
        std::set<std::string> columns{"pod_name", "status", "url_slug"};
        for (const policy::Field& field : role(policy_, "rows").fields) columns.insert(field.name);
        ObjectBuilder object;
        for (const std::string& column : columns) {
            if (row.null(column)) {
                object.add_null(column);
            } else {
                object.add(column, row.text(column));
            }
        }
        facet.object = object.take();
    }

    Facet& add(SourceId source, const std::string& id, SteadyTime since) {
        Facet facet;
        facet.source = source;
        facet.object_id = id;
        facet.first_seen = facet.evidence = from_millis<BrokerTime>(Scheduler::wall_at(since));
        auto& all = subject.facets;
        const auto at = std::find_if(all.begin(), all.end(), [&](const Facet& other) {
            return std::tie(other.source, other.object_id) > std::tie(source, id);
        });
        return *all.insert(at, std::move(facet));
    }

    const policy::Policy& policy_;
    const History& history_;
    std::string name_;
};

/// Everybody is known, and was heard a little later than now.
naive::Moment moment_at(SteadyTime now, const RuleSettings& rule) {
    naive::Moment moment;
    const std::int64_t at = Scheduler::wall_at(now);
    const auto heard = from_millis<BrokerTime>(at + kApart.count());
    for (const auto& [id, name] : {std::pair(kPods, "pods"), std::pair(kRows, "rows")}) {
        moment.roles[name].push_back({id, {}, true, false, heard, from_millis<SourceTime>(at)});
    }
    moment.now = from_millis<JournalTime>(at);
    moment.broker_now = heard;
    moment.stale_after = Millis{3'600'000};
    moment.max_clock_skew = Millis{3'600'000};
    moment.create_window = rule.create_window;
    moment.detected = [](std::string_view) { return std::optional(JournalTime{}); };
    moment.steps = [](std::string_view) { return 0U; };
    moment.about = [](SourceId, std::string_view) -> const Subject& {
        static const Subject kNobody;
        return kNobody;
    };
    moment.timestamp = testing::time_of;
    moment.duration = core::parse_duration;
    return moment;
}

const RuleSettings* settings_of(const Settings& settings, const std::string& rule) {
    for (const RuleSettings& each : settings.rules) {
        if (each.rule == rule) return &each;
    }
    return nullptr;
}

const policy::Rule* rule_of(const Settings& settings, const std::string& rule) {
    for (const policy::Rule& each : settings.text->rules) {
        if (each.name == rule) return &each;
    }
    return nullptr;
}

std::string name_in(const std::string& subject) { return subject.substr(subject.find('/') + 1); }

bool is_update(const Command& command) { return updates(command.draft.action.kind); }

/// A side that the command names, and that its executor did not look at; empty: there is none.
std::string not_looked_at(const Command& command, bool pod, bool key, bool row) {
    using Of = Predicate::Kind;
    for (const Predicate& predicate : command.draft.read_set) {
        if (predicate.kind == Of::kReadBy) continue;  // that is known without a look
        const bool by_name = predicate.kind == Of::kNone || predicate.kind == Of::kNoneBut;
        const bool rows = predicate.source == "rows";
        const bool looked = rows ? (by_name ? key : row) : pod;
        if (!looked) return "its executor had not looked at " + predicate.source;
    }
    return {};
}

/// What the step sets, of texts that are made of literals and the subject's name.
std::vector<Assignment> sets_of(const policy::Policy& policy, const policy::Step& step,
                                const std::string& subject) {
    std::vector<Assignment> sets;
    for (const policy::Assigned& set : step.sets) {
        Assignment& made = sets.emplace_back();
        made.column = policy::place_of(role(policy, step.role.c_str()), set.field);
        if (!set.value) continue;
        made.value.emplace();
        for (const policy::Piece& piece : *set.value) {
            const bool literal = piece.kind == policy::Piece::Kind::kLiteral;
            *made.value += literal ? piece.literal : subject;
        }
    }
    return sets;
}

/// Is that what the last step of the case writes?
bool writes(const policy::Policy& policy, const policy::Case& found, const Command& command) {
    return command.draft.action.sets ==
           sets_of(policy, found.steps.back(), name_in(command.subject));
}

/// A part of a template, with what the row says in it. nullopt: it says nothing there.
std::optional<std::string> as_json(const policy::Template& part, const std::string& subject,
                                   const Facet& row) {
    using Part = policy::Template::Kind;
    if (part.kind == Part::kNull) return "null";
    if (part.kind == Part::kText || part.kind == Part::kBare) {
        std::string text;
        for (const policy::Piece& piece : part.text) {
            const bool field = piece.kind == policy::Piece::Kind::kField;
            const auto said = field ? row.fields().text(piece.field.field) : std::nullopt;
            if (field && !said) return std::nullopt;
            const bool literal = piece.kind == policy::Piece::Kind::kLiteral;
            text += literal ? piece.literal : field ? std::string(*said) : subject;
        }
        return part.kind == Part::kBare ? text : json_string(text);
    }
    const bool map = part.kind == Part::kMap;
    std::string json;
    for (const policy::Template& each : part.parts) {
        const auto value = as_json(each, subject, row);
        if (!value) return std::nullopt;
        json += (json.empty() ? "" : ",") + (map ? json_string(each.key) + ":" : "") + *value;
    }
    return map ? "{" + json + "}" : "[" + json + "]";
}

/// Is that the object that the case has created for this row?
bool creates(const policy::Case& found, const Command& command, const Subject& subject,
             const std::string& row) {
    const auto facet = std::find_if(subject.facets.begin(), subject.facets.end(),
                                    [&](const Facet& each) { return each.object_id == row; });
    const auto& object = found.steps.back().object;
    if (!object || facet == subject.facets.end()) return false;
    std::vector<Assignment> sets;
    for (const policy::Template& part : object->parts) {
        const auto value = as_json(part, name_in(command.subject), *facet);
        if (!value) return false;
        sets.push_back({part.key, value, false, true});
    }
    return command.draft.action.sets == sets;
}

/// What a rule says, and by which of its cases: the first that says anything.
struct Said {
    naive::Judged judged;
    const policy::Case& found;
};
Said judged_by(const policy::Policy& policy, const policy::Rule& rule, const Subject& subject,
               const naive::Moment& moment) {
    policy::Rule alone = rule;
    for (const policy::Case& each : rule.cases) {
        alone.cases = {each};
        const naive::Judged judged = naive::judge(policy, alone, subject, moment);
        if (judged.kind != Kind::kHealthy) return {judged, each};
    }
    return {{}, rule.cases.front()};
}

/// Is it so of the subject in one of the ways in which it may have been seen: its pod as of one of
/// some moments, its rows as of one of others?
template <typename IsSo>
bool in_any_scene(const policy::Policy& policy, const History& history, const std::string& name,
                  const std::vector<Moment>& of_pods, const std::vector<Moment>& of_rows,
                  const std::map<std::string, Moment>& looked, IsSo is_so) {
    for (const Moment pods : of_pods) {
        for (const Moment rows : of_rows) {
            for (const bool left : {true, false}) {
                Scene scene(policy, history, name);
                scene.add_pod(pods, left);
                scene.add_rows(rows, looked);
                if (is_so(scene.subject)) return true;
            }
        }
    }
    return false;
}

/// Is this what the text wants to be done to that?
bool means(const policy::Policy& policy, const Said& said, const Command& command,
           const Subject& subject) {
    const naive::Judged& judged = said.judged;
    const Target& target = command.draft.target;
    const bool inserts = command.draft.action.kind == Action::Kind::kInsertRow;
    const bool creation = command.draft.action.kind == Action::Kind::kCreateObject;
    const bool made = inserts || creation;
    // What is not there yet has no name but its subject's.
    if (made && target.object_id != name_in(command.subject)) return false;
    if (judged.kind != Kind::kAct || judged.target != (made ? "" : target.object_id)) {
        return false;
    }
    if ((is_update(command) || inserts) && !writes(policy, said.found, command)) return false;
    if (creation && !creates(said.found, command, subject, judged.object_id)) return false;
    const policy::Verb verb = inserts              ? policy::Verb::kInsert
                              : creation           ? policy::Verb::kCreate
                              : is_update(command) ? policy::Verb::kUpdate
                                                   : policy::Verb::kDelete;
    return judged.verb == verb;
}

bool is_list(const policy::Case& found) { return found.steps.size() > 1; }

}  // namespace

/// A rule of a text, and what it is about.
struct TextLaw::Found {
    const Force& force;
    const policy::Rule& rule;
    const RuleSettings& settings;
    std::set<std::string> about{};
};

void TextLaw::in_force(const Settings& settings, SteadyTime since) {
    if (!forces_.empty() && forces_.back().settings == settings) return;
    forces_.push_back({settings, since});
}

std::vector<const TextLaw::Force*> TextLaw::forces(SteadyTime at) const {
    std::vector<const Force*> some;
    for (const Force& force : forces_) {
        if (force.since > at) break;
        if (force.since < at) some.clear();
        some.push_back(&force);
    }
    return some;
}

std::string TextLaw::against_order(const Command& command, const History& history,
                                   SteadyTime issued, Millis age) {
    std::string said = against(command, history, issued, age, nullptr);
    if (!said.empty() || is_update(command)) return said;
    for (const Force* force : forces(issued)) {
        const std::vector<const policy::Case*> by = cases(*force, command, history, issued, age);
        if (std::any_of(by.begin(), by.end(), [](const auto* each) { return is_list(*each); })) {
            begun_.insert({command.rule, command.subject});
        }
    }
    return said;
}

std::vector<const policy::Case*> TextLaw::cases(const Force& force, const Command& command,
                                                const History& history, SteadyTime issued,
                                                Millis age) const {
    std::vector<const policy::Case*> all;
    const policy::Policy& policy = *force.settings.text;
    const policy::Rule* rule = rule_of(force.settings, command.rule);
    const RuleSettings* settings = settings_of(force.settings, command.rule);
    if (rule == nullptr || settings == nullptr) return all;
    const std::string name = name_in(command.subject);
    const naive::Moment moment = moment_at(issued, *settings);
    const std::vector<Moment> window =
        history.turns(name, history.moment_at(issued - age), history.moment_at(issued));
    in_any_scene(policy, history, name, window, window, {}, [&](const Subject& subject) {
        const Said said = judged_by(policy, *rule, subject, moment);
        if (means(policy, said, command, subject)) all.push_back(&said.found);
        return false;
    });
    return all;
}

std::string TextLaw::against_write(const Command& command, const History& history,
                                   SteadyTime issued, Millis age, const Looks& looks) const {
    return against(command, history, issued, age, &looks);
}

std::string TextLaw::against(const Command& command, const History& history, SteadyTime issued,
                             Millis age, const Looks* looks) const {
    const std::string name = name_in(command.subject);
    const Moment to = history.moment_at(issued);
    const std::vector<Moment> window = history.turns(name, history.moment_at(issued - age), to);
    // What it saw before is of another command.
    const auto seen = [&](Moment looked) { return looked < to ? 0 : looked; };
    const auto moments = [&](Moment looked) {
        return seen(looked) != 0 ? std::vector<Moment>{looked} : window;
    };
    if (looks != nullptr) {
        std::string unseen = not_looked_at(command, seen(looks->pod) != 0, seen(looks->key) != 0,
                                           seen(looks->row) != 0);
        if (!unseen.empty()) return unseen;
    }
    const std::vector<Moment> of_pods = moments(looks == nullptr ? 0 : looks->pod);
    const std::vector<Moment> of_rows = moments(looks == nullptr ? 0 : looks->key);
    std::map<std::string, Moment> by_pk =
        looks == nullptr ? std::map<std::string, Moment>() : looks->others;
    if (looks != nullptr) by_pk[looks->pk] = looks->row;
    std::erase_if(by_pk, [&](const auto& row) { return seen(row.second) == 0; });
    std::string said;
    for (const Force* force : forces(issued)) {
        const policy::Rule* rule = rule_of(force->settings, command.rule);
        const RuleSettings* settings = settings_of(force->settings, command.rule);
        if (rule == nullptr || settings == nullptr) {
            said = "its policy has no such rule";
            continue;
        }
        if (goes_on(*force->settings.text, *rule, command)) return {};
        Found found{*force, *rule, *settings};
        naive::Moment moment = moment_at(issued, *settings);
        if (looks != nullptr) moment.create_window = Millis{0};  // was judged as it was ordered
        const policy::Policy& policy = *force->settings.text;
        in_any_scene(policy, history, name, of_pods, of_rows, by_pk, [&](const Subject& subject) {
            const Said it = judged_by(policy, *rule, subject, moment);
            if (means(policy, it, command, subject)) {
                found.about.insert(it.judged.object_id);
            } else {
                said = "its text says `" + naive::told(it.judged) + "`";
            }
            return false;
        });
        if (found.about.empty()) continue;
        if (looks != nullptr) return {};
        if (!younger_than_its_grace(found, command, history, issued, age)) return {};
        said = "what it is about was not so for its grace";
    }
    return said;
}

/// Is it a later step of a list whose first one was right to be ordered?
bool TextLaw::goes_on(const policy::Policy& policy, const policy::Rule& rule,
                      const Command& command) const {
    const bool begun = begun_.count({command.rule, command.subject}) != 0;
    return begun && is_update(command) &&
           std::any_of(rule.cases.begin(), rule.cases.end(), [&](const policy::Case& each) {
               return is_list(each) && writes(policy, each, command);
           });
}

bool TextLaw::left_alone(const naive::Judged& judged, const std::string& subject) const {
    if (judged.verb != policy::Verb::kUpdate) return false;
    return std::any_of(begun_.begin(), begun_.end(),
                       [&](const auto& begun) { return begun.second == subject; });
}

/// It was to be found already when its grace began, by the same text.
bool TextLaw::younger_than_its_grace(const Found& found, const Command& command,
                                     const History& history, SteadyTime issued, Millis age) const {
    const Millis least = found.settings.grace - kApart;
    if (least <= Millis{0}) return false;
    const SteadyTime began = issued - least;
    const auto text = [&](const Force& force) {
        return core::rule_text(*force.settings.text, force.settings.sources, found.rule.name).text;
    };
    // Of another text it begins anew.
    SteadyTime since = found.force.since;
    for (auto each = forces_.rbegin(); each != forces_.rend(); ++each) {
        if (each->since > issued) continue;
        if (text(*each) != text(found.force)) break;
        since = each->since;
    }
    if (since > began) return true;
    const std::string name = name_in(command.subject);
    const std::vector<Moment> window =
        history.turns(name, history.moment_at(began - age - kSilent), history.moment_at(began));
    const naive::Moment moment = moment_at(issued, found.settings);
    const policy::Policy& policy = *found.force.settings.text;
    return !in_any_scene(policy, history, name, window, window, {}, [&](const Subject& subject) {
        const naive::Judged judged = naive::judge(policy, found.rule, subject, moment);
        return judged.kind == Kind::kAbstain ||
               (judged.kind != Kind::kHealthy && found.about.count(judged.object_id) != 0);
    });
}

namespace {

/// Does some subject count, however its pod and its rows were seen at any time between?
bool counts(const policy::Policy& policy, const std::string& count, const History& history,
            Moment from, Moment to, const std::set<std::string>& ended) {
    std::size_t place = 0;
    while (policy.counts[place].name != count) ++place;
    const naive::Moment moment = moment_at({}, {});
    for (const std::string& name : history.names(from, to)) {
        if (ended.count(kSubjects + name) != 0) continue;  // it may be on its way out still
        const std::vector<Moment> window = history.turns(name, from, to);
        const bool always = std::all_of(window.begin(), window.end(), [&](Moment pods) {
            return std::all_of(window.begin(), window.end(), [&](Moment rows) {
                Scene scene(policy, history, name);
                scene.add_pod(pods, true);
                scene.add_rows(rows);
                return naive::counted(policy, scene.subject, moment)[place] > 0;
            });
        });
        if (always) return true;
    }
    return false;
}

/// Must somebody have approved what this case of a policy says?
bool asks_in(const policy::Policy& policy, const policy::Case& found, const History& history,
             Moment from, Moment to, const std::set<std::string>& ended) {
    // A count leans on nobody: what a silent source has not told is not in it, unless the rule
    // waits for that source itself.
    const bool heard = std::any_of(found.when.begin(), found.when.end(),
                                   [](const auto& each) { return each.role == "rows"; });
    const auto& asked = found.ask_while;
    return heard && std::any_of(asked.begin(), asked.end(), [&](const std::string& count) {
               return counts(policy, count, history, from, to, ended);
           });
}

}  // namespace

bool TextLaw::asks(const Command& command, const History& history, SteadyTime issued,
                   Millis age) const {
    const Moment from = history.moment_at(issued - age);
    const Moment to = history.moment_at(issued);
    const std::vector<const Force*> some = forces(issued);
    std::set<std::string> ended;
    for (const auto& [rule, subject] : begun_) ended.insert(subject);
    return std::all_of(some.begin(), some.end(), [&](const Force* force) {
        const policy::Rule* rule = rule_of(force->settings, command.rule);
        // What goes on was approved as it began.
        if (rule == nullptr || goes_on(*force->settings.text, *rule, command)) return false;
        const std::vector<const policy::Case*> by = cases(*force, command, history, issued, age);
        return !by.empty() && std::all_of(by.begin(), by.end(), [&](const policy::Case* each) {
            return asks_in(*force->settings.text, *each, history, from, to, ended);
        });
    });
}

std::string TextLaw::to_do(const History& history, SteadyTime now) const {
    if (forces_.empty()) return "no policy is in force";
    const Settings& settings = forces_.back().settings;
    const Moment here = history.moment();
    for (const std::string& name : history.names(here, here)) {
        Scene scene(*settings.text, history, name);
        scene.add_pod(here, true);
        scene.add_rows(here);
        for (const policy::Rule& rule : settings.text->rules) {
            const RuleSettings* of = settings_of(settings, rule.name);
            const naive::Judged judged =
                naive::judge(*settings.text, rule, scene.subject, moment_at(now, *of));
            if (judged.kind != Kind::kAct || left_alone(judged, scene.subject.key)) continue;
            return rule.name + " says `" + naive::told(judged) + "` of " + name;
        }
    }
    return {};
}

std::vector<std::string> TextLaw::wrong(const std::vector<OpenFinding>& open,
                                        const History& history, SteadyTime now) const {
    std::vector<std::string> all;
    const Settings& settings = forces_.back().settings;
    const Moment here = history.moment();
    std::set<std::string> names = history.names(here, here);
    for (const OpenFinding& finding : open) names.insert(name_in(finding.subject));
    for (const std::string& name : names) {
        Scene scene(*settings.text, history, name);
        scene.add_pod(here, true);
        scene.add_rows(here);
        const std::string subject = kSubjects + name;
        // An ending does not go on with a row that its owner may have closed.
        const auto in_doubt = [&](const std::string& row) {
            return std::any_of(scene.subject.facets.begin(), scene.subject.facets.end(),
                               [&](const Facet& facet) {
                                   return facet.source == kRows && facet.object_id == row &&
                                          naive::may_claim(*settings.text, "rows", facet);
                               });
        };
        const bool rests = std::any_of(open.begin(), open.end(), [&](const OpenFinding& each) {
            return each.subject == subject && (each.halted || in_doubt(each.writes));
        });
        if (rests) continue;  // no rule judges it
        for (const policy::Rule& rule : settings.text->rules) {
            const auto judged = [&](SteadyTime at) {
                return naive::judge(*settings.text, rule, scene.subject,
                                    moment_at(at, *settings_of(settings, rule.name)));
            };
            const naive::Judged present = judged(now);
            const auto finding =
                std::find_if(open.begin(), open.end(), [&](const OpenFinding& each) {
                    return each.subject == subject && each.rule == rule.name &&
                           (present.object_id.empty() || each.object_id == present.object_id);
                });
            const naive::Judged past = judged(now - kTold);
            const std::string what = subject + ", " + rule.name + ": its text says `" +
                                     naive::told(present) + "`, and the engine has ";
            if (present.kind == Kind::kHealthy && finding != open.end()) {
                all.push_back(what + "a finding about " + finding->object_id);
            }
            const bool wanted = past.kind == Kind::kAct || past.kind == Kind::kWaiting;
            if (wanted && finding == open.end()) all.push_back(what + "none");
        }
    }
    for (const OpenFinding& finding : open) {
        if (rule_of(settings, finding.rule) == nullptr && !finding.halted) {
            all.push_back(finding.subject + ": " + finding.rule +
                          " is open, and is no rule any more");
        }
    }
    return all;
}

}  // namespace trueup::simulation
